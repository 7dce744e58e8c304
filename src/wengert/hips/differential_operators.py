"""Derivatives of functions of arrays, numbers, and containers of them: grad, jacobian, hessian and their kind.

Each takes a function and the number of the argument to differentiate in, or a tuple of numbers, and returns a function of the same
arguments. They nest to any depth.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core.tensor import TensorBase, wrap
from wengert.hips.boxes import is_traced, value_of
from wengert.hips.doors import door
from wengert.hips.tape import Recorded, make_jvp as _make_jvp, make_vjp as _make_vjp
from wengert.hips.vspaces import vspace
from wengert.hips.wrap_util import unary_to_nary
from wengert.utils.checkpoint import checkpoint as _checkpoint

make_vjp = unary_to_nary(_make_vjp)
make_jvp = unary_to_nary(_make_jvp)


def _checked(fun: Any, x: Any, message: str) -> tuple[Recorded, Any]:
    """Run fun on the tape. Raises TypeError unless it returns one real number. Returns (record, one in the shape of the output)."""
    recorded = Recorded(fun, x)
    found = recorded.output
    if isinstance(found, TensorBase):
        array: Any = found._array
        size = array.size * (2 if array.dtype.kind == "c" else 1)
        ones = np.empty(array.shape, array.dtype)
        ones.fill(1)
        one = wrap(ones)
    else:
        space = vspace(found)
        size, one = space.size, space.ones()
    if size != 1:
        raise TypeError(message)
    return recorded, one


@unary_to_nary
def grad(fun: Any, x: Any) -> Any:
    """
    Returns a function which computes the gradient of fun, a function with one real number as its result.

    argnum: the number of the argument to differentiate in, or a tuple of numbers. The gradient has the structure of the argument.
    Raises TypeError if fun does not return one real number, or if the argument is neither an array nor a floating-point number,
    nor a container of these. For a complex argument the gradient is the conjugate of torch's.

    >>> from wengert.hips import grad
    >>> grad(lambda x: x ** 3)(2.0)
    np.float64(12.0)
    """
    recorded, one = _checked(
        fun, x, "Grad only applies to real scalar-output functions. Try jacobian, elementwise_grad or holomorphic_grad."
    )
    return recorded.pull_back(one, retain_graph=False)


@unary_to_nary
def value_and_grad(fun: Any, x: Any) -> Any:
    """Return a function that computes (value, gradient) of fun. See grad."""
    recorded, one = _checked(
        fun,
        x,
        "value_and_grad only applies to real scalar-output functions. Try jacobian, elementwise_grad or holomorphic_grad.",
    )
    return recorded.value, recorded.pull_back(one, retain_graph=False)


@unary_to_nary
def elementwise_grad(fun: Any, x: Any) -> Any:
    """Return a function that computes the sums of the columns of the Jacobian of fun.

    For a function that works element by element, this is the derivative."""
    recorded = Recorded(fun, x)
    space = vspace(recorded.output)
    if space.iscomplex:
        raise TypeError("Elementwise_grad only applies to real-output functions.")
    return recorded.pull_back(space.ones(), retain_graph=False)


@unary_to_nary
def deriv(fun: Any, x: Any) -> Any:
    """Return a function that computes the derivative of fun along ones, in forward mode."""
    return _make_jvp(fun, x)(vspace(x).ones())[1]


@unary_to_nary
def jacobian(fun: Any, x: Any) -> Any:
    """Return a function that computes the Jacobian of fun. Its shape is that of the output, followed by that of the argument.

    Raises TypeError for arguments and outputs that are containers.
    """
    vjp, value = _make_vjp(fun, x)
    space, given = vspace(value), vspace(x)
    if not (hasattr(space, "dtype") and hasattr(given, "dtype")):
        raise TypeError(f"jacobian applies to functions from an array to an array, but got {type(x)} and {type(value)}")
    rows = [vjp(basis) for basis in space.standard_basis()]
    shape = space.shape + given.shape
    return door(np.reshape)(door(np.stack)(rows), shape) if rows else np.zeros(shape)


@unary_to_nary
def holomorphic_grad(fun: Any, x: Any) -> Any:
    """Return a function that computes the complex derivative of fun, a holomorphic function of a complex argument."""
    if not vspace(x).iscomplex:
        warnings.warn("Input to holomorphic_grad is not complex", stacklevel=3)
    return grad(lambda z: door(np.real)(fun(z)))(x)


def grad_named(fun: Callable[..., Any], argname: str) -> Any:
    """Return the gradient of fun in the argument of this name, which may not be one of *args or **kwargs."""
    import inspect

    return grad(fun, inspect.getfullargspec(fun).args.index(argname))


@unary_to_nary
def hessian(fun: Any, x: Any) -> Any:
    """Return a function that computes the Hessian of fun."""
    return jacobian(jacobian(fun))(x)


@unary_to_nary
def make_hvp(fun: Any, x: Any) -> Any:
    """Return a function that gives (hvp, gradient), where hvp(v) is the product of the Hessian with v. fun runs once."""
    return _make_vjp(grad(fun), x)


def hessian_tensor_product(fun: Callable[..., Any], argnum: int = 0) -> Any:
    """Return a function of (*args, tensor) that computes the product of the Hessian of fun with a tensor like the argument."""
    gradient = grad(fun, argnum)

    def product(*args: Any, **kwargs: Any) -> Any:
        args, tensor = args[:-1], args[-1]
        return door(np.tensordot)(gradient(*args, **kwargs), tensor, np.ndim(value_of(tensor)))

    return grad(product, argnum)


hessian_vector_product = hessian_tensor_product


def tensor_jacobian_product(fun: Callable[..., Any], argnum: int = 0) -> Any:
    """Return a function of (*args, tensor) that computes the product of a tensor with the Jacobian of fun."""

    def product(*args: Any, **kwargs: Any) -> Any:
        args, tensor = args[:-1], args[-1]
        return door(np.tensordot)(tensor, fun(*args, **kwargs), axes=np.ndim(value_of(tensor)))

    return jacobian(product, argnum)


vector_jacobian_product = tensor_jacobian_product


@unary_to_nary
def make_jvp_reversemode(fun: Any, x: Any) -> Any:
    """Return a function that computes Jacobian-vector products by two backward passes."""
    vjp, value = _make_vjp(fun, x)
    return _make_vjp(vjp, vspace(value).zeros())[0]


def _half_square(x: Any) -> Any:
    return 0.5 * door(np.sum)(x**2, axis=-1)


def make_ggnvp(f: Callable[..., Any], g: Callable[[Any], Any] = _half_square, f_argnum: int = 0) -> Any:
    """Return a function that gives products with the generalized Gauss-Newton matrix of g(f(x)): J^T H J, H the Hessian of g."""

    @unary_to_nary
    def make(f: Any, x: Any) -> Callable[[Any], Any]:
        f_vjp, value = _make_vjp(f, x)
        g_hvp, gradient = _make_vjp(grad(g), value)
        f_jvp, _ = _make_vjp(f_vjp, vspace(gradient).zeros())
        return lambda v: f_vjp(g_hvp(f_jvp(v)))

    return make(f, f_argnum)


@unary_to_nary
def grad_and_aux(fun: Any, x: Any) -> Any:
    """Return a function that computes (gradient of the first output of fun, its second output). fun returns two outputs."""
    vjp, (value, aux) = _make_vjp(lambda x: tuple(fun(x)), x)
    return vjp((vspace(value).ones(), vspace(aux).zeros())), aux


def multigrad_dict(fun: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """Return a function that computes the gradients of fun in all its arguments, as a dict from their names."""
    import inspect

    signature = inspect.signature(fun)

    def gradients(*args: Any, **kwargs: Any) -> dict[str, Any]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def run(arguments: dict[str, Any]) -> Any:
            bound.arguments.update(arguments)
            return fun(*bound.args, **bound.kwargs)

        given = dict(bound.arguments)
        found: dict[str, Any] = grad(run)(given)
        return found

    return gradients


def checkpoint(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return fun as a function that keeps only its arguments, and runs again when a backward pass needs what it computed."""

    def run(*args: Any, **kwargs: Any) -> Any:
        if not is_traced(args):
            return fun(*args, **kwargs)
        return _checkpoint(fun, *args, use_reentrant=False, preserve_rng_state=False, **kwargs)

    run.__name__, run.__doc__ = getattr(fun, "__name__", "checkpoint"), fun.__doc__
    return run
