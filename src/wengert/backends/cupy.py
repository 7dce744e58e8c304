"""The CuPy backend: CuPy's functions, and what docs/backends.md asks of every backend. Loaded when a GPU is first asked for.

Names that are not defined here are CuPy's: xp.exp, xp.sum, xp.matmul.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.backends import philox
from wengert.backends.kernels import OPTIONS, Kernel, preamble_of, source_of
from wengert.backends.numpy import cast as cast

name = "cuda"
_cp: Any = None
ndarray: Any = None


def start() -> None:
    """Import CuPy and look for a GPU. Raises RuntimeError if one of them is missing."""
    global _cp, ndarray
    hint = (
        "Hint: pip install 'wengert[cuda]' installs CuPy, for drivers of CUDA 12 or newer; keep .cuda() behind "
        "`if wengert.cuda.is_available()`."
    )
    try:
        found = import_late("cupy")
        count = found.cuda.runtime.getDeviceCount()
    except ImportError as error:
        raise errors.DeviceError(f"no backend for device cuda: CuPy cannot be imported ({error}). {hint}") from None
    except Exception as error:  # CuPy's own class, which says why the driver refuses
        raise errors.DeviceError(f"no backend for device cuda: {error}. {hint}") from None
    if not count:
        raise errors.DeviceError(f"no backend for device cuda: there is no GPU. {hint}")
    import_late("cupyx").seterr(linalg="raise")
    _cp, ndarray = found, found.ndarray
    take_over_allocation()


def __getattr__(attribute: str) -> Any:
    if _cp is None:
        raise AttributeError(f"CuPy is not in use, so {attribute!r} is not known")
    value = getattr(_cp, attribute)
    globals()[attribute] = value  # the next look-up does not call __getattr__
    return value


# -- devices -----------------------------------------------------------------------------------------------------------


def device_count() -> int:
    """Return the number of GPUs."""
    count: int = _cp.cuda.runtime.getDeviceCount()
    return count


def current_device() -> int:
    """Return the number of the GPU on which arrays are made."""
    number: int = _cp.cuda.runtime.getDevice()
    return number


def set_current_device(index: int) -> None:
    """Choose the GPU on which arrays are made."""
    _cp.cuda.runtime.setDevice(index)


def current(index: int) -> Any:
    """Return a context in which arrays are made on a GPU."""
    return _cp.cuda.Device(index)


def device_of(x: Any) -> int:
    """Return the number of an array's GPU."""
    number: int = x.device.id
    return number


def synchronize(index: int | None = None) -> None:
    """Wait until a GPU, the current one if index is None, has done its work."""
    _cp.cuda.Device(index).synchronize()


def to_host(x: Any) -> Any:
    """Return a copy in main memory. It waits for the GPU."""
    with x.device:
        return _cp.asnumpy(x, order="A")  # order="C" would copy on the GPU first


def to_host_later(x: Any) -> Any:
    """Return an array in pinned memory that the current stream of x's GPU fills. Nothing waits for the GPU."""
    found = _empty_pinned(x)
    with x.device:
        x.get(out=found, blocking=False)
    return found


def from_host(x: Any, wait: bool = False) -> Any:
    """Return a copy of a NumPy array on the current GPU, with the same order of its elements in memory.

    wait: until it is made. Else x must not be written before, if its memory is pinned."""
    return _cp.array(x, order="K", blocking=wait)


def move(x: Any, index: int) -> Any:
    """Return a copy of an array on another GPU. The current streams of both GPUs wait for each other."""
    with _cp.cuda.Device(device_of(x)):
        source = current_stream()
        ready = source.record()
    with _cp.cuda.Device(index):
        target = current_stream()
        target.wait_event(ready)
        found = _cp.array(x, order="K")
        done = target.record()
    source.wait_event(done)
    return found


def new_stream(priority: int = 0) -> Any:
    """Return a new stream of the current GPU. It does not wait for the default stream."""
    return _cp.cuda.Stream(non_blocking=True, priority=priority)


def external_stream(address: int) -> Any:
    """Return the stream of another library on the current GPU."""
    make = getattr(_cp.cuda.Stream, "from_external", None)  # since CuPy 14
    return _cp.cuda.ExternalStream(address, current_device()) if make is None else make(_Address(address))


class _Address:
    """The address of a stream, in the form in which libraries exchange streams."""

    def __init__(self, address: int) -> None:
        self._address = address

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._address


def current_stream() -> Any:
    """Return the stream that gets the work of the current GPU, on this thread."""
    return _cp.cuda.get_current_stream()


def default_stream() -> Any:
    """Return the stream that is current unless another one is made so."""
    return _cp.cuda.Stream.null


def set_current_stream(stream: Any) -> None:
    """Put the work of the current GPU into a stream from now on, on this thread."""
    stream.use()


def new_event(timing: bool = False, blocking: bool = False) -> Any:
    """Return a new event of the current GPU.

    timing: whether elapsed_time takes it. blocking: whether waiting for it lets the processor do other work."""
    return _cp.cuda.Event(block=blocking, disable_timing=not timing)


