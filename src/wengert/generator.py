"""Random number generators: torch's Generator on NumPy's, and the default generator of wengert.manual_seed.

The numbers come from NumPy's PCG64. A seed gives the same numbers on every platform; they are not torch's numbers.
"""

from __future__ import annotations

from _thread import allocate_lock
from typing import TYPE_CHECKING, Any

from wengert import errors
from wengert.core.tensor import TensorBase, wrap
from wengert.devices import device as _device

if TYPE_CHECKING:
    import numpy as np

_FIRST_SEED = 67280421310721  # seed of a new Generator, as in torch
_STATE_SIZES = (8, 16, 16, 4, 1)  # bytes of: seed, PCG64's state, increment, buffered 32-bit draw, flag of that draw
_MASK_64 = (1 << 64) - 1


class Generator:
    """Source of random numbers, for the argument `generator=`.

    The state (get_state, set_state) is complete: after set_state the numbers are those that followed get_state. `numpy`
    is the np.random.Generator that draws them. Threads may share a generator: draws do not mix, but their order is not
    determined.

    >>> import wengert
    >>> g = wengert.Generator().manual_seed(0)
    >>> a = wengert.rand(3, generator=g)
    >>> b = wengert.rand(3, generator=g.manual_seed(0))
    >>> bool((a == b).all())
    True
    """

    __slots__ = ("_lock", "_numpy", "_seed", "device")

    def __init__(self, device: Any = None) -> None:
        kind = "cpu" if device is None else _device(device).type
        if kind != "cpu":
            raise errors.DeviceError(f"Cannot get {kind.upper()} generator: random numbers are made on the CPU")
        self.device = _device(kind)  # without index: there is one CPU
        self._seed: int | None = _FIRST_SEED
        self._numpy: Any = None  # made at the first use, because importing numpy.random takes milliseconds
        self._lock = allocate_lock()

    @property
    def numpy(self) -> np.random.Generator:
        """The underlying NumPy generator. Numbers drawn from it advance the state."""
        found = self._numpy
        return self._start() if found is None else found

    def _start(self) -> np.random.Generator:
        from numpy.random import PCG64, Generator as NumpyGenerator

        with self._lock:
            if self._numpy is None:
                self._numpy = NumpyGenerator(PCG64(self._seed_or_entropy()))
            return self._numpy

    def _seed_or_entropy(self) -> int:
        if self._seed is None:
            from secrets import randbits

            self._seed = randbits(63)
        return self._seed

    def manual_seed(self, seed: int) -> Generator:
        """Restart from a seed and return self.

        seed: an int in [-2**63, 2**64), taken modulo 2**64. Raises ValueError for other ints.
        """
        seed = int(seed)
        if not -(2**63) <= seed < 2**64:
            raise errors.ElementError(f"Overflow when unpacking long long: the seed {seed} is not in [-2**63, 2**64)")
        self._restart(seed & _MASK_64)
        return self

    def _restart(self, seed: int) -> None:
        from numpy.random import PCG64

        # Replace the state, not the generator, so that a `.numpy` that somebody holds draws the new numbers too.
        bits = self.numpy.bit_generator
        with self._lock, bits.lock:
            bits.state = PCG64(seed).state
            self._seed = seed

    def seed(self) -> int:
        """Restart from a random seed of the operating system and return the seed."""
        from secrets import randbits

        seed = randbits(63)
        self._restart(seed)
        return seed

    def initial_seed(self) -> int:
        """Return the seed of the last start."""
        with self._lock:
            return self._seed_or_entropy()

    def position(self) -> Any:
        """Return an object that compares equal as long as no number is drawn. It is cheaper than get_state."""
        if self._numpy is None:
            return None
        bits = self._numpy.bit_generator
        with self._lock, bits.lock:
            return bits.state

    def get_state(self) -> Any:
        """Return the complete state, as a uint8 tensor."""
        import numpy

        bits = self.numpy.bit_generator
        with self._lock, bits.lock:
            state, seed = bits.state, self._seed_or_entropy()
        numbers = (seed, state["state"]["state"], state["state"]["inc"], state["uinteger"], state["has_uint32"])
        data = b"".join([number.to_bytes(n, "little") for number, n in zip(numbers, _STATE_SIZES, strict=True)])
        return wrap(numpy.frombuffer(data, numpy.uint8).copy())

    def set_state(self, new_state: Any) -> Generator:
        """Restore a state that get_state returned, and return self. Raises TypeError or RuntimeError for anything else."""
        if not isinstance(new_state, TensorBase):
            raise errors.wrong_argument_type("set_state", "new_state", 0, type(new_state))
        array: Any = new_state._array
        if array.dtype != "uint8":
            raise errors.DtypeError("RNG state must be a torch.ByteTensor")
        if array.shape != (sum(_STATE_SIZES),):
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {sum(_STATE_SIZES)} "
                f"but found the input RNG state size to be {array.size}"
            )
        data, numbers = array.tobytes(), []
        for n in _STATE_SIZES:
            numbers.append(int.from_bytes(data[:n], "little"))
            data = data[n:]
        seed, state, increment, half, has_half = numbers
        bits = self.numpy.bit_generator
        with self._lock, bits.lock:
            bits.state = {
                "bit_generator": "PCG64",
                "state": {"state": state, "inc": increment},
                "uinteger": half,
                "has_uint32": has_half,
            }
            self._seed = seed
        return self

    def clone_state(self) -> Generator:
        """Return a new generator in the same state."""
        return Generator(self.device).set_state(self.get_state())

    def graphsafe_get_state(self) -> Generator:
        """Return a new generator in the same state: clone_state under torch's other name."""
        return self.clone_state()

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return _rebuild, (self.get_state()._array.tobytes(),)


def _rebuild(state: bytes) -> Generator:
    import numpy

    return Generator().set_state(wrap(numpy.frombuffer(state, numpy.uint8)))


default_generator = Generator()
default_generator._seed = None  # a random seed of the operating system, drawn at the first use


def generator_of(generator: Generator | None) -> np.random.Generator:
    """Return the NumPy generator of a `generator=` argument; None means the default generator."""
    if generator is None:
        return default_generator.numpy
    if not isinstance(generator, Generator):
        raise TypeError(f"expected a wengert.Generator as generator=, but got {type(generator).__name__}")
    return generator.numpy


def manual_seed(seed: int) -> Generator:
    """Restart the default generator from a seed and return the generator.

    >>> import wengert
    >>> a = wengert.manual_seed(0) and wengert.rand(2)
    >>> b = wengert.manual_seed(0) and wengert.rand(2)
    >>> bool((a == b).all())
    True
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Restart the default generator from a random seed of the operating system and return the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """Return the seed of the default generator's last start."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """Return the state of the default generator, as a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Restore a state of the default generator that get_rng_state returned."""
    default_generator.set_state(new_state)
