"""Backward passes and hooks on torch and wengert: what is accumulated where, what hooks see, in which order, what errors leave."""

from __future__ import annotations

import itertools
import threading

import pytest

import wengert
from loops import each
from twins import assert_same, attempt, run

torch = pytest.importorskip("torch")


def leaf(t, *values):
    return t.tensor(values, dtype=t.float64, requires_grad=True)


def flags(g):
    return None if g is None else [g.tolist(), repr(g.dtype), g.requires_grad, g.grad_fn is None]


# -- accumulating --------------------------------------------------------------------------------------------------------------

BEFORE = {
    "nothing": lambda t, x: None,
    "constant": lambda t, x: t.full_like(x, 5.0, requires_grad=False),
    "with history": lambda t, x: leaf(t, 5, 6) * 1,
    "leaf": lambda t, x: leaf(t, 5, 6),
    "strided": lambda t, x: t.arange(4.0, dtype=t.float64)[::2],
}
GRAPHS = {
    "product": lambda t, x: (x * x).sum(),
    "sum": lambda t, x: x.sum(),
    "used twice": lambda t, x: (x * x + x.exp()).sum(),
    "root": lambda t, x: x[0],
    "expanded": lambda t, x: x.expand(3, 2).sum(),
    "transposed": lambda t, x: (x.view(1, 2).t() * 3).sum(),
}


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("before", BEFORE)
def test_accumulation_into_grad(before, graph):
    def program(t, create_graph, recorded):
        x = leaf(t, 2, 3)
        x.grad = BEFORE[before](t, x)
        old, kept = x.grad, None if x.grad is None else x.grad.detach().clone()
        y = GRAPHS[graph](t, x)
        log = []
        with t.set_grad_enabled(recorded):
            attempt(log, lambda: y.backward(create_graph=create_graph, retain_graph=True))
            first = x.grad
            attempt(log, lambda: y.backward(retain_graph=True))
        return [log, flags(x.grad), x.grad is old, x.grad is first, flags(old), None if kept is None else (old == kept).tolist()]

    for create_graph, recorded in itertools.product((False, True), repeat=2):
        ours, theirs = run(program, wengert, create_graph, recorded), run(program, torch, create_graph, recorded)
        assert_same(ours, theirs, f"create_graph {create_graph}, recorded {recorded}")


INPUTS = {
    "leaf": lambda t, x, y, z: [x],
    "interior": lambda t, x, y, z: [y],
    "both": lambda t, x, y, z: [y, x],
    "root": lambda t, x, y, z: [z],
    "repeated": lambda t, x, y, z: [x, x],
    "edge": lambda t, x, y, z: [t.autograd.graph.get_gradient_edge(y)],
    "edge and leaf": lambda t, x, y, z: [t.autograd.graph.get_gradient_edge(x), y],
    "unused": lambda t, x, y, z: [x, leaf(t, 1)],
    "constant": lambda t, x, y, z: [t.ones(1)],
    "a tensor": lambda t, x, y, z: x,
}


@each("inputs", INPUTS)
@each("how", ["grad", "grad, unused allowed", "grad, materialized", "grad, create_graph", "backward"])
def test_inputs(inputs, how):
    if (inputs, how) == ("constant", "backward"):
        return  # torch speaks of retain_grad here, which was not called; wengert names the input, as in grad()

    def program(t):
        x = leaf(t, 2)
        x.grad = t.ones(1, dtype=t.float64)
        y = x * x
        z = y * y * x
        log = []
        y.register_hook(lambda g: log.append(("y", g.tolist())))
        x.register_hook(lambda g: log.append(("x", g.tolist())))
        chosen = INPUTS[inputs](t, x, y, z)
        settings = {"grad, unused allowed": {"allow_unused": True}, "grad, materialized": {"materialize_grads": True}}
        settings["grad, create_graph"] = {"create_graph": True}
        if how == "backward":
            z.backward(inputs=chosen)
            found = []
        else:
            found = [flags(g) for g in t.autograd.grad(z, chosen, **settings.get(how, {}))]
        return [log, found, flags(x.grad), flags(y.grad) if y.retains_grad else None]

    assert_same(run(program, wengert), run(program, torch))


