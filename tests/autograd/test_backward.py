"""autograd.backward and Tensor.backward: what they add up, into what, and what they leave alone when they fail."""

import threading
import warnings

import numpy as np
import pytest

import wengert
from lines import line_of
from snapshots import Unchanged, values
from wengert.autograd import Function, backward
from wengert.autograd.graph import get_gradient_edge


def leaf(*numbers, dtype=None):
    return wengert.tensor(list(numbers), dtype=dtype or wengert.float64, requires_grad=True)


def scalar(number):
    return wengert.tensor(number, dtype=wengert.float64, requires_grad=True)


def numbers(*values):
    return wengert.tensor(list(values), dtype=wengert.float64)


# -- roots and cotangents --------------------------------------------------------------------------------------------------


def test_a_scalar_root_starts_from_one():
    x = leaf(1.0, 2.0, 3.0)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_any_shape_of_one_element_is_a_scalar_root(shape):
    x = wengert.full(shape, 3.0, requires_grad=True)
    y = x * x
    y.backward()
    assert x.grad.item() == 6.0 and tuple(x.grad.shape) == shape


def test_the_cotangent_weighs_the_elements():
    x = leaf(1.0, 2.0, 3.0)
    (x * x).backward(numbers(1.0, 10.0, 100.0))
    assert x.grad.tolist() == [2.0, 40.0, 600.0]


@pytest.mark.parametrize("name", ["gradient", None])
def test_tensor_backward_names_its_cotangent_gradient(name):
    x = leaf(1.0, 2.0)
    y = x * 3
    y.backward(numbers(1.0, 2.0)) if name is None else y.backward(**{name: numbers(1.0, 2.0)})
    assert x.grad.tolist() == [3.0, 6.0]


def test_a_one_element_root_takes_a_cotangent_of_its_own_shape_only():
    x = scalar(2.0)
    y = x * 3
    with Unchanged(x, y), pytest.raises(RuntimeError, match=r"^Mismatch in shape"):
        y.backward(numbers(1.0))
    y.backward(wengert.tensor(5.0, dtype=wengert.float64))
    assert x.grad.item() == 15.0


def test_cotangents_of_another_float_dtype_are_cast():
    x = leaf(1.0, 2.0, dtype=wengert.float32)
    (x * 3).backward(numbers(1.0, 2.0))
    assert x.grad.dtype is wengert.float32 and x.grad.tolist() == [3.0, 6.0]


def test_the_cotangent_is_not_changed_and_not_shared():
    x = leaf(1.0, 2.0)
    given = numbers(1.0, 10.0)
    x.backward(given)
    x.grad.add_(7)
    assert given.tolist() == [1.0, 10.0]
    (x * 1).backward(given)
    x.grad.add_(7)
    assert given.tolist() == [1.0, 10.0]


def test_several_roots_add_up():
    x = leaf(1.0, 2.0)
    backward([x.sum(), (x * x).sum()])
    assert x.grad.tolist() == [3.0, 5.0]


def test_roots_with_some_cotangents_left_out():
    x = leaf(1.0, 2.0)
    backward([x * x, x.sum()], [numbers(1.0, 1.0), None])
    assert x.grad.tolist() == [3.0, 5.0]


def test_one_root_several_times():
    x = scalar(3.0)
    y = x * x
    backward([y, y, y])
    assert x.grad.item() == 18.0


def test_one_root_several_times_with_cotangents():
    x = leaf(1.0, 2.0)
    y = x * x
    backward([y, y], [numbers(1.0, 0.0), numbers(0.0, 10.0)])
    assert x.grad.tolist() == [2.0, 40.0]


def test_roots_that_depend_on_each_other():
    x = scalar(3.0)
    y = x * x
    z = y * x
    backward([y, z])  # d/dx of x^2 + x^3
    assert x.grad.item() == 6.0 + 27.0
    x.grad = None
    y = x * x
    z = y * x
    backward([z, y])
    assert x.grad.item() == 6.0 + 27.0


def test_a_leaf_as_root():
    x = leaf(1.0, 2.0)
    x.backward(numbers(3.0, 4.0))
    x.backward(numbers(3.0, 4.0))
    assert x.grad.tolist() == [6.0, 8.0]
    y = scalar(1.0)
    backward([y, y * 2])
    assert y.grad.item() == 3.0


