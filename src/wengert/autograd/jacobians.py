"""Jacobians for gradcheck: numerical ones by central differences, analytical ones by backward passes.

A Jacobian here has one row per input element and one column per output element, as in torch's messages. In a complex
input z = x + iy it is d/dx + i d/dy, which a backward pass computes for a real output. A complex output counts as two real
ones, its real and its imaginary part.

All arithmetic is NumPy's, because an oracle must not depend on the code that it tests.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wengert.backends.selection import placed
from wengert.core.tensor import wrap
from wengert.tensor import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

TensorFunction = Callable[..., Any]
Part = str | None  # "real" or "imag" for a complex output, None for a real output


class Problem(NamedTuple):
    """A function to differentiate, its arguments, and its outputs at these arguments, with their graph."""

    func: TensorFunction
    arguments: tuple[Any, ...]
    inputs: list[Tensor]  # the arguments that require grad
    every_output: tuple[Tensor, ...]
    outputs: list[Tensor]  # the outputs that require grad
    positions: list[int]  # their positions in every_output; if there are none, those of all floating and complex outputs
    eps: float  # step of the finite differences

    @classmethod
    def evaluate(cls, func: TensorFunction, arguments: tuple[Any, ...], eps: float) -> Problem:
        every_output = as_outputs(func(*arguments))
        outputs = differentiable(every_output)
        positions = [
            i for i, output in enumerate(every_output) if output.requires_grad or (not outputs and _is_inexact(output))
        ]
        return cls(func, arguments, differentiable(arguments), every_output, outputs, positions, eps)


def as_arguments(inputs: Any) -> tuple[Any, ...]:
    """Return the inputs as a tuple; a single tensor is one argument."""
    return (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)


def as_outputs(result: Any) -> tuple[Tensor, ...]:
    """Return the result of func as a tuple of tensors. Raises TypeError for results that are no tensors."""
    if isinstance(result, Tensor):
        return (result,)
    if not isinstance(result, (tuple, list)):
        raise TypeError(
            "gradcheck expects func to return a tensor or a tuple or list of tensors, but it returned "
            f"{type(result).__name__}."
        )
    for i, output in enumerate(result):
        if not isinstance(output, Tensor):
            raise TypeError(
                f"gradcheck expects func to return tensors only, but output {i} is of type {type(output).__name__}. "
                "Hint: wrap func and return just the outputs to check, lambda *args: func(*args)[:1]."
            )
    return tuple(result)


def _is_inexact(tensor: Tensor) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


def differentiable(values: Sequence[Any]) -> list[Tensor]:
    """Return the tensors among the values that require grad."""
    return [value for value in values if isinstance(value, Tensor) and value.requires_grad]


# ----------------------------------------------------------------------------------------------------------------------
# Arrays and tensors
# ----------------------------------------------------------------------------------------------------------------------


def memory_of(tensor: Tensor) -> Array:
    """Return the array that holds the tensor's elements, or a copy from a GPU. Writes into it change no version counter."""
    array: Array = tensor.detach().numpy(force=True)  # a copy of a conjugate view, which has no memory of its own
    return array


def tensor_on(array: Array, like: Tensor | None = None) -> Tensor:
    """Return a tensor that shares the array's memory and strides, or a copy on the device of like where that is a GPU."""
    tensor: Tensor = wrap(array)
    return tensor if like is None else tensor.to(like.device)


def complex_of(real: Array, imag: Array) -> Array:
    """Return real + 1j * imag, without the NaN that 1j * inf gives."""
    result = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    result.real = real
    result.imag = imag
    return result


# ----------------------------------------------------------------------------------------------------------------------
# Numerical derivatives
# ----------------------------------------------------------------------------------------------------------------------


class Direction(NamedTuple):
    """Direction in the space of one input or output."""

    real: Array
    imag: Array | None  # None for a real input

    @classmethod
    def random(cls, size: int, imag: bool, generator: np.random.Generator) -> Direction:
        # Elements are positive, so that errors of one sign do not cancel and the tolerance of a projection is known (see
        # gradcheck).
        vectors = [generator.uniform(0.0, 1.0, size) for _ in range(2 if imag else 1)]
        unit = [vector / np.linalg.norm(vector) for vector in vectors]
        return cls(unit[0], unit[1] if imag else None)

    def sum(self) -> float:
        return float(self.real.sum() + (0.0 if self.imag is None else self.imag.sum()))


