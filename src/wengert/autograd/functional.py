"""Jacobians, Hessians, and their products with vectors, of a function at given inputs.

The functions here take a function of one tensor, or of several tensors given as a tuple:

>>> import wengert
>>> from wengert.autograd.functional import hessian, jacobian
>>> x = wengert.tensor([1.0, 2.0])
>>> jacobian(lambda x: x ** 2, x)
tensor([[2., 0.],
        [0., 4.]])
>>> hessian(lambda x: (x ** 3).sum(), x)
tensor([[ 6.,  0.],
        [ 0., 12.]])

create_graph=True records the computation, so that results can be differentiated again. strict=True raises RuntimeError if
an output does not depend on an input, which otherwise gives zeros and often is a mistake. wengert.func has the same
derivatives as function transforms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of
from wengert.core.modes import set_recording
from wengert.core.tensor import TensorBase, wrap
from wengert.ops import OPS

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = tuple[Any, ...]


# -- inputs and outputs ------------------------------------------------------------------------------------------------


def _as_tensors(x: Any, what: str, name: str) -> Tensors:
    """Return x, a tensor or a tuple of tensors, as a tuple. Raises TypeError for anything else."""
    if isinstance(x, TensorBase):
        return (x,)
    if not isinstance(x, tuple):
        raise _not_tensors(what, name, f"given {what}", type(x))
    for i, item in enumerate(x):
        if not isinstance(item, TensorBase):
            raise _not_tensors(what, name, f"value at index {i}", type(item))
    return x


def _not_tensors(what: str, name: str, found: str, kind: type) -> Exception:
    return errors.ArgumentError(
        f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the {found} has type {kind}."
    )


def _as_variables(inputs: Tensors, create_graph: bool) -> Tensors:
    """Return the tensors to call func with: views of inputs that require grad, recorded only if create_graph."""
    return tuple(
        [x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in inputs]
    )


def _evaluate(func: Callable[..., Any], inputs: Tensors, name: str) -> tuple[Tensors, bool]:
    """Call func. Returns (outputs as a tuple, whether func returned a tuple)."""
    found = func(*inputs)
    return _as_tensors(found, "outputs of the user-provided function", name), isinstance(found, tuple)


def _evaluate_scalar(func: Callable[..., Any], inputs: Tensors, name: str) -> Any:
    """Call func and return its only output, which must have one element, as a 0-d tensor."""
    outputs, is_tuple = _evaluate(func, inputs, name)
    if is_tuple or len(outputs) != 1:
        raise errors.GradientError(f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise errors.GradientError(f"The Tensor returned by the function given to {name} should contain a single element")
    return outputs[0].reshape(()) if outputs[0].ndim else outputs[0]


def _checked_vectors(v: Any, like: Tensors, name: str, of_output: bool) -> Tensors:
    """Return v as a tuple of tensors with the shapes of `like`. None means a one, if `like` is one tensor of one element."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            where = "the user-provided function returns" if of_output else "the input to the user-provided function is"
            raise errors.GradientError(f"The vector v can only be None if {where} a single Tensor with a single element.")
        return (like[0].detach().new_ones(like[0].shape),)
    vectors = _as_tensors(v, "v", name)
    if len(vectors) != len(like):
        if len(like) == 1:
            raise errors.GradientError("The given v should contain a single Tensor.")
        raise errors.GradientError(f"v is a tuple of invalid length: should be {len(like)} but got {len(vectors)}.")
    for i, (vector, x) in enumerate(zip(vectors, like, strict=True)):
        if vector.shape != x.shape:
            which = "v" if len(like) == 1 else f"Entry {i} in v"
            raise errors.GradientError(f"{which} has invalid size: should be {x.shape} but got {vector.shape}.")
    return vectors


def _detach_results(results: Any, create_graph: bool) -> Any:
    """Return the results, detached unless create_graph."""
    if isinstance(results, (tuple, list)):
        return tuple([_detach_results(r, create_graph) for r in results])
    return results if create_graph or not results.requires_grad else results.detach()


def _unwrap_single(results: Tensors, is_tuple: bool) -> Any:
    return results if is_tuple else results[0]


def _check_outputs(outputs: Tensors, strict: bool) -> None:
    for i, output in enumerate(outputs):
        if strict and not output.requires_grad:
            raise errors.NotDifferentiableError(
                f"Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
                "differentiable manner from the input when running in strict mode."
            )


