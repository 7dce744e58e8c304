"""Random number generators: torch's Generator over NumPy's, and the default one behind wengert.manual_seed.

The numbers come from NumPy's PCG64. They are the same for the same seed on every platform, but are not torch's.
"""

from __future__ import annotations

from _thread import allocate_lock
from typing import TYPE_CHECKING, Any

from wengert import errors
from wengert.core.tensor import TensorBase, wrap
from wengert.devices import device as _device

if TYPE_CHECKING:
    import numpy as np

_FIRST_SEED = 67280421310721  # of a new Generator, as in torch
_STATE_SIZES = (8, 16, 16, 4, 1)  # bytes of: the seed; PCG64's state and increment; its half-used draw, if it has one
_MASK_64 = (1 << 64) - 1


class Generator:
    """A source of random numbers, of which every `generator=` argument takes one.

    Its state (get_state, set_state) is complete: numbers drawn after set_state are those drawn after get_state. `numpy`
    is the np.random.Generator that draws them. Threads may share one: each draw is whole, their order is chance.

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
        self.device = _device(kind)  # there is one CPU: "cpu:0" is "cpu"
        self._seed: int | None = _FIRST_SEED
        self._numpy: Any = None  # made when first needed: importing numpy.random takes milliseconds
        self._lock = allocate_lock()

    @property
    def numpy(self) -> np.random.Generator:
        """The NumPy generator behind this one; numbers drawn from it advance the state."""
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
        """Starts over from a seed (an int in [-2**63, 2**64); negative ones count from 2**64) and returns self.

        Raises ValueError for other ints.
        """
        seed = int(seed)
        if not -(2**63) <= seed < 2**64:
            raise errors.ElementError(f"Overflow when unpacking long long: the seed {seed} is not in [-2**63, 2**64)")
        self._restart(seed & _MASK_64)
        return self

    def _restart(self, seed: int) -> None:
        from numpy.random import PCG64

        # The state is replaced, not the generator: who holds `.numpy` draws the new numbers too.
        bits = self.numpy.bit_generator
        with self._lock, bits.lock:
            bits.state = PCG64(seed).state
            self._seed = seed

    def seed(self) -> int:
        """Starts over from a seed that the operating system draws, and returns it."""
        from secrets import randbits

        seed = randbits(63)
        self._restart(seed)
        return seed

    def initial_seed(self) -> int:
        """The seed that the generator last started from."""
        with self._lock:
            return self._seed_or_entropy()

    def position(self) -> Any:
        """Something that equals what it was before where no number has been drawn since: cheaper than the state."""
        if self._numpy is None:
            return None
        bits = self._numpy.bit_generator
        with self._lock, bits.lock:
            return bits.state

    def get_state(self) -> Any:
        """The complete state, as a uint8 tensor."""
        import numpy

        bits = self.numpy.bit_generator
        with self._lock, bits.lock:
            state, seed = bits.state, self._seed_or_entropy()
        numbers = (seed, state["state"]["state"], state["state"]["inc"], state["uinteger"], state["has_uint32"])
        data = b"".join([number.to_bytes(n, "little") for number, n in zip(numbers, _STATE_SIZES, strict=True)])
        return wrap(numpy.frombuffer(data, numpy.uint8).copy())

    def set_state(self, new_state: Any) -> Generator:
        """Puts back a state that get_state gave, and returns self. Raises TypeError or RuntimeError for anything
        else."""
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
        """A new generator in the same state."""
        return Generator(self.device).set_state(self.get_state())

    def graphsafe_get_state(self) -> Generator:
        """As clone_state: torch's name for a state that is itself a generator."""
        return self.clone_state()

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return _rebuild, (self.get_state()._array.tobytes(),)


def _rebuild(state: bytes) -> Generator:
    import numpy

    return Generator().set_state(wrap(numpy.frombuffer(state, numpy.uint8)))


default_generator = Generator()
default_generator._seed = None  # drawn by the operating system when first needed


def generator_of(generator: Generator | None) -> np.random.Generator:
    """The NumPy generator to draw from: that of a `generator=` argument, or the default one."""
    if generator is None:
        return default_generator.numpy
    if not isinstance(generator, Generator):
        raise TypeError(f"expected a wengert.Generator as generator=, but got {type(generator).__name__}")
    return generator.numpy


def manual_seed(seed: int) -> Generator:
    """Starts the default generator over from a seed, and returns it.

    >>> import wengert
    >>> a = wengert.manual_seed(0) and wengert.rand(2)
    >>> b = wengert.manual_seed(0) and wengert.rand(2)
    >>> bool((a == b).all())
    True
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Starts the default generator over from a seed that the operating system draws, and returns it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator last started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """The state of the default generator, as a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Puts back a state of the default generator that get_rng_state gave."""
    default_generator.set_state(new_state)
