"""Profiler of operations, nodes of backward passes, and ranges named by the user.

>>> import wengert
>>> x = wengert.ones(3, requires_grad=True)
>>> with wengert.autograd.profiler.profile() as prof:
...     (x ** 2).sum().backward()
>>> [event.name for event in prof.function_events]
['pow', 'sum', 'torch::autograd::GraphRoot', 'SumBackward0', 'PowBackward0', 'torch::autograd::AccumulateGrad']
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable
from html import escape
from time import perf_counter_ns
from types import FunctionType, TracebackType
from typing import Any

from wengert import errors
from wengert._forks import import_late
from wengert.autograd.profiler_util import (
    EventList,
    FormattedTimesMixin,
    FunctionEvent,
    FunctionEventAvg,
    Interval,
    build_events,
)
from wengert.backends.selection import cuda_is_available
from wengert.core.recorder import RANGE, Recording, begin_range, end_range, get_ranges, set_ranges, watch_functions
from wengert.ops.index import write_unrecorded
from wengert.ops.registry import OPS, Plain
from wengert.tensor import Tensor

__all__ = [
    "EventList", "FormattedTimesMixin", "FunctionEvent", "FunctionEventAvg", "Interval", "emit_itt", "emit_nvtx",
    "load_nvprof", "parse_nvprof_trace", "profile", "record_function",
]  # fmt: skip


class profile:
    """Context manager that measures all operations, nodes of backward passes and ranges in its block, on all threads.

    print(prof) shows a table in the format of torch's first profilers, prof.table() one in today's format.
    prof.key_averages() sums up events by name, prof.function_events lists them, and prof.export_chrome_trace(path) writes
    a trace for Perfetto. Blocks can be nested: each measures everything inside it. Threads that were started before the
    block are not measured if the core is uncompiled.

    enabled: False measures nothing. record_shapes: record the shapes of inputs. profile_memory: record the bytes of
    results. with_stack: record the stack of each call instead of its innermost line. with_flops: count floating-point
    operations of matrix products and element-wise arithmetic; implies record_shapes. use_device="cuda", use_cuda=True: measure the
    work on GPUs, too; warn if there is none. Nothing waits for them before the end of the block. Other arguments are accepted,
    without effect.

    Raises ProfilerError, a RuntimeError, if a block is entered twice, and for access to results before its end.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Any = None,
        **_: Any,
    ) -> None:
        if use_cuda:
            warnings.warn(
                "The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` instead.",
                FutureWarning,
                stacklevel=2,
            )
            use_device = "cuda"
        if use_device is not None and use_device != "cpu" and not (use_device == "cuda" and cuda_is_available()):
            warnings.warn(f"{use_device.upper()} is not available, disabling {use_device.upper()} profiling", stacklevel=2)
            use_device = None
        self.enabled = bool(enabled)
        self.use_device = None if use_device == "cpu" else use_device
        self.record_shapes = bool(record_shapes) or bool(with_flops)
        self.with_flops = bool(with_flops)
        self.profile_memory = bool(profile_memory)
        self.with_stack = bool(with_stack)
        self.with_modules = bool(with_modules)
        self.entered = False
        self._marks = None if self.use_device is None else import_late("wengert.autograd.profiler_device").DeviceMarks()
        self._recording = Recording(self.record_shapes, self.profile_memory, self.with_stack, self._marks)
        self._origin = 0
        self._finished = False
        self._events: EventList | None = None

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self.entered:
            raise errors.ProfilerError(
                "Profiler context manager is not reentrant. Hint: make a new profile() for each block; blocks may be "
                "nested."
            )
        self.entered = True
        watch_undispatched()
        if self._marks is not None:
            self._marks.open()
        self._origin = perf_counter_ns()
        self._recording.start()
        return self

    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None:
        self._recording.stop()
        self._finished = self.entered
        if self.entered and self._marks is not None:
            self._marks.close()

    @property
    def function_events(self) -> EventList:
        """EventList of the FunctionEvents, in the order in which they began."""
        if not self._finished:
            raise errors.profile_unfinished()
        if self._events is None:
            events = build_events(self._recording.records, self._origin, self.with_flops, self._marks)
            self._recording.records = []
            self._events = EventList(
                events, profile_memory=self.profile_memory, with_flops=self.with_flops, with_shapes=self.record_shapes,
                with_stacks=self.with_stack, use_device=self.use_device,
            )  # fmt: skip
        return self._events

    def __str__(self) -> str:
        return str(self.function_events) if self._finished else "<unfinished torch.autograd.profile>"

    def __repr__(self) -> str:
        return repr(self.function_events) if self._finished else "<unfinished torch.autograd.profile>"

    def _repr_html_(self) -> str:
        return self.function_events._repr_html_() if self._finished else f"<pre>{escape(str(self))}</pre>"

    def plot(self, axes: Any = None) -> Any:
        """Draw a flame graph of the events: EventList.plot."""
        return self.function_events.plot(axes)

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """Return the events as a text table: EventList.table."""
        return self.function_events.table(sort_by, row_limit, **options)

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Return the sums over the events of each name: EventList.key_averages."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> FunctionEventAvg:
        """Return the sum over all events."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events together."""
        return self.function_events.self_cpu_time_total

    @property
    def self_device_time_total(self) -> float:
        """Microseconds of all events together on the GPU."""
        return self.function_events.self_device_time_total

    def export_chrome_trace(self, path: Any) -> None:
        """Write a trace for Perfetto to a file: EventList.export_chrome_trace. It can be called any number of times."""
        self.function_events.export_chrome_trace(path)

    def export_stacks(self, path: Any, metric: str = "self_cpu_time_total") -> None:
        """Write stacks for a flame graph to a file: EventList.export_stacks."""
        self.function_events.export_stacks(path, metric)

    def toggle_collection_dynamic(self, enabled: bool, activities: Iterable[Any] = ()) -> None:
        """Pause (False) or resume (True) measuring inside the block. activities: accepted, without effect."""
        if not self.entered or self._finished:
            return
        if enabled:
            self._recording.start()
        else:
            self._recording.stop()


