"""Hooks on saved tensors, the graph as an object, and checkpoints: the same small programs on torch and on wengert."""

from __future__ import annotations

import contextlib
import warnings
from importlib import import_module

import pytest

import wengert
from twins import BUILTINS, assert_same, describe, described_error, run

torch = pytest.importorskip("torch")

PROGRAMS = []


def program(function):
    """Adds a function of the library, called `torch` in it, to the programs that are compared."""
    PROGRAMS.append(function)
    return function


def leaf(torch, *numbers):
    return torch.tensor(list(numbers), dtype=torch.float64, requires_grad=True)


def const(torch, *numbers):
    return torch.tensor(list(numbers), dtype=torch.float64)


def graph(torch):
    return import_module(f"{torch.__name__}.autograd.graph")


def checkpoints(torch):
    return import_module(f"{torch.__name__}.utils.checkpoint")


def outcome(call):
    """Return the result of a call, or its error, like twins.run."""
    try:
        return call()
    except AssertionError as error:
        return ("raises", "AssertionError", str(error))
    except BUILTINS as error:
        return described_error(error)


def same(x):
    return x


# -- what is packed and unpacked: every operation here with hooks, one by one ---------------------------------------------------

EXPRESSIONS = {
    "mul": lambda torch, x, y: x * y,
    "mul self": lambda torch, x, y: x * x,
    "mul number": lambda torch, x, y: x * 2,
    "mul constant": lambda torch, x, y: x * y.detach(),
    "add": lambda torch, x, y: x + y,
    "sub": lambda torch, x, y: x - y,
    "div number": lambda torch, x, y: x / 3,
    "exp": lambda torch, x, y: x.exp(),
    "log": lambda torch, x, y: x.log(),
    "sin": lambda torch, x, y: x.sin(),
    "tanh": lambda torch, x, y: x.tanh(),
    "sigmoid": lambda torch, x, y: x.sigmoid(),
    "sqrt": lambda torch, x, y: x.sqrt(),
    "relu": lambda torch, x, y: x.relu(),
    "pow number": lambda torch, x, y: x**3,
    "pow tensor": lambda torch, x, y: x**y,
    "neg": lambda torch, x, y: -x,
    "sum": lambda torch, x, y: x.sum(),
    "mean": lambda torch, x, y: x.mean(),
    "view": lambda torch, x, y: x.view(3, 1),
    "unsqueeze": lambda torch, x, y: x.unsqueeze(0),
    "cat": lambda torch, x, y: torch.cat([x, y]),
    "stack": lambda torch, x, y: torch.stack([x, y]),
    "slice": lambda torch, x, y: x[:2],
    "select": lambda torch, x, y: x[0],
    "index": lambda torch, x, y: x[torch.tensor([2, 0])],
    "where": lambda torch, x, y: torch.where(x > y, x, y),
    "matmul": lambda torch, x, y: x @ y,
    "mm": lambda torch, x, y: x.view(3, 1).mm(y.view(1, 3)),
    "mv": lambda torch, x, y: (x.view(3, 1) + y).mv(x),
    "softmax": lambda torch, x, y: x.softmax(0),
    "log_softmax": lambda torch, x, y: x.log_softmax(0),
    "max of dim": lambda torch, x, y: x.max(0)[0],
    "sort": lambda torch, x, y: x.sort()[0],
    "cumsum": lambda torch, x, y: x.cumsum(0),
    "clone": lambda torch, x, y: x.clone(),
    "abs": lambda torch, x, y: x.abs(),
    "reciprocal": lambda torch, x, y: x.reciprocal(),
    "in place exp": lambda torch, x, y: (x * 1).exp_(),
    "in place mul": lambda torch, x, y: (x * 1).mul_(y),
    "in place div": lambda torch, x, y: (x * 1).div_(2),
    "chain": lambda torch, x, y: ((x * y).sin().exp() * y).tanh(),
    "shared": lambda torch, x, y: (h := x.exp()) * h + h,
    "double": lambda torch, x, y: (x.float() * y).double(),
}


