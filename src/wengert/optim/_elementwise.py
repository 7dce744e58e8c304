"""Optimizers that change each element by itself: one formula, traced into a program that runs in one pass over memory.

A formula takes the parameter, its gradient, the state's tensors and the step's numbers, and returns the new parameter and the new
state. Compiled, it reads and writes each of them once (ops/program.py). On tensors, for differentiable=True, the same formula is
recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from wengert.core.views import bump
from wengert.ops import function
from wengert.ops.faces import tensor_face
from wengert.ops.program import Program, trace_formula
from wengert.optim.optimizer import Optimizer, _use_grad_for_differentiable, call_closure, check_single, counter
from wengert.tensor import Tensor

_view_as_complex: Any = function("", "view_as_complex")
_view_as_real: Any = function("", "view_as_real")
_zeros_like: Any = function("", "zeros_like")
Formula = Callable[..., tuple[Any, ...]]


class Batch(NamedTuple):
    """Parameters of a group that take the next step with the same options and numbers, in one call of a program.

    rows: parameter, gradient and the tensors of the state of each; states: their states; names: of the state's tensors."""

    group: dict[str, Any]
    names: tuple[str, ...]
    states: list[dict[str, Any]]
    rows: list[tuple[Any, ...]]
    options: dict[str, Any]
    numbers: tuple[Any, ...]
    program: Program


