"""Running one program in two libraries and comparing what they give.

A program is a function of the library; what it returns is described as plain Python data, an error by its kind and message.
"""

from __future__ import annotations

import re
import warnings

import numpy as np

BUILTINS = (NotImplementedError, RecursionError, RuntimeError, KeyError, IndexError, TypeError, ValueError, AttributeError)


def run(function, library, *arguments):
    """Run the program in the library, and return its described result, or the error that ended it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return describe(function(library, *arguments), library)
        except BUILTINS as error:
            return described_error(error)


def described_error(error):
    kind = next(b for b in BUILTINS if isinstance(error, b))
    return Raised(("raises", kind.__name__, str(error).splitlines()[0]))


class Raised(tuple):
    """An error as it is compared: ("raises", the built-in class, the first line of the message)."""


class Described(dict):
    """A description, which describe leaves as it is."""


def describe(value, library):
    """A value as plain Python data that compares."""
    if isinstance(value, library.Tensor):
        return {
            "values": value.detach().numpy().astype(complex).tolist(),
            "dtype": repr(value.dtype),
            "shape": tuple(value.shape),
            "requires_grad": value.requires_grad,
            "is_leaf": value.is_leaf,
            "grad_fn": None if value.grad_fn is None else value.grad_fn.name().removeprefix("torch::autograd::"),
            "output_nr": value.output_nr,
        }
    if isinstance(value, (Described, Raised)):
        return value
    if isinstance(value, (tuple, list)):
        return [describe(v, library) for v in value]
    if isinstance(value, dict):
        return {k: describe(v, library) for k, v in value.items()}
    assert value is None or isinstance(value, (bool, int, float, complex, str)), type(value)
    return value


def attempt(log, step, *arguments):
    """Runs a step of a program and logs how it ended: "fine", or the error."""
    try:
        step(*arguments)
        log.append("fine")
    except BUILTINS as error:
        log.append(described_error(error))


def describe_rebuilt(tensor, library):
    """describe, without the name of the node where the tensor is a view.

    After a write into shared memory a view's node is made again: by torch as AsStridedBackward0, whatever the view, by wengert
    from the view's own operations.
    """
    shown = Described(describe(tensor, library))
    if tensor._is_view() and shown["grad_fn"] not in (None, "CopySlices"):
        shown["grad_fn"] = "of a view"
        del shown["output_nr"]
    return shown


def assert_same(ours, theirs, path="result", producers=False):
    """Numbers to rounding, errors by kind and the beginning of the message, all else exactly.

    producers: also the node that the message names as the maker of a tensor. It differs where a write has given the tensor
    another node since it was saved (torch names the last one, wengert the one whose output was saved), and for views.
    """
    if isinstance(theirs, (tuple, list)) and tuple(theirs[:1]) == ("raises",):
        assert type(ours) is type(theirs) and ours[:2] == theirs[:2], f"{path}: {ours} instead of {theirs}"
        mine, torchs = [comparable(text, producers) for text in (ours[2], theirs[2])]
        assert mine.startswith(torchs) or torchs.startswith(mine), f"{path}:\n{ours[2]}\ninstead of\n{theirs[2]}"
    elif path.endswith(".values") or isinstance(theirs, float):
        assert np.shape(ours) == np.shape(theirs), f"{path}: {ours} instead of {theirs}"
        same = np.isclose(ours, theirs, rtol=1e-6, atol=1e-9, equal_nan=True)
        assert same.all(), f"{path}: {ours} instead of {theirs}"
    elif isinstance(theirs, dict):
        assert isinstance(ours, dict), f"{path}: {ours} instead of {theirs}"
        for key, value in theirs.items():
            assert_same(ours[key], value, f"{path}.{key}", producers)
    elif isinstance(theirs, list):
        assert isinstance(ours, list) and len(ours) == len(theirs), f"{path}: {ours} instead of {theirs}"
        for i, (mine, value) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(mine, value, f"{path}[{i}]", producers)
    else:
        assert type(ours) is type(theirs) and ours == theirs, f"{path}: {ours} instead of {theirs}"


def comparable(message, producers):
    """A message without blanks, hints and, unless producers are asked for, the name of a tensor's maker."""
    message = message.split(" Hint: ")[0].rstrip(" .").replace(" ", "")
    return message if producers else re.sub(r",whichisoutput\d+of[\w:]+,", "", message)
