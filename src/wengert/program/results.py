"""Results of a recorded run: which tensors a run of the program returns, and how they hang together with others.

A result is new memory, a tensor that existed before, or a view of either. Views are made again by the operations that made them, so
that they have the base, the version and the history that they have in an eager run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial, reduce
from typing import Any
from weakref import ref

import numpy as np

from wengert.core.modes import grad_enabled, set_recording
from wengert.core.tape import Refusal, Tape, root_of
from wengert.core.tensor import IS_DUAL, IS_INFERENCE, IS_RESHAPED, IS_VOLATILE, RETAINS_GRAD, TensorBase
from wengert.program import form
from wengert.program.form import Freed, GradState, Program, Value, View, hooks_of, may_draw, storages_written

Step = Callable[[Any], Any]


class Results(Tape):
    """The part of a Recorder that looks at views and results."""

    program: Program
    _external: dict[int, tuple[TensorBase, Any, bool, Any]]
    _grads: dict[int, tuple[TensorBase, Any]]
    _first_grads: dict[int, Any]
    _names_grads: bool
    _leaf_keys: dict[int, Any]
    _marks: dict[int, Any]
    _items: dict[int, tuple[Any, Value]]
    settle_grads: Callable[[], None]
    computed_copy: Callable[[Value], Value]

    def __init__(self) -> None:
        self._hooked: dict[int, tuple[Any, Any]] = {}  # leaves outside that get gradients, with their hooks, by their id
        self._outside: dict[int, TensorBase] = {}  # tensors that exist before the call, and after it
        # Views by their id, with the tensor that they look at, and the steps that make them of it.
        self._views: dict[int, tuple[ref[TensorBase], ref[TensorBase], tuple[Step, ...]]] = {}
        self._viewed: dict[int, TensorBase] = {}  # tensors by the id of their array: detach() gives another one of this array

    def _note_views(self, function: Callable[..., Any], arguments: tuple[Any, ...], made: Any) -> None:
        """Note how views were made: by function(*arguments), whose first operand is the base."""
        is_whole = function.__name__ == "call"
        base, *others = arguments[1] if is_whole else arguments[1:]
        if any(isinstance(x, TensorBase) for x in others):
            return
        step = partial(_made_again, function, arguments[0], others, arguments[2:] if is_whole else (), grad_enabled())
        before = self._views.get(id(base))
        root, steps = before[1:] if before is not None and before[0]() is base else (ref(base), ())
        if id(root_of(base._array)) in self._known:  # these views take no memory
            self._alive.append(made)
        if isinstance(made, tuple):
            for i, view in enumerate(made):
                self._views[id(view)] = ref(view), root, (*steps, partial(_part_of, step, i))
        else:
            self._views[id(made)] = ref(made), root, (*steps, step)

    def _steps_of(self, x: TensorBase) -> tuple[TensorBase, tuple[Step, ...]]:
        """Return the tensor that a view looks at, and the steps that make the view of it."""
        found: tuple[Step, ...] = ()
        while id(x) not in self._outside:
            made = self._views.get(id(x))
            base = None
            if made is not None and made[0]() is x:
                base, steps = made[1](), made[2]
            else:
                other = self._viewed.get(id(x._array))
                shares = other is not None and x._counter is not None and other._counter is x._counter
                if other is not x and not x._requires_grad and (shares or id(other) in self._outside):
                    base, steps = other, (_detached if shares else _data,)
            if base is None:
                break
            x, found = base, (*steps, *found)
        return x, found

    def finish(self, leaves: list[Any], structure: Any) -> Program:
        """Return the program, given the leaves of the function's result. Raises Refusal."""
        if self.refusal is not None:
            raise self.refusal
        self.settle_grads()
        for x, array, requires_grad, grad_fn in self._external.values():
            self._check_version(x)
            if x._array is not array or x._requires_grad != requires_grad or x._grad_fn is not grad_fn:
                raise Refusal("the function changes the memory, the history or requires_grad of a tensor that it was given")
            if marks_of(x) != self._marks[id(x)]:
                raise Refusal("the function sets hooks, or .grad of a tensor with a history")
            self._outside[id(x)] = x
        for key, held in self._first_grads.items():
            if held is not None and self._grads[key][1] is held:
                self._outside[id(held)] = held
        for x in self._outside.values():
            self._viewed.setdefault(id(x._array), x)
        for made, *_ in self._views.values():
            view = made()
            if view is not None:
                self._viewed.setdefault(id(view._array), view)
        steps = [i for i, x in enumerate(self.program.instructions) if x.kind == form.HOST and x.function.is_step]
        if steps and any(map(self.program.may_stop, self.program.instructions[steps[0] :])):
            raise Refusal("a condition on a tensor follows the step of an optimizer, which could not be undone")
        if self._items.keys() - {id(x) for x in leaves}:  # __float__() was called by another function than float()
            raise Refusal("a number of a tensor goes elsewhere than into the result")
        self.program.outputs = self._outputs(leaves)
        self.program.structure = structure
        self.program.hooks = list(self._hooked.values())
        found = {x[0] for x in self.program.outputs if not isinstance(x, Value)}
        if "graph" in found and found & {"leaf", "freed"}:
            raise Refusal("one result has a history, and another one has none and requires grad")
        changed = {id(x.function) for x in self.program.instructions if x.kind == form.SET_GRAD}
        changed |= {id(s.key) for s in self.program.storages if s.kind == form.GRAD}
        for key, held in self._first_grads.items():
            leaf = self._leaf_keys[key]
            if (held is None and self._names_grads) or id(leaf) in changed:  # that it sets None to None leaves no trace
                self.program.grads.append(GradState(leaf, held is None))
        return self.program

    def _view(self, x: TensorBase, value: Value, root: TensorBase, steps: tuple[Step, ...], origin: Any) -> View:
        """Return the result that is a view. Raises Refusal unless its steps make what x is."""
        made = reduce(_applied, steps, root)
        shares = x._counter is root._counter  # and does not count its writes alone, as .data and unsafe_split do
        if _layout(made._array) != _layout(x._array) or made._version != x._version or (made._counter is root._counter) != shares:
            raise Refusal("a result is a view that was changed after it was made")
        if (made._grad_fn is None) != (x._grad_fn is None) or made._requires_grad != x._requires_grad:
            raise Refusal("a result is a view with another history than that of its base")
        return View("view", value, origin, steps)

    def _outputs(self, leaves: list[Any]) -> list[Any]:
        """Return what a run returns in place of the leaves of the function's result."""
        tensors = {id(x): x for x in leaves if isinstance(x, TensorBase) and id(x) not in self._outside}
        users = Counter([self.operand(x).storage for x in tensors.values()])
        found: dict[int, Any] = {}
        for x in tensors.values():
            self._viewed.setdefault(id(x._array), x)
        roots: dict[Any, TensorBase] = {}  # of memory that several results share
        for x in leaves:
            if id(x) in found:
                continue
            if id(x) not in tensors:
                found[id(x)] = self._other_output(x)
                continue
            value = self.operand(x)
            if x._flags & _KINDS or (x._grad is not None and x._grad_fn is not None):
                raise Refusal("a result was made in inference mode, keeps its gradient, or is of another unusual kind")
            root, steps = self._steps_of(x)
            if value.storage.is_external:
                if id(root) not in self._outside:
                    raise Refusal("a result looks at the memory of a tensor that exists before the call, but is no view of it")
                found[id(x)] = self._view(x, value, root, steps, self.value_of(root._array).storage)
            elif users[value.storage] < 2 or roots.setdefault(value.storage, root) is x:
                found[id(x)] = self._new_output(x, value)
            elif x._requires_grad or root._requires_grad:
                raise Refusal("two results share memory")
            elif roots[value.storage] is root:
                found[id(x)] = self._view(x, value, root, steps, self.value_of(root._array))
            elif overlap(x._array, roots[value.storage]._array):
                raise Refusal("two results share memory")
            else:
                found[id(x)] = self.computed_copy(value)
        return [found[id(x)] for x in leaves]

    def _new_output(self, x: TensorBase, value: Value) -> Any:
        if x._grad_fn is None:
            if x._requires_grad:
                return "leaf", value
            return ("written", value, x._counter.value) if x._counter is not None and x._counter.value else value
        if is_freed(x._grad_fn):
            return Freed("freed", value, x._grad_fn, x._output_nr)
        _check_graph(self.program)
        return "graph", value

    def _other_output(self, x: Any) -> Any:
        if isinstance(x, TensorBase):
            return "same", self.value_of(x._array).storage
        if id(x) in self._items and self._items[id(x)][0] is x:
            return "item", self._items[id(x)][1]
        if isinstance(x, (int, float, complex, str, bool, type(None))):
            return "object", x
        raise Refusal(f"a result is of type {type(x).__name__}")


