"""Small programs run by torch and by wengert: what they return, gradients, flags, names of nodes, versions and errors agree.

A program takes the library as `torch` and returns what is to be compared.
"""

from __future__ import annotations

import warnings

import pytest

import wengert
from twins import BUILTINS, assert_same, describe, described_error, run

torch = pytest.importorskip("torch")

PROGRAMS = []


def program(function):
    """Adds a function to the programs that are compared."""
    PROGRAMS.append(function)
    return function


def leaf(torch, *numbers):
    return torch.tensor(list(numbers), dtype=torch.float64, requires_grad=True)


def const(torch, *numbers):
    return torch.tensor(list(numbers), dtype=torch.float64)


def function(torch, forward, backward=None, **others):
    methods = {"forward": forward, "backward": backward, **others}
    methods = {k: staticmethod(m) for k, m in methods.items() if m is not None}
    return type("F", (torch.autograd.Function,), methods).apply


# -- backward --------------------------------------------------------------------------------------------------------------


@program
def expression(torch):
    x, w = leaf(torch, 1, 2, 3), leaf(torch, 4, 5, 6)
    y = x * w
    z = (y + x).tanh().sum()
    z.backward()
    return x, w, y, z, x.grad, w.grad


@program
def dtypes_and_shapes(torch):
    x = torch.ones(3, 1, requires_grad=True)
    w = torch.ones(2, 1, 4, dtype=torch.float64, requires_grad=True)
    y = x * w
    y.sum().backward()
    return y, x.grad, w.grad


@program
def accumulation(torch):
    x = leaf(torch, 1, 2)
    (x * x).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    return x.grad, first is x.grad, x


@program
def create_graph_replaces_grad(torch):
    x = leaf(torch, 2)
    (x**3).sum().backward(create_graph=True)
    first = x.grad
    (x**3).sum().backward(create_graph=True)
    return first.detach(), x.grad.detach(), first is x.grad, x.grad.requires_grad


@program
def create_graph_then_plain(torch):
    x = leaf(torch, 2)
    (x**3).sum().backward(create_graph=True)
    (x**3).sum().backward()
    return x.grad.detach(), x.grad.requires_grad


@program
def interior_inputs(torch):
    x = leaf(torch, 2)
    y = x * x
    (y * y * x).backward(inputs=[y, x])
    return y.grad, x.grad, y.retains_grad


@program
def root_is_leaf(torch):
    x = leaf(torch, 2, 3)
    x.backward(const(torch, 5, 7))
    x.backward(const(torch, 5, 7))
    return x.grad


@program
def roots_in_each_other(torch):
    x = leaf(torch, 2)
    y = x * x
    z = y * x
    torch.autograd.backward([y, z, y])
    return x.grad


@program
def zero_dim_and_one_element(torch):
    results = []
    for shape in ((), (1,), (1, 1, 1)):
        x = torch.full(shape, 2.0, requires_grad=True)
        (x * x).backward()
        results.append(x.grad)
    return results


@program
def unbroadcast(torch):
    results = []
    for shape in ((), (1,), (3,), (1, 3), (2, 1), (2, 3), (1, 1)):
        x = torch.full(shape, 2.0, requires_grad=True)
        (x * torch.arange(6.0).view(2, 3)).sum().backward()
        results.append(x.grad)
    return results


def backward_error(call):
    """Return a program that calls `call` with x = (1, 2), which has a gradient, and y = x * x. Then it runs backward from y."""

    def run_it(torch):
        x = leaf(torch, 1, 2)
        x.grad = const(torch, 0.5, 0.5)
        y = x * x
        try:
            call(torch, x, y)
            outcome = "fine"
        except BUILTINS as error:
            outcome = described_error(error)
        state = describe([x, y, x.grad], torch)
        y.backward(const(torch, 1, 1))
        return Outcome(outcome, state, describe(x.grad, torch))

    return run_it


class Outcome(list):
    """Already described."""

    def __init__(self, *parts):
        super().__init__(parts)


