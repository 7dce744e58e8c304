"""Records of operations and passes, for profilers. Loaded when something is first observed.

A record is a name, two times, a code object and an offset, so that making one costs well below a microsecond. The records of
all threads go into one log, and a Recording is a part of the log. Events, with parents and lines, are made of records when
somebody looks at them.

dispatch calls observe for each operation, and engine calls run_watched for each pass. Ranges of the user and custom Functions
call begin_range and end_range themselves. anomaly.py is called from observe and run_watched, too.
"""

from __future__ import annotations

if False:
    import cython
import threading
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter_ns
from typing import Any

from wengert import _shim as cython
from wengert._forks import in_child
from wengert.backends.selection import others
from wengert.core.buffers import InputBuffer, cotangent_of
from wengert.core.dispatch import set_observer
from wengert.core.engine import evaluate_node, set_watch, start
from wengert.core.modes import CHECK, PROFILE, flags, set_observed, set_recording, set_unobserved
from wengert.core.node import AccumulateGrad, Node, count_outputs, next_node, record_position
from wengert.core.rules import add_source
from wengert.core.stacks import take_stack
from wengert.core.task import GraphTask
from wengert.core.tensor import TensorBase
from wengert.core.watched import exchange_codes, watch

# Kinds of records.
OPERATION = 0
NODE = 1  # of a backward pass
RANGE = 2  # named by the user
FUNCTION = 3  # the forward of a custom Function

get_ident = threading.get_ident


@cython.final
@cython.no_gc  # it holds names, code objects and shapes: no cycle
@cython.freelist(256)
@cython.binding(False)
@cython.cclass
class Record:
    """One thing that ran. Times in nanoseconds of perf_counter_ns; sequence_nr is that of the node, -1 without one."""

    if not cython.compiled:  # the compiled class starts with the same
        __slots__ = (
            "code", "device_bytes", "end", "kind", "lasti", "mark", "name", "nbytes", "sequence_nr", "shapes", "stack", "start",
            "thread",
        )  # fmt: skip
        name: str
        kind: int
        start: int
        end: int
        thread: int
        sequence_nr: int
        code: Any  # with lasti, where it was called; of a node, where its operation was
        lasti: int
        shapes: tuple[Any, ...] | None  # of the inputs, or of a node's cotangents, where they were asked for
        nbytes: int  # in main memory, of the results that are no views, where they were asked for
        device_bytes: int  # the same on devices
        mark: Any  # of the work on a device, as of profiler_device.py, where it was asked for, or None
        stack: tuple[Any, ...] | None  # as of stacks.py, where it was asked for

        def __new__(cls, *_: Any, **__: Any) -> Any:
            return object.__new__(cls)


if not cython.compiled:
    from wengert.core.native import wk_hold_calls, wk_watch_calls

    _log: list[Record] | None = None  # None: nothing is recorded
    _wants_shapes = False
    _wants_bytes = False
    _wants_stacks = False
    _ranges: Any = None
    _check: Any = None
    _anomaly: Any = None
    _streams: Any = None
    _marks: Any = None
_interceptors: dict[int, Callable[[Any, tuple[Any, ...]], Any]] = {}  # by thread
_passes: dict[int, Callable[[GraphTask, list[Any], list[Any]], None]] = {}  # functions that run passes, by thread
_recordings: list[Recording] = []
_changing = threading.RLock()


@in_child
def renew_lock() -> None:
    """Replace the lock, which another thread may have held."""
    global _changing
    _changing = threading.RLock()


class Recording:
    """A part of the log: what runs between start() and stop(), which may alternate."""

    def __init__(self, shapes: bool = False, nbytes: bool = False, stacks: bool = False, marks: Any = None) -> None:
        self.marks = marks  # the DeviceMarks of profiler_device.py, or None
        self.shapes = shapes
        self.nbytes = nbytes
        self.stacks = stacks
        self.first = -1  # of the part that is being written
        self.records: list[Record] = []

    def start(self) -> None:
        """Begin, or goes on, to record."""
        global _log
        with _changing:
            if self.first < 0:
                log: list[Record] = [] if _log is None else _log
                _log = log
                self.first = len(log)
                _recordings.append(self)
                _renew()

    def stop(self) -> None:
        """Take what was recorded since start(); does nothing where start() was not called."""
        global _log
        with _changing:
            if self.first >= 0:
                self.records.extend((_log or [])[self.first :])
                self.first = -1
                _recordings.remove(self)
                if not _recordings:
                    _log = None
                _renew()