class Elementwise(Optimizer):
    """Base class. A subclass gives `formula` and `numbers`, and the names of its state's tensors.

    formula(F, p, g, *state, *numbers, **options) -> (p, *state): F has the functions of wengert; options are those of `options`."""

    counted = True  # whether the state has the number of steps
    by_step = True  # whether options and numbers depend on the state only by the number of steps

    def state_names(self, group: dict[str, Any]) -> tuple[str, ...]:
        """Names of the state's tensors in the order of the formula's arguments."""
        raise NotImplementedError

    def options(self, group: dict[str, Any], state: dict[str, Any], is_first: bool) -> dict[str, Any]:
        """Options of the formula: values that decide which operations it has. is_first: whether the parameter's state is new."""
        return {}

    def numbers(self, group: dict[str, Any], state: dict[str, Any], step: Any) -> tuple[Any, ...]:
        """Numbers of the formula for a step. step: how many steps there have been, this one included.

        Each is rounded to the parameter's dtype once. So a number such as 1 - beta is computed here, not in the formula."""
        raise NotImplementedError

    @staticmethod
    def formula(F: Any, *arguments: Any, **options: Any) -> tuple[Any, ...]:
        """Return the new parameter and the new state."""
        raise NotImplementedError

    def start(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        """Fill the empty state of a parameter. By default with a count of steps and zeros."""
        if self.counted:
            state["step"] = counter()
        for name in self.state_names(group):
            state[name] = _zeros_like(p)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self.defaults.items():
                group.setdefault(name, value)

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change each parameter that has a gradient. closure: evaluates the model anew and returns the loss, which step returns."""
        loss = call_closure(closure)
        states, counted, by_step = self.state, self.counted, self.by_step
        for group in self.param_groups:
            names, differentiable = self.state_names(group), group["differentiable"]
            # Parameters with the same options and numbers, which are computed once and run in one call.
            batches: dict[Any, tuple[Any, Any, list[Any]]] = {}
            for i, p in enumerate(group["params"]):
                g = p.grad
                if g is None:
                    continue
                state = states.get(p)
                is_first = not state
                if not state:
                    state = {}
                    self.start(group, p, state)
                    if state:
                        states[p] = state
                step = count_step(state) if counted else None
                if differentiable:
                    options = self.options(group, state, is_first)
                    self._record(p, g, state, names, self.numbers(group, state, step), options)
                    continue
                key = (step, is_first) if by_step else i
                batch = batches.get(key)
                if batch is None:
                    options = self.options(group, state, is_first)
                    batch = batches[key] = (options, self.numbers(group, state, step), [])
                batch[2].append((p, g, *[state[name] for name in names]))
            for options, numbers, rows in batches.values():
                self._update(rows, numbers, options)
        return loss

    def batches(self) -> list[Batch] | None:
        """Return what the next step does with the gradients that are there now. None if the step is no program of elements: it is
        differentiable, or a parameter is complex or has no state yet."""
        found: list[Batch] = []
        for group in self.param_groups:
            names = self.state_names(group)
            batches: dict[Any, Batch] = {}
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state.get(p) or {}
                if group["differentiable"] or p.is_complex() or not all(name in state for name in names):
                    return None
                step = float(state["step"]._array) + 1 if self.counted else None
                key = (step, not state)
                if key not in batches:
                    if self.counted:
                        count_step(state)
                    options, numbers = self.options(group, state, not state), self.numbers(group, state, step)
                    if self.counted:
                        state["step"]._array -= 1
                    program = _program(type(self).formula, 2 + len(names), len(numbers), tuple(options.items()))
                    batches[key] = Batch(group, names, [], [], options, numbers, program)
                batches[key].states.append(state)
                batches[key].rows.append((p, p.grad, *[state[name] for name in names]))
            found.extend(batches.values())
        return found

    def plan(self, batch: Batch) -> tuple[Any, ...] | None:
        """Return the numbers of a step of a batch that has been counted. None if its parameters have taken different numbers of
        steps, or if it has other options now."""
        state, step = batch.states[0], None
        if self.counted:
            step = float(state["step"]._array)
            if any(float(x["step"]._array) != step for x in batch.states):
                return None
        if self.options(batch.group, state, not state) != batch.options:
            return None
        return self.numbers(batch.group, state, step)

    def _update(self, rows: list[tuple[Any, ...]], numbers: tuple[Any, ...], options: dict[str, Any]) -> None:
        """Run the formula for each row: a parameter, its gradient, and the tensors of its state."""
        arrays = [tuple([x._array for x in row]) for row in rows]
        arrays = [tuple([_parts(x) for x in row]) if row[0].dtype.kind == "c" else row for row in arrays]
        program = _program(type(self).formula, len(rows[0]), len(numbers), tuple(options.items()))
        values = tuple([float(x) if isinstance(x, Tensor) else x for x in numbers])
        try:
            program.update(arrays, values, (0, *range(2, len(rows[0]))))
        finally:  # a signal may have ended the update
            for p, _, *state in rows:
                bump(p)
                for x in state:
                    bump(x)

    def _record(self, p: Any, g: Any, state: Any, names: tuple[str, ...], numbers: tuple[Any, ...], options: Any) -> None:
        tensors = [p, g, *[state[name] for name in names]]
        if p.is_complex():
            tensors = [_view_as_real(x) for x in tensors]
        found = type(self).formula(tensor_face, *tensors, *numbers, **options)
        if p.is_complex():
            found = tuple([_view_as_complex(x) for x in found])
        p.copy_(found[0])
        for name, value in zip(names, found[1:], strict=True):
            state[name] = value


def count_step(state: dict[str, Any]) -> float:
    """Count a step, and return the number of steps."""
    array = state["step"]._array
    step = float(array) + 1
    array[()] = step
    return step


def _parts(x: Any) -> Any:
    """View of the real and imaginary parts of a complex array along a new last axis."""
    part = x.real.dtype
    return np.lib.stride_tricks.as_strided(x.real, (*x.shape, 2), (*x.strides, part.itemsize))


@cache
def _program(formula: Formula, n_arrays: int, n_numbers: int, options: tuple[tuple[str, Any], ...]) -> Program:
    """Return the program of a formula for these options."""
    return trace_formula(formula, n_arrays + n_numbers, dict(options))


def moving_average(old: Any, new: Any, weight: Any) -> Any:
    """Return old + weight * (new - old), the step of an exponential moving average."""
    return old + weight * (new - old)


def check_hyperparameters(lr: Any, **others: Any) -> None:
    """Raise ValueError, in torch's words, for a negative learning rate or another negative hyperparameter."""
    check_single(lr)
    if not lr >= 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")
    for name, value in others.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {name} value: {value}")


def check_adam(lr: Any, betas: Any, eps: float, **others: Any) -> None:
    """Raise ValueError for a negative hyperparameter of Adam and its relatives, and for decay rates outside of [0, 1)."""
    check_hyperparameters(lr, epsilon=eps)
    for i in range(2):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")
    check_hyperparameters(0.0, **others)


def check_execution(
    lr: Any, foreach: bool | None, fused: bool | None = None, differentiable: bool = False, capturable: bool = False
) -> None:
    """Raise for combinations of execution options that torch refuses. All of them run the same pass here."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    if isinstance(lr, Tensor) and foreach and not capturable:
        raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")


def decayed(g: Any, p: Any, weight_decay: Any, maximize: bool, decays: bool) -> Any:
    """Return the gradient, negated to maximize, with the gradient of the L2 penalty added."""
    g = -g if maximize else g
    return g + weight_decay * p if decays else g


__all__ = ["Elementwise"]