def watch_undispatched() -> None:
    """Measure functions that do not run through dispatch: creation functions, detach() and unrecorded assignments."""
    creations: list[tuple[Any, str, bool]] = []
    for op in OPS.values():
        if isinstance(op, Plain) and op.kind == "creation" and isinstance(op.fn, FunctionType):  # not a legacy tensor type
            creations.append((op.fn, op.name, True))
    watch_functions([*creations, (Tensor.detach, "detach", False), (write_unrecorded, "setitem", False)])


class record_function:
    """Context manager or decorator that names a range: events in it are shown as children of an event `name`.

    args: a text, stored as .args. Raises RuntimeError if name is no str.

    >>> import wengert
    >>> with wengert.autograd.profiler.profile() as prof:
    ...     with wengert.autograd.profiler.record_function("layer 1"):
    ...         y = wengert.ones(2) * 2
    >>> [(event.name, event.cpu_parent and event.cpu_parent.name) for event in prof.function_events]
    [('layer 1', None), ('ones', 'layer 1'), ('mul', 'layer 1')]
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        if not isinstance(name, str):
            raise errors.ProfilerError(f"record_function() expects a name of type 'str', but got {type(name).__name__}")
        self.name = name
        self.args = args
        self._began: list[int] = []  # a stack, because an object can be entered again inside its own block

    def __enter__(self) -> record_function:
        self._began.append(begin_range(self.name))
        return self

    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None:
        end_range(self.name, RANGE, self._began.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.name, self.args):
                return function(*args, **kwargs)

        return wrapper


# -- other profilers -------------------------------------------------------------------------------------------------------


class _Emitter:
    """Base class of context managers that report operations, nodes and ranges to another profiler."""

    context = package = ""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = bool(enabled)
        self.record_shapes = bool(record_shapes)
        self.entered = False

    def _ranges(self) -> Any:
        raise NotImplementedError

    def __enter__(self) -> _Emitter | None:
        if not self.enabled:
            return None
        if self.entered or get_ranges() is not None:
            raise errors.ProfilerError(
                f"{self.context} context manager is not reentrant, and only one such context can be active at a time."
            )
        try:
            ranges = self._ranges()
        except ImportError:
            raise errors.MissingFeatureError(
                f"{self.context}() names ranges for another profiler through the package {self.package!r}, which is not "
                f"installed. Hint: pip install {self.package}; or use profile(), which needs nothing."
            ) from None
        self.entered = True
        watch_undispatched()
        set_ranges(ranges)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.enabled:
            self.entered = False
            set_ranges(None)


class emit_nvtx(_Emitter):
    """Context manager: every operation and every node of a backward pass is an NVTX range, for NVIDIA's Nsight Systems.

    Needs the package nvtx or CuPy; raises MissingFeatureError, a NotImplementedError, if neither is installed. enabled: False
    does nothing. record_shapes: accepted, without effect.
    """

    context, package = "emit_nvtx", "nvtx"

    def _ranges(self) -> Any:
        try:
            import nvtx
        except ImportError:
            found = import_late("cupy").cuda.nvtx
            return _Ranges(found.RangePush, found.RangePop)
        return _Ranges(nvtx.push_range, nvtx.pop_range)


class emit_itt(_Emitter):
    """Context manager: every operation and every node of a backward pass is an ITT task, for Intel's VTune.

    Needs the package ittapi; raises MissingFeatureError, a NotImplementedError, if it is not installed. Arguments: as
    emit_nvtx.
    """

    context, package = "emit_itt", "ittapi"

    def _ranges(self) -> Any:
        import ittapi

        domain = ittapi.domain("wengert")
        return _Ranges(lambda name: ittapi.task_begin(domain, ittapi.string_handle(name)), lambda: ittapi.task_end(domain))


class _Ranges:
    """Functions push(name) and pop() that begin and end a range, for set_ranges."""

    def __init__(self, push: Callable[[str], Any], pop: Callable[[], Any]) -> None:
        self.push = push
        self.pop = pop


def load_nvprof(path: Any) -> EventList:
    """Raise DeviceError, a RuntimeError: traces of nvprof show kernels on a GPU, and wengert computes on the CPU only."""
    raise errors.DeviceError(
        f"cannot read {str(path)!r}: traces of nvprof tell of kernels on a GPU, and this version has no CUDA backend. "
        "Hint: use profile() for the CPU, and its export_chrome_trace()."
    )


def parse_nvprof_trace(path: Any) -> list[FunctionEvent]:
    """Raise DeviceError, as load_nvprof does."""
    return load_nvprof(path)


def __dir__() -> list[str]:
    return sorted(__all__)
