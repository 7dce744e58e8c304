"""The messages about functions given to wengert.pointwise, cond and while_loop, word for word."""

from __future__ import annotations

import pytest

from messages import check, without_row
from wengert.errors import programs

MESSAGES = [
    (
        lambda: programs.pointwise_branch(),
        TypeError,
        "pointwise: the function branches on a value, which it does not know when it is traced. "
        "Hint: write torch.where(condition, a, b) in place of if, and & and | in place of and and or.",
    ),
    (
        lambda: programs.pointwise_number(),
        TypeError,
        "pointwise: the function asks for a value as a Python number, or for its elements, and it is traced without any. "
        "Hint: write torch.exp(x), say, in place of math.exp(x).",
    ),
    (
        lambda: programs.pointwise_operation("sum"),
        TypeError,
        "pointwise: sum is no function that works element by element on tensors. "
        "Hint: call it outside of the function, and hand over what it gives.",
    ),
    (
        lambda: programs.pointwise_tensor("add"),
        TypeError,
        "pointwise: an operand of add is a tensor of the function's surroundings. Hint: make it a parameter.",
    ),
    (
        lambda: programs.pointwise_parameters(),
        TypeError,
        "pointwise: expected a function of one or more positional parameters, none of them named ct, out, xp or F, and no others",
    ),
    (
        lambda: programs.pointwise_result(float),
        TypeError,
        "pointwise: the function returned float, expected a value made from its parameters. "
        "Hint: several results are several functions.",
    ),
    (
        lambda: programs.condition("pred", "'yes'"),
        RuntimeError,
        "Expected pred to be bool or single-element tensor, but got 'yes'.",
    ),
    (lambda: programs.not_functions("a and b"), TypeError, "Expect a and b to be callable."),
    (
        lambda: programs.loop_carries(2, 1),
        RuntimeError,
        "Expected body_fn_output and carried_inputs to have same number of outputs but got 1 from body_fn for 2 carried inputs",
    ),
]


@pytest.mark.parametrize(("build", "builtin", "text"), MESSAGES, ids=lambda x: x[:30] if isinstance(x, str) else "")
def test_message(build, builtin, text):
    check(build, builtin, text)


def test_every_message_is_pinned():
    assert not without_row(MESSAGES, programs)