def overlap(a: Any, b: Any) -> bool:
    """Whether two arrays may have elements in common."""
    try:
        return bool(np.shares_memory(a, b, max_work=10_000))  # type: ignore[arg-type]  # its stub knows -1 and 0 only
    except np.exceptions.TooHardError:
        return True


def _made_again(function: Any, op: Any, others: Any, params: Any, records: bool, base: Any) -> Any:
    """Return a view of a base, as an operation of the recorded run has made it."""
    with set_recording(records):
        return function(op, (base, *others), *params) if function.__name__ == "call" else function(op, base, *others)


def _part_of(function: Callable[[Any], Any], i: int, x: Any) -> Any:
    return function(x)[i]


def _layout(array: Any) -> Any:
    return array.shape, array.strides, array.dtype


def _applied(x: Any, step: Step) -> Any:
    return step(x)


_KINDS = RETAINS_GRAD | IS_INFERENCE | IS_RESHAPED | IS_VOLATILE | IS_DUAL


def marks_of(x: Any) -> Any:
    """Return what a function that is recorded may not change of a tensor outside: hooks, marks, and .grad of one with a history."""
    node = x._grad_fn
    hooks = None if node is None or node._hooks is None else node._hooks
    of_node = [] if hooks is None else [list(y or ()) for y in (hooks.tensor, hooks.retained, hooks.pre, hooks.post)]
    return hooks_of(x), of_node, x._flags & _KINDS, None if node is None else id(x._grad)


