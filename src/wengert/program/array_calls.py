"""Functions of arrays as operations of a program: those of wengert that compute with NumPy what no operation gives.

A rule is recorded as the operations that it calls. Where it computes past dispatch, all rules of the node become one operation,
which runs them on arrays, as an eager backward pass does. So do the functions that find untaken places of cotangents
(core/untaken.py), and those that are marked as functions of arrays (core/watched.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from wengert.core.buffers import ReadCotangent, dense_of
from wengert.core.node import meta_at
from wengert.core.op import Op
from wengert.core.rules import apply_kernel
from wengert.core.tensor import TensorBase, wrap
from wengert.dtypes import NONE
from wengert.ops.faces import array_face
from wengert.program.form import replaced


class _Place(int):
    """Number of an operand, in the arguments of a function that takes its array."""


class _TensorPlace(int):
    """Number of an operand, in the arguments of a function that takes a tensor."""


def operation_of(
    name: str, function: Callable[..., Any], arguments: Sequence[Any], frozen: Callable[[Any], Any]
) -> tuple[Op, list[Any], Any]:
    """Return an operation that computes function(*arguments), its operands, and the result for the arrays among the arguments.

    frozen(x) returns the operand that an array or a tensor is. Other objects it returns as they are, or refuses. The function
    changes nothing, and returns an array, a tensor, or a tuple of either; the operation returns arrays."""
    operands: list[Any] = []
    arrays: list[Any] = []

    def place(x: Any) -> Any:
        found = frozen(x)
        if not isinstance(x, (np.ndarray, TensorBase)):
            return found
        operands.append(found)
        arrays.append(getattr(x, "_array", x))
        return (_TensorPlace if isinstance(x, TensorBase) else _Place)(len(operands) - 1)

    places = replaced(tuple(arguments), place)

    def forward(xp: Any, *given: Any) -> Any:
        return arrays_of(function(*replaced(places, lambda y: _filled(y, given))))

    op = Op(name, forward)
    op.promote = NONE
    result = forward(None, *arrays)
    if isinstance(result, tuple):
        op.output_names = tuple(map(str, range(len(result))))
    return op, operands, result


def _filled(x: Any, given: Sequence[Any]) -> Any:
    if type(x) is _Place:
        return given[x]
    return wrap(given[x]) if type(x) is _TensorPlace else x


def arrays_of(result: Any) -> Any:
    """Return the array of a tensor, a tuple of those of a tuple, and anything else as it is."""
    if isinstance(result, tuple):
        return tuple(map(arrays_of, result))
    return getattr(result, "_array", result)


def called(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Return function(*args, **kwargs)."""
    return function(*args, **kwargs)


def differ_on_arrays(node: Any) -> bool:
    """Whether some rule of a node computes other last bits on arrays than on tensors."""
    ndim = len(meta_at(node, 0).shape)
    return any(ndim > getattr(call.function, "differs_above", ndim) for call in node._plan.calls)


def rules_of(node: Any, results: Sequence[Any]) -> Callable[..., Any]:
    """Return a function of a node's cotangent and its values that runs the node's rules on arrays.

    results: for each edge, the tensor that the rules have given, or None if the function is to leave it out."""
    shapes = {i: x._array.shape for i, x in enumerate(results) if x is not None}
    return partial(_run_rules, node._plan.calls, node._op.variadic, len(results), shapes)


def _run_rules(calls: Any, variadic: int, n_edges: int, shapes: dict[int, Any], ct: Any, values: list[Any]) -> Any:
    results: dict[int, Any] = {}
    for call in calls:
        found = apply_kernel(call, ct, values)
        if found is None:
            found = call.function(array_face, ct, *[values[p] for p in call.positions])
        edges = call.targets
        if call.target >= 0 and call.target == variadic:
            edges = range(variadic, n_edges)
        elif call.target >= 0:
            found = (found,)
        results.update(zip(edges, found or (), strict=False))
    return tuple([_dense(results[edge], shape) for edge, shape in shapes.items()])


def _dense(result: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(result, ReadCotangent):
        result = dense_of(result, shape, np.asarray(result.value).dtype, array_face)
    return np.asarray(result)


def values_of(node: Any) -> list[Any]:
    """Return what a node's rules are given besides cotangents, with arrays in place of what the node has saved."""
    return [*map(_unpacked, node._saved or ()), *node._plan.constants]


def _unpacked(saved: Any) -> Any:
    return tuple(map(_unpacked, saved)) if isinstance(saved, tuple) else getattr(saved, "_data", saved)