def test_gradient_edges_as_roots():
    x = leaf(1.0, 2.0)
    y = x * x
    edge = get_gradient_edge(y)
    backward(edge, numbers(1.0, 10.0))
    assert x.grad.tolist() == [2.0, 40.0]
    s = (x * 3).sum()
    backward(tensors=(get_gradient_edge(s),))
    assert x.grad.tolist() == [5.0, 43.0]


def test_sequences_may_be_tuples_or_lists():
    x = leaf(1.0, 2.0)
    backward((x * 2,), [numbers(1.0, 1.0)])
    backward([x * 2], (numbers(1.0, 1.0),))
    assert x.grad.tolist() == [4.0, 4.0]


def test_backward_returns_nothing():
    x = scalar(1.0)
    assert backward(x * 2) is None and (x * 2).backward() is None


# -- accumulation ----------------------------------------------------------------------------------------------------------


def test_gradients_are_added_into_the_tensor_that_grad_is():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    first = x.grad
    version = first._version
    (x * x).sum().backward()
    assert x.grad is first and first.tolist() == [4.0, 8.0]
    assert first._version == version + 1


def test_gradients_are_added_into_an_assigned_grad():
    x = leaf(1.0, 2.0)
    mine = numbers(100.0, 200.0)
    x.grad = mine
    x.sum().backward()
    assert x.grad is mine and mine.tolist() == [101.0, 201.0]


def test_two_leaves_never_share_a_gradient():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x + y).sum().backward()
    x.grad.add_(5)
    assert y.grad.tolist() == [1.0, 1.0]
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x + y).backward(numbers(1.0, 1.0))
    x.grad.add_(5)
    assert y.grad.tolist() == [1.0, 1.0]


def test_the_same_gradient_for_two_leaves_from_a_function():
    class Add(Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, g):
            same = g.clone()
            return same, same

    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    Add.apply(x, y).sum().backward()
    x.grad.add_(5)
    assert y.grad.tolist() == [1.0, 1.0]


def test_an_expanded_gradient_is_copied():
    x = wengert.zeros(3, 4, requires_grad=True)
    x.sum().backward()
    assert x.grad.is_contiguous() and x.grad.stride() == (4, 1)
    x.grad[0, 0] = 7.0
    assert values(x.grad).sum() == 11 + 7.0


