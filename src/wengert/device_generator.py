"""The generators of random numbers of GPUs, which torch.Generator("cuda") makes. Loaded when a program first draws on a GPU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_for
from wengert.core.tensor import wrap
from wengert.devices import device as _device
from wengert.generator import Generator, bytes_of, rebuild_on

_BLOCK_WORDS = 4  # words of a block of Philox
_MASK_64 = (1 << 64) - 1


class DeviceGenerator(Generator):
    """Source of random numbers on a GPU, which Generator("cuda") makes: a seed, and an offset that counts the words in use.

    The GPU makes the numbers, by the generator Philox (backends/philox.py), without waiting. Equal seeds and offsets give equal
    numbers on each GPU. They are neither those of a seed on the CPU nor torch's. A state has torch's format for GPUs: 16 bytes, the
    seed and the offset."""

    __slots__ = ("_offset",)

    def __init__(self, device: Any = None) -> None:
        where = _device(device)
        backend = backend_for("cuda")
        index = backend.current_device() if where.index is None else where.index
        if index >= backend.device_count():
            raise errors.DeviceError("CUDA error: invalid device ordinal")
        super().__init__()
        self.device = _device("cuda", index)
        self._offset = 0

    @property
    def numpy(self) -> Any:
        """Raises RuntimeError: NumPy has no generator on a GPU."""
        raise errors.DeviceError(f"a generator on {self.device} has no generator of NumPy. Hint: use wengert.Generator().numpy")

    def _restart(self, seed: int) -> None:
        with self._lock:
            self._seed, self._offset = seed, 0

    def position(self) -> Any:
        return self._seed, self._offset

    def get_offset(self) -> int:
        return self._offset

    def set_offset(self, offset: int) -> Generator:
        if offset % _BLOCK_WORDS:
            raise RuntimeError("offset must be a multiple of 4")
        with self._lock:
            self._seed_or_entropy()
            self._offset = offset & _MASK_64
        return self

    def get_state(self) -> Any:
        """Return the seed and the offset, in torch's format: a uint8 tensor of 16 elements, in main memory."""
        with self._lock:
            return wrap(np.array([self._seed_or_entropy(), self._offset], "<u8").view(np.uint8))

    def set_state(self, new_state: Any) -> Generator:
        """Restore a state that get_state returned, and return self. Raises TypeError or RuntimeError for anything else."""
        array = bytes_of(new_state)
        if array.shape not in ((8,), (16,)):
            raise RuntimeError("RNG state is wrong size")
        seed, offset = [*np.frombuffer(array.tobytes(), "<u8").tolist(), 0][:2]
        with self._lock:
            self._seed, self._offset = seed, offset
        return self

    def _take(self, blocks: int) -> tuple[int, int]:
        """Return the seed and the number of the first of some blocks, which nothing else uses from now on."""
        with self._lock:
            first = self._offset // _BLOCK_WORDS
            self._offset = self._offset + _BLOCK_WORDS * blocks & _MASK_64
            return self._seed_or_entropy(), first

    def _draw(self, kind: str, shape: tuple[int, ...], dtype: Any) -> Any:
        backend = backend_for("cuda")
        seed, first = self._take(-(-math.prod(shape) * dtype.itemsize // (4 * _BLOCK_WORDS)))
        with backend.current(self.device.index):
            return backend.draw(kind, dtype, shape, seed, first)

    def words(self, n: int) -> Any:
        """Draw n long words, as uint64."""
        return self.integers((n,), 1 << 64)

    def uniform(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return self._draw("uniform", shape, dtype)

    def uniform_like(self, array: Any) -> Any:
        """Draw a float32 number from [0, 1) for each element of an array."""
        return self.uniform(array.shape, np.dtype(np.float32))

    def integers(self, shape: tuple[int, ...], size: int, is_long: bool | None = None) -> Any:
        """Draw integers from [0, size), 1 <= size <= 2**64, as uint64."""
        words = self._draw("uniform", shape, np.dtype(np.uint64))
        if size <= _MASK_64:
            words %= words.dtype.type(size)
        return words

    def normal(self, shape: tuple[int, ...], dtype: Any, in_groups: bool = True) -> Any:
        """Draw normal numbers of mean 0 and variance 1 in a floating dtype. Each part of complex numbers has variance 1/2."""
        if dtype.kind == "c":
            part = np.dtype(dtype.type(0).real)
            return (self.normal((*shape, 2), part) * part.type(math.sqrt(0.5))).view(dtype).reshape(shape)
        if dtype.itemsize == 2:
            return self.normal(shape, np.dtype(np.float32)).astype(dtype)
        return self._draw("normal", shape, dtype)

    def by_rejection(self, kind: int, a: Any, b: Any) -> Any:
        seed, first = self._take(1 + (a.size >> 32))
        return backend_for("cuda").draw_rejecting(kind, a, b, seed, first)

    def permutation(self, n: int) -> Any:
        """Draw a permutation of 0, ..., n - 1, as int64: the order of n random words."""
        return self.words(n).argsort()

    def __setstate__(self, state: Any) -> None:
        raise TypeError("a generator of a GPU takes no state of a pickle")

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return rebuild_on, (str(self.device), self.get_state()._array.tobytes())
