"""Custom Functions on torch and wengert: outputs of all kinds, writes in place, saving, nesting, re-entering, errors.

Known differences, which docs/semantics.md explains, are not in here: an output returned twice, mark_dirty on a view that is
not the first argument.
"""

from __future__ import annotations

from importlib import import_module

import pytest

import wengert
from loops import each
from twins import assert_same, attempt, run

torch = pytest.importorskip("torch")


def leaf(t, *values):
    return t.tensor(values, dtype=t.float64, requires_grad=True)


def function(t, forward, backward=None, **others):
    methods = {"forward": forward, "backward": backward, **others}
    return type("F", (t.autograd.Function,), {k: staticmethod(m) for k, m in methods.items() if m is not None})


def facts(x):
    """A tensor, without the name of a view's node, which torch makes again under another name."""
    view = x._is_view()
    name = None if x.grad_fn is None else "of a view" if view else x.grad_fn.name().removeprefix("torch::autograd::")
    return [repr(x.tolist()), repr(x.dtype), x.requires_grad, x.is_leaf, name, x._version, view]


def outcome(t, outputs, x):
    """Return the facts about a Function's results, and the gradient of a weighted sum of the results."""
    found = [facts(o) if isinstance(o, t.Tensor) else o for o in outputs]
    log = []

    def step():
        sum([(o * (i + 1)).sum() for i, o in enumerate(outputs) if isinstance(o, t.Tensor) and o.requires_grad]).backward()

    attempt(log, step)
    return [found, log, None if x.grad is None else x.grad.tolist()]


# -- what forward returns ----------------------------------------------------------------------------------------------------


def own_history(t, x):
    with t.enable_grad():
        return x * 2


def without_gradient(ctx, y):
    ctx.mark_non_differentiable(y)
    return y


FORWARDS = {
    "new": lambda t, ctx, x: x * 2,
    "input": lambda t, ctx, x: x,
    "view": lambda t, ctx, x: x.view(3),
    "part": lambda t, ctx, x: x[:2],
    "several": lambda t, ctx, x: (x * 2, x * x),
    "one in a tuple": lambda t, ctx, x: (x * 2,),
    "input and new": lambda t, ctx, x: (x, x * 2),
    "input twice": lambda t, ctx, x: (x, x),
    "two views": lambda t, ctx, x: (x[:2], x[1:]),
    "integers": lambda t, ctx, x: x.long(),
    "integers too": lambda t, ctx, x: (x * 2, x.long()),
    "other things": lambda t, ctx, x: (x * 2, "text", None, 3),
    "None": lambda t, ctx, x: None,
    "list": lambda t, ctx, x: [1, 2],
    "history of its own": lambda t, ctx, x: own_history(t, x),
    "detached": lambda t, ctx, x: x.detach(),
    "not differentiable": lambda t, ctx, x: without_gradient(ctx, x * 2),
    "one not differentiable": lambda t, ctx, x: (x * 3, without_gradient(ctx, x * 2)),
    "another tensor": lambda t, ctx, x: t.ones(3, dtype=t.float64),
    "0-d": lambda t, ctx, x: x.sum(),
    "empty": lambda t, ctx, x: x[:0] * 1,
    "complex": lambda t, ctx, x: x * (1 + 2j),
    "float32": lambda t, ctx, x: x.float(),
}
INPUTS = {
    "leaf": lambda t, x: x,
    "result": lambda t, x: x * 1,
    "view": lambda t, x: (x * 1)[:],
    "constant": lambda t, x: x.detach().clone(),
}


