"""scipy.sparse.csgraph with derivatives in the weights of edges. See ../_frame.py.

A shortest distance is a sum of weights, and a tree has some of the edges. Which ones is constant: derivatives are those of
the sums and of the chosen weights, and jump where another path or edge becomes better. Graphs are sparse matrices with
values in a tensor, or dense tensors, in which 0 stands for no edge.
"""

from __future__ import annotations

from collections.abc import Callable as _Callable
from typing import Any as _Any

import numpy as _np

from wengert._forks import import_late as _import_late
from wengert.array_functions.table import holds_tensor as _holds_tensor, w as _w
from wengert.core.tensor import TensorBase as _TensorBase
from wengert.scipy._closures import with_values as _with_values
from wengert.scipy._frame import Submodule as _Submodule, as_results as _as_results
from wengert.scipy._sparse_products import Pattern as _Pattern, multiply as _multiply
from wengert.scipy.sparse._functions import differ as _differ
from wengert.scipy.sparse._matrices import SparseTensor as _SparseTensor, adopted as _adopted, sparse_tensor as _sparse_tensor

_module = _Submodule("sparse.csgraph", globals())
__getattr__, __dir__ = _module.lookups()
_scipy: _Any = _module.scipy


def _edges(graph: _Any) -> _SparseTensor:
    """Return a graph as a sparse matrix of its edges, in float64."""
    dense = isinstance(graph, _TensorBase)
    found = _sparse_tensor(graph)
    if dense:
        values = found.data.detach().numpy()
        kept = _np.flatnonzero(_np.isfinite(values) & (values != 0))
        found = _SparseTensor(found.data[kept], _Pattern(found.pattern.rows[kept], found.pattern.cols[kept], found.shape))
    return _SparseTensor(found.data.double(), found.pattern, "csr", found.is_matrix)


def _numbers(edges: _SparseTensor, start: _Any, end: _Any, directed: bool) -> _Any:
    """Return the numbers of the values of edges from `start` to `end`; if not directed, of the lighter one of both directions."""
    n = edges.shape[1]
    keys = edges.pattern.rows.astype(_np.int64) * n + edges.pattern.cols

    def find(rows: _Any, cols: _Any) -> _Any:
        wanted = rows.astype(_np.int64) * n + cols
        place = _np.minimum(_np.searchsorted(keys, wanted), len(keys) - 1)
        return _np.where(keys[place] == wanted, place, -1)

    there = find(start, end)
    if directed:
        return there
    back, values = find(end, start), _np.append(edges.data.detach().numpy(), _np.inf)
    return _np.where(values[back] < values[there], back, there)


def _path_lengths(edges: _SparseTensor, predecessors: _Any, distances: _Any, directed: bool) -> _Any:
    """Return the sums of the weights on the paths that predecessors describe: (m, n). distances: their values."""
    sources, n = predecessors.shape
    scipy = _import_late("scipy.sparse")
    reached = predecessors >= 0
    source, place = _np.nonzero(reached)
    before = predecessors[reached]
    number = _numbers(edges, before, place, directed)
    last = scipy.csr_array((_np.ones(len(number)), (source * n + place, number)), shape=(sources * n, edges.nnz))
    step = scipy.csr_array((_np.ones(len(number)), (source * n + place, source * n + before)), shape=(sources * n,) * 2)
    counts = last
    while True:  # each round adds the edge before: a path has less than n
        last = step @ last
        last.eliminate_zeros()
        if not last.nnz:
            break
        counts = counts + last
    counts = counts.tocoo()
    found = _multiply(_Pattern(counts.row, counts.col, counts.shape), _w.as_tensor(counts.data), edges.data)
    finite = _np.isfinite(distances)
    safe = _np.where(finite, distances, 0.0)
    return _w.where(_w.as_tensor(finite), _with_values(found.reshape(sources, n), safe), _w.as_tensor(distances))


def _distances(name: str) -> _Callable[..., _Any]:
    theirs = getattr(_scipy, name)

    def run(csgraph: _Any, *args: _Any, return_predecessors: bool = False, **options: _Any) -> _Any:
        if not _differ(csgraph):
            return theirs(csgraph, *args, return_predecessors=return_predecessors, **options)
        if args or options.get("min_only") or options.get("overwrite"):
            raise NotImplementedError(f"scipy.sparse.csgraph.{name} takes named arguments, and neither min_only nor overwrite. "
                                      "Hint: name the arguments.")  # fmt: skip
        edges = _edges(csgraph)
        distances, predecessors = theirs(edges.detach(), return_predecessors=True, **options)
        if options.get("unweighted"):
            found = _w.as_tensor(distances)
        else:
            shape, n = distances.shape, edges.shape[0]
            directed = bool(options.get("directed", True))
            found = _path_lengths(edges, predecessors.reshape(-1, n), distances.reshape(-1, n), directed).reshape(shape)
        return (found, _w.as_tensor(predecessors)) if return_predecessors else found

    run.__name__ = name
    run.__doc__ = f"""Lengths of shortest paths, as scipy.sparse.csgraph.{name}. Derivative: 1 in the weights of the path."""
    return run


for _name in ("shortest_path", "dijkstra", "bellman_ford", "johnson", "floyd_warshall"):
    _module.differentiates(_name, always=True)(_distances(_name))


@_module.differentiates(always=True)
def _construct_dist_matrix(graph: _Any, predecessors: _Any, directed: bool = True, null_value: _Any = _np.inf) -> _Any:
    """Lengths of the paths that predecessors: (n, n) describe."""
    if not _differ(graph):
        return _scipy.construct_dist_matrix(graph, predecessors, directed, null_value)
    edges, predecessors = _edges(graph), _np.asarray(predecessors)
    values = _scipy.construct_dist_matrix(edges.detach().toarray(), predecessors, directed, _np.inf)
    found = _path_lengths(edges, predecessors, values, directed)
    return _w.where(_w.isinf(found), float(null_value), found)


