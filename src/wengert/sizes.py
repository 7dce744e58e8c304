"""torch.Size, the shape of a tensor: a tuple of ints with numel()."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from operator import index
from typing import Any, SupportsIndex, overload


class Size(tuple[int, ...]):
    """The sizes of a tensor's dimensions: a tuple of ints. Slices, sums and multiples are Sizes too.

    Raises TypeError for anything that is not an integer.

    >>> import wengert
    >>> shape = wengert.ones(2, 3).shape
    >>> shape, shape.numel(), shape[1:], shape + (4,)
    (torch.Size([2, 3]), 6, torch.Size([3]), torch.Size([2, 3, 4]))
    >>> shape == (2, 3)
    True
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[SupportsIndex] = ()) -> Size:
        values = []
        for position, size in enumerate(sizes):
            try:
                values.append(index(size))
            except TypeError:
                name = type(size).__name__
                raise TypeError(f"torch.Size() takes an iterable of 'int' (item {position} is '{name}')") from None
        return tuple.__new__(cls, values)

    def numel(self) -> int:
        """Return the number of elements: the product of the sizes, 1 if there are no dimensions."""
        return prod(self)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    @overload
    def __getitem__(self, key: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> Size: ...
    def __getitem__(self, key: SupportsIndex | slice) -> int | Size:
        item: Any = tuple.__getitem__(self, key)
        return tuple.__new__(Size, item) if isinstance(key, slice) else item

    # A sum with a tuple of ints, on either side, is a Size.
    def __add__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Size:
        return Size(other + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> Size:
        return tuple.__new__(Size, tuple(self) * times)

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[type[Size], tuple[tuple[int, ...]]]:
        return Size, (tuple(self),)
