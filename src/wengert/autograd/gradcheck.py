"""Checks of derivatives against finite differences: gradcheck for first derivatives, gradgradcheck for second ones.

A check of a function f, at inputs that require grad, has four steps:

1. Compute numerical derivatives: central differences of f, by perturbing the memory of the inputs in place.
2. Compute analytical derivatives: one vector-Jacobian product for each element of each output. Each product runs twice,
   to see whether backward is deterministic.
3. Compare them output by output. A complex output counts as two real ones, its real and its imaginary part.
4. Check that backward is linear in its cotangents and accepts undefined ones. A comparison cannot see this.

Fast mode compares u^T J v for one random pair of vectors, u for the input and v for the output, instead of each element
of the Jacobian J. See `check_modes` for the two modes, `jacobians` for the Jacobians and their conventions.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.autograd.check_modes import SEED, FastMode, GradcheckError, SlowMode, Tolerances
from wengert.autograd.jacobians import (
    Problem,
    as_arguments,
    as_outputs,
    differentiable,
    get_analytical_jacobian,
    get_numerical_jacobian,
    memory_of,
    tensor_on,
)
from wengert.tensor import Tensor

if TYPE_CHECKING:
    from wengert.autograd.jacobians import Array, Part, TensorFunction

__all__ = ["GradcheckError", "get_analytical_jacobian", "get_numerical_jacobian", "gradcheck", "gradgradcheck"]

# ----------------------------------------------------------------------------------------------------------------------
# The public functions
# ----------------------------------------------------------------------------------------------------------------------


def gradcheck(
    func: TensorFunction,
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of func with central finite differences.

    They agree where |analytical - numerical| <= atol + rtol * |numerical|.

    Args:
        func: takes the inputs, returns a tensor or a tuple or list of tensors, of any shapes. It is called many times
            and must return the same outputs for the same inputs. Outputs that do not require grad are left out, also
            when a message counts outputs. If no output requires grad, the numerical derivative of all floating and
            complex outputs must be zero.
        inputs: a tensor or a sequence of arguments of func. The tensors that require grad are checked, and messages
            about a mismatch count only them. They should be float64 or complex128, because the defaults of eps and the
            tolerances assume it. No two elements of an input may share memory. gradcheck writes to the memory of the
            inputs and restores it even if func raises, so func may also use the inputs through a closure.
        eps: step of the finite differences.
        atol, rtol: absolute and relative tolerance.
        raise_exception: if False, return False when a check fails. Errors in the arguments, and errors raised by func,
            are raised all the same.
        nondet_tol: how much two identical backward passes may differ.
        check_undefined_grad: also check that backward copes with undefined (None) and zero gradients of the outputs.
        check_grad_dtypes: also check that each gradient has its input's dtype.
        check_forward_ad: also compare tangents, of forward mode, with finite differences.
        check_batched_grad, check_batched_forward_grad: also compare derivatives of a batch with those of its entries.
            A batch is a loop here, so this tells only whether derivatives can be repeated.
        check_backward_ad: False needs check_forward_ad=True.
        fast_mode: compare one random projection of each Jacobian. It costs two calls of func for each input and two
            backward passes for each output. The full check costs two calls for each element of the inputs and two
            passes for each element of the outputs.
        masked: accepted for compatibility. It concerns sparse tensors only.

    Returns:
        True if all checks pass.

    Raises:
        GradcheckError: a derivative is wrong (a RuntimeError).
        ValueError: no input requires grad, or one is read-only.
        RuntimeError: elements of an input share memory (an expanded tensor).
        TypeError: func returns something else than tensors.
        AssertionError: the options check nothing, or func returns other shapes or dtypes for perturbed inputs.

    >>> import wengert
    >>> x = wengert.tensor([0.5, 2.0], dtype=wengert.float64, requires_grad=True)
    >>> wengert.autograd.gradcheck(lambda x: x * x, (x,))
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    arguments = as_arguments(inputs)
    _check_inputs(arguments)
    try:
        problem = Problem.evaluate(func, arguments, eps)
        mode = (FastMode if fast_mode else SlowMode)(problem, Tolerances(atol, rtol, nondet_tol, check_grad_dtypes))
        if not problem.outputs:
            _check_constant(mode)
            return True
        if check_forward_ad:
            from wengert.autograd.forward_check import check_forward_mode  # loads forward mode

            check_forward_mode(mode, check_batched_forward_grad)
        if check_backward_ad:
            _check_backward_mode(mode)
            _check_linear(problem)
            if check_undefined_grad:
                _check_undefined_gradients(problem)
            if check_batched_grad:
                from wengert.autograd.forward_check import check_batched_gradients

                check_batched_gradients(problem)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: TensorFunction,
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare second derivatives of func with finite differences of its first ones.

    It is gradcheck of the function (inputs, grad_outputs) -> gradients of the inputs. Whether these first derivatives are
    right is a question for gradcheck itself.

    Args:
        func, inputs: as for gradcheck.
        grad_outputs: the cotangents at which to differentiate, one for each output that requires grad, with its shape
            and dtype. One for every output of func is taken too: those of outputs that do not require grad are ignored.
            A cotangent that requires grad is checked like an input. Messages count the cotangents after the inputs.
            None takes random cotangents that require grad, uniform in [-1, 1) and the same in each call.
        gen_non_contig_grad_outputs: make the random grad_outputs non-contiguous.
        check_fwd_over_rev: also check gradients in forward mode.
        check_rev_over_rev: False needs check_fwd_over_rev=True.
        masked: accepted for compatibility.

    The other options are gradcheck's. Returns True if all checks pass.

    Raises:
        GradcheckError, RuntimeError, TypeError, AssertionError: as gradcheck. RuntimeError also for a wrong number of
            grad_outputs.
        ValueError: no input requires grad, or no output does.

    >>> import wengert
    >>> x = wengert.tensor([0.5, 2.0], dtype=wengert.float64, requires_grad=True)
    >>> wengert.autograd.gradgradcheck(lambda x: x * x * x, (x,))
    True
    """
    from wengert import autograd

    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    arguments = as_arguments(inputs)
    _require_an_input(arguments)
    every_output = as_outputs(func(*arguments))
    outputs = differentiable(every_output)
    if not outputs:
        raise ValueError(
            "gradgradcheck expects at least one output of func to require gradient, but none of them have "
            "requires_grad=True."
        )
    if grad_outputs is None:
        generator = np.random.default_rng(SEED)
        cotangents: tuple[Any, ...] = tuple(
            _random_like(output, generator, gen_non_contig_grad_outputs) for output in outputs
        )
    else:
        cotangents = as_arguments(grad_outputs)
    if len(cotangents) == len(every_output):
        cotangents = tuple([ct for ct, output in zip(cotangents, every_output, strict=True) if output.requires_grad])
    if len(cotangents) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(cotangents)} gradients")

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        primals = args[: len(arguments)]
        results = differentiable(as_outputs(func(*primals)))
        with_grad = [primal for primal in primals if isinstance(primal, Tensor) and primal.requires_grad]
        grads = autograd.grad(results, with_grad, args[len(arguments) :], create_graph=True, allow_unused=True)
        return tuple(grad for grad in grads if grad is not None)

    return gradcheck(
        gradients,
        arguments + cotangents,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


# ----------------------------------------------------------------------------------------------------------------------
# The arguments
# ----------------------------------------------------------------------------------------------------------------------


def _random_like(tensor: Tensor, generator: np.random.Generator, noncontiguous: bool) -> Tensor:
    """Return a tensor like this one, uniform in [-1, 1), that requires grad.

    A non-contiguous one takes every second element of a longer last dimension.
    """
    like = memory_of(tensor)
    values = generator.uniform(-1.0, 1.0, like.shape)
    if np.iscomplexobj(like):
        values = values + 1j * generator.uniform(-1.0, 1.0, like.shape)
    if noncontiguous and like.ndim:
        random = tensor_on(np.repeat(values, 2, -1).astype(like.dtype), tensor)[..., ::2]
    else:
        random = tensor_on(np.asarray(values, like.dtype), tensor)
    random.requires_grad = True
    return random


def _require_an_input(arguments: tuple[Any, ...]) -> None:
    if not differentiable(arguments):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True. Hint: x = x.double().detach().requires_grad_()."
        )


