"""Vector spaces of arrays, numbers and containers: zeros, ones, a basis, random vectors, sums and inner products."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import numpy as np

from wengert.core.tensor import TensorBase
from wengert.hips.boxes import Box, value_of
from wengert.hips.doors import door


class VSpace:
    """The vector space of a value. Programs derive their own classes and register them for the types of their values."""

    __slots__ = ()
    mappings: ClassVar[dict[type, Callable[[Any], VSpace]]] = {}
    iscomplex = False

    def __init__(self, value: Any) -> None:
        pass

    def zeros(self) -> Any:
        """Return the zero of the space."""
        raise NotImplementedError(f"{type(self).__name__} has no zeros")

    def ones(self) -> Any:
        """Return the sum of the basis vectors."""
        raise NotImplementedError(f"{type(self).__name__} has no ones")

    def standard_basis(self) -> Iterable[Any]:
        """Yield the basis vectors."""
        raise NotImplementedError(f"{type(self).__name__} has no standard_basis")

    def randn(self) -> Any:
        """Return a random vector."""
        raise NotImplementedError(f"{type(self).__name__} has no randn")

    def add(self, x: Any, y: Any) -> Any:
        """Return x + y."""
        return self._add(x, y)

    def mut_add(self, x: Any, y: Any) -> Any:
        """Return x + y, written into x. If x is None, it stands for zero."""
        return self._mut_add(self.zeros() if x is None else x, y)

    def scalar_mul(self, x: Any, a: Any) -> Any:
        """Return the number a times x."""
        return self._scalar_mul(x, a)

    def inner_prod(self, x: Any, y: Any) -> Any:
        """Return the inner product of x and y."""
        return self._inner_prod(x, y)

    def covector(self, x: Any) -> Any:
        """Return the covector of x: its conjugate."""
        return self._covector(x)

    def _add(self, x: Any, y: Any) -> Any:
        return x + y

    def _mut_add(self, x: Any, y: Any) -> Any:
        x += y
        return x

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return x * a

    def _inner_prod(self, x: Any, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _inner_prod")

    def _covector(self, x: Any) -> Any:
        return x

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}_{vars(self)}"

    @classmethod
    def register(cls, value_type: type, vspace_maker: Callable[[Any], VSpace] | None = None) -> None:
        """Give values of this type a space of this class, or the space that vspace_maker makes of them."""
        VSpace.mappings[value_type] = vspace_maker or cls


def _randn(shape: tuple[int, ...]) -> Any:
    """Return normal numbers of NumPy's global generator, which programs seed."""
    return np.array(np.random.randn(*shape))  # noqa: NPY002


class ArrayVSpace(VSpace):
    """The space of real arrays of a shape and dtype."""

    def __init__(self, value: Any) -> None:
        array = value if type(value) is np.ndarray else np.asarray(value_of(value))
        self.shape, self.dtype = array.shape, array.dtype

    @property
    def size(self) -> int:
        """The number of basis vectors."""
        return int(np.prod(self.shape))

    @property
    def ndim(self) -> int:
        """The number of dimensions of the arrays."""
        return len(self.shape)

    def zeros(self) -> Any:
        return np.zeros(self.shape, self.dtype)

    def ones(self) -> Any:
        return np.ones(self.shape, self.dtype)

    def standard_basis(self) -> Iterator[Any]:
        for place in np.ndindex(*self.shape):
            for unit in (1.0, 1.0j) if self.iscomplex else (1.0,):
                vector = self.zeros()
                vector[place] = unit
                yield vector

    def randn(self) -> Any:
        return _randn(self.shape).astype(self.dtype)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return door(np.dot)(door(np.ravel)(x), door(np.ravel)(y))


class ComplexArrayVSpace(ArrayVSpace):
    """The space of complex arrays of a shape and dtype, as a real space of twice the dimension."""

    iscomplex = True

    @property
    def size(self) -> int:
        return 2 * int(np.prod(self.shape))

    def ones(self) -> Any:
        return np.full(self.shape, 1.0 + 1.0j, self.dtype)

    def randn(self) -> Any:
        return (_randn(self.shape) + 1.0j * _randn(self.shape)).astype(self.dtype)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return door(np.real)(door(np.dot)(door(np.conj)(door(np.ravel)(x)), door(np.ravel)(y)))

    def _covector(self, x: Any) -> Any:
        return door(np.conj)(x)


class ContainerVSpace(VSpace):
    """The space of tuples, lists or dicts of vectors. shape: the spaces of the items, in the same container."""

    def __init__(self, value: Any) -> None:
        self.kind = type(value)
        self.keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        self.shape = self._made([vspace(value[key]) for key in self.keys])

    def _made(self, items: list[Any]) -> Any:
        if issubclass(self.kind, dict):
            return dict(zip(self.keys, items, strict=True))
        return self.kind(*items) if hasattr(self.kind, "_fields") else self.kind(items)

    def _map(self, run: Callable[..., Any], *values: Any) -> Any:
        return self._made([run(self.shape[key], *[x[key] for x in values]) for key in self.keys])

    @property
    def size(self) -> int:
        """The number of basis vectors."""
        return sum([self.shape[key].size for key in self.keys])

    def zeros(self) -> Any:
        return self._map(lambda space: space.zeros())

    def ones(self) -> Any:
        return self._map(lambda space: space.ones())

    def randn(self) -> Any:
        return self._map(lambda space: space.randn())

    def standard_basis(self) -> Iterator[Any]:
        for key in self.keys:
            for vector in self.shape[key].standard_basis():
                yield self._made([vector if k == key else self.shape[k].zeros() for k in self.keys])

    def _add(self, x: Any, y: Any) -> Any:
        return self._map(lambda space, a, b: space.add(a, b), x, y)

    def _mut_add(self, x: Any, y: Any) -> Any:
        return self._add(x, y)

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return self._map(lambda space, v: space.scalar_mul(v, a), x)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return sum([self.shape[key].inner_prod(x[key], y[key]) for key in self.keys])

    def _covector(self, x: Any) -> Any:
        return self._map(lambda space, v: space.covector(v), x)


def _array_space(value: Any) -> VSpace:
    return ComplexArrayVSpace(value) if value.dtype.kind == "c" else ArrayVSpace(value)


VSpace.register(np.ndarray, _array_space)
_KINDS: tuple[tuple[type[VSpace], tuple[type, ...]], ...] = (
    (ArrayVSpace, (float, np.longdouble, np.float64, np.float32, np.float16)),
    (ComplexArrayVSpace, (complex, np.clongdouble, np.complex64, np.complex128)),
    (ContainerVSpace, (tuple, list, dict)),
)
for _space, _values in _KINDS:
    for _kind in _values:
        _space.register(_kind)


def vspace(value: Any) -> Any:
    """Return the vector space of a value. Raises TypeError if its type has none, as int."""
    maker = VSpace.mappings.get(type(value))
    if maker is not None:
        return maker(value)
    if isinstance(value, TensorBase):
        return _array_space(value._array)
    if isinstance(value, Box):
        return vspace(value._value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return ContainerVSpace(value)
    kinds = VSpace.mappings.keys()
    raise TypeError(f"Can't find vector space for value {value} of type {type(value)}. Valid types are {kinds}")
