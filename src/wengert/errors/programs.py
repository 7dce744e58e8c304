"""Messages about functions given to wengert.pointwise, cond and while_loop."""

from __future__ import annotations

from .classes import ArgumentError


def pointwise_branch() -> ArgumentError:
    return ArgumentError(
        "pointwise: the function branches on a value, which it does not know when it is traced. "
        "Hint: write torch.where(condition, a, b) in place of if, and & and | in place of and and or."
    )


def pointwise_number() -> ArgumentError:
    return ArgumentError(
        "pointwise: the function asks for a value as a Python number, or for its elements, and it is traced without any. "
        "Hint: write torch.exp(x), say, in place of math.exp(x)."
    )


def pointwise_operation(name: str) -> ArgumentError:
    return ArgumentError(
        f"pointwise: {name} is no function that works element by element on tensors. "
        "Hint: call it outside of the function, and hand over what it gives."
    )


def pointwise_tensor(name: str) -> ArgumentError:
    return ArgumentError(
        f"pointwise: an operand of {name} is a tensor of the function's surroundings. Hint: make it a parameter."
    )


def pointwise_parameters() -> ArgumentError:
    return ArgumentError(
        "pointwise: expected a function of one or more positional parameters, none of them named ct, out, xp or F, and no others"
    )


def pointwise_result(kind: type) -> ArgumentError:
    return ArgumentError(
        f"pointwise: the function returned {kind.__name__}, expected a value made from its parameters. "
        "Hint: several results are several functions."
    )
