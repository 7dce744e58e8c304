"""The backward pass: its order, which nodes run, whose memory a gradient buffer is, reads, re-entrance."""

import gc
import threading
import weakref

import numpy as np
import pytest

import wengert
from snapshots import nodes_behind, values
from wengert.autograd import Function, backward, grad


def leaf(*numbers):
    return wengert.tensor(list(numbers), dtype=wengert.float64, requires_grad=True)


def numbers(*values):
    return wengert.tensor(list(values), dtype=wengert.float64)


def logged(log, name, x):
    """x through a Function that logs its name when its backward runs."""

    class Log(Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            log.append(name)
            return g

    return Log.apply(x)


# -- order -----------------------------------------------------------------------------------------------------------------


def test_of_ready_nodes_the_one_made_last_runs_next():
    log = []
    x = leaf(1.0)
    a = logged(log, "a", x)
    b = logged(log, "b", x)
    c = logged(log, "c", x)
    (b + a + c).backward()
    assert log == ["c", "b", "a"]


def test_a_node_waits_for_everything_that_feeds_it():
    log = []
    x = leaf(1.0)
    a = logged(log, "a", x)
    b = logged(log, "b", a)
    c = logged(log, "c", a)
    d = logged(log, "d", b)
    (c + d + a).backward()
    assert log == ["d", "c", "b", "a"] and x.grad.item() == 3.0


def test_the_order_is_the_same_in_every_pass():
    log = []
    x = leaf(1.0)
    parts = [logged(log, i, x) for i in range(20)]
    total = sum(parts[i] * parts[(7 * i) % 20] for i in range(20))
    total.sum().backward(retain_graph=True)
    first, log[:] = list(log), []
    total.sum().backward()
    assert log == first == sorted(first, reverse=True)


def test_the_order_can_be_changed_by_sequence_numbers():
    log = []
    x = leaf(1.0)
    a, b = logged(log, "a", x), logged(log, "b", x)
    y = a + b
    a.grad_fn._set_sequence_nr(b.grad_fn._sequence_nr() + 1000)
    y.backward()
    assert log == ["a", "b"]


def test_roots_that_are_inside_each_others_graphs_wait():
    log = []
    x = leaf(1.0)
    a = logged(log, "a", x)
    b = logged(log, "b", a)
    backward([a, b])
    assert log == ["b", "a"] and x.grad.item() == 2.0


# -- which nodes run -------------------------------------------------------------------------------------------------------


def test_only_nodes_on_a_path_to_the_inputs_run():
    log = []
    x, w = leaf(1.0), leaf(2.0)
    y = logged(log, "both", logged(log, "x", x) * logged(log, "w", w))
    grad(y, x, retain_graph=True)
    assert log == ["both", "x"]
    log.clear()
    grad(y, [x, w], retain_graph=True)
    assert log == ["both", "w", "x"]
    log.clear()
    y.backward(inputs=[w])
    assert log == ["both", "w"]


def test_a_pruned_branch_in_the_middle_does_not_hold_up_its_sources():
    """w feeds x's path only through what is pruned and what is not."""
    x = leaf(2.0)
    side = x * 3
    main = x * x
    (g,) = grad(main + side.detach(), x)
    assert g.item() == 4.0
    target = x * 5
    y = target * main
    (g,) = grad(y, target)  # main is not needed, x is reached by both
    assert g.item() == 4.0


def test_cotangents_reach_a_captured_tensor_from_needed_nodes_only():
    x = leaf(2.0)
    a = x * 3
    b = a * a
    c = b * a
    ga, gb = grad(c, [a, b])  # a also feeds b
    assert gb.item() == 6.0 and ga.item() == 3 * 36.0


# -- buffers ---------------------------------------------------------------------------------------------------------------


def test_no_buffer_stays_on_a_node():
    x = leaf(1.0, 2.0)
    y = (x * x + x).sum()
    for run in (
        lambda: y.backward(retain_graph=True),
        lambda: grad(y, x, retain_graph=True),
        lambda: grad(y, x, create_graph=True),
    ):
        run()
        assert all(node._buffer is None for node in nodes_behind(y))


def test_sums_of_many_paths():
    x = leaf(1.0, 2.0)
    y = sum(x * float(i) for i in range(1, 11))
    y.sum().backward()
    assert x.grad.tolist() == [55.0, 55.0]


def test_adding_up_never_writes_into_a_cotangent_that_somebody_else_holds():
    """One cotangent goes to several places; adding into one must not change the others."""
    x, y, z = leaf(1.0, 2.0), leaf(3.0, 4.0), leaf(5.0, 6.0)
    a, b, c = x + 0, y + 0, z + 0
    given = numbers(1.0, 10.0)
    (a + b + c + a + b + a).backward(given)
    assert x.grad.tolist() == [3.0, 30.0] and y.grad.tolist() == [2.0, 20.0] and z.grad.tolist() == [1.0, 10.0]
    assert given.tolist() == [1.0, 10.0]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_sums_of_shared_and_owned_cotangents_in_any_order(order):
    x = leaf(1.0, 2.0)
    a = x * 1
    terms = [a, a * 3, a.view(2)]
    total = terms[order[0]] + terms[order[1]] + terms[order[2]]
    seen = []
    total.register_hook(seen.append)
    total.backward(numbers(1.0, 10.0))
    assert x.grad.tolist() == [5.0, 50.0] and seen[0].tolist() == [1.0, 10.0]


def test_a_cotangent_kept_by_a_hook_never_changes():
    kept = []
    x = leaf(1.0, 2.0)
    a = x * 1
    b = a + 0
    c = a + 0
    for tensor in (a, b, c):
        tensor.register_hook(kept.append)
    (b * 2 + c + a).sum().backward(retain_graph=True)
    (b * 2 + c + a).sum().backward()
    assert sorted(k.tolist()[0] for k in kept) == [1.0, 1.0, 2.0, 2.0, 4.0, 4.0]


def test_a_view_as_cotangent_is_added_up_without_harm():
    """transpose and expand pass on views of their cotangents."""
    x = wengert.ones(2, 3, dtype=wengert.float64, requires_grad=True)
    a = x * 1
    weights = wengert.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=wengert.float64)
    y = a.t() + a.t() * 2
    y.backward(weights)
    assert x.grad.tolist() == [[3.0, 9.0, 15.0], [6.0, 12.0, 18.0]]
    assert weights.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def gradients_and_kept(numbers_of_leaves, given):
    """Return gradients and kept cotangents of a graph in which rules may overwrite cotangents at every place."""
    kept = []

    class Keep(Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            kept.append(g)
            return g

    x, y, z = [wengert.from_numpy(n).requires_grad_() for n in numbers_of_leaves]
    a = x * y
    a.retain_grad()
    b = wengert.tanh(a + z)
    b.register_hook(lambda g: kept.append(g) or None)
    c = Keep.apply(wengert.exp(-b) * b)
    d = c / (a * a + 1) - c.view(-1).view(c.shape)
    total = (d + b) * d - wengert.sqrt(a * a + 1) + b
    captured = grad(total, [b, c, x], given, retain_graph=True)
    again = grad(total, [b, c, x], given, retain_graph=True)
    total.backward(given)
    return [x.grad, y.grad, z.grad, a.grad, *captured, *again, *kept]


def test_large_cotangents_are_written_over_only_where_nobody_has_them():
    """Large arrays take the results of rules in place, small ones never: pieces tell what has to come out."""
    rng = np.random.default_rng(0)
    n, piece = 1 << 17, 1 << 12
    leaves, weights = [rng.uniform(0.5, 2.0, n) for _ in "xyz"], rng.uniform(-1, 1, n)
    given = wengert.from_numpy(weights.copy())
    found = gradients_and_kept(leaves, given)
    for i in range(0, n, 8 * piece):
        part = slice(i, i + piece)
        expected = gradients_and_kept([x[part].copy() for x in leaves], wengert.from_numpy(weights[part].copy()))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a.numpy()[part], b.numpy())
    np.testing.assert_array_equal(given.numpy(), weights)