@pytest.mark.parametrize("mode", ["first order", "create_graph"])
@pytest.mark.parametrize("case", EXPRESSIONS)
def test_hooks_see_the_same_as_torchs_hooks(case, mode):
    """The tensors packed, as a set with repetitions; the number of calls; gradients of twice the saved values."""

    def compute(torch):
        packed, unpacked = [], []

        def pack(t):
            packed.append((t.detach().reshape(-1).tolist(), str(t.dtype), t.requires_grad, t.is_leaf))
            return t.detach()

        def unpack(t):
            unpacked.append(tuple(t.shape))
            return t

        x, y = leaf(torch, 0.5, 1.5, 0.25), leaf(torch, 2.0, 0.75, 1.25)
        with graph(torch).saved_tensors_hooks(pack, unpack):
            z = EXPRESSIONS[case](torch, x, y)
        before = [sorted(map(repr, rounded(packed))), len(packed)]
        packed.clear()
        grads = torch.autograd.grad(z.sum(), (x, y), allow_unused=True, create_graph=mode == "create_graph")
        return [before, sorted(map(repr, unpacked)), [None if g is None else g.detach() for g in grads], len(packed)]

    def rounded(packed):
        return [([round(v, 9) for v in values], *rest) for values, *rest in packed]

    assert_same(run(compute, wengert), run(compute, torch))


# -- attributes of nodes ---------------------------------------------------------------------------------------------------------

ATTRIBUTES = [
    ("mul", "_saved_self"), ("mul", "_saved_other"), ("mul number", "_saved_other"), ("mul constant", "_saved_self"),
    ("mul constant", "_saved_other"), ("exp", "_saved_result"),
    ("log", "_saved_self"), ("tanh", "_saved_result"), ("sigmoid", "_saved_result"), ("pow number", "_saved_self"),
    ("pow number", "_saved_exponent"), ("pow tensor", "_saved_exponent"), ("pow tensor", "_saved_result"),
    ("sum", "_saved_self_sym_sizes"), ("index", "_saved_indices"), ("softmax", "_saved_result"), ("softmax", "_saved_dim"),
    ("max of dim", "_saved_indices"), ("max of dim", "_saved_dim"), ("max of dim", "_saved_keepdim"),
    ("matmul", "_saved_self"), ("sin", "_saved_nothing"), ("abs", "_saved_self"), ("sqrt", "_saved_result"),
    ("in place exp", "_saved_result"), ("mm", "_saved_mat2"), ("where", "_saved_condition"), ("cumsum", "_saved_dim"),
]  # fmt: skip


@pytest.mark.parametrize(("case", "name"), ATTRIBUTES)
def test_attributes_of_nodes(case, name):
    def read(torch):
        x, y = leaf(torch, 0.5, 1.5, 0.25), leaf(torch, 2.0, 0.75, 1.25)
        value = getattr(EXPRESSIONS[case](torch, x, y).grad_fn, name)
        return tuple(value) if isinstance(value, (tuple, list)) else value

    assert_same(run(read, wengert), run(read, torch))


# -- hooks on saved tensors ----------------------------------------------------------------------------------------------------


@program
def nested_hooks(torch):
    log = []

    def hooks(name):
        return graph(torch).saved_tensors_hooks(
            lambda t: (log.append("pack " + name), t)[1], lambda t: (log.append("unpack " + name), t)[1]
        )

    x = leaf(torch, 1)
    with hooks("a"):
        with hooks("b"):
            y = x.exp()
        z = y.exp() * y
    z.backward()
    return sorted(log), x.grad


@program
def unpacked_values_are_used(torch):
    x, y = leaf(torch, 2, 3), leaf(torch, 5, 7)
    with graph(torch).saved_tensors_hooks(same, lambda t: torch.ones(2, dtype=torch.float64) * 100):
        z = x * y
    z.sum().backward()
    return x.grad, y.grad, z.grad_fn._saved_self, z.grad_fn._saved_self.grad_fn is None


