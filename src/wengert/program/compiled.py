"""wengert.compile: calls of a compiled function choose a recording that fits, make one, or run the function eagerly."""

from __future__ import annotations

import sys
import warnings
import weakref
from _thread import RLock, allocate_lock, get_ident
from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from operator import itemgetter
from typing import Any

from wengert import errors
from wengert.core.modes import NO_GRAD, PROFILE, flags, observed, state
from wengert.core.replay import fits, have_grads
from wengert.core.saved import is_watched
from wengert.core.stacks import user_level
from wengert.core.tape import Refusal
from wengert.core.tensor import TensorBase
from wengert.dtypes import get_default_dtype
from wengert.program.arrays import layout_of
from wengert.program.execution import Executable, Failure, Mismatch, OutsideIndex, executable_in_c, existing_of
from wengert.program.files import ProgramFileError, dumps
from wengert.program.form import INPUT, TENSOR, Program, Value, hooks_of
from wengert.program.graph_node import GraphCall
from wengert.program.number_recording import NumberRecorder
from wengert.program.numbers import is_stand_in, value_of
from wengert.program.passes import storages_kept
from wengert.program.recording import record, without_collector
from wengert.program.surroundings import NUMBERS, Place, Surroundings, WeakMethod
from wengert.tensor import Tensor
from wengert.utils._pytree import tree_flatten, tree_map, tree_unflatten

LIMIT = 16  # recordings of a function
RUNS_BEFORE_C = 1000  # runs of a recording after which backend="auto" compiles it as C
_SECONDS_OF_WRITING = 0.01  # in one call; the next ones go on
_BETWEEN_LOOKS = 50  # runs until it is asked again whether the C compiler is done
_ATTEMPTS = 2  # recordings that fail before the function runs eagerly for good: the first call may fill caches
_changing = RLock()
_recorder_thread: int | None = None
_all: weakref.WeakSet[Compiled] = weakref.WeakSet()


class CompileError(errors.WengertError, RuntimeError):
    """A function that was compiled with fullgraph=True cannot be recorded."""