@each("given", INPUTS)
@each("forward", FORWARDS)
def test_results_of_forward_are_wrapped_as_in_torch(forward, given):
    def program(t, materialize):
        seen = []

        def run_forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return FORWARDS[forward](t, ctx, x)

        def backward(ctx, *grads):
            seen.append([None if g is None else [repr(g.tolist()), repr(g.dtype)] for g in grads])
            return t.full((3,), 7.0, dtype=t.float64)

        x = leaf(t, 1, 2, 3)
        given_x = INPUTS[given](t, x)
        returned = function(t, run_forward, backward).apply(given_x)
        outputs = returned if isinstance(returned, tuple) else (returned,)
        identities = [o is given_x for o in outputs]
        if given == "constant":  # torch makes a view of an input that it returns, wengert another tensor
            return [identities, [o.requires_grad if isinstance(o, t.Tensor) else o for o in outputs]]
        return [identities, type(returned).__name__, outcome(t, outputs, x), seen]

    for materialize in (True, False):
        assert_same(run(program, wengert, materialize), run(program, torch, materialize), f"materialize {materialize}")


@pytest.mark.parametrize("write", ["output", "input"])
@pytest.mark.parametrize("forward", ["new", "input", "view", "part", "several", "input and new", "two views", "history of its own"])
def test_a_write_after_a_function(forward, write):
    def program(t):
        x = leaf(t, 1, 2, 3)
        a = x * 1
        returned = function(t, lambda ctx, y: FORWARDS[forward](t, ctx, y), lambda ctx, *g: t.ones(3, dtype=t.float64)).apply(a)
        output = returned[0] if isinstance(returned, tuple) else returned
        log = []
        attempt(log, (output if write == "output" else a).mul_, 2)
        attempt(log, lambda: log.append(facts(output)))
        attempt(log, lambda: (output.sum() + a.sum()).backward())
        return [log, None if log[-1] != "fine" else x.grad.tolist()]

    assert_same(run(program, wengert), run(program, torch))


# -- writing in place --------------------------------------------------------------------------------------------------------

DIRTY = {
    "result": lambda t, x: x * 1,
    "leaf": lambda t, x: x,
    "constant": lambda t, x: t.ones(3, dtype=t.float64),
    "view": lambda t, x: (x * 1)[1:],
    "view of a view": lambda t, x: (x * 1)[1:].unsqueeze(0),
    "view of a leaf": lambda t, x: x[1:],
    "view of a constant": lambda t, x: t.ones(3, dtype=t.float64)[1:],
    "one of several": lambda t, x: (x * 1).split(2)[0],
}


@pytest.mark.parametrize("marked", ["marked", "unmarked", "not returned", "twice marked"])
@pytest.mark.parametrize("target", DIRTY)
def test_a_function_that_writes_its_input(target, marked):
    def program(t):
        def forward(ctx, a):
            if marked != "unmarked":
                ctx.mark_dirty(*((a, a) if marked == "twice marked" else (a,)))
            a.mul_(3)
            return a * 1 if marked == "not returned" else a

        x = leaf(t, 1, 2, 3)
        a = DIRTY[target](t, x)
        base = a._base if a._is_view() else a
        log = []
        attempt(log, lambda: log.append(function(t, forward, lambda ctx, g: g * 3).apply(a) is a))
        if log[-1] == "fine":
            attempt(log, lambda: log.extend([facts(a), facts(base)]))
            attempt(log, lambda: (base * base).sum().backward())
        return [log, None if x.grad is None else x.grad.tolist()]

    assert_same(run(program, wengert), run(program, torch))


def run_cases(cases):
    """Return a parametrisation by the names of the cases, and a function that runs one case in both libraries."""

    def compare(name):
        results = []
        for library in (wengert, torch):
            results.append(run(lambda t: cases(t)[name](), library))
        assert_same(*results)

    return pytest.mark.parametrize("name", list(cases(wengert))), compare


# -- saving, arguments, nesting, errors --------------------------------------------------------------------------------------