def _check_inputs(arguments: tuple[Any, ...]) -> None:
    """Raise if finite differences cannot handle an input, and warn if they handle it badly."""
    _require_an_input(arguments)
    for i, argument in enumerate(arguments):
        if not isinstance(argument, Tensor) or not argument.requires_grad:
            continue
        memory = argument._array
        if memory.dtype not in (np.float64, np.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. "
                "This check will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=3,
            )
        if memory.size and any(
            size > 1 and stride == 0 for size, stride in zip(memory.shape, memory.strides, strict=True)
        ):
            raise RuntimeError(f"The {i}th input has a dimension with stride 0. {_OVERLAP}")
        if _overlaps_itself(memory):
            raise RuntimeError(f"Elements of the {i}th input share memory. {_OVERLAP}")
        if argument.is_cpu and not memory.flags.writeable:
            raise ValueError(
                f"The {i}th input is read-only, but gradcheck perturbs its inputs in place to compute the numerical "
                "gradients. Hint: pass x.detach().clone().requires_grad_()."
            )


_OVERLAP = (
    "gradcheck only supports inputs that are non-overlapping to be able to compute the numerical gradients correctly. "
    "You should call .contiguous on the input before passing it to gradcheck."
)


def _overlaps_itself(memory: Array) -> bool:
    """Whether two elements share memory."""
    if memory.flags.c_contiguous or memory.flags.f_contiguous:
        return False
    offsets = np.zeros(1, np.intp)
    for size, stride in zip(memory.shape, memory.strides, strict=True):
        offsets = np.add.outer(offsets, stride * np.arange(size)).reshape(-1)
    return bool((np.diff(np.sort(offsets)) < memory.itemsize).any())


