"""Recording what computes with arrays, past dispatch: see array_calls.py."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from wengert.core.recorder import hold_calls
from wengert.core.tape import Refusal, Tape, root_of
from wengert.core.tensor import TensorBase, wrap
from wengert.program import form
from wengert.program.array_calls import arrays_of, called, differ_on_arrays, operation_of, rules_of, values_of
from wengert.program.form import Program
from wengert.program.origins import Host


class _Later(NamedTuple):
    """A call of a function whose result is no array."""

    function: Callable[..., Any]
    arguments: list[Any]


def _of_list(made_by: Any, function: Any, arguments: list[Any], *others: Any) -> Any:
    """Return function(made_by(*arguments), *others)."""
    return function(made_by(*arguments), *others)


class ArrayRecorder(Tape):
    """The part of a Recorder that records functions of arrays."""

    program: Program
    host: Any
    _frozen_leaf: Callable[[Any], Any]

    def __init__(self) -> None:
        self._is_detached = False  # whether the pass that runs makes results without a history
        self._lists_of_places: dict[int, _Later] = {}  # untaken places for each edge of a node, by the id of the list
        self._thread = get_ident()

    def _replace_rules(self, node: Any, results: Any, cotangents: Any, n_instructions: int, n_storages: int) -> None:
        """Record the rules of a node as one instruction if they have done something that cannot be recorded, or if they compute
        other last bits on arrays, and the recording is exact."""
        refusal = self.refusal
        if refusal is None and not (self._is_detached and differ_on_arrays(node)):
            return
        del self.program.instructions[n_instructions:]
        self._forget_storages(n_storages)
        self.refusal, self.host, self.depth = None, None, 0
        ct = None if cotangents[0] is None else cotangents[0]._array
        if node._op.output_names is not None:
            ct = tuple([None if x is None else x._array for x in cotangents])
        all_new = self.exact and self._is_detached
        new = [None if x is None or (self._is_known(x._array) and not all_new) else x for x in results]
        arrays = None if all_new else [x._array for x in new if x is not None]
        try:
            found = self._add_array_call(node.name(), rules_of(node, new), (ct, values_of(node)), arrays)
        except Refusal as problem:
            self.refusal = refusal or problem
            return
        if arrays is None:
            for i, array in zip([i for i, x in enumerate(new) if x is not None], found, strict=True):
                results[i] = wrap(array)

    def _add_array_call(self, name: str, function: Any, arguments: Any, results: list[Any] | None) -> list[Any]:
        """Record that a function has made arrays, the results, of its arguments. Return these.

        Run on arrays alone, the function must give arrays of the same kind. results: None for those that it then gives."""
        hold_calls(True)
        self.depth += 1
        try:
            op, operands, found = operation_of(name, function, arguments, self._frozen_leaf)
        finally:
            self.depth -= 1
            hold_calls(False)
        same = found if isinstance(found, tuple) else (found,)
        if results is None:
            results = [np.array(x) for x in same]  # in memory of their own
        if not operands:
            for x in results:
                self.constant(x)
            return results
        if [(x.shape, x.dtype) for x in same] != [(x.shape, x.dtype) for x in results]:
            raise Refusal(f"{name} gives another shape or dtype for arrays")
        roots = [root_of(x) for x in results]
        for x in roots:
            if sum(x is y for y in roots) > 1 and id(x) not in self._by_root:
                self._new_storage(form.COMPUTED, None, x)
        self.add(form.MAKE, name, operands, [self.computed(x) for x in results], None, op)
        return results

    def see_places(self, function: Any, arguments: list[Any], places: Any) -> None:
        """Record how untaken places are found. Called by core/untaken.py."""
        if self.refusal is not None or self.depth or get_ident() != self._thread:
            return
        if isinstance(places, np.ndarray) and self._is_known(places):  # the function has returned its argument
            return
        arguments = [self._lists_of_places.get(id(x), x) for x in arguments]
        if isinstance(places, list):  # for each edge; a part of it is asked for next
            self._alive.append(places)
            self._lists_of_places[id(places)] = _Later(function, arguments)
            return
        later = next((x for x in arguments if type(x) is _Later), None)
        if later is not None:
            arguments = [later.arguments, *[x for x in arguments if x is not later]]
            function = partial(_of_list, later.function, function)
        try:
            self._add_array_call("untaken_places", function, arguments, [places])
        except Refusal as refusal:
            self.refuse(refusal.reason)

    def _forget_storages(self, first: int) -> None:
        """Forget the storages from the number `first` on."""
        forgotten = set(self.program.storages[first:])
        del self.program.storages[first:]
        for key, found in list(self._by_root.items()):
            kept = [x for x in found if x[0] not in forgotten]
            if len(kept) < len(found):
                self._by_root[key] = kept
                if not kept:
                    del self._by_root[key]
        self._values = {key: x for key, x in self._values.items() if x[1].storage not in forgotten}

    def _end_array_function(self, host: Host, arguments: Any, result: Any) -> None:
        """Record a function that has made arrays, or tensors, of its arguments, with all that it has called."""
        made = result if isinstance(result, tuple) else (result,)
        arrays = [x for x in arrays_of(made) if x is not None]
        if not all(isinstance(x, np.ndarray) for x in arrays):
            raise Refusal(f"{host.name}() gives objects that are no arrays")
        new = [x for x in arrays if not self._is_known(x)]
        if not new:
            return
        if len(new) < len(arrays):
            raise Refusal(f"{host.name}() gives views and new memory at once")
        self._add_array_call(host.name, partial(called, host.function), arguments, arrays)
        for x in made:
            if isinstance(x, TensorBase):
                self._versions_of(x)