BACKWARD_ERRORS = {
    "non-scalar": lambda torch, x, y: y.backward(),
    "shape": lambda torch, x, y: y.backward(const(torch, 1, 2, 3)),
    "shape that broadcasts": lambda torch, x, y: y.backward(const(torch, 1)),
    "no graph": lambda torch, x, y: const(torch, 1).backward(),
    "one of two without graph": lambda torch, x, y: torch.autograd.backward([y.sum(), const(torch, 1)]),
    "gradient type": lambda torch, x, y: torch.autograd.backward([y], ["a"]),
    "gradient number": lambda torch, x, y: torch.autograd.backward([y, y], [const(torch, 1, 1)]),
    "input type": lambda torch, x, y: y.backward(const(torch, 1, 1), inputs=["a"]),
    "no inputs": lambda torch, x, y: y.backward(const(torch, 1, 1), inputs=[]),
    "grad, no inputs": lambda torch, x, y: torch.autograd.grad(y.sum(), []),
    "grad, input without requires_grad": lambda torch, x, y: torch.autograd.grad(y.sum(), [const(torch, 1)]),
    "grad, unused": lambda torch, x, y: torch.autograd.grad(y.sum(), [leaf(torch, 1)], retain_graph=True),
    "grad, non-scalar": lambda torch, x, y: torch.autograd.grad(y, x),
    "grad, shape": lambda torch, x, y: torch.autograd.grad(y, x, const(torch, 1)),
    "grad, materialize and unused": lambda torch, x, y: torch.autograd.grad(y.sum(), x, materialize_grads=True, allow_unused=False),
    "both names": lambda torch, x, y: torch.autograd.backward([y], [const(torch, 1, 1)], grad_variables=[const(torch, 1, 1)]),
    "complex gradient": lambda torch, x, y: y.backward(torch.ones(2, dtype=torch.complex128)),
    "leaf in place": lambda torch, x, y: x.add_(1),
    "view of leaf in place": lambda torch, x, y: x[:1].add_(1),
    "element of leaf": lambda torch, x, y: x.__setitem__(0, 1.0),
    "requires_grad of non-leaf": lambda torch, x, y: y.requires_grad_(False),
    "requires_grad at creation": lambda torch, x, y: torch.ones(2, dtype=torch.int64, requires_grad=True),
    "requires_grad no bool": lambda torch, x, y: setattr(const(torch, 1), "requires_grad", "a"),
    "hook without requires_grad": lambda torch, x, y: const(torch, 1).register_hook(print),
    "retain_grad without requires_grad": lambda torch, x, y: const(torch, 1).retain_grad(),
    "post-accumulate hook on non-leaf": lambda torch, x, y: y.register_post_accumulate_grad_hook(print),
    "grad of another shape": lambda torch, x, y: setattr(x, "grad", const(torch, 1)),
    "grad of another type": lambda torch, x, y: setattr(x, "grad", 1),
    "grad itself": lambda torch, x, y: setattr(x, "grad", x),
    "data of another type": lambda torch, x, y: setattr(x, "data", 1),
    "integer data": lambda torch, x, y: setattr(x, "data", torch.ones(2, dtype=torch.int64)),
    "numpy": lambda torch, x, y: y.numpy(),
    "detach_ of a view": lambda torch, x, y: (x * 1)[0].detach_(),
    "out=": lambda torch, x, y: torch.add(x, 1, out=const(torch, 0, 0)),
    "item": lambda torch, x, y: y.item(),
    "bool": lambda torch, x, y: bool(y),
    "broadcast": lambda torch, x, y: y + const(torch, 1, 2, 3),
    "broadcast, with a parameter": lambda torch, x, y: torch.add(y, const(torch, 1, 2, 3), alpha=2),
    "broadcast, in place": lambda torch, x, y: (x * 1).mul_(const(torch, 1, 2, 3)),
    "broadcast, into out=": lambda torch, x, y: torch.add(const(torch, 1, 2), const(torch, 1, 2, 3), out=const(torch, 0)),
    "write that broadcasts": lambda torch, x, y: (x * 1).add_(torch.ones(3, 2)),
    "write of a higher kind": lambda torch, x, y: torch.ones(2, dtype=torch.int64).add_(1.5),
}


@pytest.mark.parametrize("case", BACKWARD_ERRORS)
def test_error_and_state_after_it(case):
    provoke = backward_error(BACKWARD_ERRORS[case])
    ours, theirs = run_outcome(provoke, wengert), run_outcome(provoke, torch)
    assert theirs[0] != "fine"
    for i, (mine, value) in enumerate(zip(ours, theirs, strict=True)):
        assert_same(mine, value, f"part {i}")


