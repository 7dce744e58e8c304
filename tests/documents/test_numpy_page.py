"""docs/numpy-functions.md says of each function of NumPy what is true."""

from __future__ import annotations

import re

import numpy_page
from wengert.array_functions.refusals import hint_of


def names_under(title: str) -> set[str]:
    """The names in a section of the page."""
    text = numpy_page.PAGE.read_text(encoding="utf-8")
    section = next(part for part in text.split("\n## ") if re.match(rf"\d+ {title}", part))
    return set(re.findall(r"`([a-z_0-9.]+)`", section))


def test_each_function_does_what_the_page_says():
    found = numpy_page.outcomes()
    said = {
        **dict.fromkeys(names_under("differentiate"), ("differentiated", "constant")),
        **dict.fromkeys(names_under("have nothing to differentiate"), ("no number",)),
        **dict.fromkeys(names_under("refuse"), ("refused", "warned")),
    }
    assert {name: what for name, what in found.items() if what not in said.get(name, ())} == {}


def test_each_refusal_says_what_to_write_instead():
    refused = [name for name, what in numpy_page.outcomes().items() if what in ("refused", "warned")]
    assert [name for name in refused if not hint_of("out" if name.endswith((".at", ".__call__")) else name)] == []
