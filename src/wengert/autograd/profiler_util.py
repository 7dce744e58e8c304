"""Events of a profiler: one for each record, averages of them, and the lists that print them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from wengert import errors
from wengert.autograd.html_table import duration, html_table, linear_bars
from wengert.autograd.profiler_table import format_time, render
from wengert.autograd.profiler_trace import kind_of, write_stacks, write_trace
from wengert.core.node import line_number, locate
from wengert.core.recorder import FUNCTION, NODE, OPERATION, RANGE, Record

__all__ = ["EventList", "FormattedTimesMixin", "FunctionEvent", "FunctionEventAvg", "Interval"]

SORT_KEYS = (
    "count", "cpu_memory_usage", "cpu_time", "cpu_time_total", "flops", "key", "self_cpu_memory_usage", "self_cpu_time_total",
)  # fmt: skip
# Keys of the work on a GPU. All are zero without use_device="cuda".
DEVICE_KEYS = (
    "cuda_time", "cuda_time_total", "device_memory_usage", "device_time", "device_time_total", "self_cuda_memory_usage",
    "self_cuda_time_total", "self_device_memory_usage", "self_device_time_total",
)  # fmt: skip


class Interval:
    """An interval of time: start and end, in microseconds since the profiler started."""

    __slots__ = ("end", "start")

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def elapsed_us(self) -> float:
        """The length, in microseconds."""
        return self.end - self.start


class FormattedTimesMixin:
    """The times of an event as texts, and the second names of what it knows of a GPU."""

    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    device_time_total: float
    self_device_time_total: float
    device_memory_usage: int
    self_device_memory_usage: int

    is_async = is_remote = is_legacy = False
    node_id = -1
    use_device: str | None = None

    @property
    def cpu_time(self) -> float:
        """Mean time of a call, in microseconds."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        return format_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        return format_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        return format_time(self.self_cpu_time_total)

    @property
    def device_time(self) -> float:
        """Mean time of a call on the GPU, in microseconds."""
        return self.device_time_total / self.count if self.count else 0.0

    @property
    def device_time_str(self) -> str:
        return format_time(self.device_time)

    @property
    def device_time_total_str(self) -> str:
        return format_time(self.device_time_total)

    @property
    def self_device_time_total_str(self) -> str:
        return format_time(self.self_device_time_total)

    cuda_time = device_time
    cuda_time_total = property(attrgetter("device_time_total"))
    self_cuda_time_total = property(attrgetter("self_device_time_total"))
    cuda_memory_usage = property(attrgetter("device_memory_usage"))
    self_cuda_memory_usage = property(attrgetter("self_device_memory_usage"))


