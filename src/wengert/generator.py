"""Random number generators: torch's Generator on NumPy's Mersenne Twister, and the default generators of wengert.manual_seed.

A GPU has generators of its own, whose numbers are made there (device_generator.py). The rest of this text is about the CPU.

A seed gives the numbers that torch draws on a CPU, on every platform. Note [Random numbers] says how words of the Mersenne
Twister become numbers. Integers, permutations and uniform numbers agree with torch's to the bit, normal ones to the last place.

Note [Random numbers]
A word is an output of MT19937, 32 bits; a long word is two words, the high bits first.
- Uniform numbers in [0, 1): the low 24 bits of a word for float32, the low 53 bits of a long word for float64.
- Integers of a range: a word modulo the size of the range; a long word if the size is 2**28 or more.
- Normal numbers, fewer than 16: Box and Muller's transform of two float64 uniforms gives a pair of numbers. The second number of
  a pair is kept for the next call.
- Normal numbers, 16 and more: uniforms of the dtype in groups of 16, whose halves are the two inputs of the transform. If the size
  is no multiple of 16, the last 16 numbers are drawn again.
- Permutations: the shuffle of Fisher and Yates, with a word for each place but the last.
- Numbers of gamma, Poisson and binomial distributions come from rejection, which draws float64 uniforms and pairs of normal numbers
  until it accepts: see kernels/samplers.py.
- bernoulli_ and dropout compare float64 uniforms with the probability; exponential, Cauchy and geometric numbers are quantiles
  of float64 uniforms.
torch leaves bernoulli_ and exponential_ to MKL on processors of Intel; these numbers are those of its own kernels.
"""

from __future__ import annotations

import math
from _thread import allocate_lock
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from wengert import errors
from wengert._forks import import_late, in_child
from wengert.backends.selection import backend_for, cuda_is_available, device_name, loaded, why_no_cuda
from wengert.core.tensor import TensorBase, wrap
from wengert.devices import device as _device
from wengert.kernels import native

if TYPE_CHECKING:
    import numpy as np

_FIRST_SEED = 67280421310721  # seed of a new Generator, as in torch
_MASK_64 = (1 << 64) - 1
_MASK_32 = (1 << 32) - 1
_WORDS = 624  # length of the state of MT19937
_LONG_RANGE = 1 << 28  # size of a range of integers from which they are made of long words
_GROUP = 16  # normal numbers that are made together, and the least number of them that are made in groups
# Layout of a state: torch's own. `left` counts the words until the state is renewed, and the next word, itself included.
_STATE = [
    ("seed", "<u8"), ("left", "<i4"), ("seeded", "<i4"), ("next", "<u8"), ("words", "<u8", _WORDS), ("normal_x", "<f8"),
    ("normal", "<f8"), ("normal_rho", "<f8"), ("has_normal", "<i4"), ("", "V4"), ("float_normal", "<f4"), ("has_float", "V4"),
]  # fmt: skip
_STATE_SIZE = 5056  # bytes
_generators: WeakSet[Generator] = WeakSet()  # all that are alive


