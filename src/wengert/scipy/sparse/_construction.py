"""Functions that make sparse matrices of others, and of diagonals."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import holds_tensor, w
from wengert.scipy._frame import operands
from wengert.scipy._sparse_products import Pattern
from wengert.scipy.sparse._matrices import SparseTensor, adopted, is_sparse, moved, sparse_tensor

scipy: Any = import_late("scipy.sparse")


def _has_tensor(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return any(_has_tensor(part) for part in x)
    return isinstance(x, SparseTensor) or holds_tensor((x,))


def _creation(name: str) -> Callable[..., Any]:
    theirs = getattr(scipy, name)

    def make(*args: Any, **kwargs: Any) -> Any:
        return adopted(theirs(*args, **kwargs))

    make.__name__ = name
    return make


def _diagonals(name: str) -> Callable[..., Any]:
    theirs, is_matrix = getattr(scipy, name), name == "diags"

    def make(diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None) -> Any:
        if not _has_tensor(diagonals):
            options = {} if dtype is None else {"dtype": dtype}
            make_theirs = theirs if is_matrix else lambda d, o, **more: theirs(d, offsets=o, **more)
            return adopted(make_theirs(diagonals, offsets, shape=shape, format=format, **options))
        nested = np.ndim(offsets) > 0 or (isinstance(diagonals, (list, tuple)) and len(diagonals) == 1)
        parts = [w.reshape(x, (-1,)) for x in operands(*(diagonals if nested else [diagonals]))]
        ends = np.cumsum([0, *[len(x) for x in parts]])
        numbers = [np.arange(a + 1, b + 1) for a, b in pairwise(ends)]
        found = scipy.diags_array(numbers, offsets=np.atleast_1d(offsets), shape=shape, dtype=np.int64).tocoo()
        found.eliminate_zeros()
        return moved(found, w.cat(parts), format or "dia", is_matrix)

    make.__name__ = name
    return make


def _stacking(name: str) -> Callable[..., Any]:
    theirs = getattr(scipy, name)

    def stack(blocks: Any, format: Any = None, dtype: Any = None, **more: Any) -> Any:
        if not _has_tensor(blocks):
            return adopted(theirs(blocks, format=format, dtype=dtype, **more))
        parts: list[SparseTensor] = []
        count = 1

        def numbered(block: Any) -> Any:
            nonlocal count
            if isinstance(block, (list, tuple)):
                return [numbered(x) for x in block]
            if block is None:
                return None
            part = sparse_tensor(block)
            parts.append(part)
            count += part.nnz
            return part.numbers(count - part.nnz)

        numbers = theirs(numbered(blocks))
        return moved(numbers, w.cat(operands(*[p.data for p in parts])), format or "coo", all(p.is_matrix for p in parts))

    stack.__name__ = name
    return stack


def kron(A: Any, B: Any, format: Any = None) -> Any:
    """Kronecker product of sparse matrices."""
    if not _has_tensor((A, B)):
        return adopted(scipy.kron(A, B, format))
    a, b = sparse_tensor(A), sparse_tensor(B)
    i, j = np.repeat(np.arange(a.nnz), b.nnz), np.tile(np.arange(b.nnz), a.nnz)
    x, y = operands(a.data, b.data)
    rows = a.pattern.rows[i].astype(np.int64) * b.shape[0] + b.pattern.rows[j]
    cols = a.pattern.cols[i].astype(np.int64) * b.shape[1] + b.pattern.cols[j]
    shape = (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])
    return SparseTensor(x[i] * y[j], Pattern(rows, cols, shape), format or "coo", a.is_matrix and b.is_matrix)


def kronsum(A: Any, B: Any, format: Any = None) -> Any:
    """Kronecker sum of square sparse matrices: kron(I, A) + kron(B, I)."""
    if not _has_tensor((A, B)):
        return adopted(scipy.kronsum(A, B, format))
    return kron(scipy.eye_array(B.shape[0]), A) + kron(B, scipy.eye_array(A.shape[0]))


def _triangle(name: str) -> Callable[..., Any]:
    theirs = getattr(scipy, name)

    def take(A: Any, k: int = 0, format: Any = None) -> Any:
        if not _has_tensor(A):
            return adopted(theirs(A, k, format))
        part = sparse_tensor(A)
        return moved(theirs(part.numbers(), k), part.data, format or "coo", part.is_matrix)

    take.__name__ = name
    return take


def find(A: Any) -> tuple[Any, Any, Any]:
    """Return (rows, columns, values) of the elements that are not 0."""
    if not _has_tensor(A):
        return scipy.find(A)
    part = sparse_tensor(A)
    rows, cols, numbers = scipy.find(part.numbers())
    values = part.data[numbers.astype(np.int64) - 1]
    kept = np.flatnonzero(values.detach().numpy())
    return rows[kept], cols[kept], values[kept]


def _kind(name: str) -> Callable[..., Any]:
    theirs, format = getattr(scipy, name), name.partition("_")[2]

    def check(x: Any) -> bool:
        return x.is_matrix and format in ("", x.format) if isinstance(x, SparseTensor) else bool(theirs(x))

    check.__name__, check.__doc__ = name, theirs.__doc__
    return check


def issparse(x: Any) -> bool:
    """Whether x is a sparse matrix, SciPy's or one with values in a tensor."""
    return is_sparse(x)


FUNCTIONS: tuple[Any, ...] = (
    *[_creation(name) for name in ("eye", "eye_array", "identity", "random", "random_array", "rand", "spdiags")],
    *[_diagonals(name) for name in ("diags", "diags_array")],
    *[_stacking(name) for name in ("vstack", "hstack", "block_array", "bmat", "block_diag")],
    kron, kronsum, *[_triangle(name) for name in ("tril", "triu")], find,
)  # fmt: skip
KINDS: tuple[Any, ...] = (issparse, *[_kind(name) for name in scipy.__all__ if name.startswith("isspmatrix")])