def function_cases(t):
    x = leaf(t, 1, 2, 3)

    def one(forward, backward=lambda ctx, g: g, *others, **methods):
        return function(t, forward, backward, **methods).apply(x, *others)

    def grad(y, **settings):
        return t.autograd.grad(y.sum(), x, **settings)[0]

    def shifted(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], t.tensor(inputs[1]))

    def plain(ctx, x):
        return x * 3

    once = import_module(t.__name__ + ".autograd.function").once_differentiable
    square = function(t, lambda ctx, x: (ctx.save_for_backward(x), x * x)[1], lambda ctx, g: g * 2 * ctx.saved_tensors[0])

    def twice(y):
        g = grad(y, create_graph=True)
        return [g.detach(), g.requires_grad, t.autograd.grad((g * g).sum(), x, allow_unused=True)[0]]

    def save_twice(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x * 2)
        return x * 1

    def save_intermediate(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y * 1

    def save_output(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    def modes(create_graph):
        seen = []

        def backward(ctx, g):
            seen.append((t.is_grad_enabled(), g.requires_grad))
            return g * 2

        grad(one(lambda ctx, x: x * 1, backward), create_graph=create_graph)
        return seen

    def mode_in_forward():
        seen = []
        one(lambda ctx, x: (seen.append((t.is_grad_enabled(), x.requires_grad, (x * 2).requires_grad)), x * 1)[1])
        return seen

    def reenter(ctx, g):
        with t.enable_grad():
            z = ctx.saved_tensors[0].detach().requires_grad_()
            (z * z).sum().backward()
        return g * z.grad

    def deep(n):
        class Deep(t.autograd.Function):
            @staticmethod
            def forward(ctx, x, n):
                ctx.n = n
                return x * 1

            @staticmethod
            def backward(ctx, g):
                if ctx.n == 0:
                    return g * 2, None
                z = leaf(t, 1)
                Deep.apply(z, ctx.n - 1).sum().backward()
                return g * z.grad, None

        y = leaf(t, 1)
        Deep.apply(y, n).sum().backward()
        return y.grad

    nested = function(
        t,
        lambda ctx, x: (ctx.save_for_backward(x), square.apply(x) * 2)[1],
        lambda ctx, g: square.apply(g) * 0 + g * 4 * ctx.saved_tensors[0],
    )
    scaled = function(t, lambda x, y=2: x * y, lambda ctx, g: (g * ctx.saved_tensors[1], None), setup_context=shifted)
    return {
        "save twice": lambda: one(save_twice).grad_fn.saved_tensors,
        "save a list": lambda: one(lambda ctx, x: (ctx.save_for_backward([x]), x * 1)[1]),
        "save None": lambda: one(lambda ctx, x: (ctx.save_for_backward(None, x), x * 1)[1]).grad_fn.saved_tensors,
        "save in backward": lambda: grad(one(plain, lambda ctx, g: (ctx.save_for_backward(g), g)[1])),
        "save an intermediate": lambda: grad(one(save_intermediate, lambda ctx, g: g * ctx.saved_tensors[0])),
        "save an intermediate, twice": lambda: twice(one(save_intermediate, lambda ctx, g: g * ctx.saved_tensors[0])),
        "save an output, twice": lambda: twice(one(save_output, lambda ctx, g: g * ctx.saved_tensors[0])),
        "saved output": lambda: one(save_output).grad_fn.saved_tensors,
        "saved input is the input": lambda: square.apply(x).grad_fn.saved_tensors[0] is x,
        "saved and written": lambda: grad(square.apply((x * 1).add_(1))),
        "square, twice": lambda: twice(square.apply(x)),
        "square under no_grad": lambda: [facts(f()) for f in [t.no_grad()(lambda: square.apply(x))]],
        "setup_context": lambda: grad(scaled.apply(x, 3)),
        "setup_context, default": lambda: grad(scaled.apply(x)),
        "setup_context returns": lambda: one(lambda x: x * 1, setup_context=lambda ctx, i, o: 3),
        "setup_context raises": lambda: one(lambda x: x * 1, setup_context=lambda ctx, i, o: {}["mine"]),
        "ctx in forward and setup_context": lambda: one(lambda ctx, x: x * 1, setup_context=lambda ctx, i, o: None),
        "constant": lambda: facts(square.apply(t.ones(2))),
        "no tensors": lambda: function(t, lambda ctx, a, b: a + b).apply(1, 2),
        "keyword": lambda: grad(function(t, lambda ctx, x, k=1: x * k, lambda ctx, g: (g, None)).apply(x, k=5)),
        "keyword tensor": lambda: grad(function(t, lambda ctx, x, k=1: x * k, lambda ctx, g: (g, g)).apply(x, k=leaf(t, 5))),
        "needs_input_grad": lambda: one(lambda ctx, x, y: x * 1, lambda ctx, g: (g, None), t.ones(3)).grad_fn.needs_input_grad,
        "node": lambda: [type(one(plain).grad_fn).__name__, len(one(plain).grad_fn.next_functions), one(plain).grad_fn.metadata],
        "next_functions": lambda: [
            (None if n is None else n.name(), i) for n, i in one(lambda ctx, x, y, z: x * 1, None, 3, t.ones(3)).grad_fn.next_functions
        ],
        "jvp missing": lambda: square.jvp(None, x),
        "vmap missing": lambda: square.vmap(None, None, x),
        "backward of the base": lambda: t.autograd.Function.backward(None, 1),
        "forward of the base": lambda: t.autograd.Function.forward(None, 1),
        "vjp of the base": lambda: t.autograd.Function.vjp(None, 1),
        "setup_context of the base": lambda: t.autograd.Function.setup_context(None, 1, 2),
        "call of an instance": lambda: square()(x),
        "mode in forward": mode_in_forward,
        "modes in backward": lambda: [modes(False), modes(True)],
        "nested": lambda: twice(nested.apply(x)),
        "re-entrant": lambda: grad(one(lambda ctx, x: (ctx.save_for_backward(x), x * x)[1], reenter)),
        "re-entrant, 1 deep": lambda: deep(1),
        "re-entrant, 100 deep": lambda: deep(100),
        "re-entrant, 500 deep": lambda: deep(500),
        "once": lambda: twice(one(plain, once(lambda ctx, g: g * 3))),
        "once, not needed twice": lambda: grad(one(plain, once(lambda ctx, g: g * 3)), create_graph=True).requires_grad,
        "once, None": lambda: grad(one(plain, once(lambda ctx, g: None)), create_graph=True, allow_unused=True),
        "once, more": lambda: grad(one(plain, once(lambda ctx, g: (g * 3, None))), create_graph=True).requires_grad,
        "None for a gradient": lambda: grad(one(plain, lambda ctx, g: None)),
        "gradient that broadcasts": lambda: grad(one(plain, lambda ctx, g: g.sum())),
        "gradient of another dtype": lambda: grad(one(plain, lambda ctx, g: g.float())),
        "gradient of integers": lambda: grad(one(plain, lambda ctx, g: g.long())),
        "gradient that is larger": lambda: grad(one(plain, lambda ctx, g: t.ones(2, 3, dtype=t.float64))),
        "gradient of another size": lambda: grad(one(plain, lambda ctx, g: t.ones(2, dtype=t.float64))),
        "too many gradients": lambda: grad(one(plain, lambda ctx, g: (g, g))),
        "no tensor": lambda: grad(one(plain, lambda ctx, g: "a")),
        "too few gradients": lambda: grad(one(lambda ctx, x, y: x * 1, lambda ctx, g: g, leaf(t, 1))),
        "a list of gradients": lambda: grad(one(lambda ctx, x, y: x * 1, lambda ctx, g: [g, g], leaf(t, 1))),
        "error in forward": lambda: one(lambda ctx, x: {}["mine"]),
        "error in backward": lambda: grad(one(plain, lambda ctx, g: {}["mine"])),
        "no backward": lambda: grad(one(plain, None)),
        "backward and vjp": lambda: grad(one(plain, lambda ctx, g: g, vjp=lambda ctx, g: g)),
        "vjp alone": lambda: grad(one(plain, None, vjp=lambda ctx, g: g * 5)),
        "freed": lambda: (lambda y: (grad(y), grad(y)))(square.apply(x)),
        "freed, nothing saved": lambda: (lambda y: (grad(y), grad(y)))(one(plain, lambda ctx, g: g * 3)),
        "retained": lambda: (lambda y: (grad(y, retain_graph=True), grad(y)))(square.apply(x)),
    }


function_parameters, compare_function = run_cases(function_cases)


@function_parameters
def test_a_function(name):
    compare_function(name)