def run_outcome(provoke, library):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return provoke(library)


# -- a second pass, and writes after saving ------------------------------------------------------------------------------------


@program
def second_pass(torch):
    y = leaf(torch, 2) ** 2
    y.backward()
    y.backward()


@program
def second_pass_that_saved_nothing(torch):
    x = leaf(torch, 2)
    y = x + 1
    y.backward()
    y.backward()
    return x.grad


@program
def written_input(torch):
    a = leaf(torch, 1, 2) + 1
    z = a * a
    a.add_(1)
    z.sum().backward()


@program
def written_output(torch):
    a = leaf(torch, 1, 2).exp()
    z = a * 2
    a.add_(1)
    z.sum().backward()


@program
def written_leaf(torch):
    x = leaf(torch, 1, 2)
    z = x * x
    with torch.no_grad():
        x.add_(1)
    z.sum().backward()


@program
def written_base_of_saved_view(torch):
    a = leaf(torch, 1, 2) * 1
    z = a[:1] ** 2
    a.mul_(2)
    z.sum().backward()


@program
def written_after_a_write_into_a_view(torch):
    b = leaf(torch, 1, 2, 3) * 1
    b[:2].mul_(2)
    z = b * b
    b.add_(1)
    z.sum().backward()


@program
def written_but_not_saved(torch):
    x = leaf(torch, 1, 2)
    a = x + 1
    z = a + 1
    a.mul_(2)
    z.sum().backward()
    return x.grad, a, z


# -- writes and views ----------------------------------------------------------------------------------------------------------


@program
def in_place_chain(torch):
    x = leaf(torch, 0.5, 1.5)
    a = x * 1
    b = a.mul_(3).add_(1).neg_()
    b.sum().backward()
    return a is b, a, x.grad


@program
def write_into_views(torch):
    x = leaf(torch, 1, 2, 3, 4)
    a = x * 1
    v = a[1:3]
    w = a.view(2, 2)
    v.mul_(5)
    w[1].add_(1)
    a.mul_(2)
    (a * const(torch, 1, 10, 100, 1000)).sum().backward()
    return a, v.requires_grad, v._version, w._version, x.grad


@program
def write_a_tensor_into_a_constant(torch):
    x, a = leaf(torch, 5), const(torch, 1, 2, 3)
    before = a[2:]
    a[1] = x[0] * 2
    (a * a).sum().backward()
    return a.requires_grad, a.is_leaf, a.grad_fn.name(), before.requires_grad, x.grad


@program
def write_by_mask_and_index(torch):
    x, y = leaf(torch, 1, -2, 3), leaf(torch, 7)
    a = x * 1
    a[a < 0] = 9.0
    a[torch.tensor([0, 2])] = y
    (a * const(torch, 1, 10, 100)).sum().backward()
    return a.detach(), x.grad, y.grad


@program
def fill_zero_and_copy(torch):
    x, y = leaf(torch, 1, 2), leaf(torch, 3, 4)
    a = x * 1
    a.copy_(y)
    b = x * 1
    b.zero_()
    c = x * 1
    c.fill_(7.0)
    (a + b + c).sum().backward()
    return a, b, c, x.grad, y.grad


@program
def several_views_refuse(torch):
    (leaf(torch, 1, 2) * 1).unbind(0)[1].add_(1)


@program
def view_made_under_no_grad_refuses(torch):
    a = leaf(torch, 1, 2) * 1
    with torch.no_grad():
        v = a[:1]
    v.add_(1)


@program
def several_views_of_a_constant_may_be_written(torch):
    a = const(torch, 1, 2)
    a.unbind(0)[1].add_(1)
    with torch.no_grad():
        v = a[:1]
    v.add_(1)
    return a, v._version


@program
def writes_under_no_grad(torch):
    x = leaf(torch, 1, 2)
    with torch.no_grad():
        x.add_(1)
        x[0] = 5.0
    return x, x._version


@program
def versions(torch):
    x = const(torch, 1, 2, 3, 4)
    views = [x.view(2, 2), x[1:], x.detach(), x.data, x.clone()]
    x.add_(1)
    views[0][0] = 9.0
    views[2].zero_()
    return [x._version] + [v._version for v in views]


