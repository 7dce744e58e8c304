"""Times of operations and nodes on a GPU, for the profiler. Loaded when a profile asks for them.

An event is put into the stream before and after each operation and node. So nothing waits while the block runs. At its end the
program waits once for each GPU, and reads the times. A time is that of the device, from one event to the other: if a device
waits for the program between two kernels of an operation, that counts, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter_ns
from typing import Any, NamedTuple

from wengert.backends import selection
from wengert.core.tensor import TensorBase


class Kernel(NamedTuple):
    """The work of an event on a GPU: its name, the number of the GPU, and microseconds."""

    name: str
    device: int
    duration: float


class Mark(NamedTuple):
    """Two events around the work of an operation or a node. is_sure: whether an input is on the device, so that there is work."""

    device: int
    stream: int
    start: Any
    end: Any
    is_sure: bool


class DeviceMarks:
    """Marks of the work in the block of a profile."""

    def __init__(self) -> None:
        self.backend = selection.backend_for("cuda")
        self.bases: dict[int, tuple[Any, int]] = {}  # an event and the time of the program then, by device

    def open(self) -> None:
        """Note, for each GPU, an event and the time of the program. Waits for the GPUs, so that both are the same moment."""
        for index in range(self.backend.device_count()):
            self.backend.synchronize(index)
            with self.backend.current(index):
                event = self.backend.new_event(True)
                event.record(self.backend.current_stream())
            self.bases[index] = event, perf_counter_ns()

    def close(self) -> None:
        """Wait until the GPUs have done the work of the block."""
        for index in self.bases:
            self.backend.synchronize(index)

    def begin(self, inputs: Iterable[Any]) -> Mark:
        """Put an event before the work on inputs: tensors, arrays, or lists of them."""
        found = self._device_among(inputs)
        index = self.backend.current_device() if found is None else found
        with self.backend.current(index):
            stream = self.backend.current_stream()
            mark = Mark(index, int(stream.ptr), self.backend.new_event(True), self.backend.new_event(True), found is not None)
            mark.start.record(stream)
        return mark

    def end(self, mark: Mark, result: Any) -> Mark | None:
        """Put an event after the work. Return None if neither inputs nor result lie on the device."""
        if not mark.is_sure and self._device_among((result,)) != mark.device:
            return None
        with self.backend.current(mark.device):
            mark.end.record(self.backend.current_stream())
        return mark

    def times_of(self, mark: Mark, origin: int) -> tuple[float, float]:
        """Return the start and the end of the work, in microseconds since `origin`, a time of the program in nanoseconds."""
        base, then = self.bases[mark.device]
        start = (then - origin) / 1000 + 1000 * self.backend.elapsed_time(base, mark.start)
        return start, start + 1000 * self.backend.elapsed_time(mark.start, mark.end)

    def _device_among(self, values: Iterable[Any]) -> int | None:
        for x in values:
            array = x._array if isinstance(x, TensorBase) else x
            if type(array) is self.backend.ndarray:
                index: int = self.backend.device_of(array)
                return index
            if isinstance(x, (tuple, list)) and (found := self._device_among(x)) is not None:
                return found
        return None
