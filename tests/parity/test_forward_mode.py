"""Forward mode on torch and wengert: values, dual levels, views and writes in place, both modes together, messages.

Not in here, where torch is wrong or falls over: `x.mul_(x)` gives another tangent than `x * x`, a gradient that is accumulated into
nothing loses its tangent, a `jvp` that returns None ends in an internal assertion, and numbers in place of tensors in an AttributeError.
tests/autograd/test_forward_ad.py says what these give here.
"""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from twins import assert_same, attempt, run

torch = pytest.importorskip("torch")


def forward_ad(t):
    return t.autograd.forward_ad


def dual(t, values, direction, **kwargs):
    return forward_ad(t).make_dual(t.tensor(values, dtype=t.float64, **kwargs), t.tensor(direction, dtype=t.float64))


def unpacked(t, x):
    return list(forward_ad(t).unpack_dual(x))


def same(program, *arguments):
    assert_same(run(program, wengert, *arguments), run(program, torch, *arguments))


# -- operations of several kinds ------------------------------------------------------------------------------------------------

OPERATIONS = {
    "product": lambda t, x, y: x * y,
    "quotient with a number": lambda t, x, y: 2 / x,
    "one input without a tangent": lambda t, x, y: x * t.ones(3, dtype=t.float64),
    "broadcast": lambda t, x, y: x.view(3, 1) + y,
    "matrix product": lambda t, x, y: x.view(3, 1) @ y.view(1, 3),
    "sum and mean": lambda t, x, y: (x.sum() * y.mean()),
    "two outputs": lambda t, x, y: t.aminmax(x * y),
    "values and indices": lambda t, x, y: x.max(dim=0),
    "sort": lambda t, x, y: (x * y).sort(descending=True),
    "list of outputs": lambda t, x, y: t.split(t.cat([x, y]), 2),
    "list of inputs": lambda t, x, y: t.stack([x, y, t.ones(3, dtype=t.float64)]),
    "integers in between": lambda t, x, y: x.long() * y,
    "cast down": lambda t, x, y: (x * y).float(),
    "cast up": lambda t, x, y: x.float() * y,
    "to complex": lambda t, x, y: t.complex(x, y) * 1j,
    "absolute value of complex": lambda t, x, y: t.complex(x, y).abs(),
    "masked": lambda t, x, y: t.where(x > 1.5, x * x, y),
    "indexed": lambda t, x, y: x[t.tensor([0, 0, 2])] * y[1:],
    "scattered": lambda t, x, y: t.zeros(4, dtype=t.float64).index_add(0, t.tensor([0, 0, 2]), x),
    "step function": lambda t, x, y: x.round() + x.sign(),
    "comparison": lambda t, x, y: x > y,
    "detached": lambda t, x, y: x.detach() * y,
    "softmax": lambda t, x, y: t.softmax(x * y, 0),
    "cumprod": lambda t, x, y: x.cumprod(0),
    "norm": lambda t, x, y: t.linalg.norm(x),
    "solve": lambda t, x, y: t.linalg.solve(t.diag(x) + 1, y),
    "cross entropy": lambda t, x, y: t.nn.functional.cross_entropy(x.view(1, 3), t.tensor([2])),
    "linear with bias": lambda t, x, y: t.nn.functional.linear(x, t.ones(2, 3, dtype=t.float64), y[:2]),
}


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_values_and_tangents(operation):
    def program(t):
        with forward_ad(t).dual_level():
            x, y = dual(t, [1.0, 2.0, -3.0], [1.0, 0.5, 2.0]), dual(t, [0.5, -1.0, 4.0], [0.0, 3.0, -1.0])
            result = operation(t, x, y)
            results = list(result) if isinstance(result, (tuple, list)) else [result]
            return [[p.detach(), d] for p, d in (unpacked(t, r) for r in results)]

    same(program)


def random_program(seed):
    """A chain of operations, drawn from the seed."""
    steps = [
        lambda t, x, y: (x * y, y), lambda t, x, y: (x + y.sum(), x), lambda t, x, y: (y, x.tanh()),
        lambda t, x, y: (x.flip(0), y * 0.5), lambda t, x, y: (x.cumsum(0) / 3, y), lambda t, x, y: (x.roll(1), y - x),
        lambda t, x, y: (t.where(y > 0, x, y.sin()), y), lambda t, x, y: (x.clone().mul_(0.5), y), lambda t, x, y: (x.view(1, 4)[0], y),
    ]  # fmt: skip
    return [steps[i] for i in np.random.default_rng(seed).integers(len(steps), size=8)]