@program
def is_view_and_base(torch):
    x = const(torch, 1, 2, 3, 4)
    views = [x.view(2, 2), x[1:], x.view(2, 2)[0], x.unsqueeze(0), x.expand(2, 4), x.clone(), x.reshape(4, 1)]
    return [(v._is_view(), v._base is x) for v in views]


# -- leaves, flags, detach -----------------------------------------------------------------------------------------------------


@program
def leaves(torch):
    x = leaf(torch, 1)
    y = x * 2
    with torch.no_grad():
        z = x * 2
    return [(t.is_leaf, t.requires_grad, t.grad_fn is None) for t in (x, y, z, y.detach(), const(torch, 1), y.data, y.long())]


@program
def detach_in_place(torch):
    x = leaf(torch, 1, 2)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.detach_()
    y.requires_grad_()
    (y * 3).sum().backward()
    return y, y.grad, x.grad


@program
def detached_gradient(torch):
    x = leaf(torch, 2, 3)
    (x * x.detach()).sum().backward()
    return x.grad


@program
def grad_modes(torch):
    x = leaf(torch, 1)
    seen = []
    with torch.no_grad():
        seen.append((x * 2).requires_grad)
        with torch.enable_grad():
            seen.append((x * 2).requires_grad)
        seen.append(torch.is_grad_enabled())
    with torch.set_grad_enabled(False):
        seen.append((x * 2).requires_grad)
    return seen


@program
def inference_tensors(torch):
    x = leaf(torch, 1)
    with torch.inference_mode():
        y = x * 2
        view = const(torch, 1, 2)[:1]
    return y.is_inference(), y.requires_grad, view.is_inference()


@program
def view_in_inference_mode_of_a_normal_tensor(torch):
    x = const(torch, 1, 2)
    with torch.inference_mode():
        view = x[:1]
        view.add_(1)
    return view.is_inference(), x._version, view._version


@program
def inference_version(torch):
    with torch.inference_mode():
        y = const(torch, 1)
    return y._version


@program
def inference_write(torch):
    with torch.inference_mode():
        y = const(torch, 1)
    y.add_(1)


@program
def inference_saved(torch):
    with torch.inference_mode():
        y = const(torch, 1)
    return leaf(torch, 1) * y


@program
def inference_requires_grad(torch):
    with torch.inference_mode():
        y = const(torch, 1)
    y.requires_grad_()


# -- grad ------------------------------------------------------------------------------------------------------------------------


@program
def grad_of_several(torch):
    x, w, unused = leaf(torch, 2), leaf(torch, 3), leaf(torch, 1, 2)
    y = x * x * w
    return torch.autograd.grad(y, [w, x, unused], allow_unused=True), x.grad, w.grad


@program
def grad_materialized(torch):
    x, unused = leaf(torch, 2), leaf(torch, 1, 2)
    return torch.autograd.grad(x * x, [x, unused], materialize_grads=True)


@program
def grad_with_respect_to_interior(torch):
    x = leaf(torch, 2)
    y = x * x
    z = y * y * x
    return torch.autograd.grad(z, [y, x]), torch.autograd.grad(x * 3, x)


@program
def higher_derivatives(torch):
    x = leaf(torch, 0.7)
    y = (x.sin() * x.exp()).sum()
    found = []
    for _ in range(4):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        found.append(y.detach())
    return found


@program
def grad_of_grad_flags(torch):
    x = leaf(torch, 2)
    (g,) = torch.autograd.grad(x * x, x, create_graph=True)
    (h,) = torch.autograd.grad(x * 5, x, create_graph=True)
    return g.requires_grad, g.is_leaf, h.requires_grad


@program
def edges(torch):
    x = leaf(torch, 2, 3)
    y = x * x
    edge = torch.autograd.graph.get_gradient_edge(y)
    s = y.sum()
    a = torch.autograd.grad(s, edge, retain_graph=True)
    b = torch.autograd.grad(torch.autograd.graph.get_gradient_edge(s), x, retain_graph=True)
    return a, b, edge.output_nr


@program
def edge_without_requires_grad(torch):
    torch.autograd.graph.get_gradient_edge(const(torch, 1))


