"""An input that requires grad but has no rule gets no gradient, and does not keep what made it waiting."""

import numpy as np

import wengert
from wengert.ops.registry import OPS, general


def test_an_input_without_a_rule_does_not_block_other_inputs():
    try:

        @general(name="_scaled_for_test", method=False, namespaces=())
        def scaled(xp, x, y):
            """x * y, differentiable in x alone."""
            return xp.multiply(x, y) + 0

        @scaled.vjp("x")
        def _(F, ct, y):
            return ct * F.conj(y)

        a = wengert.tensor([2.0, 3.0], requires_grad=True)
        b = a * 2
        (scaled.function(a, b) + b).sum().backward()
    finally:
        OPS.pop("_scaled_for_test", None)
    # b's own term gives 2; the product's derivative in its first factor gives b
    np.testing.assert_array_equal(a.grad.numpy(), [2.0 + 4.0, 2.0 + 6.0])
