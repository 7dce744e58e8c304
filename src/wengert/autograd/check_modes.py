"""How gradcheck compares derivatives: slow mode element by element, fast mode by random projections."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wengert.autograd.jacobians import (
    Direction,
    Gradients,
    Problem,
    analytical_jacobians,
    complex_of,
    directional_differences,
    jacobian_differences,
    memory_of,
    seed,
    tensor_on,
    vjp,
)
from wengert.errors import WengertError

if TYPE_CHECKING:
    from wengert.autograd.jacobians import Array, Part

SEED = 53876  # fast mode and random cotangents are the same in each run, so that a failure can be repeated


class GradcheckError(WengertError, RuntimeError):
    """A derivative failed its check. gradcheck and gradgradcheck raise it, unless raise_exception=False.

    Fix: compare the numerical with the analytical Jacobian in the message. A constant factor, a transpose and a missing
    conj() are easily seen. Noise in all digits means that the inputs are not of double precision.
    """

    __module__ = "wengert.autograd.gradcheck"  # users import it from there, as in torch


class Tolerances(NamedTuple):
    """The options of a comparison, under gradcheck's names."""

    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool


class SlowMode:
    """Compare full Jacobians, element by element."""

    def __init__(self, problem: Problem, tolerances: Tolerances) -> None:
        self.problem = problem
        self.tolerances = tolerances
        self.differences = [jacobian_differences(problem, tensor) for tensor in problem.inputs]

    def numerical(self, i: int, j: int, part: Part) -> Array:
        """Numerical Jacobian of output i with respect to input j."""
        return self.differences[j][i].part(part)

    def analytical(self, i: int, part: Part) -> Gradients:
        """Analytical Jacobians of output i with respect to each input."""
        return analytical_jacobians(self.problem.outputs[i], self.problem.inputs, part)

    def atol(self, i: int, j: int) -> float:
        """Absolute tolerance for output i with respect to input j."""
        return self.tolerances.atol

    def describe(self, i: int, j: int, part: Part, numerical: Array, analytical: Array) -> str:
        """Text of the two Jacobians that differ, for a message."""
        like = self.problem.inputs[j]
        return f"numerical:{tensor_on(numerical, like)}\nanalytical:{tensor_on(analytical, like)}\n"


class FastMode:
    """Compare one projection u^T J v of each Jacobian J. Each input has a fixed random direction u, each output a v."""

    def __init__(self, problem: Problem, tolerances: Tolerances) -> None:
        self.problem = problem
        self.tolerances = tolerances
        generator = np.random.default_rng(SEED)
        self.of_inputs = [Direction.random(memory_of(x).size, x.is_complex(), generator) for x in problem.inputs]
        self.of_outputs = [Direction.random(memory_of(y).size, False, generator).real for y in problem.outputs]
        self.differences = [
            directional_differences(problem, *pair) for pair in zip(problem.inputs, self.of_inputs, strict=True)
        ]

    def numerical(self, i: int, j: int, part: Part) -> Array:
        """Projected numerical Jacobian of output i with respect to input j."""
        return _dot(self.differences[j][i].part(part), self.of_outputs[i])

    def analytical(self, i: int, part: Part) -> Gradients:
        """Projected analytical Jacobians of output i with respect to each input."""
        output = self.problem.outputs[i]
        like = memory_of(output)
        cotangent = np.asarray(seed(part) * self.of_outputs[i].reshape(like.shape), like.dtype)
        gradients = vjp(output, self.problem.inputs, cotangent)
        return gradients._replace(
            values=[_project(*pair) for pair in zip(gradients.values, self.of_inputs, strict=True)]
        )

    def atol(self, i: int, j: int) -> float:
        """Absolute tolerance for the projection of output i with respect to input j."""
        # An error of atol in each element of J makes one of atol * sum(u_j v_i) in u^T J v, because u and v are positive.
        return self.tolerances.atol * self.of_inputs[j].sum() * float(self.of_outputs[i].sum())

    def describe(self, i: int, j: int, part: Part, numerical: Array, analytical: Array) -> str:
        """Text of the two projections that differ and of the two full Jacobians, for a message."""
        text = f"numerical:{numerical.item()}\nanalytical:{analytical.item()}\n\n{FAST_MODE_NOTE}\n"
        full_numerical = jacobian_differences(self.problem, self.problem.inputs[j])[i].part(part)
        full_analytical = analytical_jacobians(self.problem.outputs[i], [self.problem.inputs[j]], part).values[0]
        with np.errstate(all="ignore"):
            largest = np.abs(full_analytical - full_numerical).max().item()
        like = self.problem.inputs[j]
        text += f"Numerical:\n {tensor_on(full_numerical, like)}\nAnalytical:\n{tensor_on(full_analytical, like)}\n\n"
        text += f"The max per-element difference (slow mode) is: {largest}.\n"
        if np.allclose(full_analytical, full_numerical, self.tolerances.rtol, self.tolerances.atol):
            text += _FAST_FAILED_SLOW_PASSED
        return text


FAST_MODE_NOTE = (
    "The above quantities relating the numerical and analytical jacobians are computed \n"
    "in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background \n"
    "about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n"
)
_FAST_FAILED_SLOW_PASSED = (
    "Fast gradcheck failed but element-wise differences are small. This means that the\n"
    "test might've passed in slow_mode!\n"
    "Hint: call gradcheck/gradgradcheck with `fast_mode=False` as a keyword argument.\n"
)


def _dot(a: Array, b: Array) -> Array:
    with np.errstate(all="ignore"):  # inf and NaN fail the comparison later, with a message
        return np.asarray(a @ b)


def _project(gradient: Array, direction: Direction) -> Array:
    if direction.imag is None:
        return _dot(gradient, direction.real)
    return complex_of(_dot(gradient.real, direction.real), _dot(gradient.imag, direction.imag))