def _comparisons(outputs: Sequence[Tensor]) -> Iterator[tuple[int, Part]]:
    """Yield (output number, part) in torch's order: real outputs and imaginary parts first, then real parts."""
    for i, output in enumerate(outputs):
        yield i, "imag" if output.is_complex() else None
    for i, output in enumerate(outputs):
        if output.is_complex():
            yield i, "real"


def _check_backward_mode(mode: SlowMode | FastMode) -> None:
    """Compare numerical and analytical derivatives of all outputs with respect to all inputs."""
    tolerances = mode.tolerances
    for i, part in _comparisons(mode.problem.outputs):
        gradients = mode.analytical(i, part)
        if not gradients.sizes_ok:
            raise GradcheckError("Analytical gradient has incorrect size")
        if tolerances.check_grad_dtypes and not gradients.dtypes_ok:
            raise GradcheckError("Gradient has dtype mismatch")
        pairs = [(mode.numerical(i, j, part), analytical) for j, analytical in enumerate(gradients.values)]
        matches = [
            np.allclose(analytical, numerical, tolerances.rtol, mode.atol(i, j))
            for j, (numerical, analytical) in enumerate(pairs)
        ]
        if gradients.gap > tolerances.nondet_tol:
            raise GradcheckError(_not_reentrant(tolerances.nondet_tol, gradients.gap, all(matches)))
        if not all(matches):
            j = matches.index(False)
            raise GradcheckError(_mismatch(i, j, part) + mode.describe(i, j, part, *pairs[j]))


def _mismatch(i: int, j: int, part: Part) -> str:
    text = f"Jacobian mismatch for output {i} with respect to input {j},\n"
    if part is None:
        return text
    name = {"real": "real", "imag": "imaginary"}[part]
    return f"While considering the {name} part of complex outputs only, {text}"


def _not_reentrant(tolerance: float, gap: float, matches: bool) -> str:
    compared = "although analytical gradient matches" if matches else "and analytical gradient does not match"
    return (
        "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
        f"different values, {compared} numerical gradient. "
        f"The tolerance for nondeterminism was {tolerance}; the largest difference was {gap}.\n\n"
        "NOTE: If your op relies on non-deterministic operations (random numbers, sums in varying order), this failure "
        "might be expected.\n"
        "Hint: call gradcheck/gradgradcheck with `nondet_tol=<tol>` as a keyword argument.\n"
    )