@program
def unpacked_into_the_graph(torch):
    x, y = leaf(torch, 2, 3), leaf(torch, 5, 7)
    c = x + 1
    with graph(torch).saved_tensors_hooks(lambda t: t.tolist(), lambda v: const(torch, *v)):
        z = c * y
    (g,) = torch.autograd.grad(z.sum(), y, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), x)
    return g, gg, z.grad_fn._saved_self, z.grad_fn._saved_other


def hook_error(pack, unpack):
    """A program in which these hooks run, in a block and on one value."""

    def run_it(torch):
        def block():
            x = leaf(torch, 2, 3)
            with graph(torch).saved_tensors_hooks(pack, unpack):
                y = x * 1
                z = y.exp()
            z.sum().backward()
            return x.grad

        def single():
            x = leaf(torch, 2, 3)
            z = x.exp()
            z.grad_fn._raw_saved_result.register_hooks(pack, unpack)
            z.sum().backward()
            return x.grad

        return outcome(block), outcome(single)

    run_it.__name__ = f"hook_error_{len(PROGRAMS)}"
    program(run_it)


hook_error(same, same)
hook_error(same, lambda x: 0)
hook_error(same, lambda x: None)
hook_error(same, lambda x: [x])
hook_error(lambda x: {}["mine"], same)
hook_error(same, lambda x: {}["mine"])
hook_error(lambda x: x.mul_(2), same)
hook_error(lambda x: (x.detach().zero_(), x)[1], same)
hook_error(lambda x: None, lambda x: "text")
hook_error(lambda x: x.clone().mul_(2), same)
hook_error(same, lambda x: x.clone().mul_(2))


@program
def register_hooks_errors(torch):
    x, y = leaf(torch, 2), const(torch, 3)
    node = (x * y).grad_fn
    results = [outcome(lambda: node._raw_saved_self.register_hooks(same, same))]
    results += [outcome(lambda: node._raw_saved_other.register_hooks(same, same)) for _ in range(2)]
    z = x.exp()
    z.backward()
    results.append(outcome(lambda: z.grad_fn._raw_saved_result.register_hooks(same, same)))
    results.append(outcome(lambda: z.grad_fn._saved_result))
    results.append(outcome(lambda: type(node._raw_saved_self)()))
    return results


@program
def raw_saved_tensor(torch):
    x = leaf(torch, 2)
    raw = (x * x).grad_fn._raw_saved_self
    before = [raw.data, raw.unpack_hook, raw.unpack()]
    raw.register_hooks(lambda t: t.item(), lambda v: const(torch, v * 10))
    return before, raw.data, raw.unpack_hook(1.0), raw.unpack()


@program
def refused_hooks(torch):
    g = graph(torch)

    def enter(*blocks):
        with contextlib.ExitStack() as stack:
            for block in blocks:
                stack.enter_context(block())
        return "entered"

    def refuse(message):
        return lambda: g.disable_saved_tensors_hooks(message)

    def hooks():
        return g.saved_tensors_hooks(same, same)

    return [
        outcome(lambda: enter(refuse("a"), hooks)),
        outcome(lambda: enter(hooks, refuse("b"))),
        outcome(lambda: enter(refuse("c"), refuse("d"), hooks)),
        outcome(lambda: enter(refuse("e"), g.save_on_cpu)),
        outcome(lambda: enter(refuse("f"), g.allow_mutation_on_saved_tensors)),
        outcome(lambda: enter(refuse("g"))),
        outcome(lambda: enter(hooks, hooks)),
    ]


@program
def save_on_cpu(torch):
    x = leaf(torch, 2, 3)
    with graph(torch).save_on_cpu():
        y = (x.exp() * x).sum()
    y.backward()
    return x.grad, y


class _Program:
    """forward and backward of a Function that saves all kinds of tensors."""

    @staticmethod
    def forward(ctx, x, y):
        z = x * y
        ctx.save_for_backward(x, None, z, y)
        return z

    @staticmethod
    def backward(ctx, g):
        x, _, _, y = ctx.saved_tensors
        return g * y, g * x


