"""The graph as an object: hooks on several gradients, nodes that can be called, their attributes, gradient edges."""

import gc
import threading
import weakref

import pytest

import wengert
from wengert.autograd import Function, grad
from wengert.autograd.graph import Node, get_gradient_edge, increment_version, register_multi_grad_hook
from wengert.utils.hooks import RemovableHandle


def leaf(*numbers):
    return wengert.tensor(list(numbers), dtype=wengert.float64, requires_grad=True)


def items(grads):
    return [None if g is None else g.item() for g in grads]


# -- hooks on several gradients ----------------------------------------------------------------------------------------------


def test_all_waits_for_every_gradient_of_the_pass():
    x, y, z = leaf(1.0), leaf(2.0), leaf(3.0)
    calls = []
    register_multi_grad_hook((x, y, z), lambda grads: calls.append(items(grads)))
    (x * 2 + y * 3).backward()
    assert calls == [[2.0, 3.0, None]]
    (x * 2 + y * 3 + z * 4).backward()
    assert calls[1:] == [[2.0, 3.0, 4.0]]


def test_any_takes_the_first():
    x = leaf(1.0)
    a, b = x * 2, x * 3
    calls = []
    register_multi_grad_hook((a, b), lambda g: calls.append(g.item()), mode="any")
    for expected in ([5.0], [5.0, 5.0]):
        (a * 7 + b * 5).backward(retain_graph=True)  # b was made last, and so comes first
        assert calls == expected


@pytest.mark.parametrize("mode", ["all", "any"])
def test_a_hook_on_several_runs_once_a_pass(mode):
    x = leaf(1.0)
    parts = [x * i for i in range(1, 6)]
    calls = []
    register_multi_grad_hook(parts, calls.append, mode=mode)
    for n in range(1, 4):
        sum(parts).backward(retain_graph=True)
        assert len(calls) == n


def test_mode_all_counts_the_gradients_that_the_pass_needs():
    x, y = leaf(1.0), leaf(2.0)
    a, b = x * 2, y * 3
    calls = []
    register_multi_grad_hook((a, b), lambda grads: calls.append(items(grads)))
    grad(a + b, x, retain_graph=True)
    grad(a + b, y, retain_graph=True)
    grad(a + b, (a, b), retain_graph=True)
    (a + b).backward(inputs=[y])
    assert calls == [[1.0, None], [None, 1.0], [1.0, 1.0], [None, 1.0]]


def test_a_tensor_named_twice():
    x = leaf(1.0)
    calls = []
    register_multi_grad_hook((x, x), lambda grads: calls.append(items(grads)))
    (x * 2).backward()
    assert calls == [[2.0, 2.0]]


@pytest.mark.parametrize("mode", ["all", "any"])
def test_results_of_multi_grad_hooks_are_ignored(mode):
    x, y = leaf(1.0), leaf(2.0)
    with register_multi_grad_hook((x, y), lambda grads: grads, mode=mode):
        (x * y).backward()
    assert (x.grad.item(), y.grad.item()) == (2.0, 1.0)


@pytest.mark.parametrize("mode", ["all", "any"])
def test_handles_remove_from_all_tensors(mode):
    x, y = leaf(1.0), leaf(2.0)
    calls = []
    handle = register_multi_grad_hook((x, y), calls.append, mode=mode)
    assert isinstance(handle, RemovableHandle)
    with handle:
        (x * y).backward()
    (x * y).backward()
    handle.remove()
    assert len(calls) == 1


@pytest.mark.parametrize("mode", ["all", "any"])
def test_an_error_in_a_hook_on_several_ends_the_pass(mode):
    x, y = leaf(1.0), leaf(2.0)

    def fail(grads):
        raise ValueError("mine")

    handle = register_multi_grad_hook((x, y), fail, mode=mode)
    with pytest.raises(ValueError, match="^mine$"):
        (x * y).backward()
    handle.remove()
    (x * y).backward()


def test_a_backward_pass_inside_a_hook_on_several_counts_for_itself():
    x, y = leaf(1.0), leaf(2.0)
    depth, calls = [0], []

    def hook(grads):
        calls.append(items(grads))
        depth[0] += 1
        if depth[0] == 1:
            with wengert.enable_grad():
                (x * 10 + y * 20).backward()

    register_multi_grad_hook((x, y), hook)
    (x * y).backward()
    assert calls == [[2.0, 1.0], [10.0, 20.0]]