class Recording:
    """One recording. surroundings: what the function reached. given: the arguments if all are tensors, given by position.

    key: of the kind of the call. numbers: those among the arguments, of which key tells the types only if the program takes them.
    make: makes the executable of the program. It is called when the recording is first needed: many functions are called once."""

    def __init__(
        self, program: Program, make: Callable[[Program], Executable], surroundings: Surroundings, key: Any, numbers: list[Any],
        given: list[Any] | None,
    ) -> None:  # fmt: skip
        self.recorded = program  # its instructions are other ones when it is executable
        self._make = make
        self._executable: Executable | None = None
        self._in_runner: Executable | None = None  # without C functions, for indices that these do not take
        self.surroundings = surroundings
        self.key = key
        self.numbers = numbers
        self.next_look = RUNS_BEFORE_C  # the number of runs at which improve() is called
        self._conversion: Any = None
        self.graph: GraphCall | None = None  # if results require grad
        self.runs = 0
        self._lock = allocate_lock()
        self.pack = _packer(program.structure, len(program.outputs))  # makes the result of its leaves
        self.flags, self.dtype = flags() & _MODES, get_default_dtype()
        # What the arguments are like, if all of them are tensors, given by position, and no tensor is given twice.
        self.patterns: list[Any] | None = None
        if given is not None and _are_distinct(given):
            self.patterns = [(Tensor, layout_of(x._array), x._requires_grad, x._grad_fn is None) for x in given]

    @property
    def executable(self) -> Executable:
        """The program, made executable."""
        if self._executable is None:
            with _changing:
                if self._executable is None:
                    with without_collector():
                        self._executable = self._make(self.recorded)
        return self._executable

    def takes(self, args: Any) -> bool:
        """Whether a call with these arguments by position is of the recording's kind. It may say no wrongly, but never yes."""
        if self.patterns is None or not fits(args, self.patterns):
            return False
        if flags() & _MODES != self.flags or get_default_dtype() is not self.dtype:
            return False
        return _are_distinct(args) and not observed() and not _is_unusual()

    @property
    def takes_numbers(self) -> bool:
        """Whether numbers of the call are inputs of the program."""
        return self.recorded.arithmetic is not None and self.recorded.arithmetic.n_given > 0

    def is_for(self, key: Any, numbers: list[Any]) -> bool:
        """Whether calls of this kind and with these numbers may fit."""
        return self.key == key and (self.takes_numbers or _are_same(self.numbers, numbers))

    def stands_for(self, numbers: list[Any]) -> bool:
        """Whether a recording that was made for these numbers is of no more use."""
        return bool(self.surroundings.places) or self.recorded.arithmetic.table_of(numbers) is not None

    def run(self, tensors: list[Any], numbers: Sequence[Any]) -> list[Any]:
        """Return the leaves of the result. Raises Mismatch if the recording does not fit, or is running."""
        if self._executable is None and not self._has_grads(tensors):  # before the program is planned
            raise Mismatch("the gradient of a tensor")
        if not self._lock.acquire(blocking=False):  # another thread runs it, or it has called itself
            raise Mismatch("the recording is running")
        try:
            return self.executable.run(tensors, numbers)
        except OutsideIndex:
            if self._in_runner is None:
                self._in_runner = Executable(self.recorded, False, self.recorded.instructions)
            return self._in_runner.run(tensors, numbers)
        finally:
            self._lock.release()

    def _has_grads(self, tensors: list[Any]) -> bool:
        """Whether leaves have gradients, or none, as in the recorded run. The first step of a training loop finds none."""
        grads = self.recorded.grads
        return have_grads([state.leaf for state in grads], tensors, [state.is_none for state in grads])

    def improve(self, exact: bool) -> None:
        """Write the program as C, a little in each call, or use what a compiler has made. Without a compiler, the runner stays."""
        from wengert.program.c_library import CCompilerError
        from wengert.program.c_steps import Conversion

        self.next_look = 0
        executable = self.executable
        try:
            if self._conversion is None:
                self._conversion = Conversion(executable.instructions, storages_kept(executable.program), True)
            with without_collector():
                is_written = self._conversion.advance(_SECONDS_OF_WRITING)
            if not self._conversion.is_worth:
                self._conversion = None
            elif not is_written:
                self.next_look = self.runs + 1
            elif not self._conversion.is_ready():
                self.next_look = self.runs + _BETWEEN_LOOKS
            else:
                improved = Executable(executable.program, exact, self._conversion.finish())
                with self._lock:
                    self._executable = improved
                self._conversion = None
        except CCompilerError:
            self._conversion = None

    def run_in_graph(self, tensors: list[Any], numbers: Sequence[Any]) -> list[Any]:
        """Return the leaves of the result, with a history."""
        graph: Any = self.graph
        leaves: list[Any] = []

        def run(inputs: list[Any]) -> list[Any]:
            leaves[:] = self.run(inputs, numbers)
            return [x for x, is_new in zip(leaves, graph.is_new, strict=True) if is_new]

        tensors_made = iter(graph.apply(tensors, numbers, run))
        made: dict[int, Any] = {}  # by the id of the output
        for x, leaf, is_new in zip(self.recorded.outputs, leaves, graph.is_new, strict=True):
            if id(x) not in made:
                made[id(x)] = next(tensors_made) if is_new else existing_of(x, leaf, tensors)
        return [made[id(x)] for x in self.recorded.outputs]


