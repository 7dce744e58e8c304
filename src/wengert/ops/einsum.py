"""einsum: sums of products written as an equation.

Other operations first simplify the operands: they take diagonals of repeated indices and sum over indices that occur in one
operand only. An ellipsis becomes explicit indices. Then operands are contracted two at a time, each time by one batched
matrix product. opt_einsum, or NumPy without it, finds the order of contraction.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.ops.blas import batched_product, matrix_product
from wengert.ops.registry import bilinear, composite

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# An index is one character: a letter of the equation, or one of these for each dimension that "..." stands for.
_ELLIPSIS = "".join([chr(0x3B1 + i) for i in range(64)])


@composite()
def einsum(F, *args):
    """Sum of products of the operands' elements, given by an equation: einsum("ij,jk->ik", a, b) is a @ b.

    The equation has a letter for each dimension of each operand; spaces are ignored. Letters on the left of "->" that are
    not on its right are summed over. Without "->", the result has the letters that occur once, in alphabetical order. "..."
    stands for any further dimensions; they broadcast and come first in the result. A letter that occurs twice in an operand
    takes the diagonal. Dimensions of size 1 broadcast. Lists of ints may replace the letters:
    einsum(a, [0, 1], b, [1, 2], [0, 2]). Raises RuntimeError if the equation does not fit the operands.

    Derivative: in each operand the einsum of ct with the conjugates of the other operands.

    >>> import wengert
    >>> a = wengert.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> wengert.einsum("ij,kj->ik", a, a)
    tensor([[ 5., 11.],
            [11., 25.]])
    """
    equation, operands = _equation_and_operands(args)
    shapes = tuple([tuple(x.shape) for x in operands])
    if len(operands) == 2:
        pair = _prepared_pair(equation, shapes)
        if pair is not None:
            first, terms = pair
            return F._contract_pair(operands[first], operands[1 - first], subscripts=terms)
    subscripts, result, sizes = _read_equation(equation, shapes)
    prepared = [
        _simplify_operand(F, x, term, _indices_elsewhere(subscripts, result, i), sizes)
        for i, (x, term) in enumerate(zip(operands, subscripts, strict=True))
    ]
    if len(prepared) == 1 and len(prepared[0][1]) == len(set(subscripts[0])):
        x, term = prepared[0]  # nothing was summed: the result is a view, also if no dimension moves
        return F.permute(x, dims=tuple([term.index(index) for index in result]))
    return _contract(F, [x for x, _ in prepared], [s for _, s in prepared], result, sizes)


# -- reading the equation ----------------------------------------------------------------------------------------------


def _equation_and_operands(args: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """Return the equation in letters and the operands, from either form of the arguments."""
    if not args:
        raise errors.ShapeError("einsum(): must provide at least one operand")
    if isinstance(args[0], str):
        operands = args[1:]
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = tuple(operands[0])
        if not operands:
            raise errors.ShapeError("einsum(): must provide at least one operand")
        return args[0], list(operands)
    pairs, last = args[: len(args) // 2 * 2], args[len(args) // 2 * 2 :]
    for position, subscripts in enumerate((*pairs[1::2], *last)):
        if not isinstance(subscripts, (list, tuple)):
            raise errors.wrong_argument_type("einsum", "subscripts", 2 * position + 1, type(subscripts), "list of ints")
    equation = ",".join([_letters_of(subscripts) for subscripts in pairs[1::2]])
    return equation + (f"->{_letters_of(last[0])}" if last else ""), list(pairs[0::2])


def _letters_of(numbers: Any) -> str:
    """Spell the subscripts of the list form, ints and Ellipsis, as letters."""
    if any(n is not Ellipsis and not 0 <= n < 52 for n in numbers):
        raise errors.ShapeError("einsum(): expected subscripts in sublist format to be within range [0, 52)")
    return "".join(["..." if n is Ellipsis else _LETTERS[n] for n in numbers])


@lru_cache(maxsize=512)
def _read_equation(equation: str, shapes: tuple[tuple[int, ...], ...]) -> tuple[list[str], str, dict[str, int]]:
    """Return (the indices of each operand, the indices of the result, the size of each index)."""
    subscripts, result = _parse_equation(equation, shapes)
    return subscripts, result, _index_sizes(subscripts, shapes)


def _parse_equation(equation: str, shapes: tuple[tuple[int, ...], ...]) -> tuple[list[str], str]:
    """Return (the indices of each operand, the indices of the result), one character for each dimension."""
    given, arrow, result = equation.replace(" ", "").partition("->")
    terms = given.split(",")
    for position, character in enumerate(equation):
        if not (character in _LETTERS or character in " .,->"):
            raise errors.ShapeError(
                f"einsum(): invalid subscript given at index {position} in the equation string, subscripts must be in "
                "[a-zA-Z]"
            )
    if len(terms) != len(shapes):
        which = "fewer" if len(terms) > len(shapes) else "more"
        raise errors.ShapeError(f"einsum(): {which} operands were provided than specified in the equation")
    rest = [_ellipsis_dims(term, len(shape), i) for i, (term, shape) in enumerate(zip(terms, shapes, strict=True))]
    dots = _ELLIPSIS[: max([n for n in rest if n is not None], default=0)]
    subscripts = [
        term if n is None else term.replace("...", dots[len(dots) - n :]) for term, n in zip(terms, rest, strict=True)
    ]
    if not arrow:
        joined = "".join(subscripts)
        return subscripts, dots + "".join([c for c in sorted(set(joined) - set(dots)) if joined.count(c) == 1])
    return subscripts, _parse_result(result, dots, subscripts)


def _ellipsis_dims(term: str, ndim: int, position: int) -> int | None:
    """Number of dimensions that "..." stands for in an operand, or None if its term has no ellipsis."""
    named = len(term.replace("...", "", 1))
    if "..." not in term:
        if named != ndim:
            raise errors.ShapeError(
                f"einsum(): the number of subscripts in the equation ({named}) does not match the number of dimensions "
                f"({ndim}) for operand {position} and no ellipsis was given"
            )
        return None
    if named > ndim:
        raise errors.ShapeError(
            f"einsum(): the number of subscripts in the equation ({named}) is more than the number of dimensions ({ndim}) "
            f"for operand {position}"
        )
    return ndim - named


def _parse_result(result: str, dots: str, subscripts: list[str]) -> str:
    """Return the indices of the result, with dots for "...". Raises RuntimeError for a repeated or unknown letter."""
    known = set("".join(subscripts))
    letters = result.replace("...", "", 1)
    for letter in letters:
        if letters.count(letter) > 1:
            raise errors.ShapeError(f"einsum(): output subscript {letter} appears more than once in the output")
        if letter not in known:
            raise errors.ShapeError(f"einsum(): output subscript {letter} does not appear in the equation for any input operand")
    return result.replace("...", dots)


def _index_sizes(subscripts: list[str], shapes: tuple[tuple[int, ...], ...]) -> dict[str, int]:
    """Size of each index. A size of 1 broadcasts. Raises RuntimeError for sizes that do not fit."""
    sizes: dict[str, int] = {}
    for position, (term, shape) in enumerate(zip(subscripts, shapes, strict=True)):
        own: dict[str, int] = {}
        for index, size in zip(term, shape, strict=True):
            if own.setdefault(index, size) != size:
                raise errors.ShapeError(
                    f"einsum(): subscript {index} is repeated for operand {position} but the sizes don't match, {size} != "
                    f"{own[index]}"
                )
            if sizes.get(index, 1) == 1:
                sizes[index] = size
            elif size not in (1, sizes[index]):
                raise errors.ShapeError(
                    f"einsum(): subscript {index} has size {size} for operand {position} which does not broadcast with "
                    f"previously seen size {sizes[index]}"
                )
    return sizes


@lru_cache(maxsize=512)
def _prepared_pair(equation: str, shapes: tuple[tuple[int, ...], ...]) -> tuple[int, tuple[str, str, str]] | None:
    """Return (the position of the first factor, subscripts of _contract_pair) if one contraction of two operands is all.

    None if an operand must be prepared first, or the dimensions of the result permuted."""
    terms, result, sizes = _read_equation(equation, shapes)
    for i, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        if not _is_prepared(shape, term, _indices_elsewhere(terms, result, i), sizes):
            return None
    for first in (0, 1):
        s, t = terms[first], terms[1 - first]
        if _pair_result(s, t, set(result)) == result:
            return first, (s, t, result)
    return None


# -- the plain form ----------------------------------------------------------------------------------------------------


def _indices_elsewhere(subscripts: list[str], result: str, position: int) -> set[str]:
    """Indices that occur in the result or in another operand. The operand's other indices are summed over at once."""
    return set(result).union(*[term for i, term in enumerate(subscripts) if i != position])