def _grad(outputs: Tensors, inputs: Tensors, cotangents: Sequence[Any], create_graph: bool) -> list[Any]:
    """autograd.grad of the outputs that require grad, with the graph retained; None for inputs that are unused."""
    from wengert.autograd import grad

    pairs = [(o, ct) for o, ct in zip(outputs, cotangents, strict=True) if o is not None and o.requires_grad]
    if not pairs:
        return [None] * len(inputs)
    found = grad(
        [o for o, _ in pairs], inputs, [ct for _, ct in pairs], retain_graph=True, create_graph=create_graph, allow_unused=True
    )
    return list(found)


def _fill_missing(results: list[Any], like: Tensors, missing: Callable[[int], Exception] | None = None) -> Tensors:
    """Replace each None in results by zeros; or raise missing(index) if `missing` is given."""
    for i, result in enumerate(results):
        if result is None and missing is not None:
            raise missing(i)
    return tuple([_zeros(x) if r is None else r for r, x in zip(results, like, strict=True)])


def _independent_output(index: int, output: str = "The output") -> Exception:
    return errors.NotDifferentiableError(
        f"{output} of the user-provided function is independent of input {index}. This is not allowed in strict mode."
    )


def _independent_jacobian(index: int) -> Exception:
    return errors.NotDifferentiableError(
        f"The jacobian of the user-provided function is independent of input {index}. This is not allowed in strict mode "
        "when create_graph=True."
    )


def _independent_gradient(index: int) -> Exception:
    return errors.NotDifferentiableError(
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input "
        f"{index} is independent of the input. This is not allowed in strict mode. You should ensure that your function is "
        "twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for "
        "example)."
    )


def _zeros(x: Any) -> Any:
    return wrap(backend_of(x._array).zeros_like(x._array))


def _check_depends(results: Tensors, strict: bool, create_graph: bool) -> None:
    """Raise, if strict and create_graph, for a first derivative that requires no grad and so is constant."""
    for i, result in enumerate(results):
        if strict and create_graph and not result.requires_grad:
            raise _independent_jacobian(i)


def _apply_transpose(products: Sequence[Any], duals: Tensors, vectors: Tensors, create_graph: bool) -> list[Any]:
    """Apply the transpose of the linear map from duals to products to vectors."""
    return _grad(tuple(products), duals, vectors, create_graph)


def _zero_cotangents(tensors: Tensors) -> Tensors:
    """Return zero cotangents of tensors that require grad, as variables of a linear map."""
    return tuple([_zeros(t).requires_grad_() for t in tensors])