def test_passes_of_several_threads_count_for_themselves():
    x, y = leaf(1.0), leaf(2.0)
    calls = []
    register_multi_grad_hook((x, y), lambda grads: calls.append(items(grads)))
    threads = [threading.Thread(target=lambda i=i: grad(x * i + y * 2 * i, (x, y))) for i in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(calls) == [[float(i), 2.0 * i] for i in range(1, 9)]


def test_an_unfinished_pass_leaves_nothing_behind():
    x, y = leaf(1.0), leaf(2.0)
    y.register_hook(lambda g: 1 / 0)
    seen = []
    x.register_hook(lambda g: seen.append(weakref.ref(g)))
    register_multi_grad_hook((x, y), lambda grads: None)
    a, b = y * 1, x * 1  # what was made last comes first
    gc.disable()
    try:
        with pytest.raises(ZeroDivisionError):
            (a + b).backward()
        assert seen
        assert seen[0]() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("mode", ["all", "any"])
def test_hooks_on_several_make_no_cycle(mode):
    gc.disable()
    try:
        x, y = leaf(1.0), leaf(2.0)
        z = x * y
        handle = register_multi_grad_hook((x, z), lambda grads: None, mode=mode)
        z.backward(retain_graph=True)
        dead = [weakref.ref(x), weakref.ref(z.grad_fn)]
        del x, z
        assert [r() for r in dead] == [None, None]
        handle.remove()
    finally:
        gc.enable()


def test_a_hook_on_leaves_registered_before_there_is_a_graph():
    x, y = leaf(1.0), leaf(2.0)
    calls = []
    register_multi_grad_hook((x, y), lambda grads: calls.append(items(grads)))
    for _ in range(2):
        (x.exp().log() + y * 3).backward()
    assert calls == [[1.0, 3.0]] * 2


def test_arguments_of_hooks_on_several():
    x, constant = leaf(1.0), wengert.ones(1)
    with pytest.raises(ValueError, match=r"^Expects mode to be one of \('all', 'any'\) but got some$"):
        register_multi_grad_hook((x,), print, mode="some")
    with pytest.raises(RuntimeError, match="^cannot register a hook on a tensor that doesn't require gradient$"):
        register_multi_grad_hook((x, constant), print)
    assert not x._backward_hooks
    calls = []
    with register_multi_grad_hook((x, constant), calls.append, mode="any"):
        (x * 2).backward()
    assert len(calls) == 1
    with register_multi_grad_hook((), calls.append):
        pass


# -- nodes -------------------------------------------------------------------------------------------------------------------


def test_a_node_can_be_called():
    x, y = leaf(2.0), leaf(3.0)
    node = (x * y).grad_fn
    one = wengert.ones(1, dtype=wengert.float64)
    dx, dy = node(one)
    assert (dx.item(), dy.item()) == (3.0, 2.0)
    assert dx.requires_grad
    with wengert.no_grad():
        assert not node(one)[0].requires_grad
    assert node(None) == (None, None)
    assert x.exp().grad_fn(one).item() == x.exp().item()
    (x * y).backward()


def test_a_node_of_several_outputs_can_be_called():
    x = leaf(1.0, 2.0, 3.0)
    node = x.unbind()[0].grad_fn
    one = wengert.ones((), dtype=wengert.float64)
    assert node(one, None, one * 5).tolist() == [1.0, 0.0, 5.0]


def test_calling_a_node_wrongly():
    node = leaf(1.0).exp().grad_fn
    one = wengert.ones(1, dtype=wengert.float64)
    for arguments in ((), (one, one)):
        with pytest.raises(TypeError, match=f"^expected 1 arguments, got {len(arguments)} instead$"):
            node(*arguments)
    with pytest.raises(TypeError, match="^argument 0 is not a Variable"):
        node(1.0)


def test_nodes_describe_their_incoming_cotangents():
    x = wengert.ones(2, 3, requires_grad=True)
    (meta,) = (x.double() * 2).grad_fn._input_metadata
    assert (list(meta.shape), meta.dtype, meta.device) == ([2, 3], wengert.float64, wengert.device("cpu"))
    assert len(x.unbind(1)[0].grad_fn._input_metadata) == 3
    (meta,) = get_gradient_edge(x).node._input_metadata
    assert meta.dtype is wengert.float32


def test_nodes_require_grad():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0)
    for node in ((x * 2).grad_fn, Double.apply(x).grad_fn, get_gradient_edge(x).node):
        assert node.requires_grad
        assert isinstance(node, Node)


def test_nodes_and_edges_keep_their_identity():
    x = leaf(1.0)
    y = x * 2
    z = y.exp()
    node = y.grad_fn
    assert z.grad_fn.next_functions[0][0] is node
    assert get_gradient_edge(y).node is node
    assert node.next_functions[0][0] is get_gradient_edge(x).node
    assert get_gradient_edge(y) == get_gradient_edge(y)
    node.metadata["mine"] = 1
    del node
    assert y.grad_fn.metadata == {"mine": 1}