def set_ranges(ranges: Any) -> None:
    """Call ranges.push(name) and ranges.pop() around all that runs, for another profiler to see; None: no more."""
    global _ranges
    with _changing:
        _ranges = ranges
        _renew()


def get_ranges() -> Any:
    """Return the last argument of set_ranges."""
    return _ranges


def set_anomaly(anomaly: Any, check: Any) -> None:
    """Install the checks of anomaly.py. anomaly checks passes, check(name, inputs, result) checks operations. None removes them."""
    global _anomaly, _check
    with _changing:
        _anomaly = anomaly
        _check = check
        _renew()


def set_streams(pass_class: Any) -> None:
    """Run passes on several streams of a device: pass_class(task) is a StreamPass of streams.py."""
    global _streams
    if _streams is not pass_class:
        with _changing:
            _streams = pass_class
            _renew()


def set_program_recorder(intercept: Any, run_pass: Any) -> None:
    """Run operations of this thread as intercept(function, arguments), and backward passes as run_pass(task, roots, cotangents).

    None: no more.
    """
    with _changing:
        thread = get_ident()
        _interceptors.pop(thread, None)
        _passes.pop(thread, None)
        if intercept is not None:
            _interceptors[thread] = intercept
            _passes[thread] = run_pass
        _renew()


def watch_calls(kinds: dict[int, int], tell: Any) -> None:
    """Call tell(frame, event, argument), as sys.setprofile does, for "call", "return" and "c_call" in this thread.

    kinds: by the id of a code, the sum of 1 to be told of its calls and returns, 2 of calls of C functions in it, and 4 of returns
    of what is neither None nor a tensor. Of codes that are not in there, all is told. tell=None: no more.
    """
    wk_watch_calls(kinds, tell, TensorBase)


def hold_calls(held: bool) -> None:
    """Tell of no calls from now on, or of calls again."""
    wk_hold_calls(held)


def set_interceptor(interceptor: Any) -> Any:
    """Call interceptor(function, arguments) in place of function(*arguments), which runs an operation, in this thread.

    None: no more. Returns the one before.
    """
    with _changing:
        before = _interceptors.pop(get_ident(), None)
        if interceptor is not None:
            _interceptors[get_ident()] = interceptor
        _renew()
    return before


def get_anomaly() -> tuple[Any, Any]:
    """Return the last arguments of set_anomaly."""
    return _anomaly, _check


def _renew() -> None:
    """Tell dispatch and engine who observes now."""
    global _wants_shapes, _wants_bytes, _wants_stacks, _marks
    _marks = next((r.marks for r in _recordings if r.marks is not None), None)
    _wants_shapes = any(r.shapes for r in _recordings)
    _wants_bytes = any(r.nbytes for r in _recordings)
    _wants_stacks = any(r.stacks for r in _recordings)
    profiling = _log is not None or _ranges is not None
    exchange_codes(profiling)
    set_watch(run_watched if profiling or _anomaly is not None or _streams is not None or _passes else None)
    set_observed((PROFILE if profiling else 0) | (CHECK if _check is not None or _interceptors else 0))


# -- operations --------------------------------------------------------------------------------------------------------


