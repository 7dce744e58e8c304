"""Programs of files as functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.backends.selection import device_name
from wengert.core.tensor import TensorBase, wrap
from wengert.errors import ArgumentError
from wengert.program import form
from wengert.program.arrays import new_memory
from wengert.program.execution import Executable, Mismatch
from wengert.program.form import Program, Storage
from wengert.utils._pytree import tree_unflatten


class Loaded:
    """A function that runs programs of a file. It takes the tensors that were among the arguments of the recorded calls, in order.

    Their shapes and dtypes are those of a recorded call; Python numbers among its arguments are constants. Tensors that the
    function reached, as parameters, are in the file: `tensors`. Raises ArgumentError, a TypeError, for other tensors, and
    RuntimeError if a condition on values has another outcome than in all recorded calls."""

    def __init__(self, programs: list[Program]) -> None:
        self._executables = [Executable(program) for program in programs]
        self.tensors = list({id(s.key): s.key for p in programs for s in p.storages if s.kind == form.TENSOR}.values())

    def programs(self) -> list[Program]:
        """Return the programs. str() of one is its text."""
        return [x.program for x in self._executables]

    def __call__(self, *tensors: TensorBase) -> Any:
        reasons = []
        for executable in self._executables:
            inputs = _inputs_of(executable.program, tensors)
            if isinstance(inputs, str):
                reasons.append(inputs)
                continue
            try:
                leaves = executable.run(inputs)
            except Mismatch as mismatch:
                if mismatch.__cause__ is not None:
                    raise mismatch.__cause__ from None
                reasons.append(f"{mismatch} is another one than in the recorded call")
                continue
            structure = executable.program.structure
            return leaves[0] if structure is None else tree_unflatten(leaves, structure)
        if all(reason.startswith("expected") for reason in reasons):
            raise ArgumentError(f"no recorded program takes these arguments: {'; '.join(dict.fromkeys(reasons))}")
        raise RuntimeError(f"no recorded program fits this call: {'; '.join(dict.fromkeys(reasons))}")


def _inputs_of(program: Program, tensors: tuple[Any, ...]) -> list[Any] | str:
    """Return the tensors in the layout that a program expects, or why they are others."""
    inputs = list(tensors)
    for storage in program.storages:
        if storage.kind != form.INPUT:
            continue
        expected = f"expected argument {storage.key} to be a tensor of {storage.dtype} {tuple(storage.shape)}"
        if storage.key >= len(tensors) or not isinstance(tensors[storage.key], TensorBase):
            return f"{expected}, got {len(tensors)} arguments" if storage.key >= len(tensors) else expected
        array = tensors[storage.key]._array
        if not isinstance(array, np.ndarray):
            return f"{expected} in main memory, got one on {device_name(array)}"
        if array.shape != storage.shape or array.dtype != storage.dtype:
            return f"{expected}, got {array.dtype} {array.shape}"
        if array.strides != storage.strides:
            if storage.writes:
                return f"{expected} with strides of {storage.strides} bytes, as the program writes into it"
            inputs[storage.key] = wrap(_laid_out(storage, array))
    return inputs


def _laid_out(storage: Storage, array: Any) -> Any:
    """Return a copy of an array with the strides of a storage."""
    whole = new_memory(storage)
    np.copyto(whole, array)
    return whole
