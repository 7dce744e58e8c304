"""Second derivatives through writes in place: every in-place operation, on tensors and views, beside its out-of-place form."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import wengert
from op_samples.cases import CASES, Case, grad_inputs
from wengert import errors
from wengert.autograd import grad
from wengert.core.tensor import TensorBase, wrap
from wengert.ops.registry import Composite, takes_inplace

# How the target of a write is made: region(base) is written, where base = stack([x, x, x], dim).
REGIONS: dict[str, tuple[int, Callable[[Any], Any]]] = {
    "view": (0, lambda base: base[1]),
    "strided view": (-1, lambda base: base[..., 1]),
    "view of a view": (0, lambda base: base[1:][0]),
    "view of a transposed view": (-1, lambda base: base.movedim(-1, 0)[1:].select(0, 0)),
    "as_strided view": (0, lambda base: base.as_strided(base.shape[1:], base.stride()[1:], base[0].numel())),
}
FORMS = ("clone", *REGIONS)


def writer(op: Any) -> Callable[..., Any] | None:
    """Return the operation's in-place form, or None."""
    inplace = getattr(op, "inplace", False)
    if inplace:
        return getattr(wengert.Tensor, inplace if isinstance(inplace, str) else f"{op.name}_")
    return partial(op.function, inplace=True) if isinstance(op, Composite) and takes_inplace(op) else None


def written_cases() -> Iterator[Case]:
    """Yield the cases whose operation has an in-place form, and whose result fits into the first input."""
    for case in CASES:
        if writer(case.op) is None or "inplace" in case.sample.params:
            continue
        inputs = case.tensors(np.float64)
        x = inputs[0]
        if not isinstance(x, TensorBase) or not x.requires_grad:
            continue
        try:
            result = case.call(inputs)
        except errors.UnsupportedDtypeError:  # an operation on integers
            continue
        if isinstance(result, TensorBase) and result.requires_grad and result.shape == x.shape and result.dtype == x.dtype:
            yield case


def outcome(case: Case, form: str, in_place: bool) -> list[Any]:
    """Value, gradients and second derivatives of a program with one write, or of its out-of-place form."""
    inputs = case.tensors(np.float64)
    x, others = inputs[0], inputs[1:]
    write = writer(case.op) if in_place else case.op.function
    if form == "clone":
        base = x.clone()
        written = case.call([base, *others], write)
        base = base if in_place else written
    else:
        dim, region = REGIONS[form]
        parts = [x, x * 1, x]
        if in_place:
            base = wengert.stack(parts, dim)
            view = region(base)
            case.call([view, *others], write)
            base = base + 0.5 * wengert.stack([view, view, view], dim)  # the view is used after the write, too
        else:
            parts[1] = case.call([parts[1], *others], write)
            base = wengert.stack(parts, dim) + 0.5 * wengert.stack([parts[1]] * 3, dim)
    chosen = grad_inputs(inputs)
    loss = (base * weights(base, 3)).sum() + (0.5 * base * base).sum()
    first = grad(loss, chosen, create_graph=True, allow_unused=True)
    combined = sum([(g * weights(g, 4)).sum() for g in first if g is not None])
    second = grad(combined, chosen, allow_unused=True) if combined.requires_grad else [None] * len(chosen)
    zeros = [wengert.zeros_like(x) for x in chosen]
    return [base.detach(), *[z if g is None else g.detach() for g, z in zip([*first, *second], zeros * 2, strict=True)]]


def weights(x: Any, seed: int) -> Any:
    """Random numbers in [-1, 1), of x's shape."""
    return wrap(np.random.default_rng(seed).uniform(-1, 1, x.shape))


def check(case: Case, form: str) -> None:
    """Compare the derivatives of both forms to second order."""
    for found, wanted in zip(outcome(case, form, True), outcome(case, form, False), strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-9, atol=1e-9, err_msg=f"{case.id} on a {form}")


def run(seed: int, calls: int) -> None:
    """Check writes drawn from the seed."""
    drawn = random.Random(seed)
    cases = list(written_cases())
    for number in range(calls):
        case, form = drawn.choice(cases), drawn.choice(FORMS)
        try:
            check(case, form)
        except Exception as error:
            raise AssertionError(f"seed {seed}, call {number}: {case.id} on a {form}: {error}") from error
