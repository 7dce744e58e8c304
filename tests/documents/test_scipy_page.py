"""docs/scipy-functions.md lists each function of wengert.scipy under what it does."""

from __future__ import annotations

import re

import pytest

import scipy_distributions_page
import scipy_page


def test_the_page_lists_what_is_registered():
    text = scipy_page.PAGE.read_text(encoding="utf-8")
    for module in scipy_page.submodules():
        section = next(part for part in text.split("\n## ") if part.startswith(f"scipy.{module.name}\n"))
        differentiate, _, others = section.partition("\n\n")[2].partition("\n\n")
        assert set(module.functions) <= set(re.findall(r"`([A-Za-z_0-9]+)`", differentiate)), "run python -m scipy_page"
        constant = {name for names in module.constants.values() for name in names}
        assert constant | set(scipy_page.refusing(module)) <= set(re.findall(r"`([A-Za-z_0-9]+)`", others)), module.name
        assert not (constant & set(module.functions)), module.name


@pytest.mark.exhaustive
def test_the_page_of_distributions_lists_what_calls_do():
    text = scipy_distributions_page.PAGE.read_text(encoding="utf-8")
    assert text == scipy_distributions_page.page(), "run python -m scipy_distributions_page"