def test_the_edge_of_a_leaf_names_it():
    x = leaf(1.0)
    edge = get_gradient_edge(x)
    assert edge.node.variable is x
    assert (edge.output_nr, edge.ownership_token) == (0, None)
    with pytest.raises(RuntimeError, match="for a Tensor that does not require gradients$"):
        get_gradient_edge(wengert.ones(1))


def test_a_leaf_unpacked_in_another_dtype_is_still_the_leaf():
    """A product of two dtypes saves its operands cast; derivatives of its derivatives reach the leaf all the same."""
    x = wengert.tensor([3.0], requires_grad=True)
    y = leaf(2.0)
    (first,) = grad(x * x * y, y, create_graph=True)
    (second,) = grad(first, x)
    assert second.tolist() == [6.0]
    assert (x * y).grad_fn._saved_self.is_leaf


def test_shapes_and_numbers_stay_when_the_arrays_are_freed():
    x = wengert.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    for y, shown in (
        (x.softmax(1), {"dim": 1}),
        (x.prod(1, keepdim=True), {"dim": 1, "keepdim": True}),
        (x.clamp(0.5, 3.5), {"min": 0.5, "max": 3.5}),
    ):
        node = y.grad_fn
        y.sum().backward()
        assert {name: getattr(node, "_saved_" + name) for name in shown} == shown
        with pytest.raises(RuntimeError, match="^Trying to backward through the graph a second time"):
            node(wengert.ones_like(y))
    with pytest.raises(RuntimeError, match=r"The freed values are those of SoftmaxBackward0.*test_graph_api.py"):
        _ = x.softmax(1).sum().grad_fn.next_functions[0][0], released(x.softmax(1))._saved_result


def released(y):
    """y's node, after a pass has freed its saved values."""
    y.sum().backward()
    return y.grad_fn


# -- increment_version -------------------------------------------------------------------------------------------------------


def test_increment_version():
    x, y = wengert.ones(1), wengert.ones(1)
    increment_version(x)
    increment_version([x, y])
    increment_version(t for t in (x, y))
    assert (x._version, y._version) == (3, 2)
    with pytest.raises(RuntimeError, match=r"^increment_version expect a Iterable\[Tensor\] as input"):
        increment_version(1)
    with pytest.raises(RuntimeError, match="^increment_version expects each element of the iterable to be a tensor"):
        increment_version([1])


# -- hooks on nodes ----------------------------------------------------------------------------------------------------------

REGISTER = {
    "tensor": lambda x, y: y.register_hook,
    "leaf": lambda x, y: x.register_hook,
    "pre": lambda x, y: y.grad_fn.register_prehook,
    "post": lambda x, y: y.grad_fn.register_hook,
    "post accumulate": lambda x, y: x.register_post_accumulate_grad_hook,
}


@pytest.mark.parametrize("kind", REGISTER)
def test_hooks_removed_or_added_while_running_count_from_the_next_pass(kind):
    x = leaf(1.0)
    y = x * 2
    register = REGISTER[kind](x, y)
    log, handles = [], []

    def first(*_):
        log.append("first")
        handles.pop().remove()
        register(lambda *_: log.append("added"))

    handle = register(first)
    handles.append(register(lambda *_: log.append("removed")))
    y.backward(retain_graph=True)
    assert log == ["first", "removed"]
    handle.remove()
    y.backward()
    assert log == ["first", "removed", "added"]


@pytest.mark.parametrize("kind", REGISTER)
def test_handles_of_all_hooks_end_with_their_block(kind):
    x = leaf(1.0)
    y = x * 2
    log = []
    with REGISTER[kind](x, y)(lambda *_: log.append(1)):
        y.backward(retain_graph=True)
    y.backward()
    assert log == [1]


@pytest.mark.parametrize("kind", REGISTER)
def test_hooks_that_raise_leave_the_modes_alone(kind):
    x = leaf(1.0)
    y = x * 2
    handle = REGISTER[kind](x, y)(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.backward(retain_graph=True)
    assert wengert.is_grad_enabled()
    handle.remove()
    y.backward()


def test_a_node_hook_must_keep_dtypes():
    for register in ("register_hook", "register_prehook"):
        y = leaf(1.0) * 2
        getattr(y.grad_fn, register)(lambda grads, *_: tuple([g.float() for g in grads if g is not None]))
        with pytest.raises(RuntimeError, match="has changed the (type|size) of value|incorrect number of values"):
            y.backward()


def test_post_accumulate_hooks_must_return_none():
    x = leaf(1.0)
    for result, error in ((1, TypeError), (x, RuntimeError)):
        with x.register_post_accumulate_grad_hook(lambda _, result=result: result), pytest.raises(error):
            (x * 2).backward()
