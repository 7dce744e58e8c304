"""Discrete Fourier transforms, computed by SciPy. SciPy is imported at the first call. Large transforms run on all cores.

Three operations do the work: complex to complex, real to complex and complex to real. Each is linear. The rule of each is a
transform in the opposite direction with the same scaling. So derivatives of any order are transforms again.

Note [Half spectra]
The transform of real numbers is Hermitian: X[n - k] = conj(X[k]). So only the first n // 2 + 1 frequencies of the last
dimension are stored. A frequency strictly between 0 and n / 2 stands for two, k and n - k. So the adjoint of the transform to
the half spectrum is the transform back with these frequencies halved. The adjoint of the transform back is the transform to
the half spectrum with these frequencies doubled.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert._forks import import_late
from wengert.backends.selection import backend_of
from wengert.ops.dims import as_dim, as_dims, normalize_dim
from wengert.ops.options import numpy_dtype, tensor_from
from wengert.ops.registry import INT_TO_FLOAT, NONE, composite, creation, linear
from wengert.ops.values import is_complex

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}
_FFT: dict[str, Any] = {"namespaces": ("fft",)}
_THREADED_SIZE = 1 << 15  # starting threads takes as long as transforming this many elements

# SciPy's norm= for a scaling of the sum by 1, 1 / sqrt(n) or 1 / n. The meaning of "backward" depends on the direction.
_FORWARD = {"none": "backward", "root": "ortho", "all": "forward"}
_INVERSE = {"none": "forward", "root": "ortho", "all": "backward"}


def _scaling(norm: str | None, inverse: bool) -> str:
    """Return the scaling, "none", "root" or "all", of a transform in this direction for torch's argument norm."""
    if norm == "ortho":
        return "root"
    if norm not in (None, "backward", "forward"):
        raise errors.ShapeError(f'Invalid normalization mode: "{norm}"')
    return "all" if (norm == "forward") != inverse else "none"


def _scipy_fft(name: str, x: Any, **arguments: Any) -> Any:
    """Call scipy.fft.<name>, with threads for a large x, or without SciPy numpy.fft.<name>. Raises RuntimeError for 16 bits."""
    if x.dtype.itemsize == 2 and x.dtype.kind not in "iu":
        raise errors.UnsupportedDtypeError(f"Unsupported dtype {errors.scalar_name(x.dtype)}")
    xp = backend_of(x)
    if not isinstance(x, np.ndarray):
        return getattr(xp.fft, name)(x, **arguments)
    try:
        library = import_late("scipy.fft")
    except ModuleNotFoundError:
        return getattr(xp.fft, name)(x, **arguments)
    if x.size >= _THREADED_SIZE:
        from os import cpu_count

        arguments["workers"] = cpu_count()
    return getattr(library, name)(x, **arguments)


def _empty_transform(xp: Any, x: Any, dim: tuple[int, ...], last: int) -> Any:
    """Transform of an empty x: x's shape with size `last` in the last of the dims."""
    shape = list(x.shape)
    shape[dim[-1]] = last
    return xp.zeros(shape, x.dtype)


# -- the three transforms, in torch's sense of the cotangent -----------------------------------------------------------


@linear(promote=INT_TO_FLOAT, node="FftC2CBackward0", **_PRIVATE)
def _fft_c2c(xp, x, *, dim, scaling, inverse):
    """Complex transform over the dims. Derivative: the transform in the other direction with the same scaling."""
    if not dim or not x.size:
        return x.astype(xp.result_type(x, xp.complex64))
    if inverse:
        return _scipy_fft("ifftn", x, axes=dim, norm=_INVERSE[scaling])
    return _scipy_fft("fftn", x, axes=dim, norm=_FORWARD[scaling])


@_fft_c2c.vjp("x")
def _(F, ct, dim, scaling, inverse):
    return F._fft_c2c(ct, dim=dim, scaling=scaling, inverse=not inverse)


