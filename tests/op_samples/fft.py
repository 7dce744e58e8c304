"""Samples and oracles of wengert.ops.fft: NumPy's own transforms, and matrices of exponentials."""

from __future__ import annotations

import numpy as np

from op_samples import Sample

_REAL = {"complex": False}
_NORMS = ("backward", "ortho", "forward")


def _one_dimension(complex):
    """Lengths that are odd and even, cut and filled up, in each dim and under each norm."""
    return [
        Sample((5,), complex=complex),
        Sample((2, 4), complex=complex),
        Sample((3, 4), n=6, complex=complex),
        Sample((3, 5), n=3, dim=0, norm="ortho", complex=complex),
        Sample((2, 4), n=5, norm="forward", complex=complex),
        Sample((3,), n=1, complex=complex),
        Sample((0, 3), complex=complex),
    ]


def _dimensions(complex, of_two=False):
    return [
        Sample((3, 4), complex=complex),
        *[Sample((2, 5), norm=norm, complex=complex) for norm in _NORMS],
        Sample((2, 3, 4), s=(3, 2), dim=(0, 2), complex=complex),
        Sample((2, 3, 4), s=(-1, 5), dim=(-1, 0), norm="ortho", complex=complex),
        *([] if of_two else [Sample((2, 3, 2), complex=complex), Sample((3, 4), s=(3,), complex=complex)]),
    ]


SAMPLES = {
    "fft_fft": _one_dimension(True),
    "fft_ifft": _one_dimension(True),
    "fft_rfft": _one_dimension(False),
    "fft_ihfft": _one_dimension(False),
    "fft_irfft": _one_dimension(True),
    "fft_hfft": _one_dimension(True),
    "fft_fftn": _dimensions(True),
    "fft_ifftn": _dimensions(True),
    "fft_rfftn": _dimensions(False),
    "fft_ihfftn": [*_dimensions(False), Sample((2, 3), dim=(1,), complex=False)],
    "fft_irfftn": _dimensions(True),
    "fft_hfftn": [*_dimensions(True), Sample((2, 3), dim=(1,))],
    "fft_fft2": _dimensions(True, of_two=True),
    "fft_ifft2": _dimensions(True, of_two=True),
    "fft_rfft2": _dimensions(False, of_two=True),
    "fft_ihfft2": _dimensions(False, of_two=True),
    "fft_irfft2": _dimensions(True, of_two=True),
    "fft_hfft2": _dimensions(True, of_two=True),
    "fft_fftshift": [Sample((5,)), Sample((2, 3)), Sample((4, 3), dim=0), Sample((2, 3, 4), dim=(0, -1))],
    "fft_ifftshift": [Sample((5,)), Sample((2, 3)), Sample((4, 3), dim=0), Sample((2, 3, 4), dim=(0, -1))],
    "_weigh_frequencies": [Sample((2, 3), dim=1, size=4, weight=2.0), Sample((3, 2), dim=0, size=5, weight=0.5)],
    "_fit_sizes": [Sample((2, 3), dim=(0, 1), sizes=(3, 2))],
}


def _one(function):
    return lambda x, n=None, dim=-1, norm=None: _none_if_empty(function, x, n, dim, norm)


def _none_if_empty(function, x, n, axis, norm):
    if x.size:
        return function(x, n, axis, norm)
    filled = function(np.zeros([max(1, k) for k in x.shape], x.dtype), n, axis, norm)
    return filled[:0]


def _sizes_and_axes(x, s, dim):
    """NumPy wants every size and every axis named."""
    axes = tuple(dim) if dim is not None else tuple(range(x.ndim - len(s), x.ndim)) if s else tuple(range(x.ndim))
    sizes = tuple(x.shape[a] if n == -1 else n for n, a in zip(s, axes, strict=True)) if s else None
    return sizes, axes


def _several(function, dim=None):
    def oracle(x, s=None, dim=dim, norm=None):
        return function(x, *_sizes_and_axes(x, s, dim), norm)

    return oracle


def _opposite(norm):
    return {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}[norm]


def _hermitian(dim=None):
    """hfftn: the inverse of a conjugate is the conjugate of a forward transform."""

    def oracle(x, s=None, dim=dim, norm=None):
        return np.fft.irfftn(x.conj(), *_sizes_and_axes(x, s, dim), _opposite(norm))

    return oracle


def _inverse_hermitian(dim=None):
    def oracle(x, s=None, dim=dim, norm=None):
        return np.fft.rfftn(x, *_sizes_and_axes(x, s, dim), _opposite(norm)).conj()

    return oracle


_LAST_TWO = (-2, -1)

ORACLES = {
    **{f"fft_{name}": _one(getattr(np.fft, name)) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"fft_{name}n": _several(getattr(np.fft, f"{name}n")) for name in ("fft", "ifft", "rfft", "irfft")},
    **{f"fft_{name}2": _several(getattr(np.fft, f"{name}n"), _LAST_TWO) for name in ("fft", "ifft", "rfft", "irfft")},
    "fft_hfftn": _hermitian(),
    "fft_ihfftn": _inverse_hermitian(),
    "fft_hfft2": _hermitian(_LAST_TWO),
    "fft_ihfft2": _inverse_hermitian(_LAST_TWO),
    "fft_fftshift": lambda x, dim=None: np.fft.fftshift(x, dim),
    "fft_ifftshift": lambda x, dim=None: np.fft.ifftshift(x, dim),
}