def test_a_gradient_that_nobody_else_holds_becomes_grad_without_a_copy():
    x = leaf(1.0, 2.0)
    seen = []

    class Twice(Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    y = x * 1
    y.register_hook(lambda g: seen.append(g.data_ptr()))
    Twice.apply(y).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    # User code may hold memory that it has seen, so .grad must not be this memory.
    held = []
    z = leaf(1.0, 2.0)
    z.register_hook(held.append)
    (z * 3).sum().backward()
    z.grad.zero_()
    assert held[0].tolist() == [3.0, 3.0]


def test_the_gradient_lies_in_memory_as_the_leaf_does():
    x = wengert.from_numpy(np.zeros((3, 4)).T).requires_grad_()
    (x * wengert.ones(4, 3, dtype=wengert.float64)).sum().backward()
    assert x.grad.stride() == x.stride() == (1, 4)


def test_a_gradient_has_the_leafs_dtype_and_shape():
    x = wengert.zeros(3, 1, dtype=wengert.float32, requires_grad=True)
    (x + wengert.ones(2, 3, 4, dtype=wengert.float64)).sum().backward()
    assert x.grad.dtype is wengert.float32 and tuple(x.grad.shape) == (3, 1)
    assert x.grad.tolist() == [[8.0], [8.0], [8.0]]


def test_grad_of_zero_dim_and_empty_leaves():
    x, empty = scalar(2.0), wengert.zeros(0, requires_grad=True)
    (x * x).backward()
    (empty * 2).sum().backward()
    assert tuple(x.grad.shape) == () and x.grad.item() == 4.0
    assert tuple(empty.grad.shape) == (0,)


def test_setting_grad_to_none_starts_anew():
    x = scalar(2.0)
    (x * x).backward()
    x.grad = None
    (x * 3).backward()
    assert x.grad.item() == 3.0
    del x.grad
    assert x.grad is None


def test_non_leaves_keep_no_gradient():
    x = scalar(2.0)
    y = x * x
    (y * 1).backward()
    with pytest.warns(UserWarning, match=r"^The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"):
        assert y.grad is None


def test_tensors_without_requires_grad_get_nothing():
    x, constant = leaf(1.0, 2.0), numbers(3.0, 4.0)
    (x * constant).sum().backward()
    assert constant.grad is None and x.grad.tolist() == [3.0, 4.0]


def test_a_leaf_made_by_an_integer_operation_chain_is_reached_through_floats_only():
    x = leaf(1.5, -0.5)
    mask = x > 0
    assert not mask.requires_grad and mask.is_leaf
    (x * mask).sum().backward()
    assert x.grad.tolist() == [1.0, 0.0]


# -- retain_graph ----------------------------------------------------------------------------------------------------------


def test_second_pass_needs_retain_graph():
    x = scalar(3.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 12.0
    with Unchanged(x, y), pytest.raises(RuntimeError, match=r"^Trying to backward through the graph a second time"):
        y.backward()


def test_a_graph_that_saved_nothing_runs_any_number_of_times():
    x = leaf(1.0, 2.0)
    y = (x + 1).sum()
    for n in (1.0, 2.0, 3.0):
        y.backward()
        assert x.grad.tolist() == [n, n]


def test_freed_part_fails_only_when_it_is_reached():
    x = scalar(3.0)
    shared = x * x
    (shared + 1).backward()
    again = shared + 2
    with Unchanged(x, again), pytest.raises(RuntimeError, match=r"^Trying to backward through the graph a second time"):
        again.backward()
    (again_inputs,) = wengert.autograd.grad(again, shared)  # stops before the freed node
    assert again_inputs.item() == 1.0


def test_the_error_says_which_node_and_where():
    x = scalar(3.0)
    y = x * x  # the freed node
    y.backward()
    with pytest.raises(RuntimeError) as caught:
        y.backward()
    assert f"MulBackward0, recorded at {line_of(__file__, 'the freed node')}, in " in str(caught.value)


# -- create_graph ----------------------------------------------------------------------------------------------------------


def test_create_graph_makes_grad_differentiable_and_warns():
    x = scalar(3.0)
    with pytest.warns(UserWarning, match=r"^Using backward\(\) with create_graph=True will create a reference cycle"):
        (x**3).backward(create_graph=True)
    assert x.grad.requires_grad and x.grad.item() == 27.0
    (second,) = wengert.autograd.grad(x.grad, x)
    assert second.item() == 18.0
    x.grad = None


def test_create_graph_replaces_grad_so_that_old_graphs_stay_right():
    x = scalar(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (x**2).backward(create_graph=True)
        first = x.grad
        (x**2).backward(create_graph=True)
    assert x.grad is not first and first.item() == 6.0 and x.grad.item() == 12.0
    (second,) = wengert.autograd.grad(x.grad, x)
    assert second.item() == 4.0
    x.grad = None


# -- inputs= ---------------------------------------------------------------------------------------------------------------


def test_inputs_restricts_which_leaves_accumulate():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x * w).sum().backward(inputs=[x])
    assert x.grad.tolist() == [3.0, 4.0] and w.grad is None
    (x * w).sum().backward(inputs=w)
    assert x.grad.tolist() == [3.0, 4.0] and w.grad.tolist() == [1.0, 2.0]


def test_an_interior_input_keeps_its_gradient_and_its_leaves_get_none():
    x = scalar(3.0)
    y = x * x
    z = y * y
    z.backward(inputs=[y])
    assert y.grad.item() == 18.0 and x.grad is None


def test_an_interior_input_and_a_leaf_behind_it():
    x = scalar(3.0)
    y = x * x
    (y * y).backward(inputs=[x, y])
    assert y.grad.item() == 18.0 and x.grad.item() == 108.0  # 4 x^3


def test_inputs_as_gradient_edges():
    x, w = scalar(3.0), scalar(5.0)
    (x * w).backward(inputs=[get_gradient_edge(x)])
    assert x.grad.item() == 5.0 and w.grad is None


def test_nodes_off_the_path_to_inputs_do_not_run():
    class Explodes(Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            raise AssertionError("must not run")

    x, w = scalar(3.0), scalar(5.0)
    (x * Explodes.apply(w)).backward(inputs=[x])
    assert x.grad.item() == 5.0


def test_empty_inputs_are_refused():
    x = scalar(3.0)
    y = x * x
    with Unchanged(x, y), pytest.raises(RuntimeError, match=r"^`inputs` argument to `backward\(\)` cannot be empty"):
        y.backward(inputs=[])
    y.backward()


# -- deprecated names ------------------------------------------------------------------------------------------------------


def test_grad_variables_is_an_old_name_of_grad_tensors():
    x = leaf(1.0, 2.0)
    with pytest.warns(FutureWarning, match=r"^`grad_variables` is deprecated. Use `grad_tensors` instead."):
        backward([x * 2], grad_variables=[numbers(1.0, 2.0)])
    assert x.grad.tolist() == [2.0, 4.0]


def test_both_names_at_once_are_refused():
    x = leaf(1.0, 2.0)
    y = x * 2
    with (
        Unchanged(x, y),
        pytest.warns(FutureWarning),
        pytest.raises(RuntimeError, match=r"`grad_tensors` and `grad_variables` \(deprecated\) arguments both passed"),
    ):
        backward([y], [numbers(1.0, 2.0)], grad_variables=[numbers(1.0, 2.0)])


# -- errors leave everything as it was ---------------------------------------------------------------------------------------

ERRORS = {
    "non-scalar root": (lambda x, y: y.backward(), RuntimeError, r"^grad can be implicitly created only for scalar outputs"),
    "shape": (
        lambda x, y: y.backward(numbers(1.0, 2.0, 3.0)),
        RuntimeError,
        r"^Mismatch in shape: grad_output\[0\] has a shape of torch.Size\(\[3\]\) and output\[0\] has a shape of "
        r"torch.Size\(\[2\]\)\.",
    ),
    "shape that broadcasts": (lambda x, y: y.backward(numbers(1.0)), RuntimeError, r"^Mismatch in shape"),
    "no graph": (
        lambda x, y: backward([y, numbers(1.0)], [numbers(1.0, 1.0), numbers(1.0)]),
        RuntimeError,
        r"^element 1 of tensors does not require grad and does not have a grad_fn",
    ),
    "gradient of a wrong type": (
        lambda x, y: backward([y], ["a"]),
        TypeError,
        r"^gradients can be either Tensors or None, but got str",
    ),
    "too few gradients": (lambda x, y: backward([y, y], [numbers(1.0, 1.0)]), RuntimeError, r"^got 2 tensors and 1 gradients"),
    "input of a wrong type": (
        lambda x, y: backward([y], [numbers(1.0, 1.0)], inputs=[3]),
        RuntimeError,
        r"^all inputs have to be Tensors or GradientEdges, but got int",
    ),
    "complex gradient of a real root": (
        lambda x, y: y.backward(wengert.ones(2, dtype=wengert.complex128)),
        RuntimeError,
        r"^For complex Tensors, both grad_output and output are required to have the same dtype",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_error_leaves_everything_as_it_was(case):
    provoke, kind, text = ERRORS[case]
    x = leaf(1.0, 2.0)
    x.grad = numbers(0.5, 0.25)
    y = x * x
    with Unchanged(x, y), pytest.raises(kind, match=text):
        provoke(x, y)
    y.backward(numbers(1.0, 1.0))  # the graph is all there
    assert x.grad.tolist() == [2.5, 4.25]


def test_a_complex_scalar_needs_a_cotangent():
    z = wengert.tensor(1 + 2j, requires_grad=True)
    y = z * z
    with Unchanged(z, y), pytest.raises(RuntimeError, match=r"^grad can be implicitly created only for real scalar outputs"):
        y.backward()
    y.backward(wengert.tensor(1 + 0j))
    assert z.grad.item() == 2 - 4j  # the conjugate of 2 z


def test_a_root_that_requires_no_gradient():
    with pytest.raises(RuntimeError, match=r"^element 0 of tensors does not require grad and does not have a grad_fn"):
        numbers(1.0).backward()


def test_a_root_that_is_no_tensor():
    with pytest.raises(TypeError):
        backward([3])


class Fails(Function):
    """Raises in backward as long as Fails.armed."""

    armed = True

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * 2

    @staticmethod
    def backward(ctx, g):
        if Fails.armed:
            raise KeyError("the user's own error")
        return g * 2


@pytest.fixture
def armed():
    Fails.armed = True
    yield
    Fails.armed = True


def test_an_exception_in_the_middle_passes_unchanged(armed):
    x = scalar(3.0)
    y = Fails.apply(x + 1) * 5
    with pytest.raises(KeyError, match="the user's own error"):
        y.backward()


def test_an_exception_in_the_middle_leaves_tensors_and_buffers_clean(armed):
    x = scalar(3.0)
    x.grad = wengert.tensor(0.5, dtype=wengert.float64)
    y = Fails.apply(x + 1) * 5
    with Unchanged(x, y), pytest.raises(KeyError):
        y.backward(retain_graph=True)
    Fails.armed = False
    y.backward()
    assert x.grad.item() == 10.5


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
def test_any_exception_from_a_hook_leaves_everything_as_it_was(error):
    x = scalar(3.0)
    y = x + 1
    z = y * 5 + y

    def hook(grad):
        raise error

    handle = y.register_hook(hook)
    with Unchanged(x, z), pytest.raises(error):
        z.backward(retain_graph=True)
    handle.remove()
    z.backward()
    assert x.grad.item() == 6.0


def test_an_exception_under_no_grad_restores_no_grad(armed):
    x = scalar(3.0)
    y = Fails.apply(x)
    with wengert.no_grad(), Unchanged(x, y), pytest.raises(KeyError):
        y.backward(retain_graph=True)
    assert wengert.is_grad_enabled()


def test_backward_works_under_no_grad():
    x = scalar(3.0)
    y = x * x
    with wengert.no_grad():
        y.backward()
        assert not wengert.is_grad_enabled()
    assert x.grad.item() == 6.0


# -- not-a-number ------------------------------------------------------------------------------------------------------------


def test_nan_cotangents_flow():
    x = leaf(1.0, 2.0)
    (x * 3).backward(numbers(float("nan"), 1.0))
    np.testing.assert_array_equal(values(x.grad), [np.nan, 3.0])


def test_infinite_cotangents_flow():
    x = leaf(1.0, 2.0)
    (x * numbers(0.0, 3.0)).backward(numbers(float("inf"), float("inf")))
    np.testing.assert_array_equal(values(x.grad), [np.nan, np.inf])


# -- inside each other, and from many threads --------------------------------------------------------------------------------


def test_backward_inside_backward():
    class Square(Function):
        """Differentiates by a backward pass of its own."""

        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * a

        @staticmethod
        def backward(ctx, g):
            (a,) = ctx.saved_tensors
            with wengert.enable_grad():
                b = a.detach().requires_grad_()
                (b * b).sum().backward()
            return g * b.grad

    x = leaf(1.0, 2.0)
    Square.apply(x * 3).sum().backward()
    assert x.grad.tolist() == [18.0, 36.0]


def test_backward_of_the_same_graph_inside_backward():
    """The inner pass runs nodes that the outer one waits at."""
    x = scalar(2.0)
    y = x * x
    z = y * 3
    found = []

    def hook(grad):
        if not found:  # the inner pass comes by here, too
            found.append(None)
            found.append(wengert.autograd.grad(z, x, retain_graph=True)[0].item())

    y.register_hook(hook)
    z.backward()
    assert found == [None, 12.0] and x.grad.item() == 12.0


def test_many_threads_share_leaves():
    x = leaf(1.0, 2.0)
    w = leaf(3.0, 4.0)
    wanted = 4 * 50
    failures = []

    def work():
        try:
            for _ in range(50):
                wengert.autograd.grad((x * w).sum(), [x, w])
                (x * w).sum().backward()
        except Exception as error:
            failures.append(error)

    x.grad, w.grad = numbers(0.0, 0.0), numbers(0.0, 0.0)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert x.grad.tolist() == [3.0 * wanted, 4.0 * wanted] and w.grad.tolist() == [1.0 * wanted, 2.0 * wanted]


def test_a_second_pass_names_the_lines_that_recorded_and_that_freed():
    x = wengert.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()  # recorded here
    y.backward()  # freed here
    with pytest.raises(RuntimeError) as caught:
        y.backward()
    name = "test_a_second_pass_names_the_lines_that_recorded_and_that_freed"
    recorded, freed = line_of(__file__, "recorded here"), line_of(__file__, "freed here")
    where = f"recorded at {recorded}, in {name}; the pass at {freed}, in {name} freed them."
    assert str(caught.value).endswith(f"The freed values are those of MulBackward0, {where}")


def test_a_function_names_the_pass_that_freed_its_saved_tensors():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * ctx.saved_tensors[0] * grad

    x = scalar(3.0)
    y = Square.apply(x)
    wengert.autograd.grad(y, x)  # freed by grad
    with pytest.raises(RuntimeError) as caught:
        y.backward()
    assert f"; the pass at {line_of(__file__, 'freed by grad')}, in " in str(caught.value)