def product(torch):
    return type("Product", (_Program, torch.autograd.Function), {})


@program
def functions_and_hooks(torch):
    x, y = leaf(torch, 2), leaf(torch, 3)
    packed = []
    with graph(torch).saved_tensors_hooks(lambda t: (packed.append(t.item()), t)[1], lambda t: t * 10):
        z = product(torch).apply(x, y)
    saved = z.grad_fn.saved_tensors
    z.backward()
    return packed, saved[1:], x.grad, y.grad, outcome(lambda: z.grad_fn.saved_tensors)


@program
def functions_and_single_hooks(torch):
    x, y = leaf(torch, 2), leaf(torch, 3)
    z = product(torch).apply(x, y)
    raw = z.grad_fn._raw_saved_tensors
    results = [len(raw), z.grad_fn.saved_tensors[0] is x, outcome(lambda: raw[1].register_hooks(same, same))]
    raw[0].register_hooks(lambda t: t * 3, same)
    z.backward()
    return results, x.grad, y.grad, outcome(lambda: z.grad_fn._raw_saved_tensors)


# -- allow_mutation_on_saved_tensors -----------------------------------------------------------------------------------------------


def mutation(write):
    """Add programs that save values, make the given writes into them, and run a backward pass, all inside the block.

    Either a tensor is saved, or a view of it that begins at the same element. For other views, and if both are saved,
    torch takes values after the write. tests/autograd/test_mutation.py tests the right gradients of these cases.
    """
    for saves_view in (False, True):

        def run_it(torch, saves_view=saves_view):
            with graph(torch).allow_mutation_on_saved_tensors():
                w, x = leaf(torch, 1, 2, 3), const(torch, 4, 5, 6)
                view = x[:2]
                e = w.exp()
                total = (e * w).sum() + ((w[:2] * view).sum() if saves_view else (w * x).sum())
                write(torch, x, view, e, w)
                total.backward()
                return w.grad, x.detach(), view.detach()

        run_it.__name__ = f"mutation_{len(PROGRAMS)}"
        program(run_it)


mutation(lambda torch, x, view, e, w: None)
mutation(lambda torch, x, view, e, w: x.mul_(2))
mutation(lambda torch, x, view, e, w: x.zero_())
mutation(lambda torch, x, view, e, w: view.zero_())
mutation(lambda torch, x, view, e, w: (x.add_(1), view.mul_(3), x.add_(1)))
mutation(lambda torch, x, view, e, w: e.zero_())
mutation(lambda torch, x, view, e, w: e.mul_(w))
mutation(lambda torch, x, view, e, w: x.__setitem__(0, 100))
mutation(lambda torch, x, view, e, w: x.__setitem__([0, 2], 100))
mutation(lambda torch, x, view, e, w: x.copy_(const(torch, 7, 8, 9)))
mutation(lambda torch, x, view, e, w: torch.add(x.clone(), 1, out=x))
mutation(lambda torch, x, view, e, w: x.fill_(3).sub_(1))
mutation(lambda torch, x, view, e, w: x.data.mul_(2))
mutation(lambda torch, x, view, e, w: w.data.mul_(2))
mutation(lambda torch, x, view, e, w: w.detach().mul_(2))
mutation(lambda torch, x, view, e, w: view.t().mul_(2))
mutation(lambda torch, x, view, e, w: x.clamp_(0, 4.5))


@program
def mutation_errors(torch):
    g = graph(torch)

    def nested():
        with g.allow_mutation_on_saved_tensors(), g.allow_mutation_on_saved_tensors():
            pass

    x = leaf(torch, 1)
    with g.allow_mutation_on_saved_tensors():
        y = x.exp()
    (kind, error_type, text) = outcome(lambda: y.backward())
    return outcome(nested), kind, error_type, text.replace(" ", "")


@program
def mutation_of_what_was_saved_before(torch):
    x, c = leaf(torch, 1), const(torch, 2)
    y, z = x * c, x * c
    with graph(torch).allow_mutation_on_saved_tensors():
        y.backward()
        c.add_(1)
        z.backward()


