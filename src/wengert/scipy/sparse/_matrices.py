"""Sparse matrices whose stored values are a tensor, and SciPy's classes with products with tensors.

Operations that move values (indexing, transposing, stacking) are run by SciPy on a matrix of the numbers of the values; the values
are then gathered in that order. Products with dense arrays are SciPy's, see _sparse_products.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import detached, dtype_of, holds_tensor, tensor, w
from wengert.core.tensor import TensorBase
from wengert.scipy._frame import operands
from wengert.scipy._sparse_products import Pattern, multiply

scipy: Any = import_late("scipy.sparse")


class SparseTensor:
    """A sparse matrix (m, n) with values in a tensor. data: (values,), one for each place of the pattern, all different.

    It has the operators and the most common methods of SciPy's arrays; for all else, `detach()` returns SciPy's array.
    is_matrix: `*` is the matrix product, as for SciPy's csr_matrix, and the elementwise product otherwise.
    """

    __array_ufunc__ = None  # NumPy leaves array @ x to us
    ndim = 2

    def __init__(self, data: Any, pattern: Pattern, format: str = "csr", is_matrix: bool = False) -> None:
        keys = pattern.rows.astype(np.int64) * pattern.shape[1] + pattern.cols
        places, index = np.unique(keys, return_inverse=True)
        if len(places) != len(keys) or not np.array_equal(places, keys):
            if len(places) == len(keys):
                data = data[np.argsort(index)]
            else:
                data = w.index_add(w.zeros(len(places), dtype=data.dtype), 0, w.as_tensor(index), data)
            width = max(pattern.shape[1], 1)
            pattern = Pattern(places // width, places % width, pattern.shape)
        self.data, self.pattern, self.format, self.is_matrix = data, pattern, format, is_matrix

    shape = property(lambda self: self.pattern.shape)
    nnz = property(lambda self: len(self.pattern.rows))
    size = nnz
    dtype = property(lambda self: self.data.dtype)
    T = property(lambda self: self.transpose())
    requires_grad = property(lambda self: self.data.requires_grad)

    def __repr__(self) -> str:
        return f"<SparseTensor of dtype {self.dtype} with {self.nnz} stored elements and shape {self.shape}, like {self.format}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(
            f"A sparse matrix with values in a tensor has no attribute {name!r}. Hint: x.detach() is SciPy's array."
        )

    def _like(self, data: Any, pattern: Pattern) -> SparseTensor:
        return SparseTensor(data, pattern, self.format, self.is_matrix)

    def detach(self) -> Any:
        """Return SciPy's sparse array, or matrix, with these values."""
        found = self.pattern.matrix(detached(self.data))
        return (scipy.coo_matrix(found) if self.is_matrix else found).asformat(self.format)

    def numbers(self, first: int = 1) -> Any:
        """Return SciPy's array with the numbers of the values in their places. They begin with `first`, which is not 0."""
        found = self.pattern.matrix(np.arange(first, first + self.nnz))
        return (scipy.coo_matrix(found) if self.is_matrix else found).asformat("csr")

    def toarray(self) -> Any:
        """Return a dense tensor (m, n)."""
        flat = self.pattern.rows.astype(np.int64) * self.shape[1] + self.pattern.cols
        zeros = w.zeros(self.shape[0] * self.shape[1], dtype=self.dtype)
        return w.reshape(w.index_add(zeros, 0, w.as_tensor(flat), self.data), self.shape)

    todense = toarray

    def asformat(self, format: str | None, copy: bool = False) -> SparseTensor:
        """Return the same matrix, which detach() gives in another format of SciPy."""
        return SparseTensor(self.data, self.pattern, format or self.format, self.is_matrix)

    def tocsr(self, copy: bool = False) -> SparseTensor:
        return self.asformat("csr")

    def tocsc(self, copy: bool = False) -> SparseTensor:
        return self.asformat("csc")

    def tocoo(self, copy: bool = False) -> SparseTensor:
        return self.asformat("coo")

    def copy(self) -> SparseTensor:
        return self._like(self.data.clone(), self.pattern)

    def transpose(self, axes: Any = None, copy: bool = False) -> SparseTensor:
        return self._like(self.data, self.pattern.transposed)

    def conj(self, copy: bool = True) -> SparseTensor:
        return self._like(w.conj_physical(self.data), self.pattern)

    conjugate = conj

    def __getitem__(self, index: Any) -> Any:
        """Return an element, rows, columns or a block, as SciPy does: a tensor for an element, else a SparseTensor."""
        found = self.numbers()[index]
        if not scipy.issparse(found):
            return self.data[int(found) - 1] if found else w.zeros((), dtype=self.dtype)
        return moved(found, self.data, self.format, self.is_matrix)

    def diagonal(self, k: int = 0) -> Any:
        """Return the k-th diagonal, a tensor."""
        found = self.numbers().diagonal(k).astype(np.int64)
        return w.where(w.as_tensor(found > 0), self.data[np.maximum(found - 1, 0)], 0) if self.nnz else w.zeros(len(found))

    def trace(self, offset: int = 0) -> Any:
        return w.sum(self.diagonal(offset))

    def sum(self, axis: Any = None) -> Any:
        """Return the sum over an axis, a dense tensor, or of all elements."""
        if axis is None:
            return w.sum(self.data)
        m, n = self.shape
        kept, size = (self.pattern.rows, m) if axis % 2 == 1 else (self.pattern.cols, n)
        found = w.index_add(w.zeros(size, dtype=self.dtype), 0, w.as_tensor(kept.astype(np.int64)), self.data)
        return found if not self.is_matrix else found[:, None] if axis % 2 == 1 else found[None]

    def mean(self, axis: Any = None) -> Any:
        size = self.shape[0] * self.shape[1] if axis is None else self.shape[axis]
        return self.sum(axis) / size

    def power(self, n: Any) -> SparseTensor:
        return self._like(self.data**n, self.pattern)

    def __neg__(self) -> SparseTensor:
        return self._like(-self.data, self.pattern)

    def __abs__(self) -> SparseTensor:
        return self._like(w.abs(self.data), self.pattern)

    def __add__(self, other: Any) -> Any:
        if not is_sparse(other):
            return self.toarray() + other if np.ndim(detached(other)) else self._number(other)
        other = sparse_tensor(other)
        if self.shape != other.shape:
            raise ValueError("inconsistent shapes")
        a, b = operands(self.data, other.data)
        rows, cols = [np.concatenate(pair) for pair in zip(_places(self), _places(other), strict=True)]
        return self._like(w.cat([a, b]), Pattern(rows, cols, self.shape))

    def _number(self, other: Any) -> Any:
        if not isinstance(other, TensorBase) and other == 0:
            return self
        raise NotImplementedError("adding a nonzero scalar to a sparse array is not supported")

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + (-sparse_tensor(other) if is_sparse(other) else -other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def multiply(self, other: Any) -> SparseTensor:
        """Return the elementwise product with a number, a sparse or a dense array that broadcasts."""
        if is_sparse(other):
            other = sparse_tensor(other)
            if self.shape != other.shape:
                raise ValueError("inconsistent shapes")
            n = max(self.shape[1], 1)
            mine, others = [p.rows.astype(np.int64) * n + p.cols for p in (self.pattern, other.pattern)]
            common, i, j = np.intersect1d(mine, others, assume_unique=True, return_indices=True)
            a, b = operands(self.data, other.data)
            return self._like(a[i] * b[j], Pattern(common // n, common % n, self.shape))
        a, b = operands(self.data, other)
        if b.ndim:
            b = w.broadcast_to(b, self.shape)[self.pattern.rows, self.pattern.cols]
        return self._like(a * b, self.pattern)

    def __mul__(self, other: Any) -> Any:
        if self.is_matrix and (is_sparse(other) or np.ndim(detached(other))):
            return self @ other
        return self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        return other @ self if self.is_matrix and np.ndim(detached(other)) else self.multiply(other)

    def __truediv__(self, other: Any) -> Any:
        if is_sparse(other):
            return self.toarray() / sparse_tensor(other).toarray()
        return self.multiply(1.0 / other if not isinstance(other, (list, tuple)) else 1.0 / np.asarray(other))

    def __matmul__(self, other: Any) -> Any:
        """Return the product with a sparse matrix, or with a dense one: (n,) or (n, k)."""
        if is_sparse(other):
            return _sparse_product(self, sparse_tensor(other))
        a, x = operands(self.data, other)
        if x.ndim not in (1, 2) or x.shape[0] != self.shape[1]:
            rows = x.shape[0] if x.ndim else 0
            raise ValueError(f"matmul: dimension mismatch with signature (n,k={self.shape[1]}),(k={rows},m)->(n,m)")
        return multiply(self.pattern, a, x)

    dot = __matmul__

    def __rmatmul__(self, other: Any) -> Any:
        a, x = operands(self.data, other)
        found = multiply(self.pattern.transposed, a, x.mT if x.ndim > 1 else x)
        return found.mT if x.ndim > 1 else found


def _places(x: SparseTensor) -> tuple[Any, Any]:
    return x.pattern.rows, x.pattern.cols


def _sparse_product(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    """The product of two sparse matrices: one term for each pair of a value of a and one in the row of b that it meets."""
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"matmul: dimension mismatch with signature (n,k={a.shape[1]}),(k={b.shape[0]},m)->(n,m)")
    starts = np.searchsorted(b.pattern.rows, np.arange(b.shape[0] + 1))  # the places are sorted by rows
    counts = np.diff(starts)[a.pattern.cols]
    left = np.repeat(np.arange(a.nnz), counts)
    right = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(starts[a.pattern.cols], counts)
    x, y = operands(a.data, b.data)
    return a._like(x[left] * y[right], Pattern(a.pattern.rows[left], b.pattern.cols[right], (a.shape[0], b.shape[1])))


def moved(numbers: Any, data: Any, format: str, is_matrix: bool) -> SparseTensor:
    """Return the matrix whose values are those with the numbers that SciPy's matrix has in its places."""
    if numbers.ndim == 1:
        numbers = numbers.reshape(1, -1)
    found = numbers.tocoo()
    return SparseTensor(data[found.data.astype(np.int64) - 1], Pattern(found.row, found.col, found.shape), format, is_matrix)


def is_sparse(x: Any) -> bool:
    """Whether x is a sparse matrix, SciPy's or one with values in a tensor."""
    return isinstance(x, SparseTensor) or bool(scipy.issparse(x))


def sparse_tensor(x: Any) -> SparseTensor:
    """Return a sparse matrix as one with values in a tensor. Other things are made a sparse matrix: a dense tensor, an array."""
    if isinstance(x, SparseTensor):
        return x
    if isinstance(x, TensorBase):
        whole: Any = x  # zeros are stored too, since they have derivatives
        rows, cols = np.divmod(np.arange(whole.numel()), whole.shape[1])
        return SparseTensor(whole.reshape(-1), Pattern(rows, cols, tuple(whole.shape)))
    x = x if scipy.issparse(x) else scipy.coo_array(x)
    found = x.tocoo()
    return SparseTensor(w.as_tensor(found.data), Pattern(found.row, found.col, found.shape), x.format, scipy.isspmatrix(x))


# -- SciPy's classes ---------------------------------------------------------------------------------------------------------


def _parsed(format: str, is_matrix: bool, arg: Any, shape: Any, dtype: Any) -> SparseTensor:
    """Return the sparse matrix that a constructor makes of a tuple with a tensor, as SciPy's tuples, or of a dense tensor."""
    if isinstance(arg, SparseTensor):
        found = SparseTensor(arg.data, arg.pattern, format, is_matrix)
    elif isinstance(arg, tuple):
        data = w.reshape(operands(arg[0])[0], (-1,)) if format not in ("dia", "bsr") else None
        if data is None:
            name = f"scipy.sparse.{format}_array"
            raise errors.no_array_of("Tensor that requires grad", name, "Use coo_array, csr_array or diags.")
        if len(arg) == 2:  # (data, (rows, cols)): values in one place add up
            zeros = scipy.coo_array((np.zeros(len(data)), detached(arg[1])), shape=shape)
            return SparseTensor(data, Pattern(zeros.row, zeros.col, zeros.shape), format, is_matrix)
        numbers = getattr(scipy, f"{format}_array")((np.arange(1, len(data) + 1), *detached(tuple(arg[1:]))), shape=shape)
        coo = numbers.tocoo()
        found = SparseTensor(data[coo.data - 1], Pattern(coo.row, coo.col, coo.shape), format, is_matrix)
    else:
        made = sparse_tensor(tensor(arg))
        found = SparseTensor(made.data, made.pattern, format, is_matrix)
    return found if dtype is None else found._like(found.data.to(dtype_of(dtype)), found.pattern)


class _Products:
    """SciPy's class with products with tensors."""

    def __new__(cls, arg1: Any = None, shape: Any = None, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        if isinstance(arg1, SparseTensor) or holds_tensor((arg1,)):
            base = next(c for c in cls.__mro__ if c.__module__.startswith("scipy.sparse") and hasattr(c, "_format"))
            return _parsed(base._format, cls.__name__.endswith("matrix"), arg1, shape, dtype)
        return super().__new__(cls)


def _container(name: str) -> property:
    """Return the property by which SciPy's methods find the class of another format."""
    return property(lambda self: CLASSES[name])


def _with_tensors(name: str) -> Callable[..., Any]:
    def run(self: Any, other: Any, *args: Any) -> Any:
        if isinstance(other, (TensorBase, SparseTensor)):
            return getattr(sparse_tensor(self), name)(other, *args)
        return getattr(super(_Products, self), name)(other, *args)

    run.__name__ = name
    return run


for _name in ("__matmul__", "__rmatmul__", "__mul__", "__rmul__", "__add__", "__radd__", "__sub__", "__rsub__", "dot", "multiply"):
    setattr(_Products, _name, _with_tensors(_name))

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
CLASSES: dict[str, type] = {}


def _make_classes() -> None:
    for kind in ("array", "matrix"):
        containers = {f"_{f}_container": _container(f"{f}_{kind}") for f in FORMATS}
        for f in FORMATS:
            theirs = getattr(scipy, f"{f}_{kind}")
            members = {"__doc__": theirs.__doc__, "__module__": "wengert.scipy.sparse", **containers}
            CLASSES[f"{f}_{kind}"] = type(f"{f}_{kind}", (_Products, theirs), members)


_make_classes()


def adopted(x: Any) -> Any:
    """Return SciPy's sparse array as one of our class, which multiplies tensors."""
    ours = CLASSES.get(type(x).__name__)
    return x if ours is None or type(x) is ours else ours(x)