def _is_prepared(shape: Any, term: str, needed_elsewhere: set[str], sizes: dict[str, int]) -> bool:
    """Whether an operand has no index twice, none to sum over, and no dimension that broadcasts."""
    return len(set(term)) == len(term) and needed_elsewhere.issuperset(term) and tuple(shape) == tuple([sizes[i] for i in term])


def _simplify_operand(F: Any, x: Any, term: str, needed_elsewhere: set[str], sizes: dict[str, int]) -> tuple[Any, str]:
    """Take diagonals of repeated indices, sum over indices that are not needed elsewhere, drop dimensions that broadcast.

    Returns the operand and its indices."""
    if _is_prepared(x.shape, term, needed_elsewhere, sizes):
        return x, term
    for index in dict.fromkeys(term):
        while term.count(index) > 1:
            first = term.index(index)
            second = term.index(index, first + 1)
            x = F.diagonal(x, offset=0, dim1=first, dim2=second)
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + index
    summed = tuple([d for d, index in enumerate(term) if index not in needed_elsewhere])
    if summed:
        x, term = F.sum(x, dim=summed), "".join([index for index in term if index in needed_elsewhere])
    stretched = [d for d, index in enumerate(term) if x.shape[d] != sizes[index]]
    if stretched:
        x = F.reshape(x, shape=tuple([n for d, n in enumerate(x.shape) if d not in stretched]))
        term = "".join([index for d, index in enumerate(term) if d not in stretched])
    return x, term