class FunctionEvent(FormattedTimesMixin):
    """An event: an operation, a node of a backward pass, a range of the user, or the forward of a custom Function.

    name: of the operation, node, range or Function.
    time_range: an Interval.
    thread: number of the thread, from 1.
    cpu_parent, cpu_children: the events around and inside this one on the same thread.
    cpu_time_total, self_cpu_time_total: microseconds with and without the children.
    source: the line that called the operation; for a node, the forward line that made it.
    forward: the forward event of a node, or None if it was not recorded.
    sequence_nr: sequence number of the node, or -1.
    input_shapes: shapes of the inputs; for a node, of its cotangents (with record_shapes).
    cpu_memory_usage, self_cpu_memory_usage: bytes of the results in main memory (with profile_memory).
    device_memory_usage, self_device_memory_usage: the same on GPUs.
    device_time_total, self_device_time_total: microseconds on the GPU with and without the children (with use_device="cuda").
    device_range: an Interval of the work on the GPU, or None. device_index, device_stream: the GPU and the address of its stream.
    kernels: the work on the GPU as a list of one Kernel, or of none.
    stack: frames of the call, the innermost first (with with_stack).
    flops: number of floating-point operations (with with_flops).
    """

    count = 1

    def __init__(self, record: Record, origin: int, number: int, marks: Any = None) -> None:
        self.id = number
        # Internal operations have a leading underscore, as _select for reads. Events drop it.
        self.name = self.trace_name = self.key = record.name.lstrip("_") if record.kind == OPERATION else record.name
        self.time_range = Interval((record.start - origin) / 1000, (record.end - origin) / 1000)
        self.scope = {NODE: 1, RANGE: 7}.get(record.kind, 0)
        self.is_backward = record.kind == NODE
        self.is_user_annotation = record.kind == RANGE
        self.is_function = record.kind == FUNCTION
        self.sequence_nr = record.sequence_nr
        self.input_shapes: list[list[int]] = [list(shape) for shape in record.shapes or ()]
        self.concrete_inputs: list[Any] = []
        self.source = locate(record.code, record.lasti)
        self.thread = self.fwd_thread = 0
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []
        self.forward: FunctionEvent | None = None
        self._nbytes = record.nbytes
        self._device_bytes = record.device_bytes
        self.use_device = None if marks is None else "cuda"
        self.device_index = self.device_stream = 0
        self.device_range: Interval | None = None
        if marks is not None and record.mark is not None:
            self.device_range = Interval(*marks.times_of(record.mark, origin))
            self.device_index, self.device_stream = record.mark.device, record.mark.stream
        self.flops = 0
        self._stack = record.stack
        self.cpu_time_total = (record.end - record.start) / 1000

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]  # here it is computed
        """Microseconds in the event itself, without its children."""
        return self.cpu_time_total - sum([child.cpu_time_total for child in self.cpu_children])

    @property
    def self_cpu_memory_usage(self) -> int:
        """Bytes of the results, without those that its children allocated."""
        return max(0, self._nbytes - sum([child.cpu_memory_usage for child in self.cpu_children]))

    @property
    def cpu_memory_usage(self) -> int:
        """Bytes of the results of the event and of all events inside it."""
        return self.self_cpu_memory_usage + sum([child.cpu_memory_usage for child in self.cpu_children])

    @property
    def stack(self) -> list[str]:
        """Frames of the call, "train.py(12): step", the innermost first. A node has the frames of its forward."""
        stack = self._stack
        if self.is_backward:
            stack = None if self.forward is None else self.forward._stack
        return [f"{code.co_filename}({line_number(code, lasti)}): {code.co_name}" for code, lasti in (stack or ())[::-1]]

    @property
    def device_time_total(self) -> float:  # type: ignore[override]  # here it is computed
        """Microseconds on the GPU. A range of the user has those of the events inside it."""
        if self.device_range is not None:
            return self.device_range.elapsed_us()
        return sum([child.device_time_total for child in self.cpu_children])

    @property
    def self_device_time_total(self) -> float:  # type: ignore[override]
        """Microseconds on the GPU in the event itself, without its children."""
        return max(0.0, self.device_time_total - sum([child.device_time_total for child in self.cpu_children]))

    @property
    def self_device_memory_usage(self) -> int:  # type: ignore[override]
        """Bytes of the results on GPUs, without those that its children allocated."""
        return max(0, self._device_bytes - sum([child.device_memory_usage for child in self.cpu_children]))

    @property
    def device_memory_usage(self) -> int:  # type: ignore[override]
        """Bytes of the results on GPUs of the event and of all events inside it."""
        return self.self_device_memory_usage + sum([child.device_memory_usage for child in self.cpu_children])

    @property
    def kernels(self) -> list[Any]:
        """The work on the GPU: a list of one Kernel(name, device, duration), or an empty one."""
        if self.device_range is None:
            return []
        from wengert.autograd.profiler_device import Kernel

        return [Kernel(self.name, self.device_index, self.device_range.elapsed_us())]

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} cpu_time={self.cpu_time_str} start_us={self.time_range.start:.3f} "
            f"end_us={self.time_range.end:.3f} cpu_children={[child.id for child in self.cpu_children]} "
            f"cuda_time={self.device_time_str} thread={self.thread} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} seq_nr={self.sequence_nr} "
            f"source={self.source}>"
        )


class FunctionEventAvg(FormattedTimesMixin):
    """The sum over events of one name: count, cpu_time_total, self_cpu_time_total and memory. cpu_time is the mean."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.device_time_total = self.self_device_time_total = 0.0
        self.device_memory_usage = self.self_device_memory_usage = 0
        self.flops = 0
        self.scope = 0
        self.input_shapes: Any = None
        self.stack: list[str] | None = None
        self.source: str | None = None
        self.is_user_annotation = False
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None

    @property
    def name(self) -> str | None:
        """The key."""
        return self.key

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Add an event, or another sum of events of the same name."""
        if self.key is None:
            self.key, self.scope, self.source = other.key, other.scope, other.source
            self.input_shapes, self.stack = other.input_shapes, other.stack
            self.is_user_annotation, self.use_device = other.is_user_annotation, other.use_device
        self.count += other.count
        self.device_time_total += other.device_time_total
        self.self_device_time_total += other.self_device_time_total
        self.device_memory_usage += other.device_memory_usage
        self.self_device_memory_usage += other.self_device_memory_usage
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.flops += other.flops
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str} "
            f" self_cuda_time={self.self_device_time_total_str} cuda_time={self.device_time_str} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} cuda_memory_usage={self.device_memory_usage}>"
        )


