"""Tools for tests: assert_close compares tensors with tolerances by dtype, make_tensor makes random tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert import dtypes
from wengert.backends.selection import device_name, to_host
from wengert.core.tensor import TensorBase, is_differentiable, wrap
from wengert.generator import default_generator

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

# (rtol, atol) by the real dtype of the comparison, as in torch.
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    msg: str | None = None,
) -> None:
    """Raise AssertionError unless |actual - expected| <= atol + rtol * |expected| for all elements.

    actual, expected: tensors, arrays or numbers of equal shape; or sequences or mappings of these, compared item by item.
    rtol, atol: both or neither; by default they depend on the dtype (1.3e-6 and 1e-5 for float32, 1e-7 for float64, 0 for
    integers). equal_nan: whether NaN equals NaN. check_device, check_dtype: whether the devices of tensors, and the dtypes, must be
    equal. msg: replaces the message.

    >>> import wengert
    >>> wengert.testing.assert_close(wengert.tensor([1.0, 2.0]), wengert.tensor([1.0, 2.0 + 1e-6]))
    """
    if (rtol is None) != (atol is None):
        raise ValueError("rtol and atol must both be specified or both be unspecified")
    problem = _difference(actual, expected, _Checks((rtol, atol), equal_nan, check_device, check_dtype), "")
    if problem is not None:
        raise AssertionError(msg if msg is not None else problem)


class _Checks(NamedTuple):
    """What assert_close compares, and how closely."""

    tolerance: tuple[Any, Any]
    equal_nan: bool
    device: bool
    dtype: bool


def _difference(actual: Any, expected: Any, checks: _Checks, where: str) -> str | None:
    """Return a message that describes the difference, or None if actual and expected are close."""
    if isinstance(expected, Mapping):
        if not isinstance(actual, Mapping) or actual.keys() != expected.keys():
            return f"The keys of the mappings do not match{where}."
        pairs = [(actual[k], expected[k], f"[{k!r}]") for k in expected]
    elif isinstance(expected, Sequence) and not isinstance(expected, str):
        if not isinstance(actual, Sequence) or len(actual) != len(expected):
            return f"The lengths of the sequences do not match{where}."
        pairs = [(a, e, f"[{i}]") for i, (a, e) in enumerate(zip(actual, expected, strict=True))]
    else:
        a, e = _as_array(actual), _as_array(expected)
        devices = [device_name(x._array) for x in (actual, expected) if isinstance(x, TensorBase)]
        if checks.device and a.shape == e.shape and len(set(devices)) == 2:
            return f"The values for attribute 'device' do not match{where}: {devices[0]} != {devices[1]}."
        return _array_difference(a, e, checks, where)
    for a, e, item in pairs:
        problem = _difference(a, e, checks, f"{where} at item {item}")
        if problem is not None:
            return problem
    return None


def _as_array(x: Any) -> np.ndarray:
    return to_host(x._array) if isinstance(x, TensorBase) else np.asarray(x)


def _array_difference(actual: np.ndarray, expected: np.ndarray, checks: _Checks, where: str) -> str | None:
    if actual.shape != expected.shape:
        return (
            f"The values for attribute 'shape' do not match{where}: torch.Size({list(actual.shape)}) != "
            f"torch.Size({list(expected.shape)})."
        )
    types = dtypes.from_numpy_dtype(actual.dtype), dtypes.from_numpy_dtype(expected.dtype)
    if checks.dtype and types[0] != types[1]:
        return f"The values for attribute 'dtype' do not match{where}: {types[0]} != {types[1]}."
    rtol, atol = checks.tolerance
    if rtol is None:
        found = [_TOLERANCES.get(t.to_real().name if t.is_complex else t.name, (0.0, 0.0)) for t in types]
        rtol, atol = max(f[0] for f in found), max(f[1] for f in found)
    wide = np.complex128 if any(t.is_complex for t in types) else np.float64
    a, e = actual.astype(wide), expected.astype(wide)
    with np.errstate(all="ignore"):
        error = np.abs(a - e)
        close = (error <= atol + rtol * np.abs(e)) | (a == e)
    if checks.equal_nan:
        close |= np.isnan(a) & np.isnan(e)
    if close.all():
        return None
    wrong = np.argwhere(~close)
    worst = tuple(int(i) for i in wrong[0])
    return (
        f"Tensor-likes are not close{where}!\n\nMismatched elements: {len(wrong)} / {close.size} "
        f"({100 * len(wrong) / close.size:.1f}%)\nFirst at index {worst}: {actual[worst]} instead of {expected[worst]}, "
        f"greatest absolute difference {np.nanmax(np.where(close, 0, error))} (up to {atol} allowed, and {rtol} of the value)"
    )


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
) -> Any:
    """Return a tensor of uniform random values in [low, high).

    low, high: by default [-9, 9), for uint8 [0, 9), for bool [0, 2). noncontiguous: return every second element of a
    longer tensor. exclude_zero: replace zeros by the smallest positive normal number, by 1 for integers.
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    kind = dtypes.as_dtype(dtype)
    numpy_dtype = kind.dtype
    rng = default_generator.numpy
    low = (0 if numpy_dtype.kind in "bu" else -9) if low is None else low
    high = (2 if numpy_dtype.kind == "b" else 9) if high is None else high
    drawn = (*sizes[:-1], sizes[-1] * 2) if noncontiguous and sizes else sizes
    if numpy_dtype.kind in "biu":
        values = rng.integers(int(low), int(high), drawn).astype(numpy_dtype)
    else:
        values = rng.uniform(low, high, drawn)
        if kind.is_complex:
            values = values + 1j * rng.uniform(low, high, drawn)
        values = np.asarray(values).astype(numpy_dtype)
    if exclude_zero:
        values[values == 0] = 1 if numpy_dtype.kind in "biu" else dtypes.finfo(kind.to_real()).tiny
    if noncontiguous and sizes:
        values = values[..., ::2]
    tensor = wrap(np.asarray(values))
    if requires_grad and is_differentiable(tensor._array):
        tensor.requires_grad = True
    return tensor


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = True, msg: str = ""
) -> None:
    """Raise AssertionError unless all elements are close: an older assert_close, which looks neither at dtypes nor at strides."""
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def __dir__() -> list[str]:
    return sorted(__all__)