class Compiled:
    """A function, and the recordings of its runs. Made by wengert.compile."""

    def __init__(self, fn: Callable[..., Any], fullgraph: bool, exact: bool = False, backend: str = "auto") -> None:
        update_wrapper(self, fn)
        self.fullgraph = fullgraph
        self.exact = exact  # whether sums keep their order
        self.backend = backend  # "c" compiles recordings by the C compiler
        self.recordings: list[Recording] = []
        self.refusals: list[str] = []
        self.function = fn
        self._failures = 0
        self._is_eager = False
        self._numbers_fail = False  # whether stand-ins for numbers have made an error, or a run that cannot be recorded
        self._varying: dict[Any, Place] = {}  # places of numbers that the function reaches, and that have changed
        self._bound: dict[int, Any] = {}
        self._failure: Failure | None = None  # of a recording in this call
        self._n_failed = 0  # how often a recording has failed where the function did not
        self._recent: Recording | None = None  # the last one that fitted, if it has patterns
        _all.add(self)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        key = id(instance)
        if key not in self._bound:
            kept = weakref.ref(instance, lambda _: self._bound.pop(key, None))
            self._bound[key] = kept, Compiled(WeakMethod(self.function, instance), self.fullgraph, self.exact, self.backend)
        return self._bound[key][1]

    def __repr__(self) -> str:
        return f"<compiled {getattr(self.function, '__qualname__', self.function)!s}, {len(self.recordings)} recordings>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        recent = self._recent
        if recent is not None and not kwargs and _recorder_thread is None and recent.takes(args):
            found = self._replay(recent, list(args), ())
            if found is not None:
                return found[0]
        modes = flags() & _MODES & ~NO_GRAD | observed()
        if self._is_eager or modes & ~PROFILE or _recorder_thread is not None or _is_unusual():
            return self.function(*args, **kwargs)
        given, structure = _flatten(args, kwargs)
        tensors: list[Any] = []
        numbers: list[Any] = []
        kind: list[Any] = [flags() & NO_GRAD, get_default_dtype(), structure]
        for x in given:
            if isinstance(x, TensorBase):
                if x._view is not None and x._view.physical is not None:
                    return self.function(*args, **kwargs)
                if type(x) is not Tensor and type(x).__module__.partition(".")[0] != "wengert":
                    return self.function(*args, **kwargs)
                array = x._array
                kind.append((array.shape, array.dtype.str, array.strides, x._requires_grad, x._grad_fn is None))
                tensors.append(x)
            elif type(x) in NUMBERS:
                kind.append(type(x))
                numbers.append(x)
            else:
                kind.append((type(x), repr(x) if isinstance(x, float) else x if isinstance(x, _PLAIN) else _Same(x)))
        kind.append(_sharing(tensors))
        self._failure = None
        for recording in self.recordings:
            if recording.is_for(kind, numbers):
                found = self._replay(recording, tensors, numbers)
                if found is not None:
                    self._recent = recording if recording.patterns is not None else None
                    return found[0]
        if modes or sys.getprofile() is not None:  # a profiler measures, which an observer of a recording would disturb
            return self.function(*args, **kwargs)
        return self._record(args, kwargs, given, structure, kind, numbers)

    def _replay(self, recording: Recording, tensors: list[Any], numbers: Sequence[Any]) -> tuple[Any] | None:
        """Return the result of a recording, or None if it does not fit now."""
        try:
            if recording.surroundings.changed() is not None:
                return None
            if recording.surroundings.places:
                numbers = [*numbers, *recording.surroundings.varying_numbers()]
            run = recording.run if recording.graph is None else recording.run_in_graph
            leaves = run(tensors, numbers)
        except Failure as failure:
            self._failure = failure
            return None
        except Mismatch:
            return None
        recording.runs += 1
        if recording.runs == recording.next_look and self.backend == "auto":
            recording.improve(self.exact)
        return (recording.pack(leaves),)

    def _record(self, args: Any, kwargs: Any, given: list[Any], arguments: Any, kind: list[Any], numbers: list[Any]) -> Any:
        """Run the function, and record the run if nothing is against it."""
        global _recorder_thread
        if len(self.recordings) >= LIMIT:
            self._give_up(
                f"it has {LIMIT} recordings and none fits: shapes, Python numbers or objects that it reaches are others in each "
                "call. Hint: pass numbers that change as tensors"
            )
            return self.function(*args, **kwargs)
        with _changing:
            if _recorder_thread is not None:
                return self.function(*args, **kwargs)
            _recorder_thread = get_ident()
            try:
                tensors = [x for x in given if isinstance(x, TensorBase)]
                objects = [x for x in given if not isinstance(x, TensorBase)]
                objects += [hook for x in tensors for hooks in hooks_of(x) for hook in hooks]
                have_changed = self._have_changed(kind, numbers)
                surroundings = Surroundings(self.function, self._varying if have_changed else None, objects)
                name = getattr(self.function, "__qualname__", "function")
                recorder = NumberRecorder(name, tensors, surroundings, self.exact, numbers if have_changed else ())
                try:
                    if have_changed:
                        result = self._run_with_stand_ins(recorder, given, arguments)
                    else:
                        try:
                            result = record(recorder, self.function, args, kwargs)
                        finally:
                            recorder.end()
                except Exception:
                    if not have_changed or not recorder.may_run_again():
                        raise
                    self._numbers_fail, have_changed = True, False  # it may ask for type(number)
                    surroundings = Surroundings(self.function, None, objects)
                    recorder = NumberRecorder(name, tensors, surroundings, self.exact, ())
                    result = record(recorder, self.function, args, kwargs)
                    recorder.end()
                recorder_problem: Refusal | None = None
                try:
                    for x in recorder.growing:
                        surroundings.let_grow(x, recorder.codes)
                    surroundings.forget()
                    changed = surroundings.changed()
                    if not _is_as_given(args, kwargs, given, arguments):
                        changed = "a container among its arguments"
                    if surroundings.unknown is not None:
                        recorder.refuse(f"it reaches {surroundings.unknown}, and a change of it would not be seen")
                    elif changed is not None:
                        recorder.refuse(f"it changes {changed}, a Python object")
                    leaves, structure = tree_flatten(result)
                    program = recorder.finish(leaves, None if len(leaves) == 1 and leaves[0] is result else structure)
                    by_position = given if arguments == len(given) else None
                    recording = Recording(program, self._executable_of, surroundings, kind, numbers, by_position)
                    if self.backend == "c":
                        recording.executable  # noqa: B018 (errors of the C compiler belong to this call)
                    if any(isinstance(x, tuple) and x[0] == "graph" for x in program.outputs):
                        recording.graph = self._graph_call(recording, given, arguments)
                    self._add(recording)
                except Refusal as refusal:
                    recorder_problem = refusal
                if any(map(is_stand_in, leaves)):
                    result = tree_map(value_of, result)
                if have_changed and recorder_problem is not None:
                    self.refusals.append(str(recorder_problem))
                    self._numbers_fail = True
                    recorder_problem = None
            finally:
                _recorder_thread = None
        if self._failure is not None and not self._is_eager:
            self._n_failed += 1
            if self._n_failed >= _ATTEMPTS:
                cause = self._failure.__cause__
                self._give_up(f"its recordings fail where it does not: {type(cause).__name__}: {cause}")
        if recorder_problem is not None:
            self._failures += 1
            self.refusals.append(str(recorder_problem))
            if self.fullgraph:
                raise CompileError(f"{_name(self.function)} cannot be compiled as a whole: {recorder_problem}.")
            if self._failures >= _ATTEMPTS:
                self._give_up(str(recorder_problem))
        return result

    def _have_changed(self, kind: list[Any], numbers: list[Any]) -> bool:
        """Whether a call of this kind was recorded with other numbers, among the arguments or elsewhere."""
        if self._numbers_fail:
            self._varying.clear()
            return False
        found = [x for x in self.recordings if x.key == kind]
        for x in found:
            self._varying.update({place.identity: place for place in x.surroundings.changed_numbers()})
        is_taken = any(x.takes_numbers or not _are_same(x.numbers, numbers) for x in found)
        return bool(found and self._varying) or is_taken

    def _run_with_stand_ins(self, recorder: NumberRecorder, given: list[Any], structure: Any) -> Any:
        """Run and record the function with stand-ins for numbers."""
        recorder.begin()
        stand_ins = iter(recorder.stand_ins)
        args, kwargs = _unflatten([next(stand_ins) if type(x) in NUMBERS else x for x in given], structure)
        try:
            return record(recorder, self.function, args, kwargs)
        finally:
            recorder.end()

    def _add(self, recording: Recording) -> None:
        """Keep a recording. One that takes numbers stands for those that were made for other numbers."""
        if recording.takes_numbers:
            self.recordings = [
                x for x in self.recordings if x.key != recording.key or x.takes_numbers or not recording.stands_for(x.numbers)
            ]
        self.recordings.insert(0, recording)

    def _executable_of(self, program: Program) -> Executable:
        return executable_in_c(program, self.exact) if self.backend == "c" else Executable(program, self.exact)

    def _graph_call(self, recording: Recording, given: list[Any], structure: Any) -> GraphCall:
        """Return what makes a node of a recording. given, structure: the arguments of the call."""
        function = self.function
        places = [i for i, x in enumerate(given) if isinstance(x, TensorBase)]
        number_places = [i for i, x in enumerate(given) if type(x) in NUMBERS]
        others = [x if type(x) not in NUMBERS and not isinstance(x, TensorBase) else None for x in given]

        def call(inputs: list[Any], numbers: Sequence[Any]) -> Any:
            leaves = list(others)
            for i, x in zip([*places, *number_places], [*inputs, *numbers[: len(number_places)]], strict=True):
                leaves[i] = x
            args, kwargs = _unflatten(leaves, structure)
            return function(*args, **kwargs)

        program = recording.recorded
        reached = [s.key for s in program.storages if s.kind == TENSOR and s.key._requires_grad]
        first = {id(x): i for i, x in reversed(list(enumerate(program.outputs)))}  # a tensor may be there twice
        is_new = [isinstance(x, Value) or x[0] in ("graph", "written") for x in program.outputs]
        is_new = [new and first[id(x)] == i for i, (x, new) in enumerate(zip(program.outputs, is_new, strict=True))]
        needs_grad = [not isinstance(x, Value) and x[0] == "graph" for x, new in zip(program.outputs, is_new, strict=True) if new]
        make = partial(Compiled, fullgraph=self.fullgraph, exact=self.exact, backend=self.backend)
        return GraphCall(call, len(places), reached, make, is_new, needs_grad)

    def _give_up(self, reason: str) -> None:
        self._is_eager = True
        if self.fullgraph:
            raise CompileError(f"{_name(self.function)} cannot be compiled as a whole: {reason}.")
        warnings.warn(f"{_name(self.function)} runs eagerly from now on: {reason}.", RuntimeWarning, stacklevel=user_level())

    # -- for people --------------------------------------------------------------------------------------------------------

    def programs(self) -> list[Any]:
        """Return the recorded programs. str() of one is its text."""
        return [recording.executable.program for recording in self.recordings]

    def save(self, path: Any) -> None:
        """Write the recorded programs, with the tensors that they reach, to a file for `wengert.compiler.load`. path: a path.

        Raises RuntimeError before the first call, and OSError. Raises ProgramFileError, a ValueError, for a program with the step
        of an optimizer or with a result that requires grad, and for recordings that differ in Python numbers only."""
        if not self.recordings:
            raise RuntimeError(f"{_name(self.function)} has no recording yet. Hint: call it before save()")
        keys: dict[Any, Any] = {}
        for recording in self.recordings:
            key = recording.key, recording.numbers
            if keys.setdefault(_inputs_of(recording.recorded), key) != key:
                raise ProgramFileError(
                    f"recordings of {_name(self.function)} take tensors of the same shapes and dtypes, and differ in Python "
                    "numbers or in how they are called, which a file does not tell. Hint: compile a function for each number"
                )
        data = dumps(recording.executable.program for recording in self.recordings)
        with open(path, "wb") as file:
            file.write(data)

    def explain(self) -> str:
        """Return a text about the recordings (instructions, memory, runs), and why runs were not recorded, with the lines."""
        lines = [f"{_name(self.function)}: {len(self.recordings)} recordings" + (", runs eagerly now" if self._is_eager else "")]
        for i, recording in enumerate(self.recordings):
            executable = recording.executable
            guards = sum(step[0] == "guard" for step in executable.steps)
            arithmetic = executable.program.arithmetic
            on_numbers = "" if arithmetic is None else f", {len(arithmetic.conditions)} on Python numbers"
            lines.append(
                f"  {i}: {recording.runs} runs; {len(executable.program.instructions)} instructions, {executable.n_compiled} run "
                f"by C; {guards} guards on values{on_numbers}; "
                f"{executable.nbytes} bytes of memory for {executable.unplanned} bytes of values"
            )
        lines += [f"  not recorded: {reason}" for reason in dict.fromkeys(self.refusals)]
        return "\n".join(lines)

    def to_c(self, path: Any) -> None:
        """Write the newest recording as C99: path.c, path.h and path_test.c, a program that checks it.

        The function, named as the last part of path, takes the tensors among the arguments, then the results and new gradients, as
        arrays in row-major order. Memory is static, and libm the only library. Tensors that the function reaches are constants. If
        it writes them, they are arrays of the header, with the values that they have now.

        Raises CExportError, a RuntimeError, if there is no recording, or for the first instruction that has no form in C."""
        from wengert.program.c_export import CExportError, write  # loaded if it is used

        if not self.recordings:
            raise CExportError(f"{_name(self.function)} has no recording. Hint: call it first")
        write(path, self.recordings[0].executable)

    def reset(self) -> None:
        """Forget the recordings, and try again to record."""
        self.recordings = []
        self.refusals = []
        self._failures = self._n_failed = 0
        self._is_eager = False
        self._recent = None