# -- graph -----------------------------------------------------------------------------------------------------------------------


@program
def names(torch):
    x = leaf(torch, 1, 2, 3)
    results = [
        x + 1, 1 + x, x - 1, 1 - x, x * 2, 2 * x, x / 2, x / x, -x, x**2, 2**x, x**x, x.exp(), x.log(), x.sum(), x.sum(0),
        x.mean(), x.mean(0), x[0], x[1:], x[None], x[torch.tensor([0, 1])], x[x > 1], x.view(3, 1), x.clone(), x @ x,
        torch.stack([x, x]), torch.cat([x, x]), x.unbind(0)[0], x.split(1)[0], x.chunk(3)[0], x.unsqueeze(0), x.abs(),
        x.sqrt(), x.tanh(), x.sigmoid(), x.relu(), x.clamp(0, 1), x.max(), x.max(0)[0], x.std(), x.var(), x.prod(),
        x.cumsum(0), x.expand(2, 3), x.repeat(2), x.softmax(0), x.log_softmax(0), x.norm(), torch.where(x > 1, x, x),
        x.masked_fill(x > 1, 0), x.flip(0), x.view(1, 3).t(), x.view(1, 3).permute(1, 0), x.view(1, 3) @ x.view(3, 1),
        x.view(1, 3) @ x, torch.outer(x, x), x.argmax() * x[0], x.gather(0, torch.tensor([0])), x.sin(), x.rsqrt(),
    ]  # fmt: skip
    return [t.grad_fn.name() for t in results]


@program
def names_of_writes(torch):
    found = []
    for write in (
        lambda a: a.add_(1), lambda a: a.mul_(2), lambda a: a.zero_(), lambda a: a.fill_(1.0), lambda a: a.exp_(),
        lambda a: a.__setitem__(0, 1.0), lambda a: a[1:].mul_(2), lambda a: a.copy_(a.clone()), lambda a: a.pow_(2),
        lambda a: a.__setitem__(a > 1, 0.0), lambda a: a.neg_(), lambda a: a.clamp_(0, 1),
    ):  # fmt: skip
        a = leaf(torch, 1, 2, 3) * 1
        write(a)
        found.append(type(a.grad_fn).__name__)
    return found


@program
def next_functions(torch):
    x, w = leaf(torch, 1), leaf(torch, 2)
    y = x * const(torch, 3)
    z = y + w
    a, b = (torch.stack([y, z])).unbind(0)

    def show(t):
        return [(None if node is None else node.name(), nr) for node, nr in t.grad_fn.next_functions]

    return show(y), show(z), show(a * b), z.grad_fn.next_functions[0][0] is y.grad_fn


# -- hooks -----------------------------------------------------------------------------------------------------------------------


@program
def order_of_hooks(torch):
    log = []
    x = leaf(torch, 1, 2)
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: log.append("y post"))
    y.grad_fn.register_prehook(lambda go: log.append("y pre"))
    y.register_hook(lambda g: log.append("y"))
    accumulate = y.grad_fn.next_functions[0][0]
    accumulate.register_hook(lambda gi, go: log.append("x post"))
    accumulate.register_prehook(lambda go: log.append("x pre"))
    x.register_post_accumulate_grad_hook(lambda p: log.append("x accumulated"))
    x.register_hook(lambda g: log.append("x"))
    y.sum().backward()
    return log


@program
def hooks_replace(torch):
    x = leaf(torch, 1, 2)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.grad_fn.register_prehook(lambda go: (go[0] + 1,))
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 100, *gi[1:]))
    x.register_hook(lambda g: g + 0.5)
    y.sum().backward()
    return y.grad, x.grad


@program
def hooks_and_writes(torch):
    log = []
    x = leaf(torch, 1)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: log.append(("before", g.item())))
    y.mul_(3)
    y.register_hook(lambda g: log.append(("after", g.item())))
    (y * 5).backward()
    return log, y.grad, x.grad


@program
def captured_and_hooked(torch):
    x = leaf(torch, 1)
    y = x * 2
    log = []
    y.register_hook(lambda g: (log.append("tensor"), g * 10)[1])
    y.grad_fn.register_prehook(lambda go: (log.append("pre"), (go[0] * 7,))[1])
    y.grad_fn.register_hook(lambda gi, go: log.append("post"))
    return torch.autograd.grad(y * 3, y), log