@pytest.mark.skipif(wengert.kernels.native is None, reason="NumPy's rules make new arrays")
def test_a_chain_needs_one_large_cotangent():
    x = wengert.ones(1 << 17, requires_grad=True)
    y = x
    for _ in range(8):
        y = wengert.neg(y * 1.5)
    given = wengert.ones(1 << 17)
    before = wengert.memory_stats()
    y.backward(given)
    after = wengert.memory_stats()
    assert sum([after[name] - before[name] for name in ("num_hits", "num_misses")]) == 1
    assert x.grad.tolist()[:2] == [1.5**8] * 2


# -- fitting a cotangent to its edge -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 3), (2, 1), (2, 3), (1, 1), (4, 1, 1), (1, 2, 3)])
def test_broadcasting_is_undone(shape):
    x = wengert.ones(shape, dtype=wengert.float64, requires_grad=True)
    weights = np.arange(24.0).reshape(4, 2, 3)
    (x * wengert.from_numpy(weights)).sum().backward()
    expected = weights.copy()
    for axis, size in enumerate((1,) * (3 - len(shape)) + shape):
        if size == 1:
            expected = expected.sum(axis, keepdims=True)
    np.testing.assert_array_equal(values(x.grad), expected.reshape(shape))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_promotion_is_undone(dtype):
    x = wengert.ones(2, dtype=getattr(wengert, dtype), requires_grad=True)
    y = wengert.ones(2, dtype=wengert.complex128, requires_grad=True)
    (x * y).sum().abs().backward()
    assert x.grad.dtype is x.dtype and y.grad.dtype is wengert.complex128
    assert x.grad.tolist() == [1.0, 1.0]


