"""vmap: map a function over a dimension of its arguments, by calling it for each example and stacking the results."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from wengert import errors
from wengert.core.tensor import TensorBase
from wengert.generator import default_generators, get_states, set_states
from wengert.ops import OPS
from wengert.utils._pytree import broadcast_prefix, tree_flatten, tree_structure, tree_unflatten

__all__ = ["vmap"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


def vmap(
    func: Callable[_P, _R],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[_P, _R]:
    """Return a function that maps func over a dimension of its arguments and stacks the results.

    in_dims: the dimension of each argument to map over, or None for an argument that is the same in all calls; an int for
    all arguments, or a tuple in the structure of the arguments. Keyword arguments are passed on as they are. out_dims: the
    position of the new dimension in each output, or None for an output that is the same in all calls. randomness: "error"
    refuses random numbers in func, "different" draws new numbers for each example, "same" draws the same numbers.
    chunk_size: accepted; here one example is computed at a time.

    func is called once per example, so vmap costs as much as a loop, unlike in torch, and func may use item() and
    branches on values. Results can be differentiated, and vmap can be nested with vmap, grad, jvp and so on.

    Raises ValueError for arguments without the dimension or with different sizes along it, and for results that are no
    tensors; RuntimeError for random numbers if randomness is "error".

    >>> import wengert
    >>> wengert.vmap(wengert.dot)(wengert.tensor([[1.0, 2.0], [3.0, 4.0]]), wengert.ones(2, 2))
    tensor([3., 7.])
    """
    if randomness not in ("error", "different", "same"):
        raise errors.randomness(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise errors.ElementError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    name = getattr(func, "__name__", repr(func))

    @wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, form = tree_flatten(args)
        dims = _dims_of(name, in_dims, args)
        size = _size_of(name, in_dims, leaves, dims)

        draws = Draws(randomness)

        def call(i: int) -> Any:
            example = [x if dim is None else x.select(dim, i) for x, dim in zip(leaves, dims, strict=True)]
            with draws:
                return func(*tree_unflatten(example, form), **kwargs)

        if size == 0:  # call func on one example of zeros, to find the shapes of the results
            leaves = [x if d is None else x.new_zeros(_with_one_example(x.shape, d)) for x, d in zip(leaves, dims, strict=True)]
        results = [tree_flatten(call(i)) for i in range(max(size, 1))]
        output_form = results[0][1]
        out = _out_dims_of(name, out_dims, output_form)
        columns = zip(*[values for values, _ in results], strict=True)
        return tree_unflatten(
            [_stack_outputs(name, column, dim, size) for column, dim in zip(columns, out, strict=True)], output_form
        )

    return mapped


def _no_inputs(name: str) -> Exception:
    return errors.ElementError(
        f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function "
        "with no inputs. The latter is unsupported."
    )


def _dims_of(name: str, in_dims: Any, args: tuple[Any, ...]) -> list[Any]:
    """Return the dimension to map over, or None, for each leaf of the arguments."""
    if not isinstance(in_dims, (int, tuple)):
        raise errors.ElementError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple "
            f"matching the structure of inputs, got: {type(in_dims)}."
        )
    leaves, form = tree_flatten(args)
    if not leaves:
        raise _no_inputs(name)
    dims = broadcast_prefix(in_dims, args)
    if dims is None:
        raise errors.ElementError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of `inputs`. "
            f"in_dims has structure {tree_structure(in_dims)} but inputs has structure {form}."
        )
    return dims


def _size_of(name: str, in_dims: Any, leaves: list[Any], dims: list[Any]) -> int:
    """Return the number of examples."""
    sizes = []
    for x, dim in zip(leaves, dims, strict=True):
        if dim is None:
            continue
        if not isinstance(x, TensorBase):
            raise errors.ElementError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an input but the input is of type "
                f"{type(x)}. We cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
            )
        ndim = x._array.ndim
        if not -ndim <= dim < ndim:
            raise errors.ElementError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for some input, but that input is a "
                f"Tensor of dimensionality {ndim} so expected in_dim to satisfy -{ndim} <= in_dim < {ndim}."
            )
        sizes.append(x._array.shape[dim])
    if not sizes:
        raise _no_inputs(name)
    if len(set(sizes)) > 1:
        raise errors.mapped_sizes(sizes)
    return int(sizes[0])


def _with_one_example(shape: Any, dim: int) -> list[int]:
    """Return the shape with size 1 instead of 0 along dim."""
    widened = list(shape)
    widened[dim] = 1
    return widened


def _out_dims_of(name: str, out_dims: Any, form: Any) -> list[Any]:
    """Return the position of the new dimension, or None, for each leaf of the output."""
    dims = [out_dims] * form.num_leaves if isinstance(out_dims, int) else None
    if dims is None:
        dims = broadcast_prefix(out_dims, tree_unflatten([0] * form.num_leaves, form))
    if dims is None:
        raise errors.ElementError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            f"`outputs`. out_dims has structure {tree_structure(out_dims)} but outputs has structure {form}."
        )
    return dims


def _stack_outputs(name: str, values: tuple[Any, ...], dim: Any, size: int) -> Any:
    """Stack one output of all examples along dim; or return that of the first example if dim is None."""
    if dim is None:
        return values[0]
    for x in values:
        if not isinstance(x, TensorBase):
            raise errors.ElementError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(x)}. Did you mean to set out_dims= "
                "to None for output?"
            )
    ndim = values[0]._array.ndim + 1
    if not -ndim <= dim < ndim:
        raise errors.DimensionError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    found = OPS["stack"].function(values, dim)
    return found if size else found.narrow(dim, 0, 0)


def _positions() -> list[Any]:
    return [generator.position() for generator in default_generators().values()]


class Draws:
    """Context manager around each call of func, which controls random numbers by vmap's argument randomness."""

    def __init__(self, randomness: str) -> None:
        self.randomness = randomness
        self.state: Any = None  # states of the generators before the first call
        self.position: Any = None  # positions of the generators before the current call

    def __enter__(self) -> None:
        if self.randomness == "error":
            self.position = _positions()
        elif self.randomness == "same":
            if self.state is None:
                self.state = get_states()
            set_states(self.state)

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self.randomness == "error" and _positions() != self.position:
            raise errors.GradientError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
                "randomness flags on vmap or perform the randomness operation out of vmap"
            )