ROOTS = {
    "two": lambda t, x, y, z: ([y.sum(), z.sum()], None),
    "repeated": lambda t, x, y, z: ([z.sum(), z.sum()], None),
    "the same": lambda t, x, y, z: ([z, z], [t.ones(2, dtype=t.float64)] * 2),
    "one in the other": lambda t, x, y, z: ([y, z], [t.ones(2, dtype=t.float64)] * 2),
    "leaf and result": lambda t, x, y, z: ([x, z], [t.ones(2, dtype=t.float64)] * 2),
    "None and a gradient": lambda t, x, y, z: ([y.sum(), z], [None, t.ones(2, dtype=t.float64)]),
    "None for several elements": lambda t, x, y, z: ([y, z], [None, None]),
    "gradient with history": lambda t, x, y, z: ([z], [x]),
    "float32 gradient": lambda t, x, y, z: ([z], [t.ones(2)]),
    "no root": lambda t, x, y, z: ([], None),
    "a tuple": lambda t, x, y, z: ((y.sum(), z.sum()), (None, None)),
    "fewer gradients": lambda t, x, y, z: ([y, z], [t.ones(2, dtype=t.float64)]),
    "constant among them": lambda t, x, y, z: ([z.sum(), t.ones(1)], None),
    "edges": lambda t, x, y, z: ([t.autograd.graph.get_gradient_edge(z)], [t.ones(2, dtype=t.float64)]),
}


@pytest.mark.parametrize("roots", ROOTS)
@pytest.mark.parametrize("create_graph", [False, True])
def test_roots(roots, create_graph):
    def program(t):
        x = leaf(t, 2, 3)
        y = x * x
        z = y * x
        tensors, gradients = ROOTS[roots](t, x, y, z)
        log = []
        attempt(log, lambda: t.autograd.backward(tensors, gradients, create_graph=create_graph))
        return [log, flags(x.grad)]

    assert_same(run(program, wengert), run(program, torch))


# -- hooks -----------------------------------------------------------------------------------------------------------------------

REPLACES = {
    "nothing": lambda g: None,
    "doubled": lambda g: g * 2,
    "the same": lambda g: g,
    "a number": lambda g: 3,
    "a tuple": lambda g: (g,),
    "another shape": lambda g: g[:1],
    "another dtype": lambda g: g.float(),
    "raises": lambda g: {}["mine"],
    "written": lambda g: g.mul_(2),
    "detached": lambda g: g.detach() * 3,
}


@each("replace", REPLACES)
@each("where", ["leaf", "interior", "root", "view", "written view", "retained", "multi-output"])
def test_a_hook_on_a_tensor(where, replace):
    def program(t, create_graph):
        x = leaf(t, 2, 3)
        y = x * x
        if where == "written view":
            y[:1].mul_(2)
        target = {"leaf": x, "view": y[:], "retained": y, "multi-output": y.unbind(0)[0]}.get(where, y)
        if where == "retained":
            y.retain_grad()
        z = target * 3 if where not in ("root", "written view") else y
        log = []
        (z if where == "root" else target).register_hook(lambda g: (log.append(g.tolist()), REPLACES[replace](g))[1])
        attempt(log, lambda: z.backward(t.ones_like(z), create_graph=create_graph))
        return [log, flags(x.grad) if log[-1] == "fine" else None, flags(y.grad) if where == "retained" else None]

    for create_graph in (False, True):
        if create_graph and replace in ("written", "another dtype"):
            continue  # the gradient written is part of a graph that saved it
        assert_same(run(program, wengert, create_graph), run(program, torch, create_graph), f"create_graph {create_graph}")


NODE_HOOKS = {
    "nothing": lambda *gs: None,
    "doubled": lambda *gs: tuple(None if g is None else g * 2 for g in gs[0]),
    "too few": lambda *gs: (),
    "too many": lambda *gs: (*gs[0], None),
    "no tuple": lambda *gs: 3,
    "a list": lambda *gs: list(gs[0]),
    "None inside": lambda *gs: (None,) * len(gs[0]),
    "another type inside": lambda *gs: (3,) * len(gs[0]),
    "raises": lambda *gs: {}["mine"],
}


@each("hook", NODE_HOOKS)
@each("kind", ["register_hook", "register_prehook"])
@each("node", ["product", "constant factor", "accumulate", "multi-output", "copy slices"])
def test_a_hook_on_a_node(node, kind, hook):
    if (node, kind, hook) == ("multi-output", "register_prehook", "another type inside"):
        return  # two mistakes at once, for the second value takes the place of None: wengert names the other one

    def program(t):
        x = leaf(t, 2, 3)
        y = x * 3 if node == "constant factor" else x * x
        if node == "multi-output":
            y = y.unbind(0)[1]
        elif node == "copy slices":
            y[:1].mul_(2)
        target = y.grad_fn.next_functions[0][0] if node == "accumulate" else y.grad_fn
        log = []

        def run_hook(*grads):
            log.append([[None if g is None else g.tolist() for g in part] for part in grads])
            return NODE_HOOKS[hook](*grads)

        getattr(target, kind)(run_hook)
        attempt(log, lambda: (y * 1.5).backward(t.ones_like(y)))
        return [log, flags(x.grad) if log[-1] == "fine" else None]

    assert_same(run(program, wengert), run(program, torch))