def _detached(x: Any) -> Any:
    return x.detach()


def _data(x: Any) -> Any:
    return x.data


def is_freed(node: Any) -> bool:
    """Whether a backward pass from a node can only fail: on each way to a leaf, a node has given up what it saved."""
    stack, seen = [node], set()
    while stack:
        node = stack.pop()
        if id(node) in seen or node is None:
            continue
        seen.add(id(node))
        plan = getattr(node, "_plan", None)
        if plan is not None and plan.saves and node._saved is None:
            continue
        if plan is None or _holds_arrays(node._saved):
            return False
        stack.extend([behind for behind, _ in node.next_functions])
    return True


def _holds_arrays(x: Any) -> bool:
    """Whether something that a node saves is no number, no text and no tuple of these."""
    return any(map(_holds_arrays, x)) if isinstance(x, tuple) else not isinstance(x, (int, float, complex, str, type(None)))


def _check_graph(program: Program) -> None:
    """Check that a backward pass may compute the forward values again."""
    reason = ""
    for x in program.instructions:
        if x.kind == form.SET_GRAD or (x.kind != form.MAKE and any(s.is_external for s in storages_written(x))):
            reason = "the function writes a tensor that exists before the call"
        elif (x.kind == form.HOST and (x.function.draws or x.function.is_step)) or may_draw(x):
            reason = "the function draws random numbers, or steps an optimizer"
        elif x.kind == form.OUT:
            reason = "the function puts something out"
    if any(s.kind == form.TENSOR and s.key._grad_fn is not None for s in program.storages):
        reason = "the function reaches a tensor that has a history"
    if reason:
        raise Refusal(f"a result requires grad, and {reason}. Compile the step that calls backward()")