class Difference(NamedTuple):
    """Derivatives of one output along directions of one input. The last axis runs over the output's elements."""

    along_real: Array
    along_imag: Array | None  # along i times the direction; None for a real input

    def part(self, part: Part) -> Array:
        """Return the derivative of a part of the output: d/dx for a real input, d/dx + i d/dy for a complex one."""
        along_real, along_imag = self
        if part is not None:
            along_real = getattr(along_real, part)
            along_imag = None if along_imag is None else getattr(along_imag, part)
        return along_real if along_imag is None else complex_of(along_real, along_imag)


def _central_difference(problem: Problem, tensor: Tensor, index: Any, step: Any) -> list[Array]:
    """Return (f(x + step) - f(x - step)) / (2 eps), flat, for each output in positions, where x is tensor[index].

    Writes into the inputs in place, because func may hold references to them, and restores the same bits, even after an
    exception.
    """
    original = np.array(memory_of(tensor)[index])
    memory: Any = memory_of(tensor) if tensor.is_cpu else tensor._array
    where = "" if index is Ellipsis else f" on index {index}"
    try:
        memory[index] = placed(np.asarray(original - step), memory)
        below = _evaluate(problem, where)
        memory[index] = placed(np.asarray(original + step), memory)
        above = _evaluate(problem, where)
    finally:
        memory[index] = placed(original, memory)
    with np.errstate(all="ignore"):
        return [
            np.asarray((high - low) / (2 * problem.eps)).reshape(-1) for high, low in zip(above, below, strict=True)
        ]


def _evaluate(problem: Problem, where: str) -> list[Array]:
    """Return copies of the outputs in positions for the current values of the inputs. where: text for messages."""
    outputs = as_outputs(problem.func(*problem.arguments))
    if len(outputs) != len(problem.every_output):
        raise AssertionError(
            f"Expected `func` to return the same number of outputs when inputs are perturbed{where} by {problem.eps}, "
            f"but got: {len(problem.every_output)} and {len(outputs)}."
        )
    for i in problem.positions:
        for what in ("shape", "dtype"):
            expected, found = getattr(problem.every_output[i], what), getattr(outputs[i], what)
            if expected != found:
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} when inputs are perturbed{where} by "
                    f"{problem.eps}, but got: {what}s {expected} and {found}."
                )
    return [memory_of(outputs[i]).copy() for i in problem.positions]  # an output may be a view of an input


def jacobian_differences(problem: Problem, tensor: Tensor) -> list[Difference]:
    """Return, for each output, the full derivative in one input: (input elements, output elements)."""
    memory = memory_of(tensor)

    def rows(unit: complex) -> list[Array]:
        table = [_central_difference(problem, tensor, index, unit * problem.eps) for index in np.ndindex(memory.shape)]
        if table:
            return [np.stack(rows) for rows in zip(*table, strict=True)]
        references = [memory_of(problem.every_output[i]) for i in problem.positions]
        return [np.zeros((0, reference.size), reference.dtype) for reference in references]

    along_real = rows(1.0)
    along_imag = rows(1.0j) if np.iscomplexobj(memory) else [None] * len(along_real)
    return [Difference(*pair) for pair in zip(along_real, along_imag, strict=True)]


def directional_differences(problem: Problem, tensor: Tensor, direction: Direction) -> list[Difference]:
    """Return, for each output, the derivative along one direction of one input: (output elements,)."""
    memory = memory_of(tensor)

    def along(unit: complex, vector: Array) -> list[Array]:
        step = np.asarray(unit * problem.eps * vector.reshape(memory.shape), memory.dtype)
        return _central_difference(problem, tensor, Ellipsis, step)

    along_real = along(1.0, direction.real)
    along_imag = [None] * len(along_real) if direction.imag is None else along(1.0j, direction.imag)
    return [Difference(*pair) for pair in zip(along_real, along_imag, strict=True)]


# ----------------------------------------------------------------------------------------------------------------------
# Analytical derivatives
# ----------------------------------------------------------------------------------------------------------------------


class Gradients(NamedTuple):
    """Derivatives of one output in each input that requires grad."""

    values: list[Array]  # one Jacobian, or a projection of it, per input
    gap: float  # the largest difference between two identical backward passes
    sizes_ok: bool
    dtypes_ok: bool


def _backward(output: Tensor, inputs: Sequence[Tensor], cotangent: Array) -> tuple[Tensor | None, ...]:
    from wengert import autograd

    grads: tuple[Tensor | None, ...] = autograd.grad(
        output, inputs, tensor_on(cotangent, output), retain_graph=True, allow_unused=True
    )
    return grads