@pytest.mark.parametrize("seed", range(25))
def test_chains_of_operations(seed):
    def program(t):
        w = t.tensor([0.5, -1.0, 2.0, 0.1], dtype=t.float64, requires_grad=True)
        with forward_ad(t).dual_level():
            x = forward_ad(t).make_dual(w, t.tensor([1.0, 0.5, -1.0, 2.0], dtype=t.float64))
            y = t.tensor([0.3, 0.7, -0.4, 1.0], dtype=t.float64)
            for step in random_program(seed):
                x, y = step(t, x, y)
            value = (x * y).sum()
            (gradient,) = t.autograd.grad(value, w, create_graph=True)
            found = [unpacked(t, value)[1], *unpacked(t, gradient)]
        return [None if f is None else f.detach() for f in found]

    same(program)


# -- levels ---------------------------------------------------------------------------------------------------------------------


def one(t):
    return t.ones(2, dtype=t.float64)


LEVELS = {
    "what it returns": lambda t, f: f.enter_dual_level(),
    "leaving by number": lambda t, f: [f.enter_dual_level(), f.exit_dual_level(level=0)],
    "nested": lambda t, f: [f.enter_dual_level(), f.enter_dual_level()],
    "leaving none": lambda t, f: f.exit_dual_level(),
    "leaving another one": lambda t, f: [f.enter_dual_level(), f.exit_dual_level(level=1)],
    "make_dual outside": lambda t, f: f.make_dual(one(t), one(t)),
    "make_dual at another level": lambda t, f: [f.enter_dual_level(), f.make_dual(one(t), one(t), level=1)],
    "unpack_dual outside": lambda t, f: list(f.unpack_dual(one(t))),
    "dual of a dual": lambda t, f: [f.enter_dual_level(), f.make_dual(f.make_dual(one(t), one(t)), one(t))],
    "another shape": lambda t, f: [f.enter_dual_level(), f.make_dual(one(t), t.ones(3, dtype=t.float64))],
    "a shape to broadcast": lambda t, f: [f.enter_dual_level(), f.make_dual(one(t), t.ones(1, dtype=t.float64))],
    "another dtype": lambda t, f: [f.enter_dual_level(), list(f.unpack_dual(f.make_dual(one(t), t.ones(2))))],
    "out= of a dual": lambda t, f: [f.enter_dual_level(), t.add(f.make_dual(one(t), one(t)), 1, out=one(t))],
    "out= into a dual": lambda t, f: [f.enter_dual_level(), t.add(one(t), 1, out=f.make_dual(one(t), one(t)))],
}


@pytest.mark.parametrize("program", LEVELS.values(), ids=LEVELS)
def test_levels_and_their_misuse(program):
    def attempted(t):
        f, log = forward_ad(t), []
        try:
            attempt(log, lambda: log.append(program(t, f)))
        finally:
            try:
                f.exit_dual_level(level=0)
                log.append("a level was open")
            except RuntimeError:
                log.append("no level was open")
        return log

    same(attempted)


@pytest.mark.parametrize("dtypes", [("int64", "float64"), ("float64", "int64"), ("bool", "bool")])
def test_integers_are_refused(dtypes):
    messages = []
    for t in (wengert, torch):
        with forward_ad(t).dual_level(), pytest.raises(ValueError, match="Expected ") as caught:
            forward_ad(t).make_dual(*[t.ones(2, dtype=getattr(t, d)) for d in dtypes])
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_tangents_end_with_their_level():
    def program(t):
        f, seen = forward_ad(t), []
        with f.dual_level():
            x = dual(t, [1.0], [2.0])
            y = x * 3
            seen += unpacked(t, y)
        seen += unpacked(t, y)
        with f.dual_level():
            seen += [unpacked(t, x)[1], unpacked(t, y * x)[1]]
            again = f.make_dual(x, t.ones(1, dtype=t.float64))
            seen.append(unpacked(t, again * 2)[1])
        attempt(seen, lambda: raise_inside(f))
        with f.dual_level():  # which an exception has left
            seen.append(unpacked(t, dual(t, [1.0], [1.0]) * 2)[1])
        return [s.detach() if isinstance(s, t.Tensor) else s for s in seen]

    def raise_inside(f):
        with f.dual_level():
            raise KeyError("inside")

    same(program)


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode", "enable_grad"])
def test_grad_modes(mode):
    def program(t):
        w = t.tensor([1.0, 2.0], requires_grad=True)
        with forward_ad(t).dual_level():
            x = forward_ad(t).make_dual(w, t.ones(2))
            with getattr(t, mode)():
                y = x * x
            primal, tangent = unpacked(t, y)
            return [tangent is None, primal.requires_grad, None if tangent is None else tangent.requires_grad]

    same(program)


