"""torch.cuda.streams: streams, which are queues of a GPU's work, and events in them. wengert.cuda has the names, too."""

from __future__ import annotations

from typing import Any

from wengert import errors
from wengert._forks import import_late
from wengert.backends import selection
from wengert.cuda._devices import backend, index_of
from wengert.devices import device as Device

__all__ = ["Event", "ExternalStream", "Stream"]


class Stream:
    """A queue of work of a GPU. `with wengert.cuda.stream(s):` or `with s:` puts the work of the block into it.

    device: the GPU, the current one if None or negative. priority: a lower number goes first. The GPU's range bounds it.

    The work of one stream runs in order. Work of two streams runs in any order, unless one waits for the other. A backward pass
    runs each node on the stream of its operation and has its place in the order of the stream that is current where it is called:
    what is queued there before is done before, and what is queued there later comes after. Raises RuntimeError if there is no GPU.
    """

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        if not selection.cuda_is_available():
            raise errors.DeviceError(f"torch.cuda.Stream requires CUDA support: {selection.why_no_cuda()}")
        number = index_of(None if isinstance(device, int) and device < 0 else device)
        with backend().current(number):
            self._set(backend().new_stream(priority), number)

    def _set(self, stream: Any, index: int) -> None:
        self._stream = stream
        self.device_index = index

    @property
    def device(self) -> Device:
        """The GPU."""
        return Device("cuda", self.device_index)

    @property
    def cuda_stream(self) -> int:
        """The address of the stream, for other libraries."""
        return int(self._stream.ptr)

    @property
    def priority(self) -> int:
        """The priority: 0, or a negative number for streams that go first."""
        return int(self._stream.priority)

    def synchronize(self) -> None:
        """Wait until the work of the stream is done."""
        self._stream.synchronize()
        selection.look_at_checks()

    def query(self) -> bool:
        """Whether the work of the stream is done."""
        return bool(self._stream.done)

    def record_event(self, event: Event | None = None) -> Event:
        """Put an event, a new one if None, into the stream, and return it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let later work of this stream wait for an event. An event that was not recorded is not waited for."""
        if event._event is not None:
            self._stream.wait_event(event._event)

    def wait_stream(self, stream: Stream) -> None:
        """Let later work of this stream wait for the work that another stream has now."""
        self.wait_event(stream.record_event())

    def __enter__(self) -> Stream:
        self._contexts = [*getattr(self, "_contexts", ()), context := StreamContext(self)]
        context.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._contexts.pop().__exit__()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.device_index == other.device_index and bool(self._stream == other._stream)

    def __hash__(self) -> int:
        return hash((self.device_index, self._stream))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class ExternalStream(Stream):
    """A stream of another library. stream_ptr: its address. It must live for as long as it is used here."""

    def __init__(self, stream_ptr: int, device: Any = None, **_: Any) -> None:
        number = index_of(device)
        with backend().current(number):
            self._set(backend().external_stream(stream_ptr), number)


class Event:
    """A place in a stream, which other streams and the program can wait for.

    enable_timing: whether elapsed_time can be asked. blocking: whether synchronize() lets the processor do other work.
    interprocess, external: accepted, without effect. An event belongs to the GPU of the stream that it is first recorded in.
    Until then nobody waits for it. Raises RuntimeError if there is no GPU.
    """

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> None:
        if not selection.cuda_is_available():
            raise errors.DeviceError(f"Tried to instantiate dummy base class Event: {selection.why_no_cuda()}")
        self._timing, self._blocking = bool(enable_timing), bool(blocking)
        self._event: Any = None
        self.device: Device | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Put the event at the end of a stream, the current one if None. Raises RuntimeError for a stream of another GPU."""
        stream = current_stream() if stream is None else stream
        if self.device is not None and self.device != stream.device:
            raise errors.DeviceError(
                f"Event device {self.device.index} does not match recording stream's device {stream.device_index}."
            )
        with backend().current(stream.device_index):
            if self._event is None:
                self._event = backend().new_event(self._timing, self._blocking)
                self.device = stream.device
            self._event.record(stream._stream)

    def wait(self, stream: Stream | None = None) -> None:
        """Let later work of a stream, the current one if None, wait for the event."""
        (current_stream() if stream is None else stream).wait_event(self)

    def query(self) -> bool:
        """Whether the work before the event is done. True for an event that was not recorded."""
        return self._event is None or bool(self._event.done)

    def synchronize(self) -> None:
        """Wait until the work before the event is done."""
        if self._event is not None:
            self._event.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Return the milliseconds from this event to another one.

        Raises RuntimeError if one of them has no timing, was not recorded, or is not done yet."""
        events = (self, end_event)
        if not all(event._timing for event in events):
            raise errors.DeviceError("Both events must be created with argument 'enable_timing=True'.")
        if any(event._event is None for event in events):
            raise errors.DeviceError("Both events must be recorded before calculating elapsed time.")
        if not all(event.query() for event in events):
            raise errors.DeviceError(
                "CUDA error: device not ready. Hint: call synchronize() of the later event, or wengert.cuda.synchronize(), before."
            )
        return float(backend().elapsed_time(self._event, end_event._event))

    def __repr__(self) -> str:
        return "<torch.cuda.Event uninitialized>" if self._event is None else f"<torch.cuda.Event {id(self._event):#x}>"


class StreamContext:
    """Context in which the work for a GPU goes into a stream, and in which the GPU is the current one. None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self._before: Any = None

    def __enter__(self) -> None:
        if self.stream is not None:
            xp = backend()
            self._before = xp.current_device(), current_stream(self.stream.device_index)
            set_stream(self.stream)

    def __exit__(self, *exception: object) -> None:
        if self.stream is not None:
            device, stream = self._before
            set_stream(stream)
            backend().set_current_device(device)


def set_stream(stream: Stream | None) -> None:
    """Make a stream, and its GPU, the current ones of this thread. None changes nothing. `stream` does it for a block."""
    if stream is not None:
        streams = import_late("wengert.core.streams")
        streams.start()
        backend().set_current_device(stream.device_index)
        streams.make_current(backend(), stream.device_index, stream._stream)


def current_stream(device: Any = None) -> Stream:
    """Return the stream that gets the work of a GPU, the current one if device is None, on this thread."""
    return _found(device, "current_stream")


def default_stream(device: Any = None) -> Stream:
    """Return the stream of a GPU, the current one if device is None, that is current unless another one is made so."""
    return _found(device, "default_stream")


def _found(device: Any, function: str) -> Stream:
    stream, index = Stream.__new__(Stream), index_of(device)
    with backend().current(index):
        stream._set(getattr(backend(), function)(), index)
    return stream