def vjp(output: Tensor, inputs: Sequence[Tensor], cotangent: Array) -> Gradients:
    """Compute one vector-Jacobian product, flat for each input; zeros if there is no gradient."""
    first, second = (_backward(output, inputs, cotangent.copy()) for _ in range(2))
    values, gap, sizes_ok, dtypes_ok = [], 0.0, True, True
    for tensor, *pair in zip(inputs, first, second, strict=True):
        like = memory_of(tensor)
        flat = [np.zeros(like.size, like.dtype) for _ in pair]
        for target, grad in zip(flat, pair, strict=True):
            if grad is None:
                continue
            dtypes_ok = dtypes_ok and grad.dtype == tensor.dtype
            if grad.shape == tensor.shape:
                target[:] = memory_of(grad).reshape(-1)
            else:
                sizes_ok = False
        with np.errstate(all="ignore"):  # inf - inf counts as no difference: fmax ignores NaN
            gap = max(gap, float(np.fmax.reduce(np.abs(flat[0] - flat[1]), initial=0.0)))
        values.append(flat[0])
    return Gradients(values, gap, sizes_ok, dtypes_ok)


def seed(part: Part) -> complex:
    """Return the cotangent that selects this part of an output."""
    return 1j if part == "imag" else 1.0


def analytical_jacobians(output: Tensor, inputs: Sequence[Tensor], part: Part) -> Gradients:
    """Compute one Jacobian per input, (input elements, output elements), with two backward passes per column."""
    like = memory_of(output)
    jacobians = [np.zeros((memory_of(tensor).size, like.size), memory_of(tensor).dtype) for tensor in inputs]
    gap, sizes_ok, dtypes_ok = 0.0, True, True
    for column, index in enumerate(np.ndindex(like.shape)):
        cotangent = np.zeros(like.shape, like.dtype)
        cotangent[index] = seed(part)
        gradients = vjp(output, inputs, cotangent)
        for jacobian, values in zip(jacobians, gradients.values, strict=True):
            jacobian[:, column] = values
        gap = max(gap, gradients.gap)
        sizes_ok, dtypes_ok = sizes_ok and gradients.sizes_ok, dtypes_ok and gradients.dtypes_ok
    return Gradients(jacobians, gap, sizes_ok, dtypes_ok)


# ----------------------------------------------------------------------------------------------------------------------
# Deprecated
# ----------------------------------------------------------------------------------------------------------------------


def _warn_deprecated(name: str) -> None:
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. It is here for old programs only. "
        "Hint: use gradcheck, or functional.jacobian for the Jacobian itself.",
        FutureWarning,
        stacklevel=3,
    )


def _require_real(name: str, output: Tensor, grad_out: float) -> None:
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0.")
    if output.is_complex():
        raise ValueError(
            f"Expected output to be non-complex. {name} no longer supports functions that return complex outputs."
        )


def get_numerical_jacobian(
    fn: Callable[[tuple[Any, ...]], Any], inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> tuple[Tensor, ...]:
    """Return the Jacobians of the first output of fn(inputs), by central differences. Deprecated: use gradcheck.

    fn: takes the tuple of inputs as one argument. target: the tensors in which to differentiate, inputs if None; tensors
    that do not require grad are left out. Returns one Jacobian, (input elements, output elements), per target. Raises
    ValueError for a complex output and for grad_out other than 1.
    """
    _warn_deprecated("get_numerical_jacobian")
    arguments = as_arguments(inputs)
    problem = Problem.evaluate(lambda *args: fn(args), arguments, eps)._replace(positions=[0])
    _require_real("get_numerical_jacobian", problem.every_output[0], grad_out)
    targets = differentiable(arguments if target is None else as_arguments(target))
    return tuple(tensor_on(jacobian_differences(problem, tensor)[0].part(None), tensor) for tensor in targets)


def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Tensor, ...], bool, bool, bool]:
    """Return the Jacobians of output, by backward passes through its graph. Deprecated: use gradcheck.

    Returns (jacobians, reentrant, sizes_ok, dtypes_ok): one Jacobian, (input elements, output elements), per input that
    requires grad; whether two passes differed by at most nondet_tol; whether all gradients had the size of their input;
    whether they had its dtype. Raises ValueError for a complex output and for grad_out other than 1.
    """
    _warn_deprecated("get_analytical_jacobian")
    _require_real("get_analytical_jacobian", output, grad_out)
    gradients = analytical_jacobians(output, differentiable(as_arguments(inputs)), None)
    jacobians = tuple(tensor_on(values, output) for values in gradients.values)
    return jacobians, gradients.gap <= nondet_tol, gradients.sizes_ok, gradients.dtypes_ok