def test_the_imaginary_part_is_dropped_for_a_real_input():
    x = leaf(1.0, 2.0)
    z = wengert.tensor([2 + 5j, 3 - 1j])
    (x * z).sum().backward(wengert.tensor(1 + 0j))
    assert x.grad.tolist() == [2.0, 3.0]


# -- reads: added in place ---------------------------------------------------------------------------------------------------


def test_reads_of_elements_slices_and_masks_add_up():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = x * 1
    total = y[0] * 1 + y[1:3].sum() * 10 + y[wengert.tensor([0, 0, 3])].sum() * 100 + y[y > 2].sum() * 1000
    total.backward()
    assert x.grad.tolist() == [201.0, 10.0, 1010.0, 1100.0]


def test_reads_beside_other_uses():
    x = leaf(1.0, 2.0, 3.0)
    (x[0] + (x * x).sum() + x[0] * 2).backward()
    assert x.grad.tolist() == [2.0 + 3.0, 4.0, 6.0]


def test_a_read_alone_of_a_leaf():
    x = leaf(1.0, 2.0, 3.0)
    x[1].backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0]
    x[2].backward()
    assert x.grad.tolist() == [0.0, 1.0, 1.0]


def test_reads_are_seen_in_full_by_hooks_and_captures():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    assert grad(y[1] * 5, y, retain_graph=True)[0].tolist() == [0.0, 5.0, 0.0]
    assert seen == [[0.0, 5.0, 0.0]]


def test_reads_do_not_write_into_a_cotangent_that_somebody_else_holds():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    given = numbers(1.0, 1.0, 1.0)
    backward([y, y[0], y[1:]], [given, wengert.tensor(5.0, dtype=wengert.float64), numbers(7.0, 7.0)])
    assert x.grad.tolist() == [6.0, 8.0, 8.0] and given.tolist() == [1.0, 1.0, 1.0]


def test_second_derivatives_through_reads():
    x = leaf(2.0, 3.0)
    (g,) = grad(x[0] ** 3 + x[0] * x[1], x, create_graph=True)
    assert g.tolist() == [15.0, 2.0]
    (h,) = grad(g[0], x, retain_graph=True)
    assert h.tolist() == [12.0, 1.0]
    (h,) = grad(g[1], x)
    assert h.tolist() == [1.0, 0.0]


def test_iterating_over_a_vector():
    x = leaf(*[float(i) for i in range(50)])
    total = 0
    for element in x:
        total = total + element * element
    total.backward()
    assert x.grad.tolist() == [2.0 * i for i in range(50)]


# -- re-entrance -----------------------------------------------------------------------------------------------------------


class Nested(Function):
    """Identity that runs a backward pass inside its own, depth deep."""

    @staticmethod
    def forward(ctx, x, depth):
        ctx.depth = depth
        return x * 1

    @staticmethod
    def backward(ctx, g):
        if ctx.depth > 0:
            with wengert.enable_grad():
                x = leaf(1.0)
                Nested.apply(x, ctx.depth - 1).sum().backward()
            assert x.grad.item() == 1.0
        return g, None


@pytest.mark.parametrize("depth", [1, 3, 30])
def test_backward_inside_backward_inside_backward(depth):
    x = leaf(1.0)
    Nested.apply(x, depth).sum().backward()
    assert x.grad.item() == 1.0


def test_an_inner_pass_over_the_outer_graph_leaves_the_outer_buffers_alone():
    x = leaf(2.0)
    a = x * x
    b = a * 3
    c = a * 5
    total = b + c
    inner = []

    def hook(g):
        if not inner:
            inner.append(None)
            inner.append(grad(total, x, retain_graph=True)[0].item())

    c.register_hook(hook)
    total.backward()
    assert inner[1] == 32.0 and x.grad.item() == 32.0
    assert all(node._buffer is None for node in nodes_behind(b, c))


def test_an_error_in_an_inner_pass_clears_both():
    x = leaf(2.0)
    a = x * x
    b = a * 3

    def hook(g):
        if wengert.is_grad_enabled():
            return
        with wengert.enable_grad():
            a.backward(numbers(1.0, 2.0, 3.0))

    handle = b.register_hook(hook)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        b.backward(retain_graph=True)
    assert x.grad is None and all(node._buffer is None for node in nodes_behind(b))
    handle.remove()
    b.backward()
    assert x.grad.item() == 12.0


def test_threads_run_one_graph_at_once():
    x = leaf(2.0)
    y = x * x
    for _ in range(200):
        y = y + x
    results, failures = [], []

    def work():
        try:
            for _ in range(20):
                results.append(grad(y, x, retain_graph=True)[0].item())
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [] and results == [204.0] * 80


def test_a_finished_pass_holds_nothing():
    x = leaf(1.0, 2.0)
    given = numbers(1.0, 1.0)
    y = x * x
    references = [weakref.ref(given), weakref.ref(y.grad_fn)]
    gc.disable()
    try:
        y.backward(given)
        del y, given
        assert [r() for r in references] == [None, None]
    finally:
        gc.enable()