class EventList(list):  # type: ignore[type-arg]  # of either kind
    """A list of events or of averages of events. It prints as a table."""

    def __init__(
        self, events: Iterable[Any] = (), *, use_device: Any = None, profile_memory: bool = False, with_flops: bool = False,
        with_shapes: bool = False, with_stacks: bool = False, total_us: float | None = None, total_device_us: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(events)
        self._use_device = use_device
        self._total_device_us = total_device_us  # as _total_us, on the GPU
        self._profile_memory = profile_memory
        self._with_flops = with_flops
        self._with_shapes = with_shapes
        self._with_stacks = with_stacks
        self._total_us = total_us  # of the events that were averaged; None for a list of events

    def __str__(self) -> str:
        return self.table(style="1.x")

    def _repr_html_(self) -> str:
        averages = self if self._total_us is not None else self.key_averages()
        events = sorted(averages, key=lambda event: -event.self_cpu_time_total)
        rows = [[e.key, duration(e.self_cpu_time_total), duration(e.cpu_time_total), str(e.count), e.source or ""] for e in events]
        bars = linear_bars([event.self_cpu_time_total for event in events])
        return html_table(["event", "time in itself", "with inner events", "calls", "source of the first"], rows, bars)

    def plot(self, axes: Any = None) -> Any:
        """Draw the events as a flame graph: a bar for each over time, inner events above outer ones. Returns matplotlib's axes.

        axes: draw there, else in a new figure. Needs matplotlib (pip install wengert[viz]); raises MissingFeatureError, a
        NotImplementedError, if it is not installed, and ProfilerError for averages, and if there are no events.
        """
        from wengert.autograd.profiler_plot import plot

        return plot(self, axes)

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events together."""
        return sum([event.self_cpu_time_total for event in self]) if self._total_us is None else self._total_us

    @property
    def self_device_time_total(self) -> float:
        """Microseconds of all events together on the GPU."""
        if self._total_device_us is not None:
            return self._total_device_us
        return float(sum([event.self_device_time_total for event in self]))

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
        style: str = "2.x",
    ) -> str:
        """Return the events as a text table.

        sort_by: the key to sort by, the largest first: count, cpu_time (mean), cpu_time_total, self_cpu_time_total,
        cpu_memory_usage, self_cpu_memory_usage, flops, key, or one of these with cuda or device in place of cpu. None keeps the
        order in which the events started.
        row_limit: number of rows, or -1 for all. style: "2.x" is the layout of today's torch, "1.x" that of its first
        profilers. print(prof) uses "1.x".

        Raises ProfilerKeyError, an AttributeError and a ValueError, for an unknown key, style or unit.
        """
        if sort_by is not None and sort_by not in SORT_KEYS and sort_by not in DEVICE_KEYS:
            raise errors.ProfilerKeyError(
                f"'FunctionEventAvg' object has no attribute {sort_by!r}. A table can be sorted by {', '.join(SORT_KEYS)}."
            )
        events = [event for event in self if event.cpu_parent is None] if top_level_events_only else list(self)
        if sort_by is not None:
            events.sort(key=lambda event: getattr(event, sort_by), reverse=sort_by != "key")
        if row_limit >= 0:
            events = events[:row_limit]
        columns = {
            "device": self._use_device is not None, "memory": self._profile_memory, "shapes": self._with_shapes,
            "flops": self._with_flops, "stack": self._with_stacks,
        }  # fmt: skip
        widths = (max_name_column_width, max_shapes_column_width, max_src_column_width)
        totals = self.self_cpu_time_total, self.self_device_time_total
        return render(events, totals, style, columns, widths, header, top_level_events_only, time_unit)

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Return the sums over events that share their name and, if asked for, their input shapes and innermost n frames."""
        sums: dict[Any, FunctionEventAvg] = {}
        for event in self:
            key: tuple[Any, ...] = (event.key, event.is_user_annotation)
            if group_by_input_shapes:
                key += (str(event.input_shapes),)
            if group_by_stack_n > 0:
                key += tuple((event.stack or [event.source])[:group_by_stack_n])
            if key not in sums:
                sums[key] = FunctionEventAvg()
            sums[key].add(event)
        for total in sums.values():
            if not group_by_input_shapes:
                total.input_shapes = []
            total.stack = (total.stack or [total.source or ""])[:group_by_stack_n] if group_by_stack_n > 0 else []
        return EventList(
            sums.values(), profile_memory=self._profile_memory, with_flops=self._with_flops,
            with_shapes=group_by_input_shapes, with_stacks=group_by_stack_n > 0, total_us=self.self_cpu_time_total,
            use_device=self._use_device, total_device_us=self.self_device_time_total,
        )  # fmt: skip

    def total_average(self) -> FunctionEventAvg:
        """Return the sum over all events, under the name Total."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
        total.key = "Total"
        return total

    def export_chrome_trace(self, path: Any) -> None:
        """Write the events as a trace for Perfetto (ui.perfetto.dev) and chrome://tracing. path: of a .json file.

        An arrow leads from each operation to its node in the backward pass.
        """
        write_trace(self, path)

    def export_stacks(self, path: Any, metric: str = "self_cpu_time_total") -> None:
        """Write the stacks for flame graphs, one a line: frames, the outermost first, and the microseconds spent there.

        The profile needs with_stack=True. metric: self_cpu_time_total, cpu_time_total, or one of these with cuda or
        device in place of cpu.
        """
        if metric not in ("self_cpu_time_total", "cpu_time_total", *DEVICE_KEYS):
            raise errors.ProfilerKeyError(
                f"metric should be one of: {['self_cpu_time_total', 'cpu_time_total']}, but got {metric!r}"
            )
        if not self._with_stacks:
            raise errors.ProfilerError(
                "export_stacks() requires with_stack=True. Hint: profile(with_stack=True) keeps the stack of each call."
            )
        write_stacks(self, path, metric)

    def records(self) -> list[dict[str, Any]]:
        """Return the events as dicts, for programs: name, kind, thread, times in microseconds, source line and more."""
        return [
            {
                "name": event.name,
                "kind": kind_of(event),
                "thread": event.thread,
                "start_us": event.time_range.start,
                "total_us": event.cpu_time_total,
                "self_us": event.self_cpu_time_total,
                "source": event.source,
                "sequence_nr": event.sequence_nr,
                "shapes": event.input_shapes,
                "bytes": event.self_cpu_memory_usage,
                "device_us": event.device_time_total,
                "self_device_us": event.self_device_time_total,
                "parent": None if event.cpu_parent is None else event.cpu_parent.id,
            }
            for event in self
        ]


def build_events(records: Sequence[Record], origin: int, with_flops: bool = False, marks: Any = None) -> list[FunctionEvent]:
    """Return one event for each record, in the order in which they started.

    origin: start of the profile, in nanoseconds. marks: the DeviceMarks of the profile, or None."""
    order = sorted(range(len(records)), key=lambda i: (records[i].start, -records[i].end, -i))
    events: list[FunctionEvent] = []
    threads: dict[int, int] = {}
    open_events: dict[int, list[FunctionEvent]] = {}  # by thread
    forwards: dict[int, FunctionEvent] = {}  # by sequence number
    for i in order:
        record = records[i]
        event = FunctionEvent(record, origin, len(events), marks)
        event.thread = event.fwd_thread = threads.setdefault(record.thread, len(threads) + 1)
        around = open_events.setdefault(record.thread, [])
        while around and around[-1].time_range.end < event.time_range.end:
            around.pop()
        if around:
            event.cpu_parent = around[-1]
            around[-1].cpu_children.append(event)
        around.append(event)
        if event.is_backward:
            event.forward = forwards.get(event.sequence_nr)
            if event.forward is not None:
                event.fwd_thread = event.forward.thread
        elif event.sequence_nr >= 0:
            forwards[event.sequence_nr] = event
        if with_flops and not event.is_backward:
            event.flops = count_flops(event.name, event.input_shapes)
        events.append(event)
    return events


def count_flops(name: str, shapes: list[list[int]]) -> int:
    """Number of floating-point operations of a matrix product or elementwise arithmetic. Others count as 0."""
    sizes = [size for size in shapes if size]
    if name in ("mm", "matmul", "bmm", "mv", "dot") and len(sizes) >= 2:
        (a, b) = sizes[:2]
        columns = b[-1] if len(b) > 1 else 1
        batches = max(_product(a[:-2]), _product(b[:-2]))
        rows = a[-2] if len(a) > 1 else 1
        return 2 * batches * rows * a[-1] * columns
    if name in ("addmm", "baddbmm") and len(sizes) >= 3:
        return count_flops("matmul", sizes[1:])
    if name in ("add", "sub", "mul", "div") and sizes:
        return _product(max(sizes, key=_product))
    return 0


def _product(sizes: list[int]) -> int:
    result = 1
    for n in sizes:
        result *= n
    return result