_MODES = 0xFFFF  # bits of flags() that are modes
_PLAIN = (int, complex, str, bytes, bool, type(None))


def _inputs_of(program: Program) -> tuple[Any, ...]:
    """Return place, shape and dtype of the tensors that a program takes."""
    return tuple([(s.key, tuple(s.shape), s.dtype) for s in program.storages if s.kind == INPUT])


def _flatten(args: Any, kwargs: Any) -> tuple[list[Any], Any]:
    """Return the leaves of the arguments, and what tells their structure."""
    if not kwargs and all(type(x) is Tensor for x in args):
        return list(args), len(args)
    return tree_flatten((args, kwargs))


def _unflatten(leaves: list[Any], structure: Any) -> tuple[Any, dict[str, Any]]:
    """Return the arguments of a call, given what _flatten has returned."""
    return (leaves, {}) if isinstance(structure, int) else tree_unflatten(leaves, structure)


def _are_same(a: list[Any], b: list[Any]) -> bool:
    """Whether numbers of the same types are the same."""
    return all(x is y or repr(x) == repr(y) for x, y in zip(a, b, strict=True))


def _is_as_given(args: Any, kwargs: Any, given: list[Any], structure: Any) -> bool:
    """Whether the containers among the arguments hold what they held."""
    leaves, found = _flatten(args, kwargs)
    return found == structure and len(leaves) == len(given) and all(x is y for x, y in zip(leaves, given, strict=True))