def _contract(F: Any, operands: list[Any], terms: list[str], result: str, sizes: dict[str, int]) -> Any:
    """Contract the operands two at a time, then permute the dimensions of the result."""
    for i, j in _contraction_path(terms, result, sizes):
        (x, s), (y, t) = (operands[i], terms[i]), (operands[j], terms[j])
        for position in sorted((i, j), reverse=True):
            del operands[position], terms[position]
        needed = set(result).union(*terms)
        # An index may be left in one factor only, because the other factor's dimension of size 1 was dropped. If the
        # result does not need the index, it is summed over first.
        x, s = _sum_unneeded(F, x, s, needed | set(t))
        y, t = _sum_unneeded(F, y, t, needed | set(s))
        out = _pair_result(s, t, needed)
        if not terms and out != result and _pair_result(t, s, needed) == result:
            (x, s), (y, t), out = (y, t), (x, s), result
        operands.append(F._contract_pair(x, y, subscripts=(s, t, out)))
        terms.append(out)
    x, term = _sum_unneeded(F, operands[0], terms[0], set(result))
    missing = "".join([index for index in result if index not in term])
    if missing:  # these indices have size 1 in every operand, so the dimensions were dropped
        x = F.reshape(x, shape=(1,) * len(missing) + tuple(x.shape))
        term = missing + term
    return x if term == result else F.permute(x, dims=tuple([term.index(index) for index in result]))


def _sum_unneeded(F: Any, x: Any, term: str, needed: set[str]) -> tuple[Any, str]:
    """Sum x over the indices that are not needed. Returns x and its remaining indices."""
    summed = tuple([d for d, index in enumerate(term) if index not in needed])
    return (F.sum(x, dim=summed), "".join([i for i in term if i in needed])) if summed else (x, term)


def _pair_result(s: str, t: str, needed: set[str]) -> str:
    """Indices of the contraction of two operands, in the order of a batched matrix product: batch, left, right."""
    batch = [i for i in s if i in t and i in needed]
    return "".join(
        [*batch, *[i for i in s if i not in t and i in needed], *[i for i in t if i not in s and i in needed]]
    )