# -- products ----------------------------------------------------------------------------------------------------------


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return (outputs, v' J): func's outputs, and the vector-Jacobian product in the structure of inputs.

    v: a tensor of the shape of each output; optional for one output of one element. The product takes one backward pass,
    which costs a few calls of func.

    >>> import wengert
    >>> wengert.autograd.functional.vjp(lambda x: x ** 2, wengert.tensor([1.0, 2.0]), wengert.tensor([1.0, 0.5]))
    (tensor([1., 4.]), tensor([2., 2.]))
    """
    with set_recording(True):
        given = _as_tensors(inputs, "inputs", "vjp")
        variables = _as_variables(given, create_graph)
        outputs, is_tuple = _evaluate(func, variables, "vjp")
        _check_outputs(outputs, strict)
        vectors = _checked_vectors(v, outputs, "vjp", True)
    with set_recording(create_graph):
        found = _grad(outputs, variables, vectors, create_graph)
        products = _fill_missing(found, variables, _independent_output if strict else None)
        _check_depends(products, strict, create_graph)
    finished = _detach_results(products, create_graph)
    return _detach_results(_unwrap_single(outputs, is_tuple), create_graph), _unwrap_single(finished, isinstance(inputs, tuple))


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return (outputs, J v): func's outputs, and the Jacobian-vector product in the structure of the outputs.

    v: a tensor of the shape of each input; optional for one input of one element. The product takes two backward passes,
    so that func may use custom Functions without a jvp. wengert.func.jvp uses forward mode, which is cheaper.

    >>> import wengert
    >>> wengert.autograd.functional.jvp(lambda x: x ** 2, wengert.tensor([1.0, 2.0]), wengert.tensor([1.0, 0.5]))
    (tensor([1., 4.]), tensor([2., 2.]))
    """
    with set_recording(True):
        given = _as_tensors(inputs, "inputs", "jvp")
        variables = _as_variables(given, create_graph)
        vectors = _checked_vectors(v, variables, "jvp", False)
        outputs, is_tuple = _evaluate(func, variables, "jvp")
        _check_outputs(outputs, strict)
        duals = _zero_cotangents(outputs)
        backward = _grad(outputs, variables, duals, True)
        _fill_missing(backward, variables, _independent_output if strict else None)
    with set_recording(create_graph):
        products = _fill_missing(_apply_transpose(backward, duals, vectors, create_graph), outputs)
        _check_depends(products, strict, create_graph)
    found = _unwrap_single(outputs, is_tuple), _unwrap_single(products, is_tuple)
    return _detach_results(found, create_graph)


def _recorded_gradient(
    func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool, name: str
) -> tuple[Any, Tensors, Tensors, list[Any]]:
    """Return (output, variables, vectors, recorded gradient) of a function whose output is one number."""
    variables = _as_variables(_as_tensors(inputs, "inputs", name), create_graph)
    vectors = _checked_vectors(v, variables, name, False)
    output = _evaluate_scalar(func, variables, name)
    _check_outputs((output,), strict)
    found = _grad((output,), variables, [wrap(backend_of(output._array).ones_like(output._array))], True)
    gradient = _fill_missing(found, variables, _independent_output if strict else None)
    for i, g in enumerate(gradient):
        if strict and not g.requires_grad:
            raise _independent_gradient(i)
    return output, variables, vectors, list(gradient)


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return (output, v' H): func's output, and the vector-Hessian product in the structure of inputs.

    func: returns one number. v: a tensor of the shape of each input; optional for one input of one element. The product
    takes two backward passes; the Hessian itself is never computed.

    >>> import wengert
    >>> wengert.autograd.functional.vhp(lambda x: (x ** 3).sum(), wengert.tensor([1.0, 2.0]), wengert.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with set_recording(True):
        output, variables, vectors, gradient = _recorded_gradient(func, inputs, v, create_graph, strict, "vhp")
    with set_recording(create_graph):
        found = _grad(tuple(gradient), variables, vectors, create_graph)
        products = _fill_missing(found, variables, _independent_gradient if strict else None)
    finished = _detach_results(products, create_graph)
    return _detach_results(output, create_graph), _unwrap_single(finished, isinstance(inputs, tuple))


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return (output, H v): func's output, and the Hessian-vector product in the structure of inputs.

    Arguments: as vhp. H v equals v' H if second derivatives are continuous; vhp takes one backward pass less.

    >>> import wengert
    >>> wengert.autograd.functional.hvp(lambda x: (x ** 3).sum(), wengert.tensor([1.0, 2.0]), wengert.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with set_recording(True):
        output, variables, vectors, gradient = _recorded_gradient(func, inputs, v, create_graph, strict, "hvp")
        duals = _zero_cotangents(variables)
        twice = _grad(tuple(gradient), variables, duals, True)
        _fill_missing(twice, variables, _independent_gradient if strict else None)
    with set_recording(create_graph):
        products = _fill_missing(_apply_transpose(twice, duals, vectors, create_graph), variables)
    finished = _detach_results(products, create_graph)
    return _detach_results(output, create_graph), _unwrap_single(finished, isinstance(inputs, tuple))


# -- matrices ----------------------------------------------------------------------------------------------------------


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the Jacobian of func: for an output of shape m and an input of shape n, a tensor of shape m + n.

    If outputs or inputs are tuples, the result is a tuple indexed by output, by input, or by output first and then input.
    strategy: "reverse-mode" computes rows, with a backward pass for each element of the outputs. "forward-mode" computes
    columns, with a call of func on dual numbers for each element of the inputs; it requires vectorize=True, as in torch.
    vectorize: has no other effect here; torch runs all passes at once.

    >>> import wengert
    >>> x, y = wengert.tensor([1.0, 2.0]), wengert.tensor(3.0)
    >>> wengert.autograd.functional.jacobian(lambda x, y: x * y, (x, y))
    (tensor([[3., 0.],
            [0., 3.]]), tensor([1., 2.]))
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise errors.StrategyError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than '
            'inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        if strict:
            raise errors.GradientError(
                'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported '
                'together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
            )
        if not vectorize:
            raise errors.UnsupportedModeError(
                "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
                "`vectorize=True`."
            )
        return _jacobian_by_columns(func, inputs, create_graph)
    if strict and vectorize:
        raise errors.GradientError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please "
            "either set `strict=False` or `vectorize=False`."
        )
    with set_recording(True):
        variables = _as_variables(_as_tensors(inputs, "inputs", "jacobian"), create_graph)
        outputs, is_tuple = _evaluate(func, variables, "jacobian")
        _check_outputs(outputs, strict)
    rows = []
    for i, output in enumerate(outputs):
        with set_recording(create_graph):
            parts = _jacobian_by_rows(output, i, variables, create_graph, strict)
        rows.append(_unwrap_single(parts, isinstance(inputs, tuple)))
    return _detach_results(_unwrap_single(tuple(rows), is_tuple), create_graph)


def _jacobian_by_rows(output: Any, number: int, variables: Tensors, create_graph: bool, strict: bool) -> Tensors:
    """Return the Jacobian of one output in each variable, of shape (*output, *variable)."""
    columns: list[list[Any]] = [[] for _ in variables]
    for index in np.ndindex(output._array.shape):
        unit = backend_of(output._array).zeros_like(output._array)
        unit[index] = 1
        found = _grad((output,), variables, [wrap(unit)], create_graph)
        for i, (x, result) in enumerate(zip(variables, found, strict=True)):
            if result is None and strict:
                raise _independent_output(i, f"Output {number}")
            if result is not None and strict and create_graph and not result.requires_grad:
                raise _independent_jacobian(i)
            columns[i].append(_zeros(x) if result is None else result)
    return tuple(
        [
            OPS["stack"].function(column).reshape(output.shape + x.shape) if column else x.new_zeros(output.shape + x.shape)
            for column, x in zip(columns, variables, strict=True)
        ]
    )


def _jacobian_by_columns(func: Callable[..., Any], inputs: Any, create_graph: bool) -> Any:
    """jacobian in forward mode."""
    from wengert.func import jacfwd

    given = _as_tensors(inputs, "inputs", "jacobian")
    is_tuple = False

    def checked(*args: Any) -> Tensors:
        nonlocal is_tuple
        outputs, is_tuple = _evaluate(func, args, "jacobian")
        return outputs

    with set_recording(create_graph):
        found = jacfwd(checked, argnums=tuple(range(len(given))))(*given)
    rows = tuple([_unwrap_single(tuple(row), isinstance(inputs, tuple)) for row in found])
    return _detach_results(_unwrap_single(rows, is_tuple), create_graph)


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the Hessian of func, whose output is one number: for an input of shape n, a tensor of shape n + n.

    If inputs is a tuple, the result is a tuple of tuples: entry [i][j] has the second derivatives in inputs i and j, of
    shape n_i + n_j. Other arguments: as jacobian; the Hessian is the Jacobian of the gradient.

    >>> import wengert
    >>> wengert.autograd.functional.hessian(lambda x, y: (x ** 2 * y).sum(), (wengert.ones(1), wengert.ones(1)))
    ((tensor([[2.]]), tensor([[2.]])), (tensor([[2.]]), tensor([[0.]])))
    """
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise errors.StrategyError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    is_tuple = isinstance(inputs, tuple)

    def gradient(*variables: Any) -> Tensors:
        with set_recording(True):
            aliases = tuple([x if x.requires_grad else x.view_as(x).requires_grad_() for x in variables])
            output = _evaluate_scalar(func, aliases, "hessian")
            _check_outputs((output,), strict)
            found = _grad((output,), aliases, [wrap(backend_of(output._array).ones_like(output._array))], True)
            result = _fill_missing(found, aliases)
        for i, g in enumerate(result):
            if strict and not g.requires_grad:
                raise _independent_gradient(i)
        return result

    given = _as_tensors(inputs, "inputs", "hessian")
    rows = jacobian(gradient, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return rows if is_tuple else rows[0][0]


def __dir__() -> list[str]:
    return sorted(__all__)