@program
def hook_on_captured_leaf(torch):
    x = leaf(torch, 1)
    x.register_hook(lambda g: g * 10)
    return torch.autograd.grad(x * 3, x), x.grad


def hook_error(make):
    def run_it(torch):
        x = leaf(torch, 1, 2)
        y = x * const(torch, 2, 2)
        make(torch, x, y)
        y.sum().backward()

    run_it.__name__ = "hook_error"
    return program(run_it)


hook_error(lambda torch, x, y: y.register_hook(lambda g: 3))
hook_error(lambda torch, x, y: y.register_hook(lambda g: (g,)))
hook_error(lambda torch, x, y: y.register_hook(lambda g: const(torch, 1)))
hook_error(lambda torch, x, y: y.register_hook(lambda g: g.float()))
hook_error(lambda torch, x, y: y.grad_fn.register_prehook(lambda go: (go[0], go[0])))
hook_error(lambda torch, x, y: y.grad_fn.register_prehook(lambda go: (3,)))
hook_error(lambda torch, x, y: y.grad_fn.register_prehook(lambda go: 3))
hook_error(lambda torch, x, y: y.grad_fn.register_hook(lambda gi, go: (gi[0],)))
hook_error(lambda torch, x, y: y.grad_fn.register_hook(lambda gi, go: 3))
hook_error(lambda torch, x, y: y.grad_fn.register_hook(lambda gi, go: (3, None)))


# -- Function ----------------------------------------------------------------------------------------------------------------------


def saving_cube(torch):
    return function(
        torch,
        lambda ctx, x: (ctx.save_for_backward(x), x**3)[1],
        lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2,
    )


@program
def function_basics(torch):
    x = leaf(torch, 1, 2)
    y = saving_cube(torch)(x)
    y.sum().backward()
    return y, x.grad, y.grad_fn.requires_grad, type(y.grad_fn).__name__


@program
def function_higher_derivatives(torch):
    x = leaf(torch, 2)
    y = saving_cube(torch)(x)
    found = []
    for _ in range(3):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        found.append(y.detach())
    return found


@program
def function_with_several_outputs(torch):
    seen = []

    def backward(ctx, *grads):
        seen.append([None if g is None else g.tolist() for g in grads])
        return grads[0] * 2

    x = leaf(torch, 1.5, 2.5)
    outputs = function(torch, lambda ctx, x: (x * 2, x * 3, x.long(), "text", None), backward)(x)
    outputs[0].sum().backward()
    return [o if isinstance(o, (str, type(None))) else (o.requires_grad, o.output_nr) for o in outputs], seen, x.grad


@program
def function_without_materialized_gradients(torch):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx, g, h):
        seen.append((g is None, h is None))
        return g * 2 if g is not None else None

    x = leaf(torch, 1)
    a, _ = function(torch, forward, backward)(x)
    a.backward()
    return seen, x.grad


@program
def function_returning_its_input(torch):
    x = leaf(torch, 1, 2)
    y = function(torch, lambda ctx, x: x, lambda ctx, g: g * 10)(x)
    y.sum().backward()
    return y is x, y, x.grad


@program
def function_view_refuses_writes(torch):
    function(torch, lambda ctx, x: x.view(1, 2), lambda ctx, g: g.view(2))(leaf(torch, 1, 2) * 1).add_(1)


@program
def function_dirty(torch):
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        return x

    x = leaf(torch, 1, 2)
    a = x * 1
    y = function(torch, forward, lambda ctx, g: g * 3)(a)
    y.sum().backward()
    return y is a, y, x.grad


@program
def function_dirty_view(torch):
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        return x

    x = leaf(torch, 1, 2, 3)
    a = x * 1
    v = a[1:]
    y = function(torch, forward, lambda ctx, g: g * 3)(v)
    (a * const(torch, 1, 10, 100)).sum().backward()
    return y is v, a, x.grad


@program
def function_dirty_view_and_another_output(torch):
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        return x, x * 2

    function(torch, forward, lambda ctx, g, h: g)((leaf(torch, 1, 2) * 1)[:1])


