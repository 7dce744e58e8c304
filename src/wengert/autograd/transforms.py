"""Function transforms: from a function f, make the function that computes its gradient, Jacobian or Jacobian products.

Public as wengert.func. Arguments and results of f may be trees of tensors (dicts, lists, tuples; see utils._pytree).

Note [Transforms in one graph]
torch wraps tensors once for each transform around them. Here all transforms share one graph and one stack of dual levels.
A transform calls f with aliases of its arguments and computes derivatives in these aliases only; in forward mode it opens
a level of its own. So transforms nest, and backward passes and forward mode around a transform differentiate it. Results
are detached from the aliases, unless an outer derivative goes through them: then their graph leads to a leaf that is not
one of the aliases (`leads_outside`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from typing import Any, ParamSpec

import numpy as np

from wengert import errors
from wengert.autograd.forward_ad import attach_tangent, detach_tangent
from wengert.backends.selection import backend_of
from wengert.core.dual import levels_around, opened_level
from wengert.core.modes import grad_enabled, set_recording
from wengert.core.node import AccumulateGrad
from wengert.core.tensor import TensorBase, gradient_edge, is_differentiable, wrap
from wengert.ops import OPS
from wengert.utils._pytree import tree_flatten, tree_map, tree_unflatten, treespec_pprint

__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp"]

Function = Callable[..., Any]
_P = ParamSpec("_P")


# -- arguments ---------------------------------------------------------------------------------------------------------


def _argument_positions(args: tuple[Any, ...], argnums: Any) -> tuple[int, ...]:
    """Return the positions in argnums, an int or a tuple of ints, counted from the front. Raises RuntimeError for others."""
    if not isinstance(argnums, (int, tuple)):
        raise errors.GradientError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    wanted = (argnums,) if isinstance(argnums, int) else argnums
    if not wanted:
        raise errors.GradientError("argnums must be non-empty")
    for i in wanted:
        if not isinstance(i, int):
            raise errors.GradientError(f"argnums must be int or Tuple[int, ...], got: {type(i)}")
        if not -len(args) <= i < len(args):
            raise errors.GradientError(f"Got argnum={i}, but only {len(args)} positional inputs")
    positions = tuple([i % len(args) for i in wanted])
    if len(set(positions)) != len(positions):
        raise errors.GradientError(f"argnums elements must be unique, got {wanted}")
    return positions


def _replace_arguments(args: tuple[Any, ...], positions: Sequence[int], replacements: Iterable[Any]) -> tuple[Any, ...]:
    """Return args with replacements at these positions."""
    found = list(args)
    for i, x in zip(positions, replacements, strict=True):
        found[i] = x
    return tuple(found)


def as_variable(x: Any) -> Any:
    """Return the alias of x to call f with. It requires grad, and belongs to the outer graph and levels as x does."""
    if not isinstance(x, TensorBase):
        raise errors.ElementError(f"Thing passed to transform API must be Tensor, got {type(x)}")
    if not is_differentiable(x._array):
        raise errors.integer_requires_grad(dtype=x._array.dtype)
    alias: Any = x.view(x._array.shape)  # type: ignore[attr-defined]  # a TensorBase is a Tensor
    if not alias.requires_grad:
        alias.requires_grad = True
    return alias


def _check_outputs(call: str, outputs: Iterable[Any]) -> None:
    for x in outputs:
        if not isinstance(x, TensorBase):
            raise errors.GradientError(
                f"{call}: expected f(*primals) to return only tensors, got unsupported type {type(x)}"
            )


def _split_aux(result: Any, has_aux: bool, call: str) -> tuple[Any, Any]:
    """Split the result of f into (output, aux); aux is None unless has_aux."""
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise errors.GradientError(f"{call}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return result


# -- results -----------------------------------------------------------------------------------------------------------


def leads_outside(tensors: Iterable[Any], variables: Iterable[Any]) -> bool:
    """Whether the graph of tensors leads to a leaf that is not one of variables. See Note [Transforms in one graph]."""
    own = {id(v) for v in variables}
    edges = [gradient_edge(t) for t in tensors if isinstance(t, TensorBase) and t.requires_grad]
    stack = [edge.node for edge in edges if edge is not None]
    seen = set(stack)
    while stack:
        node = stack.pop()
        if isinstance(node, AccumulateGrad) and id(node.variable) not in own:
            return True
        for behind, _ in node.next_functions:
            if behind is not None and behind not in seen:
                seen.add(behind)
                stack.append(behind)
    return False


def detach_results(tree: Any, variables: Sequence[Any], keep: bool) -> Any:
    """Detach the tensors in a tree of results from the variables, unless keep and they lead to leaves outside."""
    return tree_map(lambda x: detach_result(x, variables, keep), tree)


def detach_result(x: Any, variables: Sequence[Any], keep: bool) -> Any:
    """detach_results for one result."""
    if not isinstance(x, TensorBase) or not x.requires_grad or (keep and leads_outside([x], variables)):
        return x
    free: Any = x.detach()  # type: ignore[attr-defined]
    for level in levels_around():
        tangent = level.find(x)
        if tangent is not None:
            level.set(free, detach_result(tangent, variables, keep))
    return free


def gradients_in(
    outputs: Sequence[Any], variables: Sequence[Any], cotangents: Sequence[Any], retain_graph: bool, create_graph: bool
) -> list[Any]:
    """Return the gradients in the variables; zeros for unused ones."""
    from wengert.autograd import grad

    pairs = [(o, ct) for o, ct in zip(outputs, cotangents, strict=True) if o.requires_grad]
    found: Any = [None] * len(variables)
    if pairs and variables:
        roots, seeds = zip(*pairs, strict=True)
        found = grad(
            list(roots), list(variables), list(seeds), retain_graph=retain_graph, create_graph=create_graph, allow_unused=True
        )
    return [_zeros(x) if g is None else g for g, x in zip(found, variables, strict=True)]


def _zeros(x: Any) -> Any:
    return wrap(backend_of(x._array).zeros_like(x._array))


# -- reverse mode ------------------------------------------------------------------------------------------------------


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """Return (func(*primals), vjp_fn), where vjp_fn computes vector-Jacobian products.

    vjp_fn(cotangents): cotangents in the structure of the output; returns a tuple of their products with func's Jacobian,
    one for each primal, in its structure. It can be called any number of times. has_aux: func returns (output, aux), and
    aux is returned as a third result.

    >>> import wengert
    >>> output, vjp_fn = wengert.func.vjp(lambda x: x ** 2, wengert.tensor([1.0, 2.0]))
    >>> vjp_fn(wengert.tensor([1.0, 0.5]))
    (tensor([2., 2.]),)
    """
    output, aux, pull_back, outputs = _vjp(func, primals, tuple(range(len(primals))), has_aux, "vjp(f, *primals)")
    form, output_form = tree_flatten(primals)[1], tree_flatten(output)[1]

    def vjp_fn(cotangents: Any) -> Any:
        """Return the products of the cotangents with the Jacobian, one for each argument."""
        seeds, seeds_form = tree_flatten(cotangents)
        if seeds_form != output_form:
            raise errors.GradientError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {treespec_pprint(seeds_form)}, primal output: {treespec_pprint(output_form)}"
            )
        for i, (seed, x) in enumerate(zip(seeds, outputs, strict=True)):
            if seed.shape != x.shape:
                raise errors.gradient_shape(i, seed.shape, x.shape)
        return tree_unflatten(pull_back(seeds), form)

    return (output, vjp_fn, aux) if has_aux else (output, vjp_fn)


def _vjp(
    func: Function, args: tuple[Any, ...], positions: tuple[int, ...], has_aux: bool, call: str
) -> tuple[Any, Any, Callable[[list[Any]], list[Any]], list[Any]]:
    """vjp in the arguments at positions. Returns (output, aux, pull_back, leaves of the output).

    pull_back: maps cotangents of the output's leaves to cotangents of the arguments' leaves.
    """
    keep = grad_enabled()
    leaves, form = tree_flatten(tuple([args[i] for i in positions]))
    with set_recording(True):
        variables = [as_variable(x) for x in leaves]
        result = func(*_replace_arguments(args, positions, tree_unflatten(variables, form)))
    output, aux = _split_aux(result, has_aux, call)
    outputs = tree_flatten(output)[0]
    _check_outputs(call, outputs)
    outside = keep and leads_outside(outputs, variables)

    def pull_back(seeds: list[Any]) -> list[Any]:
        create_graph = grad_enabled() and (outside or any(s.requires_grad for s in seeds))
        found = gradients_in(outputs, variables, seeds, True, create_graph)
        return [detach_result(x, variables, create_graph) for x in found]

    return detach_results(output, variables, keep), detach_results(aux, variables, keep), pull_back, outputs


def grad_and_value(func: Callable[_P, Any], argnums: Any = 0, has_aux: bool = False) -> Callable[_P, Any]:
    """Return a function that computes (gradient, value of func), or (gradient, (value, aux)) if has_aux; see grad."""

    @wraps(func)
    def gradient_and_value(*args: Any, **kwargs: Any) -> Any:
        keep = grad_enabled()
        positions = _argument_positions(args, argnums)
        leaves, form = tree_flatten(tuple([args[i] for i in positions]))
        with set_recording(True):
            variables = [as_variable(x) for x in leaves]
            result = func(*_replace_arguments(args, positions, tree_unflatten(variables, form)), **kwargs)
        value, aux = _split_aux(result, has_aux, "grad_and_value(f)(*args)")
        if not isinstance(value, TensorBase):
            raise errors.GradientError(f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(value)}")
        if value._array.ndim:
            raise errors.GradientError(
                "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                f"{value._array.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        create_graph = keep and leads_outside([value], variables)
        seed = wrap(backend_of(value._array).ones((), value._array.dtype))
        # Keep the graph if an outer derivative or aux may need it.
        found = gradients_in([value], variables, [seed], create_graph or has_aux, create_graph)
        gradient = tree_unflatten(detach_results(found, variables, create_graph), form)
        value, aux = detach_results(value, variables, keep), detach_results(aux, variables, keep)
        return gradient[0] if isinstance(argnums, int) else gradient, (value, aux) if has_aux else value

    return gradient_and_value


def grad(func: Callable[_P, Any], argnums: Any = 0, has_aux: bool = False) -> Callable[_P, Any]:
    """Return a function that computes the gradient of func, whose value is a 0-d tensor, in one of its arguments.

    argnums: the position of the argument, or a tuple of positions, which gives a tuple of gradients. A gradient has the
    structure of its argument. has_aux: func returns (value, aux), and the result is (gradient, aux). grad can be applied
    again for higher derivatives.

    >>> import wengert
    >>> wengert.func.grad(wengert.func.grad(lambda x: x ** 3))(wengert.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


# -- forward mode ------------------------------------------------------------------------------------------------------


def jvp(func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """Return (func(*primals), its derivative along tangents), computed in forward mode.

    primals, tangents: tuples of one structure. strict: raise RuntimeError for an output that does not depend on the
    primals, instead of returning zeros. has_aux: func returns (output, aux), and aux is returned as a third result.

    >>> import wengert
    >>> wengert.func.jvp(lambda x: x ** 2, (wengert.tensor([1.0, 2.0]),), (wengert.tensor([1.0, 0.5]),))
    (tensor([1., 4.]), tensor([2., 2.]))
    """
    if not isinstance(primals, tuple):
        raise errors.GradientError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    return _jvp(func, primals, tangents, tuple(range(len(primals))), strict, has_aux)


def _jvp(
    func: Function, args: tuple[Any, ...], tangents: Any, positions: tuple[int, ...], strict: bool, has_aux: bool
) -> Any:
    """jvp in the arguments at positions."""
    leaves, form = tree_flatten(tuple([args[i] for i in positions]))
    directions, directions_form = tree_flatten(tangents)
    if directions_form != form:
        raise errors.GradientError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, if "
            f"primals is a tuple of 3 tensors, tangents also must be. Got primals with structure {form} and tangents with "
            f"structure {directions_form}"
        )
    if not leaves:
        raise errors.GradientError("jvp(f, primals, tangents): Expected primals to contain at least one Tensor.")
    for what, found in (("primals", leaves), ("tangents", directions)):
        for x in found:
            if not isinstance(x, TensorBase):
                raise errors.GradientError(f"jvp(f, primals, tangents): Expected {what} to only contain Tensors, got {type(x)}")
            if not is_differentiable(x._array):
                raise errors.dual_dtype(what, x.dtype)  # type: ignore[attr-defined]
    with opened_level():
        duals = [attach_tangent(x, t) for x, t in zip(leaves, directions, strict=True)]
        result = func(*_replace_arguments(args, positions, tree_unflatten(duals, form)))
        output, aux = _split_aux(result, has_aux, "jvp(f, primals, tangents)")
        outputs, output_form = tree_flatten(output)
        _check_outputs("jvp(f, primals, tangents)", outputs)
        pairs = [detach_tangent(x) for x in outputs]
        aux = tree_map(lambda x: detach_tangent(x)[0] if isinstance(x, TensorBase) else x, aux)
    if strict and any(t is None for _, t in pairs):
        raise errors.NotDifferentiableError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed "
            "with strict=True."
        )
    values = tree_unflatten([p for p, _ in pairs], output_form)
    along = tree_unflatten([_zeros(p) if t is None else t for p, t in pairs], output_form)
    return (values, along, aux) if has_aux else (values, along)


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """Return (func(*primals), jvp_fn), where jvp_fn(*tangents) computes the derivative at primals along tangents.

    jvp_fn does not call func again, so it is cheaper than jvp for many directions at one point. It is a backward pass
    through the recorded backward pass: custom Functions in func need a differentiable backward, but no jvp.

    >>> import wengert
    >>> output, jvp_fn = wengert.func.linearize(lambda x: x ** 2, wengert.tensor([1.0, 2.0]))
    >>> jvp_fn(wengert.tensor([1.0, 0.5]))
    tensor([2., 2.])
    """
    leaves, form = tree_flatten(primals)
    keep = grad_enabled()
    with set_recording(True):
        variables = [as_variable(x) for x in leaves]
        outputs, output_form = tree_flatten(func(*tree_unflatten(variables, form)))
        _check_outputs("linearize(f, *primals)", outputs)
        duals = [_zeros(x).requires_grad_() for x in outputs]
        products = gradients_in(outputs, variables, duals, True, True)
    outside = keep and leads_outside(outputs, variables)

    def jvp_fn(*tangents: Any) -> Any:
        """Return the derivative of the linearized function along the tangents."""
        directions, directions_form = tree_flatten(tangents)
        if directions_form != form:
            raise errors.GradientError(f"Expected the tangents {directions_form} to have the same argspec as the primals {form}")
        for i, (t, x) in enumerate(zip(directions, leaves, strict=True)):
            for what in ("shape", "dtype"):
                if getattr(t, what) != getattr(x, what):
                    raise errors.GradientError(
                        f"tangent:{i} with {what} {getattr(t, what)} in flattened pytree doesn't match the {what} "
                        f"{getattr(x, what)} of the corresponding primal."
                    )
        create_graph = grad_enabled() and (outside or any(t.requires_grad for t in directions))
        found = gradients_in(products, duals, directions, True, create_graph)
        return tree_unflatten(detach_results(found, [*variables, *duals], create_graph), output_form)

    return tree_unflatten(detach_results(outputs, variables, keep), output_form), jvp_fn