def test_forward_mode_switched_off():
    def program(t):
        f = forward_ad(t)
        with f.dual_level():
            x = dual(t, [1.0], [2.0])
            with f._set_fwd_grad_enabled(False):
                y = x * 2
                inside = unpacked(t, x)[1]
            return [inside, unpacked(t, y)[1], unpacked(t, x * 2)[1]]

    same(program)


# -- views and writes in place ----------------------------------------------------------------------------------------------------

WRITES = {
    "a view of a dual": lambda t, x, d: [x[1:].mul_(2), x],
    "the base of a view": lambda t, x, d: [v := x[1:], x.mul_(3), v],
    "an index": lambda t, x, d: [x.__setitem__(0, 7.0), x],
    "an index with a dual": lambda t, x, d: [x.__setitem__(slice(0, 2), d[:2]), x],
    "zero_": lambda t, x, d: [x.zero_()],
    "fill_ with a dual": lambda t, x, d: [x.fill_(d[1])],
    "copy_": lambda t, x, d: [x.copy_(d * d)],
    "a chain of views": lambda t, x, d: [x.view(3, 1)[1:].add_(d[:2].view(2, 1)), x],
    "masked_fill_": lambda t, x, d: [x.masked_fill_(x > 1.5, 0.0)],
    "a part of itself": lambda t, x, d: [x[:1].add_(x[1:2]), x],
    "a plain tensor": lambda t, x, d: [t.zeros(3, dtype=t.float64).copy_(d)],
    "a view of a plain tensor": lambda t, x, d: [z := t.zeros(2, 3, dtype=t.float64), z[0].copy_(d), z],
    "an integer tensor": lambda t, x, d: [t.zeros(3, dtype=t.int64).copy_(d)],
    "transposed": lambda t, x, d: [m := t.outer(x, d), m.t_(), m[0].mul_(2), m],
    "detached": lambda t, x, d: [y := x.detach(), y.mul_(2), x],
    "of data": lambda t, x, d: [x.data.mul_(2), x],
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_writes_in_place(write):
    def program(t):
        with forward_ad(t).dual_level():
            x, d = dual(t, [1.0, 2.0, 3.0], [1.0, 10.0, 100.0]), dual(t, [4.0, 5.0, 6.0], [-1.0, -2.0, -3.0])
            results = [r for r in write(t, x, d) if r is not None]
            # Their origin does not matter: after a write torch makes views' nodes again.
            return [[p.detach(), d] for p, d in (unpacked(t, r) for r in results)]

    same(program)


def test_the_tangent_is_kept_if_it_is_laid_out_alike():
    def program(t):
        seen = []
        for direction in [t.ones(2, 3), t.ones(3, 2).t(), t.ones(1).expand(2, 3), t.ones(2, 6)[:, ::2]]:
            with forward_ad(t).dual_level():
                x = forward_ad(t).make_dual(t.ones(2, 3), direction)
                unpacked(t, x)[1].mul_(2)
                seen += [direction.tolist(), unpacked(t, x)[1].stride() == x.stride()]
        return seen

    same(program)


def test_dual_tensors_are_views():
    def program(t):
        base = t.zeros(2)
        with forward_ad(t).dual_level():
            x = forward_ad(t).make_dual(base, t.ones(2))
            primal, tangent = unpacked(t, x)
            before = [x._is_view(), x._base is base, primal._is_view(), tangent._is_view(), unpacked(t, primal)[1], unpacked(t, base)[1]]
            x.add_(1)
            return [*before, base, primal.detach(), x._version, base._version]

    same(program)


def test_printing():
    def program(t):
        with forward_ad(t).dual_level():
            x = forward_ad(t).make_dual(t.ones(2), t.ones(2))
            return [repr(x), repr(x.sum()), repr(x.detach()), repr(unpacked(t, x))]

    same(program)


# -- with backward passes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("create_graph", [False, True])
def test_forward_over_reverse(create_graph):
    def program(t):
        w = t.tensor([0.5, 1.5], dtype=t.float64, requires_grad=True)
        with forward_ad(t).dual_level():
            y = (forward_ad(t).make_dual(w, t.tensor([1.0, -1.0], dtype=t.float64)).exp() ** 2).prod()
            (g,) = t.autograd.grad(y, w, create_graph=create_graph)
            primal, tangent = unpacked(t, g)
            return [primal.detach(), tangent.detach(), g.requires_grad, tangent.requires_grad]

    same(program)


def test_reverse_over_forward():
    def program(t):
        w = t.tensor([0.5, 1.5], dtype=t.float64, requires_grad=True)
        v = t.tensor([1.0, -1.0], dtype=t.float64, requires_grad=True)
        with forward_ad(t).dual_level():
            along = unpacked(t, (forward_ad(t).make_dual(w, v).exp() ** 2).prod())[1]
        return [along.requires_grad, *t.autograd.grad(along, [w, v], create_graph=True)[0].detach().tolist()]

    same(program)


# -- Functions --------------------------------------------------------------------------------------------------------------------

JVPS = {
    "right": lambda ctx, x_t, n: 2 * x_t,
    "a number": lambda ctx, x_t, n: 1.0,
    "too many": lambda ctx, x_t, n: (x_t, x_t),
    "another shape": lambda ctx, x_t, n: x_t.sum(),
    "another dtype": lambda ctx, x_t, n: (2 * x_t).float(),
    "saved for forward": lambda ctx, x_t, n: ctx.saved_tensors[0] * x_t,
    "raises": lambda ctx, x_t, n: {}["mine"],
}


@pytest.mark.parametrize("rule", JVPS.values(), ids=JVPS)
def test_functions(rule):
    def program(t):
        class Doubled(t.autograd.Function):
            @staticmethod
            def forward(ctx, x, n):
                ctx.save_for_forward(x)
                return x * n

            jvp = staticmethod(rule)

        with forward_ad(t).dual_level():
            log = []
            attempt(log, lambda: log.extend(p.detach() for p in unpacked(t, Doubled.apply(dual(t, [1.0, 2.0], [3.0, 4.0]), 2))))
            return log

    same(program)


def test_a_function_without_jvp():
    def program(t):
        class Plain(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

        log = []
        with forward_ad(t).dual_level():
            attempt(log, lambda: log.append(Plain.apply(t.ones(2))))
            attempt(log, lambda: Plain.apply(dual(t, [1.0], [1.0])))
        return log

    same(program)


# -- functions of functions -------------------------------------------------------------------------------------------------------

TRANSFORMS = {
    "jvp": lambda t, f, x: t.func.jvp(f, (x,), (x + 1,)),
    "jvp with aux": lambda t, f, x: t.func.jvp(lambda y: (f(y), y * 2), (x,), (x + 1,), has_aux=True),
    "jvp of two": lambda t, f, x: t.func.jvp(lambda y, z: f(y) * z, (x, x * 2), (x + 1, x)),
    "jvp of jvp": lambda t, f, x: t.func.jvp(lambda y: t.func.jvp(f, (y,), (x,))[1], (x,), (x + 1,)),
    "jvp of grad": lambda t, f, x: t.func.jvp(t.func.grad(lambda y: f(y).sum()), (x,), (x + 1,)),
    "grad of jvp": lambda t, f, x: t.func.grad(lambda y: t.func.jvp(f, (y,), (x,))[1].sum())(x),
    "jacfwd": lambda t, f, x: t.func.jacfwd(f)(x),
    "jacfwd of jacfwd": lambda t, f, x: t.func.jacfwd(t.func.jacfwd(f))(x),
    "jacfwd of jacrev": lambda t, f, x: t.func.jacfwd(t.func.jacrev(f))(x),
    "hessian": lambda t, f, x: t.func.hessian(lambda y: f(y).sum())(x),
    "functional.jvp": lambda t, f, x: t.autograd.functional.jvp(f, x, x + 1),
    "functional.jacobian": lambda t, f, x: t.autograd.functional.jacobian(f, x, strategy="forward-mode", vectorize=True),
    "tangents of another number": lambda t, f, x: t.func.jvp(f, (x,), (x, x)),
    "tangents of another shape": lambda t, f, x: t.func.jvp(f, (x,), (x[:1],)),
    "no tuple": lambda t, f, x: t.func.jvp(f, x, (x,)),
    "no tensor": lambda t, f, x: t.func.jvp(lambda y: 1.0, (x,), (x,)),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_transforms(transform):
    def program(t):
        result = transform(t, lambda x: x.sin() * x.prod(), t.tensor([0.5, 1.5, -1.0], dtype=t.float64))
        results = list(result) if isinstance(result, (tuple, list)) else [result]
        return [r.detach() for r in results]

    same(program)