# -- hooks on several gradients ------------------------------------------------------------------------------------------------


def multi_grad(mode, run_passes):
    """Add a program with a hook on three tensors. run_passes gets the tensors and runs the backward passes."""

    def run_it(torch):
        x, y = leaf(torch, 2), leaf(torch, 3)
        a, b, c = x * 2, y * 3, x * y
        calls = []

        def hook(grads):
            calls.append([g if g is None else g.item() for g in grads] if mode == "all" else grads.item())

        handle = graph(torch).register_multi_grad_hook((a, b, c), hook, mode=mode)
        result = run_passes(torch, handle, x, y, a, b, c)
        return calls, result, x.grad, y.grad

    run_it.__name__ = f"multi_grad_{len(PROGRAMS)}"
    program(run_it)


for _mode in ("all", "any"):
    multi_grad(_mode, lambda torch, h, x, y, a, b, c: (a + b * 2 + c * 3).backward())
    # (Where the pass starts at one of the three, torch does not count that one, and so never calls fn of "all".)
    multi_grad(_mode, lambda torch, h, x, y, a, b, c: (a * 2).backward())
    multi_grad(_mode, lambda torch, h, x, y, a, b, c: [(t * 2).backward(retain_graph=True) for t in (a, b, c, a)] and 0)
    multi_grad(_mode, lambda torch, h, x, y, a, b, c: torch.autograd.grad(a + c, (a, c)))
    multi_grad(_mode, lambda torch, h, x, y, a, b, c: torch.autograd.grad(a + b, x))
    multi_grad(_mode, lambda torch, h, x, y, a, b, c: (a + b).backward(inputs=[y]))
    multi_grad(_mode, lambda torch, h, x, y, a, b, c: (h.remove(), (a + b + c).backward())[1])
    multi_grad(_mode, lambda torch, h, x, y, a, b, c: [(a + b).backward(retain_graph=True) for _ in range(3)] and None)
    multi_grad(_mode, lambda torch, h, x, y, a, b, c: torch.autograd.grad(a * b, (x, y), create_graph=True))


@program
def multi_grad_errors(torch):
    x = leaf(torch, 1)
    register = graph(torch).register_multi_grad_hook
    return outcome(lambda: register((x,), print, mode="some")), outcome(lambda: register((), print).remove())


@program
def multi_grad_that_raises(torch):
    x, y = leaf(torch, 1), leaf(torch, 2)
    graph(torch).register_multi_grad_hook((x, y), lambda grads: {}["mine"])
    (x * y).backward()


@program
def multi_grad_on_leaves(torch):
    x, y = leaf(torch, 1), leaf(torch, 2)
    calls = []
    graph(torch).register_multi_grad_hook((x, y, x), lambda grads: calls.append([g.item() for g in grads]))
    for _ in range(2):
        (x * 3 + y * 4).backward()
    return calls


# -- nodes -----------------------------------------------------------------------------------------------------------------------


@program
def called_nodes(torch):
    x, y = leaf(torch, 2), leaf(torch, 3)
    node = (x * y).grad_fn
    one = const(torch, 1)
    return node(one), node(None), outcome(lambda: node()), outcome(lambda: node(one, one)), outcome(lambda: node(1))


@program
def called_nodes_of_several_outputs(torch):
    x = leaf(torch, 2, 3)
    node = x.unbind()[0].grad_fn
    return node(torch.ones((), dtype=torch.float64), None), x.exp().grad_fn(const(torch, 1, 1))


