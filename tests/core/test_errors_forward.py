"""The messages about forward mode, word for word."""

import pytest

from messages import check, without_row
from wengert.errors import forward

# The call that builds an exception, the built-in exception that it is, its text.
MESSAGES = [
    (
        lambda: forward.no_dual_level(),
        RuntimeError,
        "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.",
    ),
    (
        lambda: forward.dual_level_nested(),
        RuntimeError,
        "Nested forward mode AD is not supported at the moment. Hint: wengert.func.jvp can be called inside of itself.",
    ),
    (lambda: forward.dual_level_not_open(), RuntimeError, "Dual level must be a positive number."),
    (
        lambda: forward.dual_level_not_last(),
        RuntimeError,
        "Trying to exit a forward AD level that was not the last one that was created. This is not supported.",
    ),
    (lambda: forward.dual_level_unknown(), RuntimeError, "Invalid level given to _make_dual"),
    (
        lambda: forward.dual_dtype("primal", "torch.int64"),
        ValueError,
        "Expected primal to be floating point or complex, but got: torch.int64",
    ),
    (
        lambda: forward.dual_twice(),
        RuntimeError,
        "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not supported.",
    ),
    (
        lambda: forward.tangent_shape((2,), (3, 1)),
        RuntimeError,
        "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. "
        "Tensor is of size [2] while the given forward gradient is of size [3, 1].",
    ),
    (
        lambda: forward.tangent_modified("MulBackward0"),
        RuntimeError,
        "one of the variables needed for gradient computation has been modified by an inplace operation: the tangent of a "
        "tensor that MulBackward0 saved. Hint: write into a clone() of the dual tensor.",
    ),
    (
        lambda: forward.dual_out("add"),
        NotImplementedError,
        "Trying to use forward AD with add_out that does not support it because it is an out= function",
    ),
    (
        lambda: forward.jvp_number(2, 1),
        RuntimeError,
        "Function's jvp returned an invalid number of forward gradients (expected 2 but got 1)",
    ),
    (lambda: forward.jvp_type(float, 1), RuntimeError, "expected Variable or None (got float) for grad output 1."),
    (
        lambda: forward.jvp_not_differentiable(1),
        RuntimeError,
        "Function's jvp returned a gradient at position 1, but  the corresponding forward output is not a differentiable "
        "Tensor.You should return None at that position instead.",
    ),
    (
        lambda: forward.jvp_missing(0),
        RuntimeError,
        "Function's jvp returned None at position 0, but the corresponding forward output is a differentiable Tensor. "
        "Hint: return zeros_like() of the output there, or name the output to ctx.mark_non_differentiable.",
    ),
    (
        lambda: forward.jvp_no_view(),
        RuntimeError,
        "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view.",
    ),
    (
        lambda: forward.jvp_other_base(),
        RuntimeError,
        "A custom Function is returning a view but the jvp is not returning a view of the same base as the given grad input.",
    ),
    (
        lambda: forward.jvp_not_in_place(),
        RuntimeError,
        "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an "
        "input inplace, then the jvp function must modify the corresponding gradient inplace.",
    ),
]


@pytest.mark.parametrize(("build", "builtin", "text"), MESSAGES, ids=lambda x: x[:30] if isinstance(x, str) else "")
def test_message(build, builtin, text):
    check(build, builtin, text)


def test_every_message_is_pinned():
    assert not without_row(MESSAGES, forward)
