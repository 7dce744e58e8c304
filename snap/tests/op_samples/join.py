"""Samples of wengert.ops.join, and of meshgrid."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
from op_samples import Sample
from scipy import linalg

_PAIR = [(2, 3), (2, 3)]
_ROWS = [(2, 3), (1, 3), (4, 3)]


def _split(x: np.ndarray, size: Any = None, dim: int = 0, **named: Any) -> list[np.ndarray]:
    length = x.shape[dim]
    size = next(iter(named.values()), size)
    sizes = size if isinstance(size, (list, tuple)) else [min(size, length - i) for i in range(0, length, size)] or [0]
    ends = np.cumsum(sizes)
    return [np.take(x, range(end - n, end), axis=dim) for n, end in zip(sizes, ends, strict=True)]


def _chunk(x: np.ndarray, chunks: int, dim: int = 0) -> list[np.ndarray]:
    return _split(x, -(-x.shape[dim] // chunks), dim)


def _tensor_split(x: np.ndarray, where: Any = None, dim: int = 0, **named: Any) -> list[np.ndarray]:
    return np.array_split(x, next(iter(named.values()), where), axis=dim)


def _named(split: Any) -> Any:
    return lambda x, where=None, indices=None: split(x, where if indices is None else indices)


def _combinations(x: np.ndarray, r: int = 2, with_replacement: bool = False) -> np.ndarray:
    choose = combinations_with_replacement if with_replacement else combinations
    return np.array(list(choose(x, r)), x.dtype).reshape(-1, r)


def _block_diag(*arrays: np.ndarray) -> np.ndarray:
    return linalg.block_diag(*arrays).astype(np.result_type(*arrays))


SAMPLES = {
    "cat": [
        Sample(_PAIR), Sample(_PAIR, dim=1), Sample(_PAIR, dim=-1), Sample(_ROWS), Sample([(3,)]),
        Sample([(0,), (2, 3)]), Sample([(2, 3), (0,), (0, 3)]), Sample([np.array([[1, 2, 3]]), (2, 3)]),
        Sample([(3,), (0,)]),
    ],
    "stack": [Sample(_PAIR), Sample(_PAIR, dim=1), Sample(_PAIR, dim=-1), Sample([(), (), ()]), Sample([(0, 3), (0, 3)])],
    "hstack": [Sample(_PAIR), Sample([(3,), (2,)]), Sample([(), ()])],
    "vstack": [Sample(_ROWS), Sample([(3,), (2, 3)])],
    "dstack": [Sample(_PAIR), Sample([(3,), (3,)])],
    "column_stack": [Sample([(3,), (3, 2)]), Sample([(), ()])],
    "block_diag": [Sample((2, 3), (3,), ()), Sample((2, 2), (1, 2))],
    "cartesian_prod": [Sample((2,), (3,)), Sample((3,))],
    "combinations": [Sample((4,)), Sample((4,), r=3), Sample((3,), with_replacement=True), Sample((1,))],
    "meshgrid": [Sample((2,), (3,), indexing="ij"), Sample((2,), (3,), (), indexing="xy"), Sample((2,), (3,))],
    "split": [
        Sample((5, 2), 2), Sample((2, 5), split_size_or_sections=[1, 4], dim=1), Sample((4,), 4), Sample((2, 5), 3, dim=-1),
        Sample((0, 2), 3),
    ],
    "split_with_sizes": [Sample((5, 2), split_sizes=[2, 0, 3]), Sample((2, 5), split_sizes=[1, 4], dim=1)],
    "chunk": [Sample((5, 2), 2), Sample((2, 5), 4, dim=1), Sample((2,), 3)],
    "unsafe_split": [Sample((5, 2), 2), Sample((2, 5), 3, dim=1)],
    "unsafe_split_with_sizes": [Sample((5, 2), split_sizes=[2, 3]), Sample((2, 5), split_sizes=[1, 4], dim=1)],
    "unsafe_chunk": [Sample((5, 2), 2), Sample((2, 5), 4, dim=1)],
    "tensor_split": [
        Sample((5, 2), 2), Sample((2, 5), indices=[1, 3], dim=1), Sample((5,), indices=[-1, 7]), Sample((2,), sections=3),
    ],
    "hsplit": [Sample((2, 4), 2), Sample((4,), indices=[1]), Sample((2, 4), indices=[1, 3])],
    "vsplit": [Sample((4, 2), 2), Sample((4, 2), indices=[1])],
    "dsplit": [Sample((2, 3, 4), 2), Sample((2, 3, 4), indices=[1])],
}  # fmt: skip

ORACLES = {
    "cat": lambda tensors, dim=0: np.concatenate([x for x in tensors if x.shape != (0,)] or tensors, axis=dim),
    "stack": lambda tensors, dim=0: np.stack(tensors, axis=dim),
    "block_diag": _block_diag,
    "cartesian_prod": lambda *x: x[0] if len(x) == 1 else np.stack([g.ravel() for g in np.meshgrid(*x, indexing="ij")], 1),
    "combinations": _combinations,
    "meshgrid": lambda *x, indexing="ij": np.meshgrid(*x, indexing=indexing),
    "split": _split,
    "split_with_sizes": _split,
    "chunk": _chunk,
    "unsafe_split": _split,
    "unsafe_split_with_sizes": _split,
    "unsafe_chunk": _chunk,
    "tensor_split": _tensor_split,
    "hsplit": _named(np.hsplit),
    "vsplit": _named(np.vsplit),
    "dsplit": _named(np.dsplit),
}