@linear(promote=INT_TO_FLOAT, node="FftR2CBackward0", **_PRIVATE)
def _fft_r2c(xp, x, *, dim, scaling, onesided):
    """Transform of real numbers. onesided: only the half spectrum in the last of the dims. See Note [Half spectra].

    Derivative: the real part of the transform back."""
    if not x.size:
        complex_x = x.astype(xp.result_type(x, xp.complex64))
        return _empty_transform(xp, complex_x, dim, x.shape[dim[-1]] // 2 + 1) if onesided else complex_x
    if onesided:
        return _scipy_fft("rfftn", x, axes=dim, norm=_FORWARD[scaling])
    out = _scipy_fft("fftn", x, axes=dim, norm=_FORWARD[scaling])
    out.imag += 0.0  # SciPy mirrors the half spectrum with opposite sign; this turns -0 into 0
    return out


@_fft_r2c.vjp("x")
def _(F, ct, x_shape, dim, scaling, onesided):
    if not onesided:
        return F.real(F._fft_c2c(ct, dim=dim, scaling=scaling, inverse=True))
    size = x_shape[dim[-1]]
    halved = F._weigh_frequencies(ct, dim=dim[-1], size=size, weight=0.5)
    return F._fft_c2r(halved, dim=dim, scaling=scaling, size=size)


@linear(promote=INT_TO_FLOAT, node="FftC2RBackward0", **_PRIVATE)
def _fft_c2r(xp, x, *, dim, scaling, size):
    """Transform of a half spectrum back to real numbers, `size` of them in the last of the dims: the inverse of _fft_r2c.

    Derivative: the half spectrum of the cotangent, the frequencies that stand for two doubled. See Note [Half spectra]."""
    if not x.size:
        return _empty_transform(xp, x.real, dim, size)
    sizes = [x.shape[d] for d in dim[:-1]] + [size]
    return _scipy_fft("irfftn", x, s=sizes, axes=dim, norm=_INVERSE[scaling])


@_fft_c2r.vjp("x")
def _(F, ct, dim, scaling, size):
    spectrum = F._fft_r2c(ct, dim=dim, scaling=scaling, onesided=True)
    return F._weigh_frequencies(spectrum, dim=dim[-1], size=size, weight=2.0)


@linear(promote=NONE, **_PRIVATE)
def _weigh_frequencies(xp, x, *, dim, size, weight):
    """Multiply the frequencies of a half spectrum that stand for two by weight. size: of the full spectrum.

    Derivative: the cotangent, weighted likewise."""
    out = x.copy()
    xp.moveaxis(out, dim, -1)[..., 1 : (size + 1) // 2] *= weight
    return out


@_weigh_frequencies.vjp("x")
def _(F, ct, dim, size, weight):
    return F._weigh_frequencies(ct, dim=dim, size=size, weight=weight)


@linear(promote=NONE, **_PRIVATE)
def _fit_sizes(xp, x, *, dim, sizes):
    """Cut x at the end, or pad it with zeros, to the given sizes in the dims. Derivative: the cotangent cut or padded to x."""
    shape = list(x.shape)
    for d, size in zip(dim, sizes, strict=True):
        shape[d] = size
    out = xp.zeros(shape, x.dtype)
    common = tuple([slice(min(m, n)) for m, n in zip(x.shape, shape, strict=True)])
    out[common] = x[common]
    return out


@_fit_sizes.vjp("x")
def _(F, ct, x_shape, dim):
    return F._fit_sizes(ct, dim=dim, sizes=tuple([x_shape[d] for d in dim]))


# -- arguments ---------------------------------------------------------------------------------------------------------


def _checked_dim(x: Any, dim: int) -> int:
    """Return dim counted from the front. Raises IndexError if it is out of range or x is 0-d."""
    dim = as_dim(dim)
    if x.ndim == 0:
        raise errors.DimensionError(f"Dimension specified as {dim} but tensor has no dimensions")
    return normalize_dim(dim, x.ndim)


def _fit(F: Any, x: Any, dim: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    """Cut or pad x to the given sizes in the dims. Raises RuntimeError for a size below 1."""
    for size in sizes:
        if size < 1:
            raise errors.ShapeError(f"Invalid number of data points ({size}) specified")
    if tuple([x.shape[d] for d in dim]) == tuple(sizes):
        return x
    return F._fit_sizes(x, dim=dim, sizes=tuple(sizes))


def _dims_and_sizes(x: Any, s: Any, dim: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return (dims, sizes): the dims that s= and dim= name, and the size of the transform in each."""
    s = (s,) if isinstance(s, int) else s
    if dim is not None:
        dims = tuple([_checked_dim(x, d) for d in as_dims(dim)])
        if len(set(dims)) < len(dims):
            raise errors.ShapeError("FFT dims must be unique")
        if s is not None and len(s) != len(dims):
            raise errors.ShapeError("When given, dim and shape arguments must have the same length")
    elif s is not None:
        if len(s) > x.ndim:
            raise errors.ShapeError(f"Got shape with {len(s)} values but input tensor only has {x.ndim} dimensions.")
        dims = tuple(range(x.ndim - len(s), x.ndim))
    else:
        dims = tuple(range(x.ndim))
    if s is None:
        return dims, tuple([x.shape[d] for d in dims])
    return dims, tuple([x.shape[d] if n == -1 else n for n, d in zip(s, dims, strict=True)])


# -- one dimension -----------------------------------------------------------------------------------------------------


def _complex_transform(F: Any, input: Any, n: int | None, dim: int, norm: str | None, inverse: bool) -> Any:
    """fft and ifft."""
    dims = (_checked_dim(input, dim),)
    x = _fit(F, input, dims, (input.shape[dims[0]] if n is None else n,))
    scaling = _scaling(norm, inverse)
    if is_complex(x):
        return F._fft_c2c(x, dim=dims, scaling=scaling, inverse=inverse)
    spectrum = F._fft_r2c(x, dim=dims, scaling=scaling, onesided=False)
    return F.conj(spectrum) if inverse else spectrum


def _half_spectrum(F: Any, op: str, input: Any, n: int | None, dim: int, norm: str | None, inverse: bool) -> Any:
    """rfft, and the conjugate of ihfft."""
    if is_complex(input):
        raise errors.UnsupportedDtypeError(
            f"{op} expects a real input tensor, but got {errors.scalar_name(input.dtype)}"
        )
    dims = (_checked_dim(input, dim),)
    x = _fit(F, input, dims, (input.shape[dims[0]] if n is None else n,))
    return F._fft_r2c(x, dim=dims, scaling=_scaling(norm, inverse), onesided=True)


def _from_half_spectrum(F: Any, input: Any, n: int | None, dim: int, scaling: str, conj: bool) -> Any:
    """irfft, or hfft if conj."""
    dims = (_checked_dim(input, dim),)
    size = 2 * (input.shape[dims[0]] - 1) if n is None else n
    if size < 1:
        raise errors.ShapeError(f"Invalid number of data points ({size}) specified")
    x = _fit(F, input, dims, (size // 2 + 1,))
    return F._fft_c2r(F.conj(x) if conj else x, dim=dims, scaling=scaling, size=size)


@composite(**_FFT)
def fft_fft(F, input, n=None, dim=-1, norm=None):
    """Discrete Fourier transform over one dimension: X[k] = sum of x[j] exp(-2 pi i j k / n) over j.

    input: real or complex, at least 1-D; returns complex numbers. n: the length of the transform; input is cut or padded
    with zeros to it. norm: "backward" (no scaling), "ortho" (1 / sqrt(n)) or "forward" (1 / n). Raises RuntimeError for
    n < 1, for another norm and for 16-bit floats, and IndexError for a dim out of range.

    Derivative: the inverse transform of ct with the same scaling; for a real input its real part.

    >>> import wengert
    >>> wengert.fft.fft(wengert.tensor([1.0, 0.0, 0.0, 0.0]))
    tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    return _complex_transform(F, input, n, dim, norm, False)


@composite(**_FFT)
def fft_ifft(F, input, n=None, dim=-1, norm=None):
    """Inverse of `fft`: x[j] = 1 / n times the sum of X[k] exp(2 pi i j k / n) over k.

    norm: "backward" (1 / n), "ortho" (1 / sqrt(n)) or "forward" (no scaling). Other parameters as in `fft`.

    Derivative: the forward transform of ct with the same scaling; for a real input its real part."""
    return _complex_transform(F, input, n, dim, norm, True)


@composite(**_FFT)
def fft_rfft(F, input, n=None, dim=-1, norm=None):
    """The first n // 2 + 1 frequencies of `fft` of real numbers, which determine the others.

    Parameters as in `fft`. Raises RuntimeError for a complex input.

    Derivative: the real part of the sum of ct[k] exp(2 pi i j k / n) over the frequencies k."""
    return _half_spectrum(F, "rfft", input, n, dim, norm, False)


@composite(**_FFT)
def fft_irfft(F, input, n=None, dim=-1, norm=None):
    """Inverse of `rfft`: n real numbers from a half spectrum. n: 2 * (size - 1) unless given.

    The imaginary part of the first frequency is not read, nor that of the middle one if n is even. Other parameters as in
    `ifft`.

    Derivative: rfft of ct, with the scaling of irfft, doubled at the frequencies strictly between 0 and n / 2."""
    return _from_half_spectrum(F, input, n, dim, _scaling(norm, True), False)


@composite(**_FFT)
def fft_hfft(F, input, n=None, dim=-1, norm=None):
    """`fft` of a Hermitian signal, x[n - j] = conj(x[j]), given by its first half: n real numbers.

    n: 2 * (size - 1) unless given. Other parameters as in `fft`.

    Derivative: ihfft of ct, with the scaling of hfft, doubled strictly between the first and the middle element."""
    return _from_half_spectrum(F, input, n, dim, _scaling(norm, False), True)


@composite(**_FFT)
def fft_ihfft(F, input, n=None, dim=-1, norm=None):
    """Inverse of `hfft`: the first n // 2 + 1 elements of the Hermitian signal whose spectrum is input.

    input: real, else RuntimeError. Other parameters as in `ifft`.

    Derivative: as in `rfft`, of the conjugate of ct."""
    return F.conj(_half_spectrum(F, "ihfft", input, n, dim, norm, True))


# -- several dimensions ------------------------------------------------------------------------------------------------


@composite(**_FFT)
def fft_fftn(F, input, s=None, dim=None, norm=None):
    """`fft` over several dimensions.

    dim: different ints; unless given, the last len(s) dimensions, or all. s: the size of the transform in each of them; -1
    keeps the size. norm: as in `fft`, with n the product of the sizes. Raises RuntimeError if dim and s differ in length, and
    as `fft` does.

    Derivative: the inverse transform of ct with the same scaling; for a real input its real part."""
    dims, sizes = _dims_and_sizes(input, s, dim)
    return F._fft_c2c(_fit(F, input, dims, sizes), dim=dims, scaling=_scaling(norm, False), inverse=False)


@composite(**_FFT)
def fft_ifftn(F, input, s=None, dim=None, norm=None):
    """`ifft` over several dimensions. s, dim: as in `fftn`. norm: as in `ifft`.

    Derivative: the forward transform of ct with the same scaling; for a real input its real part."""
    dims, sizes = _dims_and_sizes(input, s, dim)
    return F._fft_c2c(_fit(F, input, dims, sizes), dim=dims, scaling=_scaling(norm, True), inverse=True)


@composite(**_FFT)
def fft_rfftn(F, input, s=None, dim=None, norm=None):
    """`fftn` of real numbers, with the first s[-1] // 2 + 1 frequencies in the last of the dims.

    Parameters as in `fftn`. Raises RuntimeError for a complex input.

    Derivative: as in `rfft`, over all dims."""
    if is_complex(input):
        raise errors.UnsupportedDtypeError(
            f"rfftn expects a real-valued input tensor, but got {errors.scalar_name(input.dtype)}"
        )
    dims, sizes = _dims_and_sizes(input, s, dim)
    if not dims:
        raise errors.ShapeError("rfftn must transform at least one axis")
    return F._fft_r2c(_fit(F, input, dims, sizes), dim=dims, scaling=_scaling(norm, False), onesided=True)


def _half_spectrum_sizes(op: str, x: Any, s: Any, dim: Any) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Return (dims, sizes of the half spectrum in each, size of its transform in the last)."""
    dims, sizes = _dims_and_sizes(x, s, dim)
    if not dims:
        raise errors.ShapeError(f"{op} must transform at least one axis")
    given = None if s is None else s if isinstance(s, int) else s[-1]
    size = 2 * (x.shape[dims[-1]] - 1) if given is None or given == -1 else sizes[-1]
    if size < 1:
        raise errors.ShapeError(f"Invalid number of data points ({size}) specified")
    return dims, (*sizes[:-1], size // 2 + 1), size


@composite(**_FFT)
def fft_irfftn(F, input, s=None, dim=None, norm=None):
    """Inverse of `rfftn`: real numbers, s[-1] in the last of the dims, or 2 * (size - 1) unless given.

    Other parameters as in `ifftn`.

    Derivative: as in `irfft`, over all dims."""
    dims, sizes, size = _half_spectrum_sizes("irfftn", input, s, dim)
    return F._fft_c2r(_fit(F, input, dims, sizes), dim=dims, scaling=_scaling(norm, True), size=size)


@composite(**_FFT)
def fft_hfftn(F, input, s=None, dim=None, norm=None):
    """`fftn` of a Hermitian signal, given by the first half of the last of the dims: real numbers.

    s: as in `irfftn`. Other parameters as in `fftn`.

    Derivative: ihfftn of ct, with the scaling of hfftn, doubled strictly between the first and the middle element."""
    dims, sizes, size = _half_spectrum_sizes("hfftn", input, s, dim)
    scaling = _scaling(norm, False)
    x = _fit(F, input, dims, sizes)
    if len(dims) > 1:
        x = F._fft_c2c(x, dim=dims[:-1], scaling=scaling, inverse=False)
    return F._fft_c2r(F.conj(x), dim=dims[-1:], scaling=scaling, size=size)


@composite(**_FFT)
def fft_ihfftn(F, input, s=None, dim=None, norm=None):
    """Inverse of `hfftn`: the first half, in the last of the dims, of the Hermitian signal whose spectrum is input.

    input: real, else RuntimeError. Other parameters as in `ifftn`.

    Derivative: as in `rfftn`, of the conjugate of ct."""
    if is_complex(input):
        raise errors.UnsupportedDtypeError(f"Only supports floating-point dtypes, but found: {errors.scalar_name(input.dtype)}")
    dims, sizes = _dims_and_sizes(input, s, dim)
    if not dims:
        raise errors.ShapeError("ihfftn must transform at least one axis")
    scaling = _scaling(norm, True)
    x = F._fft_r2c(_fit(F, input, dims, sizes), dim=dims[-1:], scaling=scaling, onesided=True)
    if len(dims) == 1:
        return F.conj(x)
    return F._fft_c2c(F.conj_physical(x), dim=dims[:-1], scaling=scaling, inverse=True)


def _register_two_dims(name: str) -> None:
    """Register fft.<name>2: the n-dimensional transform with the last two dims as default."""
    general = f"fft_{name}n"

    def transform(F, input, s=None, dim=(-2, -1), norm=None):
        return getattr(F, general)(input, s, dim, norm)

    transform.__name__ = transform.__qualname__ = f"fft_{name}2"
    transform.__doc__ = f"`{name}n` over dim, which is the last two dimensions unless given.\n\n    Derivative: as in `{name}n`."
    composite(**_FFT)(transform)


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _register_two_dims(_name)


# -- frequencies -------------------------------------------------------------------------------------------------------


def _shift(F: Any, input: Any, dim: Any, inverse: bool) -> Any:
    """fftshift, or ifftshift if inverse."""
    dims = tuple(range(input.ndim)) if dim is None else as_dims(dim)
    dims = tuple([_checked_dim(input, d) for d in dims])
    shifts = tuple([(input.shape[d] + inverse) // 2 for d in dims])
    return F.roll(input, shifts=shifts, dims=dims)


@composite(**_FFT)
def fft_fftshift(F, input, dim=None):
    """Roll a spectrum so that frequency 0 moves from the start of each dim to its middle.

    dim: an int, several, or None for all dimensions.

    Derivative: ifftshift of ct."""
    return _shift(F, input, dim, False)


@composite(**_FFT)
def fft_ifftshift(F, input, dim=None):
    """Inverse of `fftshift`: frequency 0 moves back to the start of each dim.

    Derivative: fftshift of ct."""
    return _shift(F, input, dim, True)


def _frequencies(op: str, steps: Any, n: int, d: float, dtype: Any, options: dict[str, Any]) -> Any:
    """steps / (n * d), as a tensor with the options of a creation function."""
    wanted = numpy_dtype(dtype)
    if not dtypes.is_differentiable(wanted):
        raise errors.UnsupportedDtypeError(f"{op} requires a floating point or complex dtype")
    with np.errstate(all="ignore"):
        lowest = 1.0 / (n * d) if n * d else math.inf
        return tensor_from(op, (steps * lowest).astype(wanted), options)


@creation(**_FFT)
def fft_fftfreq(n, d=1.0, *, dtype=None, **options):
    """Frequencies of the n elements of `fft`, for samples at distance d, in cycles per unit of d.

    Frequency 0 and the positive ones come first, then the negative ones.

    >>> import wengert
    >>> wengert.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    steps = np.arange(-(n // 2), n - n // 2)
    return _frequencies("fftfreq", np.roll(steps, -(n // 2)), n, d, dtype, options)


@creation(**_FFT)
def fft_rfftfreq(n, d=1.0, *, dtype=None, **options):
    """Frequencies of the n // 2 + 1 elements of `rfft`, for samples at distance d, in cycles per unit of d.

    >>> import wengert
    >>> wengert.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    return _frequencies("rfftfreq", np.arange(n // 2 + 1), n, d, dtype, options)