def elapsed_time(start: Any, end: Any) -> float:
    """Return the milliseconds between two events that are done."""
    return float(_cp.cuda.get_elapsed_time(start, end))


def pinned(x: Any) -> Any:
    """Return a copy of a NumPy array in memory that the system keeps in place."""
    found = _empty_pinned(x)
    found[...] = x
    return found


def _empty_pinned(x: Any) -> Any:
    """Return a NumPy array with unset elements in pinned memory, of the shape, dtype and order of x."""
    order = "F" if x.flags.f_contiguous and not x.flags.c_contiguous else "C"
    return import_late("cupyx").empty_pinned(x.shape, x.dtype, order)


def memory_used(index: int) -> tuple[int, int]:
    """Return the bytes of arrays, and the bytes that the pool holds, of a GPU."""
    with _cp.cuda.Device(index):
        pool = _cp.get_default_memory_pool()
        return int(pool.used_bytes()), int(pool.total_bytes())


_peaks: dict[int, tuple[int, int]] | None = None  # by GPU, the most bytes of arrays and of the pool; None while nobody asks


def take_over_allocation() -> None:
    """Let CuPy's allocator, or the program's own, raise torch's error where memory runs out, and count peaks if somebody asks."""
    allocator = _cp.cuda.get_allocator()

    def allocate(size: int) -> Any:
        try:
            found = allocator(size)
        except MemoryError:
            raise _out_of_memory(size) from None
        if _peaks is not None:
            _note_peak(current_device())
        return found

    _cp.cuda.set_allocator(allocate)


def _out_of_memory(size: int) -> errors.OutOfMemoryError:
    index = current_device()
    free, total = memory_info(index)
    return errors.OutOfMemoryError(
        f"CUDA out of memory. Tried to allocate {size / 2**20:.2f} MiB. GPU {index} has a total capacity of {total / 2**30:.2f} GiB"
        f" of which {free / 2**30:.2f} GiB is free. Hint: free tensors, take smaller batches, or call wengert.cuda.empty_cache()."
    )


def _note_peak(index: int) -> tuple[int, int]:
    assert _peaks is not None
    (used, held), (most_used, most_held) = memory_used(index), _peaks.get(index, (0, 0))
    _peaks[index] = max(used, most_used), max(held, most_held)
    return _peaks[index]


def memory_peaks(index: int) -> tuple[int, int]:
    """Return the most bytes of arrays, and the most that the pool held, of a GPU since the count began or was reset."""
    global _peaks
    _peaks = {} if _peaks is None else _peaks
    return _note_peak(index)


def reset_memory_peaks(index: int) -> None:
    """Count the peaks of a GPU from now on."""
    memory_peaks(index)
    assert _peaks is not None
    _peaks[index] = memory_used(index)


def memory_limit(index: int) -> int:
    """Return the most bytes that arrays of a GPU may use, 0 for no limit."""
    with _cp.cuda.Device(index):
        return int(_cp.get_default_memory_pool().get_limit())


def set_memory_limit(index: int, size: int) -> None:
    """Set the most bytes that arrays of a GPU may use."""
    with _cp.cuda.Device(index):
        _cp.get_default_memory_pool().set_limit(size=size)


def can_access_peer(index: int, peer: int) -> bool:
    """Whether a GPU reads the memory of another one."""
    return bool(_cp.cuda.runtime.deviceCanAccessPeer(index, peer))


def blas_handle() -> int:
    """Return the address of the handle of cuBLAS for the current GPU."""
    return int(_cp.cuda.get_cublas_handle())


def nvtx() -> Any:
    """Return the module with NVTX's functions: RangePush, RangePop, RangeStart, RangeEnd, Mark."""
    return _cp.cuda.nvtx


def memory_info(index: int) -> tuple[int, int]:
    """Return the free and all bytes of a GPU."""
    with _cp.cuda.Device(index):
        free, total = _cp.cuda.runtime.memGetInfo()
        return int(free), int(total)


def empty_cache() -> None:
    """Give memory that no array uses back to the GPUs."""
    _cp.get_default_memory_pool().free_all_blocks()


def properties(index: int) -> Any:
    """Return the properties of a GPU."""
    return _cp.cuda.runtime.getDeviceProperties(index)


# -- words of forwards that CuPy lacks, or means otherwise ---------------------------------------------------------------


def factor(x: Any, batched: bool = False) -> Any:
    """Return an array in the dtype in which products of it are computed.

    It is x's own: cuBLAS takes 16-bit floats, and adds up their products in float32. Batches of bfloat16 are multiplied in float32,
    because CuPy's products of more than two dimensions do not take them yet."""
    return x.astype(np.float32) if batched and x.dtype.kind == "V" else x


def supports_bfloat16() -> bool:
    """Whether CuPy computes in bfloat16, as it does since version 14."""
    return int(_cp.__version__.partition(".")[0]) >= 14


def shares_memory(x: Any, y: Any) -> bool:
    """Whether y, made from x by indexing or reshaping, is a view of x's memory."""
    found: bool = _cp.may_share_memory(x, y)
    return found


