"""The pages of docs/operators: up to date, and complete."""

from __future__ import annotations

import operators_page
from op_samples.cases import is_public
from wengert.ops.registry import OPS


def test_the_pages_agree_with_the_operations():
    assert operators_page.outdated() == [], "write them with: make generate"


def test_every_public_operation_has_an_entry_with_a_docstring():
    text = "".join(operators_page.pages().values())
    for op in filter(is_public, OPS.values()):
        assert f"### {operators_page.names(op)[0]}\n" in text
        assert (op.doc or "").strip(), op.name


def test_every_rule_of_a_public_operation_is_tested():
    """An entry says to which order: of no operation with rules is it silent."""
    orders = {*operators_page.tested(), *operators_page.BY_HAND}
    silent = [name for name, op in OPS.items() if is_public(op) and getattr(op, "rules", ()) and name not in orders]
    assert not silent