@program
def identity_of_nodes(torch):
    g = graph(torch)
    x = leaf(torch, 2)
    y = x * 2
    z = y.exp()
    node = y.grad_fn
    edge = g.get_gradient_edge(x)
    node.metadata["a"] = 1
    return [
        z.grad_fn.next_functions[0][0] is node,
        g.get_gradient_edge(y).node is node,
        node.next_functions[0][0] is edge.node,
        edge.node.variable is x,
        edge == g.get_gradient_edge(x),
        edge.output_nr,
        edge.ownership_token is None,
        edge._fields,
        y.grad_fn.metadata,
        node.requires_grad,
        edge.node.requires_grad,
        isinstance(node, g.Node) and isinstance(edge.node, g.Node),
        node._sequence_nr() < z.grad_fn._sequence_nr(),
        list(node._input_metadata[0].shape),
        str(node._input_metadata[0].dtype),
        str(node._input_metadata[0].device),
        outcome(lambda: g.get_gradient_edge(const(torch, 1))),
    ]


@program
def versions(torch):
    increment = graph(torch).increment_version
    x, y = const(torch, 1), const(torch, 2)
    increment(x)
    increment([x, y])
    increment(t for t in (x, y))
    return x._version, y._version, outcome(lambda: increment(1)), outcome(lambda: increment([1]))


@program
def version_check_sees_increments(torch):
    x, c = leaf(torch, 1), const(torch, 2)
    y = x * c
    graph(torch).increment_version(c)
    y.backward()


HOOKS = {
    "none": lambda *grads: None,
    "int": lambda *grads: 1,
    "list": lambda *grads: list(grads[0]) if isinstance(grads[0], tuple) else [grads[0]],
    "short": lambda *grads: grads[0][:0] if isinstance(grads[0], tuple) else grads[0][:1],
    "long": lambda *grads: (*grads[0], None) if isinstance(grads[0], tuple) else (grads[0], grads[0]),
    "shape": lambda *grads: tuple([g[:1] for g in grads[0]]) if isinstance(grads[0], tuple) else grads[0][:1],
    "dtype": lambda *grads: tuple([g.float() for g in grads[0]]) if isinstance(grads[0], tuple) else grads[0].float(),
    "twice": lambda *grads: tuple([g * 2 for g in grads[0]]) if isinstance(grads[0], tuple) else grads[0] * 2,
    "of ints": lambda *grads: tuple([1 for g in grads[0]]) if isinstance(grads[0], tuple) else (1,),
    "error": lambda *grads: {}["mine"],
}


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("kind", ["tensor", "leaf", "pre", "post", "post accumulate"])
def test_results_of_hooks_count_as_in_torch(kind, hook):
    def run_it(torch):
        x, y = leaf(torch, 1, 2), leaf(torch, 3, 4)
        z = x * y
        register = {
            "tensor": lambda: z.register_hook,
            "leaf": lambda: x.register_hook,
            "pre": lambda: z.grad_fn.register_prehook,
            "post": lambda: z.grad_fn.register_hook,
            "post accumulate": lambda: x.register_post_accumulate_grad_hook,
        }[kind]()
        function = HOOKS[hook]
        if kind == "post accumulate" and hook in ("list", "short", "long", "shape", "dtype", "twice", "of ints"):
            function = lambda leaf: leaf.grad  # noqa: E731
        register(function)
        z.sum().backward()
        return x.grad, y.grad

    assert_same(run(run_it, wengert), run(run_it, torch))


# -- checkpoints -------------------------------------------------------------------------------------------------------------------


def checkpointed(function, *numbers, **options):
    """Programs that put function(torch, log, *leaves) into a checkpoint of each kind, and into none."""

    for kind in (False, True):

        def run_it(torch, kind=kind):
            leaves = [leaf(torch, *n) for n in numbers]
            log = []
            torch.manual_seed(0)
            y = checkpoints(torch).checkpoint(
                lambda *args: function(torch, log, *args), *leaves, use_reentrant=kind, **options
            )
            first = len(log)
            (y if not isinstance(y, tuple) else y[0] + y[1]).sum().backward()
            return y, [x.grad for x in leaves], first, len(log)

        run_it.__name__ = f"checkpoint_{len(PROGRAMS)}_{kind}"
        program(run_it)


