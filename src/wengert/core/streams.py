"""Streams of devices: which streams are current, and backward passes that run each node where its operation ran.

Loaded when a program first makes a stream current. Until then nothing here runs.

Note [Streams of nodes]
While a thread has made streams current, each new TensorMeta gets the dict of them, by device. So a node knows the stream of its
operation, and a backward pass makes that stream current while the node runs. A node waits, on the device, for the streams that
made what arrived at it. The first nodes wait for the stream that is current where the pass begins, and at its end that stream
waits for all others. So a pass takes its place in the order of the work around it, as any operation does. The program itself
waits for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import local
from typing import Any

from wengert.backends.selection import backend_of, others
from wengert.core.buffers import InputBuffer, cotangent_of
from wengert.core.dispatch import set_meta_sharing
from wengert.core.node import Node, count_outputs, meta_at, next_node, set_stream_finder
from wengert.core.recorder import set_streams
from wengert.core.task import GraphTask
from wengert.core.tensor import TensorBase

_thread = local()  # .streams: the streams that this thread has made current, by the number of the device, or None
_held: list[tuple[Any, Any]] = []  # arrays that a stream may still use, with an event of that stream


def current_streams() -> dict[int, Any] | None:
    """Return the streams that this thread has made current, by device, or None. The dict never changes."""
    found: dict[int, Any] | None = getattr(_thread, "streams", None)
    return found


def make_current(backend: Any, index: int, stream: Any) -> Any:
    """Put the work of this thread for a device into a stream from now on, and return the stream that was current."""
    with backend.current(index):
        before = backend.current_stream()
        if before != stream:
            found = {**(current_streams() or {}), index: stream}
            if stream == backend.default_stream():
                del found[index]
            backend.set_current_stream(stream)
            _thread.streams = found or None
    return before


def start() -> None:
    """Let nodes and passes look at the current streams."""
    set_stream_finder(current_streams)
    set_meta_sharing(False)
    set_streams(StreamPass)


def stop() -> None:
    """Let nodes and passes be as they are while each device has one stream."""
    set_stream_finder(None)
    set_meta_sharing(True)
    set_streams(None)
    _held.clear()


def hold(array: Any, stream: Any) -> None:
    """Keep the memory of an array until a stream has done the work that it has now.

    A library gives freed memory to the next array of the stream that allocated it, without a look at other streams."""
    if _held:
        _held[:] = [entry for entry in _held if not entry[1].done]
    event = backend_of(array).new_event()
    event.record(stream)
    _held.append((array, event))


def array_of(cotangent: Any) -> Any:
    """Return the array of a cotangent, which is an array, a tensor or None."""
    return cotangent._array if isinstance(cotangent, TensorBase) else cotangent


class StreamPass:
    """A backward pass on several streams. See Note [Streams of nodes]."""

    def __init__(self, task: GraphTask) -> None:
        self.task = task
        self.outer: dict[tuple[Any, int], Any] = {}  # the current streams where the pass began, by backend and device
        self.used: dict[tuple[Any, int], list[Any]] = {}  # the other streams that it has used
        # What has arrived at a node: the stream that made it, and an event of that stream.
        self.arrived: dict[Node, list[tuple[Any, Any]]] = {}

    def begin(self, roots: list[Any]) -> None:
        """Note that the cotangents of the roots come from the current streams."""
        for node in {edge.node for edge in roots}:
            self.note_arrival(node, None)

    def end(self) -> None:
        """Let the streams on which the pass began wait for the others."""
        for (backend, index), streams in self.used.items():
            with backend.current(index):
                for stream in streams:
                    self.outer[backend, index].wait_event(recorded(backend, stream))

    def outer_stream(self, backend: Any, index: int) -> Any:
        """Return the stream of a device that was current where the pass began."""
        key = backend, index
        if key not in self.outer:
            with backend.current(index):
                self.outer[key] = backend.current_stream()
        return self.outer[key]

    def stream_for(self, node: Node, backend: Any, index: int) -> Any:
        """Return the stream of the operation that recorded a node, for a device."""
        streams = meta_at(node, 0).streams
        found = None if streams is None else streams.get(index)
        if found is None:
            with backend.current(index):
                found = backend.default_stream()
        return found

    def buffer_of(self, node: Node) -> InputBuffer | None:
        """Return the buffer of a node in this pass, or None."""
        buffer = node._buffer
        if buffer is None or buffer.task is not self.task:
            buffer = self.task.displaced.get(node)
        return buffer

    def note_arrival(self, node: Node, here: tuple[Any, Any] | None) -> None:
        """Note which stream made what has just arrived at a node.

        here: a device and its stream. Arrays of other devices come from the stream that is current there."""
        buffer = self.buffer_of(node)
        if buffer is None:
            return
        for array in arrays_in(node, buffer):
            place = backend, index = backend_of(array), backend_of(array).device_of(array)
            stream = here[1] if here is not None and here[0] == place else self.outer_stream(*place)
            if buffer.dependencies > 0 or node in self.arrived or self.stream_for(node, *place) != stream:  # else nobody waits
                with backend.current(index):
                    self.arrived.setdefault(node, []).append((stream, recorded(backend, stream)))

    def evaluate(self, run: Callable[..., None], task: GraphTask, node: Node, buffer: InputBuffer) -> None:
        """Call run(task, node, buffer), which runs a node, with the node's stream as the current one."""
        task.settle(node, buffer)
        arrived = self.arrived.pop(node, [])
        array = next(arrays_in(node, buffer), None)
        if array is None:
            run(task, node, buffer)
            self.note_results(node, None)
            return
        place = backend, index = backend_of(array), backend_of(array).device_of(array)
        stream, outer = self.stream_for(node, backend, index), self.outer_stream(backend, index)
        if stream != outer and stream not in self.used.setdefault(place, []):
            self.used[place].append(stream)
        with backend.current(index):
            waiting = [*arrived, *[x for behind in nodes_behind(node) for x in self.arrived.get(behind, ())]]
            for other, event in waiting:  # results are added to what has arrived behind the node
                if other != stream:
                    stream.wait_event(event)
            foreign = list(arrays_in(node, buffer)) if any(other != stream for other, _ in arrived) else ()
            make_current(backend, index, stream)
            try:
                run(task, node, buffer)
                for array in foreign:
                    hold(array, stream)
                self.note_results(node, (place, stream))
            finally:
                make_current(backend, index, outer)

    def note_results(self, node: Node, here: Any) -> None:
        """Note which stream made what a node has handed on."""
        for behind in nodes_behind(node):
            self.note_arrival(behind, here)


def arrays_in(node: Node, buffer: InputBuffer) -> Iterator[Any]:
    """Yield the arrays on devices that have arrived at a node."""
    for nr in range(count_outputs(node)):
        array = array_of(cotangent_of(buffer, nr))
        if type(array) in others:
            yield array


def nodes_behind(node: Node) -> list[Node]:
    """Return the nodes to which the edges of a node lead."""
    return [behind for i in range(node._n_edges) if (behind := next_node(node, i)) is not None]


def recorded(backend: Any, stream: Any) -> Any:
    """Return a new event at the end of the work that a stream has now."""
    event = backend.new_event()
    event.record(stream)
    return event