def observe(name: str, inputs: tuple[Any, ...], function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return function(*arguments), which runs an operation on inputs. Measure it and check its result."""
    set_unobserved(1)
    try:
        if len(_interceptors) != 0:
            interceptor = _interceptors.get(get_ident())
            if interceptor is not None:
                function, arguments = interceptor, (function, arguments)
        if _ranges is not None:
            result = ranged(name, function, arguments)
        elif _log is None:
            result = function(*arguments)
        else:
            mark = None if _marks is None else _marks.begin(inputs)
            began: int = perf_counter_ns()
            result = function(*arguments)
            add_operation(name, inputs, result, began, perf_counter_ns(), mark)
        if _check is not None:
            _check(name, inputs, result)
    finally:
        set_unobserved(-1)
    return result


set_observer(observe)


def watch_functions(functions: Sequence[tuple[Any, str, bool]]) -> None:
    """Has functions measured that do not run through dispatch: (function, name, whether its result is memory of its own).

    See Note [Watched functions].
    """
    with _changing:
        for function, name, makes_memory in functions:
            watch(function, name, makes_memory, measure_function)


def measure_function(name: str, makes_memory: bool, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return function(*args, **kwargs). Measure it, unless it is part of a measured operation."""
    if not flags() & PROFILE:
        return function(*args, **kwargs)
    set_unobserved(1)
    try:
        if _ranges is not None:
            return ranged(name, partial(function, **kwargs), args)
        mark = None if _marks is None else _marks.begin(args)
        began: int = perf_counter_ns()
        result = function(*args, **kwargs)
        ended: int = perf_counter_ns()
        inputs = tuple([x for x in args if isinstance(x, TensorBase)]) if _wants_shapes else ()
        add_operation(name, inputs, result if makes_memory else (), began, ended, mark)
    finally:
        set_unobserved(-1)
    return result


def ranged(name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return function(*arguments), run in a range of another profiler. No time is recorded."""
    ranges = _ranges
    ranges.push(name)
    try:
        return function(*arguments)
    finally:
        ranges.pop()


def add_operation(name: str, inputs: tuple[Any, ...], result: Any, began: int, ended: int, mark: Any) -> None:
    """Record an operation. mark: of its work on a device, or None."""
    log = _log
    if log is None:
        return
    record = new_record(name, OPERATION, began, ended)
    if mark is not None and _marks is not None:
        record.mark = _marks.end(mark, result)
    first = result if isinstance(result, TensorBase) or not result else result[0]
    node: Node | None = None
    if isinstance(first, TensorBase):
        tensor: TensorBase = first
        node = tensor._grad_fn
    record.sequence_nr = -1 if node is None else node._seq
    place(record)
    if _wants_shapes:
        record.shapes = tuple([x._array.shape if isinstance(x, TensorBase) else () for x in inputs])
    if _wants_bytes:
        for x in result if isinstance(result, tuple) else (result,):
            count_bytes(record, x)
    log.append(record)


def new_record(name: str, kind: int, began: int, ended: int) -> Record:
    """Return a record with these fields. The others are empty."""
    record: Record = Record.__new__(Record)
    record.name = name
    record.kind = kind
    record.start = began
    record.end = ended
    record.thread = get_ident()
    record.sequence_nr = -1
    record.code = None
    record.lasti = -1
    record.shapes = None
    record.nbytes = 0
    record.stack = None
    record.device_bytes = 0
    record.mark = None
    return record


def place(record: Record) -> None:
    """Note where the user's code stands now."""
    marker: Node = Node.__new__(Node)
    record_position(marker)
    record.code = marker._code
    record.lasti = marker._lasti
    if _wants_stacks:
        record.stack = take_stack()


def count_bytes(record: Record, x: Any) -> None:
    """Add the bytes of a tensor or an array to a record, unless it is a view."""
    array = x._array if isinstance(x, TensorBase) else x
    if getattr(array, "base", array) is None:
        if type(array) in others:
            record.device_bytes += array.nbytes
        else:
            record.nbytes += array.nbytes


def begin_range(name: str) -> int:
    """To be called where a range begins: the time, for end_range."""
    if _ranges is not None:
        _ranges.push(name)
    return perf_counter_ns() if _log is not None else 0


def end_range(name: str, kind: int, began: int) -> Any:
    """Record a range if recording was on when it began, and return the record. kind: RANGE, FUNCTION or NODE."""
    log = _log
    record = None
    if log is not None and began != 0:
        record = new_record(name, kind, began, perf_counter_ns())
        place(record)
        log.append(record)
    if _ranges is not None:
        _ranges.pop()
    return record


def add_range(name: str, began: int, ended: int, thread: int) -> None:
    """Record a range that ran beside the program, such as communication, if recording is on. Times of perf_counter_ns."""
    log = _log
    if log is not None:
        record = new_record(name, RANGE, began, ended)
        place(record)
        record.thread = thread
        log.append(record)


class measured_forward(set_recording):
    """Switch recording off, as set_recording(False), and measure the forward of a custom Function. record: its Record, or None."""

    def __init__(self, name: str) -> None:
        super().__init__(False)
        self.name = name

    def __enter__(self) -> None:
        self.began = begin_range(self.name)
        super().__enter__()

    def __exit__(self, *problem: object) -> None:
        super().__exit__(*problem)
        self.record = end_range(self.name, FUNCTION, self.began)

    def name_node(self, node: Node) -> None:
        """Tell the record of the node that the call made."""
        if self.record is not None:
            self.record.sequence_nr = node._seq


# -- passes ------------------------------------------------------------------------------------------------------------


def run_watched(task: GraphTask, roots: list[Any], cotangents: list[Any]) -> None:
    """Run a pass, as engine.start and engine.run, and measure or check each node."""
    run_pass = _passes.get(get_ident())
    if run_pass is not None:
        run_pass(task, roots, cotangents)
        return
    anomaly = None if _anomaly is None else _anomaly.begin(roots)
    if anomaly is not None:
        task.check = anomaly.check
    began: int = begin_range("torch::autograd::GraphRoot")
    start(task, roots, cotangents)
    end_range("torch::autograd::GraphRoot", NODE, began)
    evaluate = measure_node if anomaly is None else partial(measure_and_check, anomaly)
    if _streams is None:
        evaluate_each(task, evaluate)
        return
    on_streams = _streams(task)
    on_streams.begin(roots)
    try:
        evaluate_each(task, partial(on_streams.evaluate, evaluate))
    finally:
        on_streams.end()


def measure_and_check(anomaly: Any, task: GraphTask, node: Node, buffer: InputBuffer) -> None:
    """Do what measure_node does while anomaly detection is on."""
    with anomaly.watching(node):
        measure_node(task, node, buffer)


def evaluate_each(task: GraphTask, evaluate: Callable[[GraphTask, Node, InputBuffer], None]) -> None:
    """Call evaluate(task, node, buffer) for each node that becomes ready, until none is left."""
    while True:
        node: Node | None = task.pop()
        if node is None:
            return
        buffer: InputBuffer = task.take_buffer(node)
        task.end_quiet()
        try:
            evaluate(task, node, buffer)
        except Exception as error:
            add_source(error, node)
            raise


def measure_node(task: GraphTask, node: Node, buffer: InputBuffer) -> None:
    """Evaluate a node, and records that."""
    if _ranges is not None:
        ranged(node.name(), evaluate_node, (task, node, buffer))
        return
    if _log is None or not buffer.needed:
        evaluate_node(task, node, buffer)
        return
    task.settle(node, buffer)
    shapes = None
    if _wants_shapes:
        shapes = tuple([shape_of_cotangent(cotangent_of(buffer, nr)) for nr in range(count_outputs(node))])
    empty = places_without_cotangent(task, node) if _wants_bytes else []
    mark = None
    if _marks is not None:
        mark = _marks.begin([cotangent_of(buffer, nr) for nr in range(count_outputs(node))])
    began: int = perf_counter_ns()
    evaluate_node(task, node, buffer)
    ended: int = perf_counter_ns()
    log = _log
    if log is None:
        return
    record = new_record(node.name(), NODE, began, ended)
    record.sequence_nr = node._seq
    record.code = node._code
    record.lasti = node._lasti
    record.shapes = shapes
    if mark is not None and _marks is not None:
        record.mark = _marks.end(mark, None)
    for place in empty:
        count_bytes(record, place.cotangent if isinstance(place, InputBuffer) else place._grad)
    log.append(record)


def shape_of_cotangent(ct: Any) -> Any:
    """Return the shape of a cotangent. () for None."""
    return () if ct is None else ct.shape


def places_without_cotangent(task: GraphTask, node: Node) -> list[Any]:
    """Return the places that the node will fill with memory: empty buffers of the nodes behind it, a leaf without a gradient."""
    if isinstance(node, AccumulateGrad):
        return [node._variable] if node._variable._grad is None else []
    found: list[Any] = []
    for i in range(node._n_edges):
        behind: Node | None = next_node(node, i)
        if behind is not None:
            buffer: InputBuffer | None = task.find_buffer(behind)
            if buffer is not None and buffer.cotangent is None and buffer not in found:
                found.append(buffer)
    return found


def is_recording() -> bool:
    """Whether anything is recorded now."""
    return _log is not None
