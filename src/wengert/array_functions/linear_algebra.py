"""NumPy's products of arrays, linear algebra and Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.array_functions.table import (
    checked_axis,
    dtype_of,
    fft,
    floating,
    ints,
    linalg,
    of,
    pair,
    promoted,
    tensor,
    unsupported_arguments,
    vectors,
    w,
)

# -- products ----------------------------------------------------------------------------------------------------------


@of(np.dot, method=True)
def _dot(a, b):
    a, b = pair(a, b)
    left, right = a._array.ndim, b._array.ndim
    if left == 0 or right == 0:
        return a * b
    if left == right == 1:
        return w.dot(a, b)
    if right == 1 or (left <= 2 and right == 2):
        return w.matmul(a, b)
    return w.tensordot(a, b, dims=([left - 1], [right - 2]))


@of(np.inner)
def _inner(a, b):
    return w.inner(*pair(a, b))


of(np.linalg.tensordot)(lambda x1, x2, axes=2: _tensordot(x1, x2, axes))


@of(np.tensordot)
def _tensordot(a, b, axes=2):
    if not isinstance(axes, int):
        axes = tuple([[d] if isinstance(d, int) else list(d) for d in axes])
    a, b = pair(a, b)
    return w.tensordot(a, b, axes)


of(np.vdot)(lambda a, b: w.vdot(*vectors(a, b)))


@of(np.outer)
def _outer(a, b):
    a, b = vectors(a, b)
    return w.outer(a, b)


of(np.kron)(lambda a, b: w.kron(tensor(a), tensor(b)))
of(np.linalg.matmul)(lambda x1, x2: w.matmul(*pair(x1, x2)))
of(np.linalg.multi_dot)(lambda arrays: linalg.multi_dot(promoted(*arrays)))


@of(np.linalg.outer)
def _outer_of_vectors(x1, x2):
    x1, x2 = pair(x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are x1.ndim={x1.ndim} and x2.ndim={x2.ndim}.")
    return w.outer(x1, x2)


@of(np.linalg.vecdot)
def _vecdot(x1, x2, axis=-1):
    return linalg.vecdot(*pair(x1, x2), dim=axis)


@of(np.einsum)
def _einsum(*operands, optimize=False, dtype=None, order="K", casting="safe"):
    if not isinstance(operands[0], str):  # operands, each followed by the numbers of its subscripts
        arrays = iter(promoted(*operands[: len(operands) // 2 * 2 : 2]))
        operands = tuple([next(arrays) if i % 2 == 0 and i + 1 < len(operands) else x for i, x in enumerate(operands)])
        return w.einsum(*operands)
    if len(operands) == 3:
        a, b = pair(operands[1], operands[2])
        found = w.einsum(operands[0], a, b)
    else:
        found = w.einsum(operands[0], *promoted(*operands[1:]))
    return found if dtype is None else found.to(dtype_of(dtype))


@of(np.trace, method=True)
def _trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    a = tensor(a)
    if a.ndim == 2 and not offset and dtype is None and {axis1, axis2} == {0, 1}:
        return w.trace(a)
    return w.sum(w.diagonal(a, offset, axis1, axis2), -1, dtype=dtype)


of(np.linalg.trace)(lambda x, offset=0, dtype=None: w.sum(w.diagonal(tensor(x), offset, -2, -1), -1, dtype=dtype))


@of(np.cross)
def _cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = pair(a, b)
    a, b = w.movedim(a, checked_axis(axisa, a.ndim), -1), w.movedim(b, checked_axis(axisb, b.ndim), -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if a.shape[-1] == b.shape[-1] == 2:
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    a, b = (w.cat([x, w.zeros_like(x[..., :1])], -1) if x.shape[-1] == 2 else x for x in (a, b))
    shape = np.broadcast_shapes(tuple(a.shape), tuple(b.shape))
    found = linalg.cross(w.broadcast_to(a, shape), w.broadcast_to(b, shape), dim=-1)
    return w.movedim(found, -1, axisc)


@of(np.linalg.cross)
def _cross_of_three(x1, x2, axis=-1):
    x1, x2 = pair(x1, x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        sizes = f"{x1.shape[axis]} and {x2.shape[axis]}"
        raise ValueError(f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {sizes} dimensional instead.")
    return linalg.cross(x1, x2, dim=axis)


# -- norms and decompositions --------------------------------------------------------------------------------------------


@of(np.linalg.norm)
def _norm(x, ord=None, axis=None, keepdims=False):
    x = floating(x)
    if axis is None and ord is not None and x.ndim > 2:
        raise unsupported_arguments("linalg.norm", ["ord of more than two dimensions, but no axis"])
    return linalg.norm(x, ord, axis, keepdims)


of(np.linalg.vector_norm)(lambda x, axis=None, keepdims=False, ord=2: linalg.vector_norm(floating(x), ord, axis, keepdims))
of(np.linalg.matrix_norm)(lambda x, keepdims=False, ord="fro": linalg.matrix_norm(floating(x), ord, keepdim=keepdims))
of(np.linalg.cond)(lambda x, p=None: linalg.cond(floating(x), p))
of(np.linalg.det)(lambda a: linalg.det(floating(a)))
of(np.linalg.inv)(lambda a: linalg.inv(floating(a)))
of(np.linalg.matrix_power)(lambda a, n: linalg.matrix_power(tensor(a), n))
of(np.linalg.slogdet)(lambda a: linalg.slogdet(floating(a)))
of(np.linalg.svdvals)(lambda x: linalg.svdvals(floating(x)))
of(np.linalg.tensorinv)(lambda a, ind=2: linalg.tensorinv(floating(a), ind))
of(np.linalg.tensorsolve)(lambda a, b, axes=None: linalg.tensorsolve(*promoted(floating(a), b), dims=axes))


def _hermitian(a: Any, upper: bool) -> Any:
    """Return the Hermitian matrix of the triangle that NumPy reads. The other triangle has no part in the derivative."""
    a = floating(a)
    half = w.triu(a, 1) if upper else w.tril(a, -1)
    if a.is_complex():
        return half + w.conj(w.transpose(half, -1, -2)) + w.diag_embed(w.real(w.diagonal(a, 0, -2, -1))).to(a.dtype)
    return (w.triu(a) if upper else w.tril(a)) + w.transpose(half, -1, -2)


def _phase_of(z: Any) -> Any:
    """Return factors that make numbers real, which LAPACK has made real already: 1, with the derivative of the phase."""
    return (w.conj(z) / w.abs(z)) * w.sign(w.real(z.detach()))


@of(np.linalg.cholesky)
def _cholesky(a, *, upper=False):
    return linalg.cholesky(_hermitian(a, upper), upper=upper)


@of(np.linalg.eigh)
def _eigh(a, UPLO="L"):
    upper = UPLO.upper() == "U"
    values, vectors = found = linalg.eigh(_hermitian(a, upper), UPLO)
    if not vectors.is_complex() or not vectors.shape[-1]:
        return found
    # LAPACK makes the first component of each vector real, or the last one if it reads the upper triangle.
    row = vectors.shape[-1] - 1 if upper else 0
    return type(found)((values, vectors * _phase_of(vectors[..., row : row + 1, :])))


of(np.linalg.eigvalsh)(lambda a, UPLO="L": linalg.eigvalsh(_hermitian(a, UPLO.upper() == "U"), UPLO))


@of(np.linalg.pinv)
def _pinv(a, rcond=None, hermitian=False, *, rtol=None):
    cutoff = rtol if rcond is None else rcond
    a = _hermitian(a, False) if hermitian else floating(a)
    return linalg.pinv(a, rtol=1e-15 if cutoff is None else cutoff, hermitian=hermitian)


@of(np.linalg.solve)
def _solve(a, b):
    a, b = pair(a, b)
    if a._array.dtype.kind not in "fc":
        a, b = floating(a), floating(b)
    return linalg.solve(a, b) if a._array.ndim == 2 or b.ndim != 1 else linalg.solve(a, w.unsqueeze(b, -1))[..., 0]


@of(np.linalg.svd)
def _svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    if hermitian:
        return _svd_of_hermitian(_eigh(a), compute_uv)
    a = floating(a)
    if not compute_uv:
        return linalg.svdvals(a)
    u, values, vh = found = linalg.svd(a, full_matrices)
    if not a.is_complex() or 0 in a.shape[-2:]:
        return found
    # LAPACK makes the first component of each right vector real, of the left vectors if there are fewer rows than columns.
    count = values.shape[-1]
    tall = a.shape[-2] >= a.shape[-1]
    phase = _phase_of(vh[..., :count, 0] if tall else w.conj(u[..., 0, :count]))
    one = w.ones_like(phase[..., :1])
    rows, columns = [w.cat([phase] + [one] * (n - count), -1) for n in (vh.shape[-2], u.shape[-1])]
    return type(found)((u * w.conj(columns)[..., None, :], values, vh * rows[..., :, None]))


def _svd_of_hermitian(found: Any, compute_uv: bool) -> Any:
    """Return the singular values of a Hermitian matrix, and the vectors, from its eigenvalues and eigenvectors."""
    values, vectors = found
    order = w.argsort(w.abs(values.detach()), -1, descending=True)
    values = w.gather(values, -1, order)
    if not compute_uv:
        return w.abs(values)
    u = w.gather(vectors, -1, w.broadcast_to(order[..., None, :], vectors.shape))
    vh = w.transpose(w.conj(u * w.sign(values.detach())[..., None, :].to(u.dtype)), -1, -2)
    return type(np.linalg.svd(np.eye(1)))(u, w.abs(values), vh)


@of(np.linalg.qr)
def _qr(a, mode="reduced"):
    return linalg.qr(floating(a), mode)[1] if mode == "r" else linalg.qr(floating(a), mode)


def _is_real(a: Any, values: Any) -> bool:
    """Whether NumPy returns these eigenvalues of a as real numbers."""
    return not a.is_complex() and not np.any(values.numpy(force=True).imag)


def eigenvalues(a: Any) -> Any:
    """Eigenvalues of a tensor, real if a is real and all of them are."""
    found = linalg.eigvals(a)
    return w.real(found) if _is_real(a, found) else found


def _as_eigen(x: Any) -> Any:
    """A result of eig or eigvals in the dtype that NumPy gives it: since 2.5 it is complex, also if all eigenvalues are real."""
    always_complex = np.linalg.eigvals(np.eye(1)).dtype.kind == "c"
    return x + 0j if always_complex and not x.is_complex() else x


of(np.linalg.eigvals)(lambda a: _as_eigen(eigenvalues(floating(a))))


@of(np.linalg.eig)
def _eig(a):
    a = floating(a)
    values, vectors = linalg.eig(a)
    if _is_real(a, values):
        values, vectors = w.real(values), w.real(vectors)
    else:  # LAPACK makes the largest component of each vector real; its phase is 0, and so is the derivative of the phase
        places = np.argmax(np.abs(vectors.numpy(force=True)), -2)[..., None, :]
        largest = w.gather(vectors, -2, w.as_tensor(places))
        vectors = vectors * _phase_of(largest)
    return type(np.linalg.eig(np.eye(1)))(_as_eigen(values), _as_eigen(vectors))


@of(np.linalg.lstsq)
def _lstsq(a, b, rcond=None):
    a, b = promoted(floating(a), floating(b))
    cutoff = np.finfo(a.numpy(force=True).dtype).eps * max(a.shape) if rcond is None or rcond < 0 else rcond
    values = linalg.svdvals(a)
    rank = int((values > cutoff * values.max()).sum()) if values.numel() else 0
    columns = b if b.ndim > 1 else b[:, None]
    x = w.matmul(linalg.pinv(a, rtol=cutoff), columns)
    if rank == a.shape[1] < a.shape[0]:
        residuals = w.sum(w.square(w.abs(columns - w.matmul(a, x))), 0)
    else:
        residuals = w.zeros(0, dtype=values.dtype)
    return x if b.ndim > 1 else x[:, 0], residuals, rank, values


# -- Fourier transforms ------------------------------------------------------------------------------------------------


def _transform(run: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, n=None, axis=-1, norm=None: run(tensor(a), n, axis, norm)


def _transform_of_axes(run: Callable[..., Any], two: bool) -> Callable[..., Any]:
    default = (-2, -1) if two else None

    def transform(a, s=None, axes=default, norm=None):
        if s is not None and axes is None:
            axes = tuple(range(-len(s), 0))
        return run(tensor(a), s if s is None else ints(s), axes if axes is None else ints(axes), norm)

    return transform


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    of(getattr(np.fft, _name))(_transform(getattr(fft, _name)))
for _name in ("fft", "ifft", "rfft", "irfft"):
    of(getattr(np.fft, f"{_name}2"))(_transform_of_axes(getattr(fft, f"{_name}2"), True))
    of(getattr(np.fft, f"{_name}n"))(_transform_of_axes(getattr(fft, f"{_name}n"), False))