# ----------------------------------------------------------------------------------------------------------------------
# Further checks
# ----------------------------------------------------------------------------------------------------------------------


def _check_constant(mode: SlowMode | FastMode) -> None:
    """Check, if no output requires grad, that no floating or complex output depends on the inputs."""
    for differences in mode.differences:
        for difference in differences:
            if any(np.any(along != 0) for along in difference if along is not None):
                raise GradcheckError(
                    "Numerical gradient for function expected to be zero: no output of func requires grad, but some "
                    "depend on an input. Hint: look for detach(), item(), .data, numpy() or no_grad in func, and for a "
                    "no_grad around the check."
                )


def _check_linear(problem: Problem) -> None:
    """Check that zero cotangents give zero gradients."""
    from wengert import autograd

    zeros = [tensor_on(np.zeros_like(memory_of(output), order="C"), output) for output in problem.outputs]
    grads = autograd.grad(problem.outputs, problem.inputs, zeros, retain_graph=True, allow_unused=True)
    for j, (tensor, grad) in enumerate(zip(problem.inputs, grads, strict=True)):
        if grad is None:
            continue
        if (memory_of(grad) != 0).any():
            raise GradcheckError(
                f"backward not multiplied by grad_output: the gradient for input {j} is not zero although all "
                "grad_outputs are."
            )
        if grad.dtype != tensor.dtype:
            raise GradcheckError(f"grad is incorrect type: {grad.dtype} for input {j} of type {tensor.dtype}")
        if grad.shape != tensor.shape:
            raise GradcheckError(f"grad is incorrect size: {grad.shape} for input {j} of size {tensor.shape}")


@functools.cache
def _undefined_function() -> Any:
    """Return the identity as a Function whose backward returns None. The node below it gets an undefined gradient, not zeros."""
    from wengert.autograd import Function

    class UndefinedGrad(Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Any:
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, grad_output: Tensor) -> None:
            return None

    return UndefinedGrad


def _check_undefined_gradients(problem: Problem) -> None:
    """Check that undefined cotangents, of all outputs at once or of one beside zeros, give undefined or zero gradients."""
    everything = range(len(problem.outputs))
    for undefined in [everything] if len(everything) == 1 else [everything, *([i] for i in everything)]:
        _check_undefined(problem, set(undefined))


def _check_undefined(problem: Problem, undefined: set[int]) -> None:
    """Check one backward pass. undefined: the numbers of the outputs whose cotangent is undefined."""
    from wengert import autograd

    hide = _undefined_function().apply
    outputs = [hide(output) if i in undefined else output for i, output in enumerate(problem.outputs)]
    zeros = [tensor_on(np.zeros_like(memory_of(output), order="C"), output) for output in outputs]
    try:
        grads = autograd.grad(outputs, problem.inputs, zeros, retain_graph=True, allow_unused=True)
    except Exception as error:
        _warn_of_undefined_gradients()
        which = "all outputs" if len(undefined) == len(outputs) else f"output {min(undefined)}"
        raise GradcheckError(
            f"Expected backward function to handle undefined output grads. With None for the gradient of {which}, it "
            f"raised {type(error).__name__}: {error}\n"
            "Hint: with set_materialize_grads(False), backward must take None for any gradient; or pass "
            "check_undefined_grad=False."
        ) from error
    if any(grad is not None and (memory_of(grad) != 0).any() for grad in grads):
        _warn_of_undefined_gradients()
        raise GradcheckError(
            "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
            "Hint: return None for None in backward; or pass check_undefined_grad=False."
        )


def _warn_of_undefined_gradients() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
        "break existing callers of this function. If this is true for you, you can call this function with "
        '"check_undefined_grad=False" to disable the feature',
        stacklevel=5,
    )


def __dir__() -> list[str]:
    return sorted(__all__)