class Generator:
    """Source of random numbers, for the argument `generator=`.

    The state (get_state, set_state) is complete: after set_state the numbers are those that followed get_state. States have torch's
    format and can be exchanged with torch. `numpy` is an np.random.Generator that draws from the same words. Threads may share a
    generator: draws do not mix, but their order is not determined.

    >>> import wengert
    >>> g = wengert.Generator().manual_seed(0)
    >>> a = wengert.rand(3, generator=g)
    >>> b = wengert.rand(3, generator=g.manual_seed(0))
    >>> bool((a == b).all())
    True
    """

    __slots__ = ("__weakref__", "_lock", "_normal", "_numpy", "_seed", "device")

    def __new__(cls, device: Any = None) -> Generator:
        kind = "cpu" if device is None else _device(device).type
        if kind != "cpu" and not (kind == "cuda" and cuda_is_available()):
            reason = why_no_cuda() if kind == "cuda" else "random numbers are made on the CPU and on CUDA devices"
            raise errors.DeviceError(f"Cannot get {kind.upper()} generator: {reason}")
        if kind == "cuda" and cls is Generator:
            cls = import_late("wengert.device_generator").DeviceGenerator
        return object.__new__(cls)

    def __init__(self, device: Any = None) -> None:
        self.device = _device("cpu")  # without index: there is one CPU
        self._seed: int | None = _FIRST_SEED
        self._numpy: Any = None  # made at the first use, because importing numpy.random takes milliseconds
        self._normal: float | None = None  # second number of the last pair of normal numbers
        self._lock = allocate_lock()
        _generators.add(self)

    @property
    def numpy(self) -> np.random.Generator:
        """The underlying NumPy generator. Numbers drawn from it advance the state."""
        found = self._numpy
        return self._start() if found is None else found

    def _start(self) -> np.random.Generator:
        from numpy.random import MT19937, Generator as NumpyGenerator

        with self._lock:
            if self._numpy is None:
                bits = MT19937(0)
                _seed(bits, self._seed_or_entropy())
                self._numpy = NumpyGenerator(bits)
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
        self._restart(_checked_seed(seed))
        return self

    def _restart(self, seed: int) -> None:
        # Seed the generator that is there, so that a `.numpy` that somebody holds draws the new numbers too.
        bits = self.numpy.bit_generator
        with self._lock:
            _seed(bits, seed)
            self._seed, self._normal = seed, None

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
            state = bits.state["state"]
            return state["pos"], state["key"].tobytes(), self._normal

    def get_state(self) -> Any:
        """Return the complete state, in torch's format: a uint8 tensor of 5056 elements."""
        import numpy

        bits = self.numpy.bit_generator
        found = numpy.zeros((), _STATE)
        with self._lock, bits.lock:
            state = bits.state["state"]
            found["seed"], found["words"], found["seeded"] = self._seed_or_entropy(), state["key"], 1
            found["left"] = _WORDS + 1 - state["pos"]
            found["next"] = state["pos"] % _WORDS
            if self._normal is not None:
                found["normal"], found["has_normal"] = self._normal, 1
        return wrap(numpy.frombuffer(found.tobytes(), numpy.uint8).copy())

    def set_state(self, new_state: Any) -> Generator:
        """Restore a state that get_state returned, here or in torch, and return self.

        new_state: a uint8 tensor of 5056 elements. Raises TypeError or RuntimeError for anything else."""
        import numpy

        array = bytes_of(new_state)
        if array.shape != (_STATE_SIZE,):
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE_SIZE} but found the input RNG state size to be {array.size}"
            )
        found = numpy.frombuffer(array.tobytes(), _STATE)[0]
        if not 1 <= found["left"] <= _WORDS or found["words"].max() > _MASK_32:
            raise RuntimeError("Invalid mt19937 state")
        bits = self.numpy.bit_generator
        words = {"key": found["words"].astype(numpy.uint32), "pos": _WORDS + 1 - int(found["left"])}
        state = {"bit_generator": "MT19937", "state": words}
        with self._lock, bits.lock:
            bits.state = state
            self._seed = int(found["seed"])
            self._normal = float(found["normal"]) if found["has_normal"] else None
        return self

    # -- draws: see Note [Random numbers] ------------------------------------------------------------------------------

    def words(self, n: int) -> Any:
        """Draw n words, as uint64."""
        return self._fill((n,), "uint64", False)

    def uniform(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Draw uniform numbers from [0, 1), as float32 or float64."""
        return self._fill(shape, dtype, dtype == "float64")

    def _fill(self, shape: tuple[int, ...], dtype: Any, is_long: bool) -> Any:
        """Draw uniform numbers from [0, 1) as float32 or float64, or words or long words as uint64."""
        import numpy

        bits = self.numpy.bit_generator
        if native is not None:
            out = numpy.empty(shape, dtype)
            with bits.lock:
                native.fill_random(bits.capsule, out, is_long)
            return out
        words: Any = numpy.asarray(bits.random_raw((2, *shape) if is_long else shape))
        if is_long:
            pairs = words.reshape(-1, 2)
            words = (pairs[:, 0] << 32 | pairs[:, 1]).reshape(shape)
        if dtype == "uint64":
            return words
        digits = 53 if is_long else 24
        return numpy.asarray((words & ((1 << digits) - 1)).astype(dtype) * numpy.dtype(dtype).type(2.0**-digits))

    def uniform_like(self, array: Any) -> Any:
        """Draw a float64 number from [0, 1) for each element of an array, in the order of the memory of the array."""
        from numpy import dtype

        float64 = dtype("float64")
        return in_memory_order(array, lambda shape: self.uniform(shape, float64))

    def integers(self, shape: tuple[int, ...], size: int, is_long: bool | None = None) -> Any:
        """Draw integers from [0, size), 1 <= size <= 2**64, as uint64.

        is_long: whether they are made of long words. None: if the size asks for it."""
        words = self._fill(shape, "uint64", size >= _LONG_RANGE if is_long is None else is_long)
        if size <= _MASK_64:
            words %= size  # in place: of a 0-d array, the operator makes a scalar
        return words

    def normal(self, shape: tuple[int, ...], dtype: Any, in_groups: bool = True) -> Any:
        """Draw normal numbers of mean 0 and variance 1 in a floating dtype. Each part of complex numbers has variance 1/2.

        in_groups: make 16 numbers and more in groups, as torch does for contiguous memory."""
        import numpy

        if dtype.kind == "c":
            part = numpy.dtype(dtype.type(0).real)
            found = self.normal((*shape, 2), part, in_groups) * part.type(math.sqrt(0.5))
            return found.view(dtype).reshape(shape)
        if in_groups and math.prod(shape) >= _GROUP:
            return self._normal_in_groups(shape, dtype)
        found = numpy.empty(shape, dtype)
        self._fill_by_pairs(found.reshape(-1))
        return found

    def _fill_by_pairs(self, out: Any) -> None:
        import numpy

        self._start()
        with self._lock:
            found = [] if self._normal is None else [self._normal]
            missing = max(out.size - len(found), 0)
            for u, v in self.uniform(((missing + 1) // 2, 2), numpy.dtype("float64")).tolist():
                radius, angle = math.sqrt(-2 * math.log1p(-v)), 2 * math.pi * u
                found += radius * math.cos(angle), radius * math.sin(angle)
            out[:] = found[: out.size]
            self._normal = found[-1] if len(found) > out.size else None

    def _normal_in_groups(self, shape: tuple[int, ...], dtype: Any) -> Any:
        import numpy

        if dtype.itemsize > 2:
            found = self.uniform(shape, dtype)
        else:  # torch does not draw the numbers that the last group overwrites, as it does for other dtypes
            found = numpy.empty(shape, numpy.float32)
            whole = found.size - found.size % _GROUP
            found.reshape(-1)[:whole] = self.uniform((whole,), found.dtype)
        numbers = found.reshape(-1)
        rest = found.size % _GROUP
        _transform_groups(numbers[: found.size - rest])
        if rest:
            last = self.uniform((_GROUP,), found.dtype)
            _transform_groups(last)
            numbers[-_GROUP:] = last
        return found.astype(dtype, copy=False)

    def by_rejection(self, kind: int, a: Any, b: Any) -> Any:
        """Draw from the distribution with this number in samplers.KINDS, for each element of float64 arrays of one shape."""
        import numpy

        bits = self.numpy.bit_generator
        a, b = (numpy.array(x, order="C") for x in (a, b))
        found = numpy.empty(a.shape)
        if native is not None:
            with self._lock, bits.lock:
                self._normal = native.draw_rejecting(bits.capsule, kind, found, a, b, self._normal)
            return found
        from wengert.kernels.samplers import KINDS

        draw, float64, one = KINDS[kind], numpy.dtype("float64"), numpy.empty(1)

        def uniform() -> float:
            return self.uniform((), float64).item()

        def normal() -> float:
            self._fill_by_pairs(one)
            return one.item()

        found.reshape(-1)[:] = [draw(uniform, normal, x, y) for x, y in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)]
        return found

    def permutation(self, n: int) -> Any:
        """Draw a permutation of 0, ..., n - 1, as int64."""
        import numpy

        found, bits = numpy.arange(n), self.numpy.bit_generator
        if native is not None:
            with bits.lock:
                native.shuffle(bits.capsule, found)
            return found
        order, places = found.tolist(), found[: max(n - 1, 0)].astype(numpy.uint64)
        for i, j in enumerate((places + self.words(len(places)) % (n - places)).tolist()):
            order[i], order[j] = order[j], order[i]
        return numpy.array(order, numpy.int64)

    def get_offset(self) -> int:
        """Return how many words a GPU's generator has used. Raises RuntimeError on the CPU, whose generator does not count them."""
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset: int) -> Generator:
        """Set how many words a GPU's generator has used. Raises RuntimeError on the CPU."""
        raise RuntimeError("CPU Generator does not use offset")

    def clone_state(self) -> Generator:
        """Return a new generator in the same state."""
        return Generator(self.device).set_state(self.get_state())

    def graphsafe_get_state(self) -> Generator:
        """Return a new generator in the same state: clone_state under torch's other name."""
        return self.clone_state()

    def graphsafe_set_state(self, state: Generator) -> Generator:
        """Take the state of another generator of the same type of device, and return self."""
        return self.set_state(state.get_state())

    def __setstate__(self, state: tuple[int, None, Any]) -> None:
        """Take the state of a pickle that torch has made: the seed, None and what get_state returned."""
        seed, _, words = state
        self.set_state(words)
        self._seed = int(seed) & _MASK_64

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return _rebuild, (self.get_state()._array.tobytes(),)