def _contraction_path(terms: list[str], result: str, sizes: dict[str, int]) -> list[Any]:
    """Order of contraction: pairs of positions in the list of operands. The result of each pair is appended to the list."""
    in_order = [(0, 1)] * (len(terms) - 1)
    if len(terms) <= 2:
        return in_order
    shapes = [tuple([sizes[index] for index in term]) for term in terms]
    left = "".join([index for index in result if any(index in term for term in terms)])
    path = _library_path(f"{','.join(terms)}->{left}", shapes)
    return path if all(len(pair) == 2 for pair in path) else in_order


def _library_path(subscripts: str, shapes: list[tuple[int, ...]]) -> list[Any]:
    """Order of contraction from opt_einsum, or from NumPy where opt_einsum is not installed."""
    try:
        contract_path = import_late("opt_einsum").contract_path
    except ModuleNotFoundError:
        indices = dict.fromkeys(subscripts.translate({ord(sign): None for sign in ",->"}))
        if len(indices) > len(_LETTERS):
            return [(0, 1)] * (len(shapes) - 1)
        subscripts = subscripts.translate({ord(index): letter for index, letter in zip(indices, _LETTERS, strict=False)})
        operands = [np.broadcast_to(0.0, shape) for shape in shapes]  # of one element in memory
        return np.einsum_path(subscripts, *operands, optimize="greedy")[0][1:]
    return list(contract_path(subscripts, *shapes, shapes=True)[0])


def _pair_node(inputs: tuple[Any, ...], params: Any) -> str:
    s, t, out = params["subscripts"]
    return "ViewBackward0" if any(i in t and i not in out for i in s) else "MulBackward0"


@bilinear(node=_pair_node, method=False, namespaces=())
def _contract_pair(xp, x, y, *, subscripts):
    """Product of x and y, summed over the indices that the result lacks.

    subscripts: the indices of x, of y and of the result. No index occurs twice in one of the three, or in only one of them."""
    plan = _pair_plan(*subscripts, x.shape, y.shape)
    x = x.transpose(plan.x_order).reshape(plan.x_shape)
    y = y.transpose(plan.y_order).reshape(plan.y_shape)
    if plan.kind == "elements":
        product = x[:, :, None] * y[:, None, :]
    elif plan.kind == "batch":
        product = batched_product(xp, x, y)
    else:
        product = matrix_product(xp, x, y)
    return product.reshape(plan.shape).transpose(plan.order)


class _PairPlan(NamedTuple):
    """Contraction of two operands as a matrix product: permutation and shape of each operand, shape and order of the product.

    kind: "elements" (nothing is summed), "batch" or "matrices"."""

    kind: str
    x_order: list[int]
    x_shape: list[int]
    y_order: list[int]
    y_shape: list[int]
    shape: list[int]
    order: list[int]


@lru_cache(maxsize=512)
def _pair_plan(s: str, t: str, out: str, x_shape: tuple[int, ...], y_shape: tuple[int, ...]) -> _PairPlan:
    """Plan the contraction of operands with the indices s and t to the indices out."""
    batch, inner = [i for i in s if i in t and i in out], [i for i in s if i in t and i not in out]
    left, right = [i for i in s if i not in t], [i for i in t if i not in s]
    size = dict(zip(s + t, x_shape + y_shape, strict=True))
    kind = "elements" if not inner else "batch" if batch else "matrices"
    if kind == "matrices":
        of_x, of_y = [left, inner], [inner, right]
    else:
        of_x, of_y = [batch, left, *([inner] if inner else [])], [batch, *([inner] if inner else []), right]
    order = [*batch, *left, *right]
    return _PairPlan(
        kind,
        [s.index(i) for group in of_x for i in group],
        [prod([size[i] for i in group]) for group in of_x],
        [t.index(i) for group in of_y for i in group],
        [prod([size[i] for i in group]) for group in of_y],
        [size[i] for i in order],
        [order.index(i) for i in out],
    )


@_contract_pair.vjp("x")
def _(F, ct, y, subscripts):
    s, t, out = subscripts
    return F._contract_pair(ct, F.conj(y), subscripts=(out, t, s))


@_contract_pair.vjp("y")
def _(F, ct, x, subscripts):
    s, t, out = subscripts
    return F._contract_pair(ct, F.conj(x), subscripts=(out, s, t))
