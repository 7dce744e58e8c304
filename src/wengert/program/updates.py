"""Steps of optimizers as instructions of a program.

An optimizer that changes each element by itself gives its formula as a program (ADR 0032). So a step is one instruction for each
parameter. Its numbers, such as the learning rate and what depends on the number of steps, are computed by the optimizer before each
run.
"""

from __future__ import annotations

from typing import Any

from wengert.core.replay import first_changed
from wengert.optim._elementwise import Batch, Elementwise
from wengert.optim.optimizer import step_hooks


class Update:
    """The next steps of an optimizer in a program. batches: parameters whose step has the same numbers. numbers: of each batch."""

    def __init__(self, optimizer: Elementwise, batches: list[Batch]) -> None:
        self.optimizer = optimizer
        self.batches = batches
        groups = optimizer.param_groups
        # What must stay as it is, and the settings, which may change: entries of core/replay.py.
        named = ("state", "param_groups")
        self._fixed: list[Any] = [(optimizer.__dict__, named, (optimizer.state, groups), True), _entry(groups)]
        self._fixed += map(_entry, step_hooks(optimizer))
        self._fixed += [_entry(group["params"]) for group in groups]
        for batch in batches:
            for (p, _, *tensors), state in zip(batch.rows, batch.states, strict=True):
                if state:
                    self._fixed.append((optimizer.state, (p,), (state,), True))
                if batch.names:
                    self._fixed.append((state, batch.names, tuple(tensors), True))
        self._settings = [_entry(group) for group in groups]
        self.numbers = [batch.numbers for batch in batches]
        self._is_settled = not optimizer.counted  # whether the numbers stay as long as the settings do
        self._counts = [state["step"]._array for batch in batches for state in batch.states] if optimizer.counted else []

    def prepare(self) -> bool | None:
        """Count a step, and compute its `numbers`. Return whether they may be other ones than before.

        None, with nothing counted, if the optimizer is not what it was: its settings decide on other operations, or it has other
        parameters, another state or hooks."""
        if first_changed(self._fixed, 0) >= 0:
            return None
        is_new = first_changed(self._settings, 0) >= 0
        if self._is_settled and not is_new:
            return False
        self._count(1)
        numbers: list[tuple[Any, ...]] = []
        for batch in self.batches:
            found = self.optimizer.plan(batch)
            if found is None or not _are_plain(found):
                self._count(-1)
                return None
            numbers.append(found)
        if is_new:
            self._settings = [_entry(group) for group in self.optimizer.param_groups]
        self.numbers = numbers
        return True

    def undo(self) -> None:
        """Take a step back that `prepare` has counted."""
        self._count(-1)

    def _count(self, n: int) -> None:
        for array in self._counts:
            array += n


def _entry(container: Any) -> tuple[Any, Any, Any, bool]:
    keys = tuple(container) if isinstance(container, dict) else None
    return container, keys, tuple(container.values() if isinstance(container, dict) else container), False


def _are_plain(numbers: Any) -> bool:
    return all(type(x) in (int, float) for x in numbers)


def update_of(optimizer: Any) -> Update | None:
    """Return the step that an optimizer makes next, after it has made one. None if it is no formula of elements and numbers."""
    if not isinstance(optimizer, Elementwise) or any(step_hooks(optimizer)) or not optimizer.by_step:
        return None
    batches = optimizer.batches()
    if batches is None or any(batch.program.compiled is None for batch in batches):
        return None
    update = Update(optimizer, batches)
    return update if all(map(_are_plain, update.numbers)) else None