def hook_cases(t):
    """Removal, order, retain_grad, post-accumulate hooks, hooks that call backward, hooks and writes."""
    x = leaf(t, 2, 3)
    y = x * x
    log = []

    def go(root=None):
        (y if root is None else root).backward(t.ones(2, dtype=t.float64), retain_graph=True)
        return [log, flags(x.grad)]

    def note(name, value=None):
        return lambda *grads: (log.append(name), value)[1]

    def removed():
        handle = y.register_hook(note("a"))
        y.register_hook(note("b"))
        handle.remove()
        handle.remove()
        return go()

    def removed_while_running():
        handles = []
        handles.append(y.register_hook(lambda g: (log.append("a"), handles[1].remove())[0]))
        handles.append(y.register_hook(note("b")))
        return [go(), go()]

    def added_while_running():
        y.register_hook(lambda g: (log.append("a"), y.register_hook(note("b")))[0])
        return [go(), go()]

    def as_context():
        with y.register_hook(note("a")):
            go()
        return go()

    def several():
        for i in range(3):
            y.register_hook(lambda g, i=i: (log.append([i, g.tolist()]), g + i)[1])
        return go()

    def order():
        node, accumulate = y.grad_fn, y.grad_fn.next_functions[0][0]
        x.register_post_accumulate_grad_hook(note("x accumulated"))
        accumulate.register_hook(note("x post"))
        accumulate.register_prehook(note("x pre"))
        x.register_hook(note("x"))
        node.register_hook(note("y post"))
        node.register_prehook(note("y pre"))
        y.register_hook(note("y"))
        y.retain_grad()
        return [go(), flags(y.grad)]

    def retain_then_hook():
        y.retain_grad()
        y.register_hook(lambda g: g * 10)
        return [go(), flags(y.grad)]

    def retain_twice_and_accumulate():
        y.retain_grad()
        y.retain_grad()
        z = y.sum()
        z.backward(retain_graph=True)
        z.backward()
        return [flags(y.grad), y.retains_grad, x.retains_grad]

    def post_accumulate_clears():
        x.register_post_accumulate_grad_hook(lambda p: (log.append(p.grad.tolist()), setattr(p, "grad", None))[0])
        return [go(), go()]

    def post_accumulate_with_grad():
        x.register_post_accumulate_grad_hook(note("accumulated"))
        return [t.autograd.grad(y.sum(), x)[0], log]

    def hook_that_calls_backward():
        z = leaf(t, 5)
        y.register_hook(lambda g: (z * z).sum().backward())
        return [go(), flags(z.grad)]

    def hook_that_calls_backward_on_the_same():
        x.register_hook(lambda g: log.append(t.autograd.grad((x * 3).sum(), x)[0].tolist()) if len(log) < 5 else None)
        return go()

    def before_and_after_a_write():
        y.register_hook(note("before"))
        y.mul_(2)
        y.register_hook(note("after"))
        y.retain_grad()
        return [go(), flags(y.grad)]

    def retained_then_written():
        y.retain_grad()
        y.mul_(2)
        return [go(y * 3), flags(y.grad)]

    def view_hooked_then_base_written():
        v = y[:1]
        v.register_hook(note("v"))
        y.mul_(2)
        return go(v.expand(2))

    def hook_in_no_grad():
        with t.no_grad():
            y.register_hook(lambda g: (log.append([g.requires_grad, t.is_grad_enabled()]), g * 2)[1])
        return go()

    def mode_in_hooks():
        y.register_hook(lambda g: log.append([t.is_grad_enabled(), g.requires_grad]))
        t.autograd.grad(y.sum(), x, create_graph=True)
        t.autograd.grad((y * 2).sum(), x)
        return log

    def detached_keeps_nothing():
        y.register_hook(note("y"))
        z = y.detach().requires_grad_()
        (z * 2).sum().backward()
        return [log, flags(z.grad), x.grad]

    def failing_hook_leaves():
        handle = y.register_hook(lambda g: {}["mine"])
        attempt(log, go)
        handle.remove()
        return [go(), t.is_grad_enabled()]

    def two_threads():
        def work():
            for _ in range(20):
                (x * x).sum().backward()

        threads = [threading.Thread(target=work) for _ in range(4)]
        [w.start() for w in threads]
        [w.join() for w in threads]
        return x.grad.detach()

    def no_grad_backward():
        with t.no_grad():
            y.sum().requires_grad_(False)
            z = y.detach().requires_grad_()
            with t.enable_grad():
                w = z * 2
            w.sum().backward() if w.sum().requires_grad else w.backward(t.ones(2, dtype=t.float64))
            return [flags(z.grad), t.is_grad_enabled()]

    return {name: f for name, f in locals().items() if callable(f) and name not in ("go", "note", "t")}


@pytest.mark.parametrize("name", list(hook_cases(wengert)))
def test_hooks(name):
    results = [run(lambda t: hook_cases(t)[name](), library) for library in (wengert, torch)]
    assert_same(*results)