def _subgraphs(name: str) -> _Callable[..., _Any]:
    theirs = getattr(_scipy, name)

    def run(csgraph: _Any, *args: _Any, **options: _Any) -> _Any:
        if not _differ(csgraph):
            return _adopted(theirs(csgraph, *args, **options))
        edges = _edges(csgraph)
        found = theirs(edges.detach(), *args, **options).tocoo()
        number = _numbers(edges, found.row, found.col, True)
        number = _np.where(number < 0, _numbers(edges, found.col, found.row, True), number)
        if not _np.array_equal(edges.data.detach().numpy()[number], found.data):
            number = _numbers(edges, found.row, found.col, False)
        return _SparseTensor(edges.data[number], _Pattern(found.row, found.col, found.shape), "csr", edges.is_matrix)

    run.__name__ = name
    run.__doc__ = f"""Some edges of a graph, as scipy.sparse.csgraph.{name}. Derivative: that of the chosen weights."""
    return run


for _name in ("minimum_spanning_tree", "breadth_first_tree", "depth_first_tree", "reconstruct_path"):
    _module.differentiates(_name, always=True)(_subgraphs(_name))


@_module.differentiates(always=True)
def _laplacian(
    csgraph: _Any, normed: bool = False, return_diag: bool = False, use_out_degree: bool = False, *, copy: bool = True,
    form: str = "array", dtype: _Any = None, symmetrized: bool = False,
) -> _Any:  # fmt: skip
    """Laplacian matrix of a graph, degrees minus weights, as dense or sparse as the graph. normed: divided by roots of degrees."""
    if not _differ(csgraph):
        return _scipy.laplacian(
            csgraph, normed, return_diag, use_out_degree, copy=copy, form=form, dtype=dtype, symmetrized=symmetrized
        )
    if form != "array" or dtype is not None:
        raise NotImplementedError("scipy.sparse.csgraph.laplacian has a derivative for form='array' and without dtype=.")
    edges, n = _sparse_tensor(csgraph), csgraph.shape[0]
    if edges.shape[0] != edges.shape[1]:
        raise ValueError("csgraph must be a square matrix or array")
    edges = edges + edges.T.conj() if symmetrized else edges
    rows, cols = edges.pattern.rows, edges.pattern.cols
    beside = _np.flatnonzero(rows != cols)
    weights, i, j = edges.data[beside], rows[beside].astype(_np.int64), cols[beside].astype(_np.int64)
    degree = _w.index_add(_w.zeros(n, dtype=edges.dtype), 0, _w.as_tensor(i if use_out_degree else j), weights)
    diagonal = main = degree
    if normed:
        isolated = degree == 0
        diagonal = _w.where(isolated, 1.0, _w.sqrt(_w.where(isolated, 1.0, degree)))
        weights, main = weights / (diagonal[i] * diagonal[j]), _w.where(isolated, 0.0, 1.0).to(degree.dtype)
    every = _np.arange(n)
    places = _Pattern(_np.concatenate([i, every]), _np.concatenate([j, every]), edges.shape)
    found: _Any = _SparseTensor(_w.cat([-weights, main]), places, "coo", edges.is_matrix)
    if _holds_tensor([csgraph]):
        found = found.toarray()
    return (found, diagonal) if return_diag else found


@_module.differentiates(always=True)
def _csgraph_from_dense(graph: _Any, null_value: _Any = 0, nan_null: bool = True, infinity_null: bool = True) -> _Any:
    """Sparse matrix of the elements of a dense graph that are edges."""
    if not _differ(graph):
        return _adopted(_scipy.csgraph_from_dense(graph, null_value, nan_null, infinity_null))
    found = _scipy.csgraph_from_dense(graph.detach().numpy(), null_value, nan_null, infinity_null).tocoo()
    return _SparseTensor(graph.double()[found.row, found.col], _Pattern(found.row, found.col, found.shape), "csr")


@_module.differentiates(always=True)
def _csgraph_to_dense(csgraph: _Any, null_value: _Any = 0) -> _Any:
    """Dense tensor of a graph, with null_value where there is no edge."""
    if not _differ(csgraph):
        return _scipy.csgraph_to_dense(csgraph, null_value)
    edges = _SparseTensor(csgraph.data.double(), csgraph.pattern)
    empty = _np.ones(edges.shape, bool)
    empty[edges.pattern.rows, edges.pattern.cols] = False
    return _w.where(_w.as_tensor(empty), float(null_value), edges.toarray())


def _counting(name: str) -> _Callable[..., _Any]:
    theirs = getattr(_scipy, name)

    def run(graph: _Any, *args: _Any, **options: _Any) -> _Any:
        if not _differ(graph):
            return theirs(graph, *args, **options)
        return _as_results(theirs(_edges(graph).detach(), *args, **options))

    run.__name__ = name
    run.__doc__ = f"""As scipy.sparse.csgraph.{name}. The result counts or orders nodes: it has no derivative."""
    return run


_COUNTING = (
    "connected_components", "breadth_first_order", "depth_first_order", "reverse_cuthill_mckee", "structural_rank",
    "maximum_bipartite_matching", "min_weight_full_bipartite_matching",
)  # fmt: skip
_module.constant("The result counts or orders nodes.", *_COUNTING)
for _name in _COUNTING:
    globals()[_name] = _counting(_name)
_module.refuse("Use shortest_path.", "yen")
_module.refuse("It takes integers.", "maximum_flow")
_module.refuse("Use csgraph_from_dense.", "csgraph_from_masked", "csgraph_masked_from_dense", "csgraph_to_masked")
