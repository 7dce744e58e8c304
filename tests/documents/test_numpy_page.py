"""docs/numpy-functions.md says of each function of NumPy what is true."""

from __future__ import annotations

import re

import numpy

import numpy_page
import wengert
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


def test_methods_of_arrays_are_what_the_page_says():
    a = numpy.array([[3.0, 1.0], [2.0, 4.0]])
    arguments = {"clip": (1.5, 3.0), "reshape": (4,), "swapaxes": (0, 1), "take": ([0, 3],), "view": (numpy.int64,)}
    for name in numpy_page.AS_NUMPYS:
        mine, theirs = getattr(wengert.tensor(a), name), getattr(a, name)
        if callable(theirs):
            mine, theirs = [found(*arguments.get(name, ())) for found in (mine, theirs)]
        assert mine == theirs if name == "dtype" else numpy.array_equal(mine, theirs), name
    assert [name for name in numpy_page.ABSENT if hasattr(wengert.Tensor, name)] == []
    listed = numpy_page.AS_NUMPYS + numpy_page.AS_TORCHS + numpy_page.ABSENT
    assert sorted(listed) == sorted(name for name in dir(numpy.ndarray) if not name.startswith("_"))


def test_the_share_on_the_page_is_at_least_95_percent():
    assert float(re.search(r"This is\s+([\d.]+) %", numpy_page.PAGE.read_text(encoding="utf-8")).group(1)) >= 95