def sum_to_size(x: Any, shape: tuple[int, ...]) -> Any:
    """Sum x over the dimensions that broadcasting from `shape` to x's shape added or stretched."""
    extra = x.ndim - len(shape)
    axes = tuple([i for i in range(x.ndim) if i < extra or (shape[i - extra] == 1 and x.shape[i] != 1)])
    return x.sum(axis=axes).reshape(shape) if axes else x


class lib:
    """The part of NumPy's module lib that operations use."""

    class stride_tricks:
        """Views with strides of their own."""

        @staticmethod
        def as_strided(x: Any, shape: Sequence[int], strides: Sequence[int]) -> Any:
            """Return a view of x. The view that CuPy's own function makes forgets its base, and so its owner."""
            view = x.view()
            view._set_shape_and_strides(tuple(shape), tuple(strides), True, True)
            return view


def unravel_index(places: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the indices of places in a flattened array. CuPy's own function waits, to look for places that are out of range."""
    found = []
    for size in reversed(shape):
        found.append(places % size)
        places = places // size
    return tuple(found[::-1])


def triu_indices(n: int, k: int = 0) -> tuple[Any, Any]:
    """Return the indices of a triangle of an n by n matrix. CuPy's own function waits, to count them."""
    first, second = np.triu_indices(n, k)
    return from_host(first), from_host(second)


def special(function: str, on_host: Any) -> Any:
    """Return a function of scipy.special for CuPy's arrays. on_host(name): the function for NumPy's arrays, where CuPy has none."""
    found = getattr(import_late("cupyx.scipy.special"), function, None)
    if found is not None:
        return found

    def run(*operands: Any) -> Any:
        return from_host(np.asarray(on_host(function)(*[to_host(x) if isinstance(x, ndarray) else x for x in operands])))

    return run


def run_kernel(kernel: Kernel, operands: Sequence[Any], dtype: Any, outs: Sequence[Any] | None = None) -> tuple[Any, ...]:
    """Return the results of a kernel for arrays of a dtype and numbers, in new arrays or in the arrays `outs`."""
    found = _compiled(kernel, operands, dtype, "each")
    results: tuple[Any, ...] = found(*operands, *(outs or ()))
    return results


def run_sum(kernel: Kernel, operands: Sequence[Any], dtype: Any, axes: tuple[int, ...]) -> Any:
    """Return the sum of a kernel's result over axes of the shape to which the operands broadcast."""
    return _compiled(kernel, operands, dtype, "sum")(*operands, axis=axes)


def _compiled(kernel: Kernel, operands: Sequence[Any], dtype: Any, kind: str) -> Any:
    """Return CuPy's kernel: of each element, or of a sum. CuPy compiles it when it is first called on a GPU."""
    kinds = tuple([x.dtype.name if type(x) is ndarray else None for x in operands])
    key = kind, dtype, kinds
    found = kernel.compiled.get(key)
    if found is None:
        s = source_of(kernel, dtype, kinds)
        if kind == "each":
            found = _cp.ElementwiseKernel(
                s.in_params, s.out_params, s.operation, kernel.name,
                preamble=preamble_of(s.functions), return_tuple=True, options=OPTIONS,
            )  # fmt: skip
        else:
            found = _cp.ReductionKernel(
                s.in_params, s.out_params, s.call, "a + b", "y0 = a", "0", f"{kernel.name}_sum",
                reduce_type=s.real, preamble=preamble_of(s.functions), options=OPTIONS,
            )  # fmt: skip
        kernel.compiled[key] = found
    return found


# -- random numbers ----------------------------------------------------------------------------------------------------


def draw(kind: str, dtype: Any, shape: tuple[int, ...], seed: int, offset: int) -> Any:
    """Return random numbers on the current GPU. kind, dtype: as in philox.source_of. offset: the number of the first block."""
    found = _cp.empty(shape, dtype)
    if found.size:
        fill = _random_kernel(philox.source_of(kind, dtype.name), f"wk_{kind}")
        fill(np.uint64(seed), np.uint64(offset), found.size, found, size=philox.blocks_of(found.size, dtype))
    return found


def draw_rejecting(kind: int, a: Any, b: Any, seed: int, offset: int) -> Any:
    """Return random numbers of the distribution with this number in samplers.KINDS, for float64 arrays of one shape."""
    return _random_kernel(philox.rejecting_source_of(kind), f"wk_rejecting_{kind}")(np.uint64(seed), np.uint64(offset), a, b)


@cache
def _random_kernel(source: philox.Source, name: str) -> Any:
    in_params, out_params, operation, preamble = source
    return _cp.ElementwiseKernel(in_params, out_params, operation, name, preamble=preamble, options=OPTIONS)


# -- memory ------------------------------------------------------------------------------------------------------------


def owner_of(x: Any) -> Any:
    """Return the array that owns the memory of x."""
    while x.base is not None:
        x = x.base
    return x


def owns_memory(x: Any) -> bool:
    """Whether CuPy has allocated the memory of an array, and not another library that shares it."""
    return not isinstance(x.data.mem, _cp.cuda.UnownedMemory)


def address_of(x: Any) -> int:
    """Return the address of the first element of an array."""
    address: int = x.data.ptr
    return address