def _transform_groups(u: Any) -> None:
    """Replace uniform numbers by normal ones, in groups of 16, by Box and Muller's transform of the halves of a group."""
    import numpy

    halves = u.reshape(-1, 2, _GROUP // 2)
    radius = 1 - halves[:, 0]
    numpy.log(radius, out=radius)
    radius *= -2
    numpy.sqrt(radius, out=radius)
    angle = halves[:, 1] * u.dtype.type(2 * math.pi)
    numpy.multiply(radius, numpy.cos(angle), out=halves[:, 0])
    numpy.multiply(radius, numpy.sin(angle, out=angle), out=halves[:, 1])


def _seed(bits: Any, seed: int) -> None:
    """Start an MT19937 from the low 32 bits of a seed, by Matsumoto and Nishimura's init_genrand (2002), under the lock of bits."""
    from numpy.random import RandomState

    RandomState(bits).seed(seed & _MASK_32)


def _checked_seed(seed: Any) -> int:
    """Return a seed modulo 2**64. Raises ValueError outside of [-2**63, 2**64)."""
    seed = int(seed)
    if not -(2**63) <= seed < 2**64:
        raise errors.ElementError(f"Overflow when unpacking long long: the seed {seed} is not in [-2**63, 2**64)")
    return seed & _MASK_64


def bytes_of(state: Any) -> Any:
    """Return the array of a state. Raises TypeError or RuntimeError for anything but a uint8 tensor in main memory."""
    if not isinstance(state, TensorBase):
        raise errors.wrong_argument_type("set_state", "new_state", 0, type(state))
    array: Any = state._array
    if array.dtype != "uint8" or device_name(array) != "cpu":
        raise errors.DtypeError("RNG state must be a torch.ByteTensor")
    return array


def _rebuild(state: bytes) -> Generator:
    return rebuild_on("cpu", state)


def rebuild_on(where: str, state: bytes) -> Generator:
    import numpy

    return Generator(where).set_state(wrap(numpy.frombuffer(state, numpy.uint8)))


@in_child
def renew_locks() -> None:
    """Make the locks free, which other threads may have held. NumPy's is part of its generator."""
    for generator in _generators:
        generator._lock = allocate_lock()
        if generator._numpy is not None:
            generator._numpy.bit_generator.lock._at_fork_reinit()


default_generator = Generator()
default_generator._seed = None  # a random seed of the operating system, drawn at the first use


def in_memory_order(array: Any, draw: Callable[[tuple[int, ...]], Any]) -> Any:
    """Return draw(shape) with the dimensions in array's order, where shape lists the dimensions in the order of array's memory.

    torch fills tensors in the order of their memory, so that a transposed tensor gets the numbers of its base."""
    order = sorted(range(array.ndim), key=lambda dim: -abs(array.strides[dim]))
    if order == list(range(array.ndim)):
        return draw(array.shape)
    drawn = draw(tuple([array.shape[dim] for dim in order]))
    return drawn.transpose([order.index(dim) for dim in range(array.ndim)])


def generator_of(generator: Generator | None, where: str = "cpu") -> Generator:
    """Return the Generator of a `generator=` argument for numbers on a device, "cpu" or "cuda:0"; None means its default generator.

    Raises RuntimeError for a generator of another type of device."""
    if generator is None:
        return default_generator if where == "cpu" else default_generator_of(where)
    if not isinstance(generator, Generator):
        raise TypeError(f"expected a wengert.Generator as generator=, but got {type(generator).__name__}")
    kind = where.partition(":")[0]
    if generator.device.type != kind:
        raise errors.DeviceError(f"Expected a '{kind}' device type for generator but found '{generator.device.type}'")
    return generator


_of_devices: dict[str, Generator] = {}  # the default generators of GPUs
_seed_of_devices: int | None = None  # of those that are made later


def default_generator_of(where: str) -> Generator:
    """Return the default generator of a device, "cpu" or "cuda:0". manual_seed seeds it, too, if it is made later."""
    if where == "cpu":
        return default_generator
    found = _of_devices.get(where)
    if found is None:
        found = Generator(where)
        found._seed = _seed_of_devices
        found = _of_devices.setdefault(where, found)
    return found


def default_generators() -> dict[str, Generator]:
    """Return the default generators of the CPU and, if GPUs are in use, of each GPU, by the names of the devices."""
    count = backend_for("cuda").device_count() if "cuda" in loaded else 0
    return {"cpu": default_generator, **{f"cuda:{i}": default_generator_of(f"cuda:{i}") for i in range(count)}}


def get_states() -> dict[str, Any]:
    """Return the states of all default generators, for set_states."""
    return {where: generator.get_state() for where, generator in default_generators().items()}


def set_states(states: dict[str, Any]) -> None:
    """Restore states of default generators."""
    for where, state in states.items():
        default_generator_of(where).set_state(state)


def manual_seed(seed: int) -> Generator:
    """Restart the default generators, of the CPU and of each GPU, from a seed and return that of the CPU.

    >>> import wengert
    >>> _ = wengert.manual_seed(0)
    >>> wengert.rand(3)
    tensor([0.4963, 0.7682, 0.0885])
    """
    default_generator.manual_seed(seed)
    seed_devices(seed)
    return default_generator


def seed_devices(seed: int) -> None:
    """Restart the default generators of the GPUs from a seed, those too that are not made yet."""
    global _seed_of_devices
    _seed_of_devices = _checked_seed(seed)
    for generator in _of_devices.values():
        generator.manual_seed(seed)


def seed() -> int:
    """Restart the default generators from a random seed of the operating system and return the seed."""
    found = default_generator.seed()
    seed_devices(found)
    return found


def initial_seed() -> int:
    """Return the seed of the default generator's last start."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """Return the state of the default generator, as a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Restore a state of the default generator that get_rng_state returned."""
    default_generator.set_state(new_state)
