"""scipy.fft with derivatives. See _frame.py. Each transform is linear: its derivative is the transform of a tangent."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from wengert.array_functions.table import checked_axis, fft as _ours, ints, tensor, w as _w
from wengert.ops.faces import tensor_face
from wengert.ops.trigonometric_transforms import edge_weights
from wengert.scipy._frame import Submodule as _Submodule, operands

_F: Any = tensor_face
_module = _Submodule("fft", globals())
__getattr__, __dir__ = _module.lookups()

_NORMS = (None, "backward", "ortho", "forward")


def _check_norm(norm: Any) -> None:
    if norm not in _NORMS:
        raise ValueError(f'Invalid norm value {norm!r}, should be "backward", "ortho" or "forward"')


# -- Fourier transforms ------------------------------------------------------------------------------------------------------


def _checked(x: Any, name: str, norm: Any) -> Any:
    (x,) = operands(x)
    _check_norm(norm)
    if name.startswith(("rfft", "ihfft")) and x.is_complex():
        raise TypeError("x must be a real sequence")
    return x


def _one_axis(name: str) -> Callable[..., Any]:
    def function(x: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
        x = _checked(x, name, norm)
        if n is not None and n < 1:
            raise ValueError(f"invalid number of data points ({n}) specified")
        return _w.resolve_conj(getattr(_ours, name)(x, n, checked_axis(axis, x.ndim), norm))

    return function


def _two_axes(name: str) -> Callable[..., Any]:
    def function(x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
        return _over_axes(name, x, s, axes, norm)

    return function


def _many_axes(name: str) -> Callable[..., Any]:
    def function(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
        return _over_axes(f"{name[:-1]}n", x, s, axes, norm)

    return function


def _over_axes(name: str, x: Any, s: Any, axes: Any, norm: Any) -> Any:
    x = _checked(x, name, norm)
    if axes is not None:
        axes = tuple([checked_axis(axis, x.ndim) for axis in ints(axes)])
        if len(set(axes)) != len(axes):
            raise ValueError("all axes must be unique")
    if s is not None and axes is not None and len(ints(s)) != len(axes):
        raise ValueError("when given, axes and shape arguments have to be of the same length")
    return _w.resolve_conj(getattr(_ours, name)(x, None if s is None else ints(s), axes, norm))


for _stem in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    for _name, _make in ((_stem, _one_axis), (f"{_stem}2", _two_axes), (f"{_stem}n", _many_axes)):
        _function = _make(_name)
        _function.__doc__ = f"scipy.fft.{_name} on tensors. Derivative: the transform of a tangent."
        _module.differentiates(_name)(_function)


@_module.differentiates()
def _fftshift(x, axes=None):
    """Move the frequency 0 to the middle of the axes."""
    return _ours.fftshift(tensor(x), axes)


@_module.differentiates()
def _ifftshift(x, axes=None):
    """Move the frequency 0 from the middle of the axes to their beginning."""
    return _ours.ifftshift(tensor(x), axes)


# -- cosine and sine transforms ------------------------------------------------------------------------------------------------


def _transform(x: Any, type: Any, n: Any, axis: int, norm: Any, orthogonalize: Any, sine: bool, inverse: bool) -> Any:
    """One transform along an axis, of the length n."""
    if type not in (1, 2, 3, 4):
        raise ValueError("invalid value for type; expected 1, 2, 3 or 4")
    _check_norm(norm)
    type = {2: 3, 3: 2}.get(type, type) if inverse else type
    x = _w.movedim(x, axis, -1)
    size = x.shape[-1] if n is None else int(n)
    if size < 1 or (type == 1 and not sine and size < 2):
        raise ValueError(f"invalid number of data points ({size}) specified")
    if size < x.shape[-1]:
        x = x[..., :size]
    elif size > x.shape[-1]:
        x = _w.cat([x, _w.zeros((*x.shape[:-1], size - x.shape[-1]), dtype=x.dtype)], -1)
    orthogonal = norm == "ortho" if orthogonalize is None else orthogonalize
    if orthogonal and type in (1, 3):
        x = x * x.new_tensor(edge_weights(size, sine, type, math.sqrt(2)))
    found = _F._trigonometric_transform(x, sine=sine, type=type)
    if orthogonal and type in (1, 2):
        found = found * found.new_tensor(edge_weights(size, sine, type, math.sqrt(0.5)))
    length = 2 * (size + (sine - (not sine) if type == 1 else 0))
    power = 0.5 if norm == "ortho" else float((norm == "forward") != inverse)
    return _w.movedim(found * length**-power if power else found, -1, axis)


def _one(sine: bool, inverse: bool) -> Callable[..., Any]:
    def function(x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None, *, orthogonalize: Any = None) -> Any:
        (x,) = operands(x)
        if x.is_complex() and orthogonalize is not None:  # SciPy leaves this argument out for complex numbers
            return NotImplemented
        return _transform(x, type, n, checked_axis(axis, x.ndim), norm, orthogonalize, sine, inverse)

    return function


def _several(sine: bool, inverse: bool) -> Callable[..., Any]:
    def function(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, *, orthogonalize: Any = None) -> Any:
        (x,) = operands(x)
        if x.is_complex() and orthogonalize is not None:
            return NotImplemented
        sizes = None if s is None else ints(s)
        if axes is None:
            axes = range(x.ndim) if sizes is None else range(x.ndim - len(sizes), x.ndim)
        axes = [checked_axis(axis, x.ndim) for axis in ([axes] if isinstance(axes, int) else axes)]
        if sizes is not None and len(sizes) != len(axes):
            raise ValueError("when given, axes and shape arguments have to be of the same length")
        for k, axis in enumerate(axes):
            x = _transform(x, type, None if sizes is None else sizes[k], axis, norm, orthogonalize, sine, inverse)
        return x

    return function


for _name, _sine, _inverse in (("dct", False, False), ("idct", False, True), ("dst", True, False), ("idst", True, True)):
    for _full, _make_one in ((_name, _one), (f"{_name}n", _several)):
        _function = _make_one(_sine, _inverse)
        _function.__doc__ = f"scipy.fft.{_full} on tensors, types 1 to 4. Derivative: the transform of a tangent."
        _module.differentiates(_full)(_function)


# -- Hankel transforms ---------------------------------------------------------------------------------------------------------


@_module.differentiates()
def _fht(a, dln, mu, offset=0.0, bias=0.0):
    """Fast Hankel transform. Derivative: in a."""
    return _hankel(a, dln, mu, offset, bias, False)


@_module.differentiates()
def _ifht(A, dln, mu, offset=0.0, bias=0.0):
    """Inverse of fht. Derivative: in A."""
    return _hankel(A, dln, mu, offset, bias, True)


def _hankel(a: Any, dln: Any, mu: Any, offset: Any, bias: Any, inverse: bool) -> Any:
    (a,) = operands(a)
    numbers = {"dln": float(dln), "mu": float(mu), "offset": float(offset), "bias": float(bias)}
    return _F._hankel_transform(a, **numbers, inverse=inverse)


_TABLES = """
    fftfreq rfftfreq next_fast_len prev_fast_len fhtoffset get_workers set_workers set_backend set_global_backend skip_backend
    register_backend
"""
_module.constant("They make frequencies, sizes and settings.", *_TABLES.split())