@program
def function_non_differentiable(torch):
    def forward(ctx, x):
        a, b = x * 2, x * 3
        ctx.mark_non_differentiable(b)
        return a, b

    x = leaf(torch, 1)
    a, b = function(torch, forward, lambda ctx, g, h: g * 2 + h)(x)
    (a + b).backward()
    return a.requires_grad, b.requires_grad, x.grad


@program
def function_arguments(torch):
    seen = []

    def forward(ctx, x, n, nothing, y):
        seen.append(ctx.needs_input_grad)
        return x * n

    x = leaf(torch, 2)
    out = function(torch, forward, lambda ctx, g: (g * 3, None, None, None))(x, 3, None, const(torch, 1))
    out.backward()
    return seen, x.grad, [(None if n is None else n.name(), i) for n, i in out.grad_fn.next_functions]


@program
def function_setup_context(torch):
    seen = []

    def setup_context(ctx, inputs, output):
        seen.append((len(inputs), inputs[1]))
        ctx.times = inputs[1]

    f = function(torch, lambda x, times=5: x * times, lambda ctx, g: (g * ctx.times, None), setup_context=setup_context)
    x = leaf(torch, 2)
    f(x).backward()
    f(x, 7).backward()
    f(x, times=8).backward()
    return seen, x.grad


@program
def function_saved_after_a_write(torch):
    a = leaf(torch, 1) * 1
    y = saving_cube(torch)(a)
    a.add_(1)
    y.backward()


@program
def function_saved_after_a_pass(torch):
    y = saving_cube(torch)(leaf(torch, 1))
    y.backward()
    return y.grad_fn.saved_tensors


def function_error(backward, *arguments, forward=lambda ctx, x, y=None: x * 1, **others):
    def run_it(torch):
        given = [leaf(torch, 1, 2) if a is ... else a for a in arguments or (...,)]
        named = {k: (lambda ctx, *g, v=v: v(torch, ctx, *g)) for k, v in others.items()}
        step = None if backward is None else lambda ctx, *g: backward(torch, ctx, *g)
        function(torch, forward, step, **named)(*given).sum().backward()

    run_it.__name__ = "function_error"
    return program(run_it)


function_error(lambda torch, ctx, g: g, ..., ...)
function_error(lambda torch, ctx, g: (g, g))
function_error(lambda torch, ctx, g: [g, g], ..., ...)
function_error(lambda torch, ctx, g: (3, g), ..., ...)
function_error(lambda torch, ctx, g: (g, g), ..., 3)
function_error(lambda torch, ctx, g: const(torch, 1, 2, 3))
function_error(lambda torch, ctx, g: const(torch, 1))
function_error(None)
function_error(lambda torch, ctx, g: g, vjp=lambda torch, ctx, g: g)
function_error(lambda torch, ctx, g: {}["mine"])
function_error(lambda torch, ctx, g: g, forward=lambda ctx, x: (ctx.save_for_backward(3), x * 1)[1])
function_error(lambda torch, ctx, g: g, forward=lambda ctx, x: (ctx.mark_dirty(x), x)[1])
function_error(lambda torch, ctx, g: g, forward=lambda ctx, x: (ctx.mark_dirty(x), x * 1)[1])
function_error(lambda torch, ctx, g: g, forward=lambda ctx: 1)


@program
def function_without_forward(torch):
    torch.autograd.Function.apply(leaf(torch, 1))


@program
def once_differentiable(torch):
    backward = torch.autograd.function.once_differentiable(lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2)
    f = function(torch, lambda ctx, x: (ctx.save_for_backward(x), x**3)[1], backward)
    x = leaf(torch, 2)
    (g,) = torch.autograd.grad(f(x) ** 2, x, create_graph=True)
    values = g.detach().tolist()
    try:
        g.backward()
    except RuntimeError as error:
        return values, str(error)
    return "no error"


@program
def variables(torch):
    from importlib import import_module

    Variable = import_module(f"{torch.__name__}.autograd").Variable
    data = torch.Tensor([1, 2])
    a = Variable(data, requires_grad=True)
    (a * 2).sum().backward()
    return isinstance(a, Variable), a, a.grad, a.data_ptr() == data.data_ptr(), a.data


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function):
    names_producers = function.__name__ in ("written_input", "written_output", "written_leaf")
    assert_same(run(function, wengert), run(function, torch), producers=names_producers)