class _Same:
    """An object that is equal to itself only."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.x is self.x

    __hash__ = object.__hash__


def _packer(structure: Any, n: int) -> Callable[[list[Any]], Any]:
    """Return what makes a function's result of its n leaves."""
    if structure is None:
        return itemgetter(0)
    if tree_unflatten(list(range(n)), structure) == tuple(range(n)):
        return tuple
    return lambda leaves: tree_unflatten(leaves, structure)


def _are_distinct(tensors: Any) -> bool:
    """Whether no tensor is there twice."""
    n = len(tensors)
    return n < 2 or (tensors[0] is not tensors[1] if n == 2 else len(set(map(id, tensors))) == n)


def _sharing(tensors: list[Any]) -> Any:
    """Return which of the tensors are one object."""
    if len(tensors) < 2:
        return None
    first: dict[int, int] = {}
    return [first.setdefault(id(x), i) for i, x in enumerate(tensors)]


def _is_unusual() -> bool:
    """Whether a mode is on in which operations do more than a recording tells."""
    return is_watched() or bool(state.function_modes) or state.mutation is not None


def _name(fn: Any) -> str:
    return f"{getattr(fn, '__qualname__', fn)}()"


def is_recording_here() -> bool:
    """Whether this thread records a function."""
    return _recorder_thread == get_ident()


def require_compiler() -> None:
    """Raise CCompilerError if there is no C compiler."""
    from wengert.program.c_library import compiler_command  # loaded if it is used

    compiler_command()


def reset_all() -> None:
    """Forget the recordings of all compiled functions."""
    for compiled in list(_all):
        compiled.reset()
