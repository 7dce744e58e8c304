"""Gradients over Dask collections: arrays, bags and dataframes that are larger than memory, on one machine or on a cluster.

Each chunk's loss and gradient are computed where the chunk lies, and added as a tree. Dask schedules, spills to disk, and computes
a chunk again if its worker dies.

    import dask.array as da
    import wengert

    def loss(params, chunk):
        x, y = chunk
        return wengert.nn.functional.binary_cross_entropy_with_logits(x @ params["w"] + params["b"], y, reduction="sum")

    total, grads = wengert.dask.value_and_grad(loss, params, (x, y))

Needs Dask: pip install "wengert[dask]". A program that uses it has its statements under `if __name__ == "__main__":`, because the
workers import it. docs/distributed.md is the guide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.autograd import grad
from wengert.autograd.grad_mode import enable_grad
from wengert.core.tensor import wrap
from wengert.tensor import Tensor
from wengert.utils._pytree import tree_flatten, tree_unflatten

__all__ = ["map_reduce", "value_and_grad"]

_clients: dict[str, Any] = {}  # address -> client; "" is the cluster of this machine


def value_and_grad(
    f: Callable[[Any, Any], Any],
    params: Any,
    collection: Any,
    *,
    client: Any = None,
    split_every: int = 8,
    retries: int = 2,
) -> tuple[Any, Any]:
    """Return the sum of f(params, chunk) over the chunks of a collection, and its gradient with respect to params.

    f: a function that returns a tensor of one element, such as the sum of the losses of a chunk's rows. Divide by the number of
    rows afterwards for a mean. It is pickled, and runs in the workers.
    params: a tensor, NumPy array or float, or lists, tuples and dicts of them. Leaves that are not floating have no gradient.
    collection: a Dask array, bag or dataframe, or a tuple of collections with equally many chunks, whose chunks come as a tuple. A
    chunk of an array is a tensor, that of a bag a list, that of a dataframe a dataframe of pandas. Arrays are divided along their
    first axis only.
    client: a dask.distributed.Client, or the address of a scheduler such as "tcp://host:8786". If None, the current client, or a
    LocalCluster of this machine, which is made once.
    split_every: number of results that are added at once. retries: how often a chunk that raises is computed again.

    The value is a tensor; the gradient has the structure and the kinds of params, None for leaves that have none.
    Raises ValueError if f returns no single number, or an array is divided along another axis; what f raises, with a note that
    names the chunk; and dask.distributed.KilledWorker for a chunk at which four workers have died.
    """
    leaves, spec = tree_flatten(params)
    plain = [leaf.detach().numpy() if isinstance(leaf, Tensor) else leaf for leaf in leaves]
    total = map_reduce(_Loss(f, plain, spec), _add, collection, client=client, split_every=split_every, retries=retries)
    return wrap(np.asarray(total[0])), tree_unflatten([_as_kind(g, leaf) for g, leaf in zip(total[1:], leaves)], spec)


def map_reduce(
    f: Callable[[Any], Any],
    combine: Callable[[Any, Any], Any],
    collection: Any,
    *,
    client: Any = None,
    split_every: int = 8,
    retries: int = 2,
) -> Any:
    """Return combine(f(chunk 0), combine(f(chunk 1), ...)), computed where the chunks lie, as a tree.

    combine: an associative function of two results. The other arguments are those of value_and_grad.
    """
    if split_every < 2:
        raise ValueError(f"map_reduce: split_every must be at least 2, got {split_every}")
    delayed = import_late("dask").delayed
    shared, chunks = delayed(f), _chunks(collection)
    level = [delayed(_apply, pure=False)(shared, f"{i} of {len(chunks)}", *parts) for i, parts in enumerate(chunks)]
    shared_combine = delayed(combine)
    while len(level) > 1:
        groups = [level[i : i + split_every] for i in range(0, len(level), split_every)]
        level = [delayed(_fold, pure=False)(shared_combine, *group) for group in groups]
    return _client(client).compute(level[0], retries=retries).result()


def _chunks(collection: Any) -> list[tuple[Any, ...]]:
    """Return the chunks of collections, as tuples of delayed objects."""
    many = collection if isinstance(collection, tuple) else (collection,)
    parts = [_delayed_chunks(one) for one in many]
    if len({len(p) for p in parts}) != 1 or not parts[0]:
        counts = ", ".join([str(len(p)) for p in parts])
        raise ValueError(f"the collections have {counts} chunks. Hint: rechunk or repartition them alike")
    return list(zip(*parts))


def _delayed_chunks(collection: Any) -> list[Any]:
    if not hasattr(collection, "to_delayed"):
        raise TypeError(
            f"expected a Dask array, bag or dataframe, or a tuple of them, got {type(collection).__name__}. "
            "Hint: dask.array.from_array(x)"
        )
    if hasattr(collection, "numblocks"):
        if any(n > 1 for n in collection.numblocks[1:]):
            axes = dict.fromkeys(range(1, collection.ndim), -1)
            raise ValueError(
                f"the array has {collection.numblocks} chunks, and must be divided along its first axis only. "
                f"Hint: x.rechunk({axes})"
            )
        return collection.to_delayed().ravel().tolist()
    return list(collection.to_delayed())


def _client(given: Any) -> Any:
    """Return the client that a call names. See value_and_grad."""
    distributed = import_late("distributed")
    if given is not None and not isinstance(given, str):
        if not isinstance(given, distributed.Client):
            raise TypeError(f"client must be a dask.distributed.Client or an address, got {type(given).__name__}")
        return given
    if given is None:
        try:
            return distributed.default_client()
        except ValueError:  # there is none
            pass
    address = given or ""
    found = _clients.get(address)
    if found is None or found.status != "running":
        options = {"address": address} if address else {"threads_per_worker": 1}
        found = distributed.Client(set_as_default=False, **options)
        _clients[address] = found
    return found


# -- in the workers --------------------------------------------------------------------------------------------------------


def _apply(f: Callable[[Any], Any], place: str, *parts: Any) -> Any:
    """Return f of a chunk, in which arrays have become tensors. place: number of the chunk, for errors."""
    chunk = tuple([wrap(part) if isinstance(part, np.ndarray) else part for part in parts])
    try:
        return f(chunk[0] if len(chunk) == 1 else chunk)
    except Exception as error:
        error.add_note(f"This was raised for chunk {place}, counted from 0.")
        raise


def _fold(combine: Callable[[Any, Any], Any], *results: Any) -> Any:
    total = results[0]
    for result in results[1:]:
        total = combine(total, result)
    return total


def _add(a: list[Any], b: list[Any]) -> list[Any]:
    return [None if x is None else x + y for x, y in zip(a, b)]


class _Loss:
    """The value of f for a chunk, and the gradients of the leaves: arrays, or None."""

    def __init__(self, f: Callable[[Any, Any], Any], leaves: list[Any], spec: Any) -> None:
        self.f = f
        self.leaves = leaves
        self.spec = spec

    def __call__(self, chunk: Any) -> list[Any]:
        leaves = [_as_parameter(leaf) for leaf in self.leaves]
        with enable_grad():
            value = self.f(tree_unflatten(leaves, self.spec), chunk)
        if not isinstance(value, Tensor) or value._array.size != 1:
            found = tuple(value._array.shape) if isinstance(value, Tensor) else type(value).__name__
            raise ValueError(
                f"value_and_grad: f must return a tensor of one element, got {found}. Hint: return the sum of the rows' losses"
            )
        chosen = [leaf for leaf in leaves if isinstance(leaf, Tensor) and leaf.requires_grad]
        if value.requires_grad:
            grads = iter(grad(value.reshape(()), chosen, allow_unused=True, materialize_grads=True))
        else:
            grads = map(_zeros, chosen)
        gradients = [next(grads).numpy() if isinstance(leaf, Tensor) and leaf.requires_grad else None for leaf in leaves]
        return [value.detach().numpy().reshape(()), *gradients]


def _zeros(leaf: Any) -> Any:
    return wrap(np.zeros_like(leaf._array))


def _as_parameter(leaf: Any) -> Any:
    """Return a leaf of params as a tensor that requires grad, or as it is if it is not floating."""
    if not isinstance(leaf, (np.ndarray, np.generic, float, complex)):
        return leaf
    tensor = wrap(np.array(leaf))
    if tensor.is_floating_point() or tensor.is_complex():
        tensor.requires_grad_()
    return tensor


def _as_kind(gradient: Any, leaf: Any) -> Any:
    """Return a gradient as a tensor, an array or a number, as the leaf is."""
    if gradient is None or isinstance(leaf, np.ndarray):
        return gradient
    return wrap(np.asarray(gradient)) if isinstance(leaf, Tensor) else gradient[()].item()


def __dir__() -> list[str]:
    return sorted(__all__)