checkpointed(lambda torch, log, x: (log.append(1), x.sin().exp())[1], (1, 2))
checkpointed(lambda torch, log, x: (log.append(1), x * x * x)[1], (1, 2))
checkpointed(lambda torch, log, x, y: (log.append(1), x * y, log.append(2), x.exp())[1], (1, 2), (3, 4))
checkpointed(lambda torch, log, x, y: (x * y, (x + y).tanh()), (1, 2), (3, 4))
checkpointed(lambda torch, log, x: (x.sin(), log.append(1), x.cos(), log.append(2))[0], (1, 2), early_stop=False)
checkpointed(lambda torch, log, x: (x * 1).exp_().sin(), (1, 2))
checkpointed(lambda torch, log, x: torch.where(x > 1, x.exp(), x.log()), (1, 2))
checkpointed(lambda torch, log, x: x.view(2, 1).mm(x.view(1, 2)).softmax(1), (1, 2))
checkpointed(lambda torch, log, x: product(torch).apply(x, x.sin()), (1, 2))
checkpointed(lambda torch, log, x: x + 1, (1, 2))
checkpointed(lambda torch, log, x: {}["mine"], (1, 2))
checkpointed(
    lambda torch, log, x: checkpoints(torch).checkpoint(
        lambda t: (log.append(1), t.exp().sin())[1], x.sin(), use_reentrant=False
    ),
    (1, 2),
)
checkpointed(
    lambda torch, log, x: checkpoints(torch).checkpoint(
        lambda t: (log.append(1), t.exp().sin())[1], x.sin(), use_reentrant=True
    ),
    (1, 2),
)


def changing(first, then, **options):
    """A program whose checkpoint does one thing in its first run and another after that."""

    def run_it(torch):
        runs = []

        def part(x):
            runs.append(1)
            return (first if len(runs) == 1 else then)(x)

        x = leaf(torch, 1, 2, 3)
        y = checkpoints(torch).checkpoint(part, x, use_reentrant=False, **options)
        y.sum().backward()
        return x.grad

    run_it.__name__ = f"changing_{len(PROGRAMS)}"
    program(run_it)


for _options in ({}, {"early_stop": False}, {"determinism_check": "none"}):
    changing(lambda x: x.sin().sin().sin(), lambda x: x.sin(), **_options)
    changing(lambda x: x.sin(), lambda x: x.sin().sin().sin(), **_options)
    changing(lambda x: x.sin(), lambda x: x.cos(), **_options)
    changing(lambda x: x.sin(), lambda x: x + 1, **_options)
    changing(lambda x: x.sin().sum(), lambda x: x.float().sin().sum(), **_options)
    changing(lambda x: x.sin(), lambda x: {}["mine"], **_options)
changing(lambda x: x.sin().sum(), lambda x: x[:2].sin().sum())
changing(lambda x: x.sin(), lambda x: x, debug=True)


@program
def checkpoint_options(torch):
    c = checkpoints(torch)
    x = leaf(torch, 1)
    return [
        outcome(lambda: c.checkpoint(same, x, use_reentrant=False, determinism_check="some")),
        outcome(lambda: c.checkpoint(same, x, use_reentrant=True, y=1)),
        outcome(lambda: c.checkpoint(same, x, use_reentrant=True, debug=True)),
        outcome(lambda: c.checkpoint(same, x, use_reentrant=True, context_fn=lambda: (None, None))),
        outcome(lambda: torch.autograd.grad(c.checkpoint(torch.exp, x, use_reentrant=True), x)),
        outcome(lambda: c.checkpoint(torch.exp, x, use_reentrant=True).backward(inputs=[x])),
        outcome(lambda: torch.autograd.grad(c.checkpoint(torch.exp, x, use_reentrant=False), x)),
        outcome(lambda: c.checkpoint(lambda t: t.detach() * 2, x, use_reentrant=True).backward()),
        outcome(lambda: c.checkpoint_sequential([torch.exp], 1, x, use_reentrant=False, other=1)),
        outcome(lambda: c.detach_variable(x)),
        outcome(lambda: c.detach_variable((x * 2, 3))),
    ]