# -- matrices ----------------------------------------------------------------------------------------------------------


def jacrev(
    func: Callable[_P, Any], argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[_P, Any]:
    """Return a function that computes the Jacobian of func by rows: a backward pass for each element of the output.

    For an output of shape m and an argument of shape n, the Jacobian has shape m + n. For trees, it is a tree in the
    structure of the output, whose leaves are trees in the structure of the argument. argnums, has_aux: as grad.
    chunk_size: accepted; here one row is computed at a time.

    >>> import wengert
    >>> wengert.func.jacrev(lambda x: x ** 2)(wengert.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise errors.ElementError("jacrev: `chunk_size` should be greater than 0.")

    @wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        positions = _argument_positions(args, argnums)
        call = partial(func, **kwargs)
        output, aux, pull_back, outputs = _vjp(call, args, positions, has_aux, "vjp(f, *primals)")
        form = tree_flatten(output)[1]
        inputs, input_form = tree_flatten(tuple([args[i] for i in positions]))
        blocks = []
        for number, x in enumerate(outputs):
            rows = []
            for unit in _unit_tensors(x):
                rows.append(pull_back([unit if i == number else _zeros(y) for i, y in enumerate(outputs)]))
            parts = [_assemble_jacobian([row[i] for row in rows], x, y, False) for i, y in enumerate(inputs)]
            block = tree_unflatten(parts, input_form)
            blocks.append(block[0] if isinstance(argnums, int) else block)
        found = tree_unflatten(blocks, form)
        return (found, aux) if has_aux else found

    return jacobian


def jacfwd(
    func: Callable[_P, Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[_P, Any]:
    """Return a function that computes the Jacobian of func by columns: a call of func for each element of the argument.

    The result is that of jacrev. Use jacfwd for functions with more outputs than inputs, and for functions whose backward
    pass needs much memory. randomness: as vmap; "same" draws the same numbers in each call.

    >>> import wengert
    >>> wengert.func.jacfwd(lambda x: x ** 2)(wengert.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if randomness not in ("error", "different", "same"):
        raise errors.randomness(randomness)

    @wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        from wengert.autograd.vmap import Draws

        draws = Draws(randomness)
        positions = _argument_positions(args, argnums)
        inputs, input_form = tree_flatten(tuple([args[i] for i in positions]))
        call: Function = partial(func, **kwargs)
        columns: list[list[list[Any]]] = []  # indexed by input, element of the input, output
        output = aux = None
        for number, x in enumerate(inputs):
            columns.append([])
            for unit in _unit_tensors(x):
                tangents = tree_unflatten([unit if i == number else _zeros(y) for i, y in enumerate(inputs)], input_form)
                with draws:
                    output, along, *rest = _jvp(call, args, tangents, positions, False, has_aux)
                aux = rest[0] if has_aux else None
                columns[-1].append(tree_flatten(along)[0])
        if output is None:  # the inputs have no elements: call func for the structure of its output
            output, aux = _split_aux(call(*args), has_aux, "jvp(f, primals, tangents)")
        outputs, form = tree_flatten(output)
        blocks = []
        for number, y in enumerate(outputs):
            parts = [_assemble_jacobian([c[number] for c in columns[i]], y, x, True) for i, x in enumerate(inputs)]
            block = tree_unflatten(parts, input_form)
            blocks.append(block[0] if isinstance(argnums, int) else block)
        found = tree_unflatten(blocks, form)
        return (found, aux) if has_aux else found

    return jacobian


def hessian(func: Callable[_P, Any], argnums: Any = 0) -> Callable[_P, Any]:
    """Return a function that computes the Hessian of func: the Jacobian of its gradient, which is recorded once.

    It takes a backward pass for each element of the argument. Custom Functions in func need a differentiable backward. If
    they have a jvp instead, jacfwd(jacrev(func)) computes the Hessian by forward mode.

    >>> import wengert
    >>> wengert.func.hessian(lambda x: (x ** 3).sum())(wengert.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacrev(jacrev(func, argnums), argnums)


def _unit_tensors(x: Any) -> Iterable[Any]:
    """Yield, for each element of x, a tensor of x's shape with a one there and zeros elsewhere."""
    for index in np.ndindex(x._array.shape):
        unit = backend_of(x._array).zeros_like(x._array)
        unit[index] = 1
        yield wrap(unit)


def _assemble_jacobian(parts: list[Any], output: Any, x: Any, by_columns: bool) -> Any:
    """Stack the rows of a Jacobian, of x's shape, or its columns, of the output's shape, to shape (*output, *x)."""
    shape = (*output._array.shape, *x._array.shape)
    if not parts:
        return wrap(backend_of(output._array).zeros(shape, output._array.dtype))
    if not by_columns:
        return OPS["stack"].function(parts).reshape(shape)
    return OPS["stack"].function([part.reshape(-1) for part in parts], -1).reshape(shape)
