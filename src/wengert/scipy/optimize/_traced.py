"""Functions of the user's as SciPy's optimizers call them: with arrays, and with derivatives that autograd computes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import errors
from wengert.array_functions.table import detached, holds_tensor, tensor, w
from wengert.autograd import grad
from wengert.autograd.grad_mode import enable_grad
from wengert.core.tensor import TensorBase, wrap
from wengert.scipy._closures import Parameters, implicit, jacobian


def plain(function: Any) -> Any:
    """Return a function whose results are arrays and numbers. What is no function is returned as it is."""
    if not callable(function) or isinstance(function, type):
        return function

    def call(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        return detached(found) if holds_tensor((found,)) else found

    return call


def arrays(x: Any) -> Any:
    """Return x with each tensor in it, and in its lists, tuples and dicts, as an array."""
    if isinstance(x, dict):
        return {name: arrays(value) for name, value in x.items()}
    return detached(x) if holds_tensor((x,)) else x


class Traced:
    """A function of an array, with its derivatives. point: an array at which it is tried.

    is_traced: whether its results depend on the argument by operations of tensors. If not, SciPy approximates derivatives by finite
    differences, as it does for functions of NumPy arrays. parameters: the tensors that the function depends on.
    """

    def __init__(self, function: Callable[..., Any], point: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs or {}
        self._last: tuple[Any, Any] | None = None
        self.is_traced, self.parameters = True, Parameters()
        point = np.asarray(detached(point))
        point = point.astype(float) if point.dtype.kind in "iub" else point
        try:
            x, y = self.at(point)
        except (errors.ConversionError, _LostGradient):
            if holds_tensor((args, self.kwargs)):
                raise
            self.is_traced, self._last = False, None
            return
        self.parameters.collect(y, x)
        self.is_traced = isinstance(y, TensorBase) and bool(y.requires_grad)

    def call(self, x: Any) -> Any:
        """Call the function with a tensor. Returns a tensor, or what the function returns if that has none."""
        with enable_grad(), warnings.catch_warnings():
            warnings.filterwarnings("error", "Converting a tensor with requires_grad=True to a scalar", UserWarning)
            try:
                found = self.function(x, *self.args, **self.kwargs)
            except UserWarning as warning:
                raise _LostGradient(
                    "The function makes a number of its argument, which loses the gradient. Hint: use functions of NumPy or "
                    "wengert in place of those of math, and no float()."
                ) from warning
            return tensor(found) if isinstance(found, (list, tuple)) and holds_tensor((found,)) else found

    def at(self, x: Any) -> tuple[Any, Any]:
        """Return (argument, result) for an array. The result is kept for the derivative at the same place."""
        if self._last is None or not np.array_equal(self._last[0].detach().numpy(), x):
            leaf = wrap(np.array(x, dtype=np.result_type(x, np.float64))).requires_grad_()
            self._last = leaf, self.call(leaf)
        return self._last

    def value(self, x: Any, *_: Any) -> Any:
        """Value as an array or number, for SciPy."""
        if not self.is_traced:
            found = self.function(x, *self.args, **self.kwargs)
            return detached(found) if holds_tensor((found,)) else found
        found = np.asarray(detached(self.at(x)[1]))
        return found.item() if found.ndim == 0 else found

    def slope(self, x: Any, *_: Any) -> Any:
        """The gradient of a function with one value, or the Jacobian matrix: (values,) + shape of x."""
        leaf, y = self.at(x)
        if not isinstance(y, TensorBase) or not y.requires_grad:
            return np.zeros((*np.shape(y), *np.shape(x)))
        found = detached(jacobian(y, leaf))
        return found.reshape(np.shape(x)) if y.numel() == 1 and y.ndim < 2 else found  # type: ignore[attr-defined]

    def gradient(self, x: Any) -> Any:
        """The gradient at a tensor, with its graph."""
        with enable_grad():
            y = self.call(x)
            if not isinstance(y, TensorBase) or not y.requires_grad:
                return w.zeros_like(x) * x
            return grad(w.sum(y), x, create_graph=True, allow_unused=True, materialize_grads=True)[0]

    def hessian(self, x: Any, *_: Any) -> Any:
        """The matrix of second derivatives, an array."""
        leaf = tensor(np.array(x, float)).requires_grad_()
        with enable_grad():
            return detached(jacobian(self.gradient(leaf), leaf))

    def hessian_product(self, x: Any, p: Any, *_: Any) -> Any:
        """The product of the matrix of second derivatives with p, an array."""
        leaf = tensor(np.array(x, float)).requires_grad_()
        slope = self.gradient(leaf)
        if not slope.requires_grad:
            return np.zeros_like(x)
        return detached(grad(slope, leaf, w.as_tensor(np.array(p, float)), allow_unused=True, materialize_grads=True)[0])

    def solved(self, solution: Any, residual: Callable[[Any], Any] | None = None) -> Any:
        """Return a solution as a tensor that depends on the parameters, or as it is if there are none.

        residual: a function of a tensor that is zero at the solution; by default the function itself.
        """
        if not self.parameters:
            return solution
        self.check_traced()
        return implicit(residual or self.call, np.asarray(solution, float))

    def check_traced(self) -> None:
        """Raise NotImplementedError if the results are not traced, so that a solution has no derivative."""
        if not self.is_traced:
            raise NotImplementedError(
                "The function depends on tensors that are differentiated, but its result has no derivative in its first argument. "
                "Hint: compute it by operations of NumPy or wengert."
            )


class _LostGradient(RuntimeError):
    """A function converted a tensor that is differentiated into a number."""
