"""The inputs that torch's operator database knows to be wrong: wengert raises too, the same built-in exception, in torch's words
or clearer ones.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("parity.op_db", reason="torch's operator database cannot be imported", exc_type=ImportError)

from parity.op_db import ENTRIES, Missing, Twins, counterpart, describe, find, provided  # noqa: E402

BUILTINS = (NotImplementedError, RuntimeError, IndexError, TypeError, ValueError)

# Calls that wengert takes and torch refuses: a number in place of a tensor, an int where torch wants another type.
_WIDER = re.compile(
    r"must be Tensor, not int|received an invalid combination of arguments|descriptor '__r\w+__' for|has no attribute 'reciprocal'"
)

# (entry, number of the input): why it does not raise, or another exception.
DIFFERENCES = {
    ("arange", 6): "the dtype of out is looked at first",
    ("aminmax", 3): "an out of another dtype is cast to, as other operations do",
    ("complex", 2): "an out of another dtype is cast to, as other operations do",
    ("index_select", 0): "an out of another shape gets its own memory",
    ("gather", 1): "an out of another dtype is cast to, as other operations do",
    ("masked_scatter", 1): "masks of bytes are what torch had up to 1.1, and warn",
    ("max.binary", 2): "a number is taken for a tensor, whose dim is out of range",
    ("min.binary", 2): "a number is taken for a tensor, whose dim is out of range",
    ("narrow_copy", 1): "an IndexError, as in narrow; torch ends in an internal check",
    ("nextafter", 0): "the dtype is looked at first",
    ("nextafter", 1): "the dtype is looked at first",
    ("nextafter", 2): "the dtype is looked at first",
}

# Words that mean the same; what torch says, and where it says it. Beyond these, one text must begin as the other does.
SAME_MEANING = [
    (r"Expected both inputs to have the same dtype", r"Expected object of scalar type \w+ but got scalar type \w+ for second"),
    (r"torch.gradient expected spacing", r"torch.gradient expected spacing"),
    (r"adaptive_\w+_pool\dd: output_size must be", r"'output_size' should contain one int|output_size.size\(\) must be"),
    (r"adaptive_max_pool\dd: elements of output_size must", r"Trying to create tensor with negative dimension"),
    (r"Expected \dD or \dD \(batch mode\) tensor", r"pad must be non-negative|pad should be at most|non-empty 4D|positive length"),
    (r"non-positive dilation", r"dilation should be greater than zero"),
    (r"Expected \d-dimensional weight", r"weight should have at least|Expected \d-dimensional input"),
    (r"(stride should not be|dilation should be greater than|kernel size should be greater than) zero", r"must be greater than zero"),
    (r"Output size is too small", r"Invalid computed output size"),
    (r"Mismatch of parameter numbers", r"Not allow zero-dim input"),
    (r"narrow\(\): length must be non-negative", r"exceeds dimension size"),
    (r"must have same slice shapes", r"source tensor shape must match self tensor shape"),
    (r"can't be cast to the desired output type", r"Expected the dtype for input and out to match"),
    (r"aminmax\(\): Expected reduction", r"aminmax: Expected reduction"),
    (r"adaptive_avg_pool\dd: elements of output_size", r"adaptive_avg_pool\dd: elements of output_size"),
    (r"Given normalized_shape=", r"Given normalized_shape="),
    (r"Expected \dD or \dD \(batch mode\)", r"max_pool1d: Expected 2D or 3D \(batch mode\)"),
    (r"Expected shape of indices", r"Expected shape of indices"),
    (r"expected Tensor as element 1 in argument 0", r"expected Tensor as element 1 in argument 0"),
    (r"probability tensor contains either", r"invalid multinomial distribution"),
    (r"mean\(\): could not infer output dtype", r"mean\(\): could not infer output dtype"),
]


def wrong_inputs(name: str) -> Iterator[tuple[int, Any, Exception]]:
    """(number, sample, torch's exception) of an entry."""
    op = ENTRIES[name]
    for i, wrong in enumerate(op.error_inputs("cpu")):
        sample = wrong.sample_input
        try:
            op.op(sample.input, *sample.args, **sample.kwargs)
        except Exception as error:
            yield i, sample, error


def function_of(op: Any) -> Any:
    """wengert's function for the entry's; raises Missing where that only wraps one."""
    return find(op.name) if op.name.startswith("signal.") else counterpart(op.op)


def of_another_layout(sample: Any) -> bool:
    return any(isinstance(x, torch.layout) and x != torch.strided for x in sample.kwargs.values())


def complaint(error: Exception, theirs: Exception) -> str | None:
    """Describe how an exception differs from torch's, or None."""
    kind = next((k for k in BUILTINS if isinstance(theirs, k)), type(theirs))
    if not isinstance(error, kind):
        return f"{error!r}, torch: {theirs!r}"
    mine, torchs = ((str(e).splitlines() or [""])[0].split(" Hint: ")[0].rstrip(". ") for e in (error, theirs))
    if mine.startswith(torchs) or torchs.startswith(mine) or _WIDER.search(torchs):
        return None
    same = any(re.search(ours, mine) and re.search(other, torchs) for ours, other in SAME_MEANING)
    return None if same else f"{mine!r}, torch: {torchs!r}"


def complaints(name: str) -> dict[int, str]:
    found = {}
    op = ENTRIES[name]
    for i, sample, theirs in wrong_inputs(name):
        if of_another_layout(sample) or "refer to a single memory location" in str(theirs):
            continue  # the twins of tensors that share memory share none
        twins = Twins()
        try:
            function = function_of(op)
            arguments = twins.twins((sample.input, *sample.args)), twins.twins(sample.kwargs)
        except (Missing, TypeError, ValueError):
            continue  # a device, a layout, a number of dimensions that NumPy has not got; or no function with a name
        try:
            function(*arguments[0], **arguments[1])
        except Exception as error:
            wrong = complaint(error, theirs)
        else:
            wrong = None if _WIDER.search(str(theirs)) else f"does not raise; torch: {theirs!r}"
        if wrong is not None:
            found[i] = f"{i}: {describe(sample)}: {wrong}"
    return found


WITH_ERRORS = [name for name, op in ENTRIES.items() if op.error_inputs_func is not None and provided(op)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", WITH_ERRORS)
def test_wrong_inputs_are_refused(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = complaints(name)
    known = {i for entry, i in DIFFERENCES if entry == name}
    assert not [text for i, text in found.items() if i not in known], found
    assert known <= set(found), "a known difference is gone"


def test_there_are_more_than_200_operations_with_error_inputs():
    assert len(WITH_ERRORS) > 200
