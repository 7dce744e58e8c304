"""The messages about functions given to wengert.pointwise, word for word."""

from __future__ import annotations

import inspect

import pytest

from wengert import errors
from wengert.errors import programs

MESSAGES = [
    (
        lambda: programs.pointwise_branch(),
        "pointwise: the function branches on a value, which it does not know when it is traced. "
        "Hint: write torch.where(condition, a, b) in place of if, and & and | in place of and and or.",
    ),
    (
        lambda: programs.pointwise_number(),
        "pointwise: the function asks for a value as a Python number, or for its elements, and it is traced without any. "
        "Hint: write torch.exp(x), say, in place of math.exp(x).",
    ),
    (
        lambda: programs.pointwise_operation("sum"),
        "pointwise: sum is no function that works element by element on tensors. "
        "Hint: call it outside of the function, and hand over what it gives.",
    ),
    (
        lambda: programs.pointwise_tensor("add"),
        "pointwise: an operand of add is a tensor of the function's surroundings. Hint: make it a parameter.",
    ),
    (
        lambda: programs.pointwise_parameters(),
        "pointwise: expected a function of one or more positional parameters, none of them named ct, out, xp or F, and no others",
    ),
    (
        lambda: programs.pointwise_result(float),
        "pointwise: the function returned float, expected a value made from its parameters. "
        "Hint: several results are several functions.",
    ),
]


@pytest.mark.parametrize(("build", "text"), MESSAGES, ids=lambda v: v[:40] if isinstance(v, str) else "")
def test_message(build, text):
    error = build()
    assert isinstance(error, TypeError) and isinstance(error, errors.WengertError) and str(error) == text


def test_every_message_is_pinned():
    built = {name for build, _ in MESSAGES for name in build.__code__.co_names}
    names = [n for n, f in inspect.getmembers(programs, inspect.isfunction) if f.__module__ == programs.__name__]
    assert set(names) <= built