@program
def checkpoint_with_everything(torch):
    x, y = leaf(torch, 1, 2), leaf(torch, 3, 4)
    result = checkpoints(torch).checkpoint(
        lambda a, n, d, scale: {"s": (a * d["y"]).sum() * scale, "n": n}, x, 5, {"y": y}, scale=2, use_reentrant=False
    )
    result["s"].backward()
    return result, x.grad, y.grad


@program
def second_derivatives_of_a_checkpoint(torch):
    x = leaf(torch, 2)
    y = checkpoints(torch).checkpoint(lambda t: t**3, x, use_reentrant=False)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    return g, torch.autograd.grad(g, x)


@program
def passes_over_a_checkpoint(torch):
    x = leaf(torch, 2)
    runs = []
    y = checkpoints(torch).checkpoint(lambda t: (runs.append(1), t.sin().exp())[1], x, use_reentrant=False)
    y.backward(retain_graph=True)
    y.backward()
    return x.grad, len(runs), outcome(lambda: y.backward())


@program
def checkpoint_of_a_written_input(torch):
    x = leaf(torch, 2)
    a = x * 1
    y = checkpoints(torch).checkpoint(torch.sin, a, use_reentrant=False)
    with torch.no_grad():
        a.mul_(2)
    y.backward()


@program
def gradients_inside_a_checkpoint(torch):
    def part(x):
        y = x.sin()
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        return (g * y).exp()

    x = leaf(torch, 0.5)
    checkpoints(torch).checkpoint(part, x, use_reentrant=False).backward()
    return x.grad


@program
def random_state_of_a_checkpoint(torch):
    results = []
    for use_reentrant in (False, True):
        for preserve in (False, True):
            x = leaf(torch, 1, 1, 1)
            torch.manual_seed(0)
            y = checkpoints(torch).checkpoint(
                lambda t: t * torch.rand(3), x, use_reentrant=use_reentrant, preserve_rng_state=preserve
            )
            before = torch.get_rng_state()
            y.sum().backward()
            results.append([x.grad.tolist() == y.tolist(), torch.get_rng_state().tolist() == before.tolist()])
    return results


@program
def sequences_of_checkpoints(torch):
    results = []
    for use_reentrant in (False, True):
        for segments in (1, 2, 3):
            x, log = leaf(torch, 0.5), []
            parts = [lambda t, i=i, log=log: (log.append(i), t.sin().exp())[1] for i in range(5)]
            y = checkpoints(torch).checkpoint_sequential(parts, segments, x, use_reentrant=use_reentrant)
            y.backward()
            results.append([y, x.grad, log])
    return results


@program
def early_stop_of_nested_checkpoints(torch):
    c = checkpoints(torch)
    results = []
    for enabled in (True, False):
        lines = []

        def inner(x, lines=lines):
            lines.append("a")
            x = x.sin()
            lines.append("b")
            x = x.exp()
            lines.append("c")
            return x + 1

        x = leaf(torch, 0.5)
        with c.set_checkpoint_early_stop(enabled):
            y = c.checkpoint(lambda t: c.checkpoint(inner, t.sin(), use_reentrant=False).sin(), x, use_reentrant=False)
        y.backward()
        results.append(["".join(lines), x.grad])
    return results


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(run(function, wengert), run(function, torch))


def test_warnings_of_checkpoints():
    """Warnings agree up to the sentence in which torch announces changes of a later version."""

    def found(torch):
        c = checkpoints(torch)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            c.checkpoint(lambda x: x * 2, torch.ones(1), use_reentrant=True)
            c.check_backward_validity([torch.ones(1)])
            c.checkpoint(torch.exp, leaf(torch, 1))
        return [(w.category, str(w.message).split(". ")[0]) for w in caught]

    assert found(wengert) == found(torch)


def test_describe_is_used():
    """twins.describe tells different results of programs apart. Otherwise the comparison would compare nothing."""
    assert describe([leaf(wengert, 1)], wengert) != describe([leaf(wengert, 2)], wengert)
