"""Function in its static form: the context, what forward and backward may return, and what each mistake raises."""

import gc
import weakref

import numpy as np
import pytest

import wengert
from lines import line_of
from snapshots import Unchanged, values
from user_functions import Cube, function, leaf, numbers
from wengert.autograd import Function, grad, gradcheck, gradgradcheck

# -- the ordinary case -----------------------------------------------------------------------------------------------------


def test_value_and_gradient():
    x = leaf(1.0, 2.0)
    y = Cube.apply(x)
    assert y.tolist() == [1.0, 8.0]
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 12.0]


def test_forward_is_not_recorded_and_its_result_is():
    seen = []

    def forward(ctx, x):
        y = x * 2
        seen.append((wengert.is_grad_enabled(), y.requires_grad, x.requires_grad))
        return y

    y = function(forward, lambda ctx, g: g * 2)(leaf(1.0))
    assert seen == [(False, False, True)]
    assert y.requires_grad and not y.is_leaf and y.grad_fn.name() == "FBackward"


def test_backward_runs_unrecorded_and_recorded_under_create_graph():
    seen = []

    def backward(ctx, g):
        seen.append(wengert.is_grad_enabled())
        return g * 2

    double = function(lambda ctx, x: x * 2, backward)
    x = leaf(1.0)
    grad(double(x), x)
    grad(double(x), x, create_graph=True)
    assert seen == [False, True]


def test_gradcheck_and_gradgradcheck_of_a_function():
    x = leaf(1.0, -2.0, 0.5)
    assert gradcheck(Cube.apply, (x,)) and gradgradcheck(Cube.apply, (x,))


def test_third_derivative_through_user_code():
    x = leaf(2.0)
    y = Cube.apply(x).sum()
    found = []
    for _ in range(3):
        (y,) = grad(y.sum(), x, create_graph=True)
        found.append(y.item())
    assert found == [12.0, 12.0, 6.0]


def test_derivative_through_a_saved_output():
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    x = leaf(0.5)
    y = Exp.apply(x)
    for _ in range(3):
        (y,) = grad(y.sum(), x, create_graph=True)
        np.testing.assert_allclose(values(y), np.exp([0.5]))


def test_nothing_is_recorded_without_need():
    y = Cube.apply(numbers(2.0))
    assert not y.requires_grad and y.grad_fn is None
    with wengert.no_grad():
        assert not Cube.apply(leaf(2.0)).requires_grad
    assert function(lambda ctx, n: numbers(1.0) * n)(3).tolist() == [3.0]


def test_apply_is_a_plain_callable():
    cube = Cube.apply
    assert cube(numbers(2.0)).item() == 8.0


def test_a_subclass_inherits_and_is_named_after_itself():
    class Named(Cube):
        pass

    x = leaf(2.0)
    y = Named.apply(x)
    assert y.grad_fn.name() == "NamedBackward"
    assert grad(y, x)[0].item() == 12.0


# -- arguments -------------------------------------------------------------------------------------------------------------


def test_any_objects_as_arguments():
    def forward(ctx, x, power, options, nothing):
        ctx.power, ctx.options = power, options
        ctx.save_for_backward(x)
        assert nothing is None
        return x**power

    def backward(ctx, g):
        assert ctx.options == {"a": [1]}
        return g * ctx.power * ctx.saved_tensors[0] ** (ctx.power - 1), None, None, None

    x = leaf(2.0)
    function(forward, backward)(x, 4, {"a": [1]}, None).backward()
    assert x.grad.item() == 32.0


def test_needs_input_grad_has_an_entry_an_argument():
    seen = []

    def forward(ctx, a, b, c, d):
        seen.append(ctx.needs_input_grad)
        return a * c

    def backward(ctx, g):
        seen.append(ctx.needs_input_grad)
        return None, None, g * 2, None

    x = leaf(3.0)
    function(forward, backward)(numbers(2.0), 7, x, None).backward()
    assert seen == [(False, False, True, False)] * 2 and x.grad.item() == 2.0


def test_default_arguments_count_only_where_given():
    def forward(ctx, x, times=5):
        ctx.times = times
        return x * times

    x = leaf(2.0)
    function(forward, lambda ctx, g: g * ctx.times)(x).backward()
    function(forward, lambda ctx, g: (g * ctx.times, None))(x, 7).backward()
    assert x.grad.item() == 12.0


def test_keyword_arguments():
    """They count as arguments after the positional ones, in the order given; a number needs no gradient of its own."""

    def forward(ctx, x, times=5, other=None):
        ctx.times = times
        ctx.seen = ctx.needs_input_grad
        return x * times if other is None else x * times + other

    x, other = leaf(2.0), leaf(1.0)
    function(forward, lambda ctx, g: (g * ctx.times, None))(x, times=7).backward()
    assert x.grad.item() == 7.0
    function(forward, lambda ctx, g: g * ctx.times)(x, times=7).backward()
    assert x.grad.item() == 14.0
    y = function(forward, lambda ctx, g: (g * ctx.times, g * 100, None))(x, other=other, times=2)
    assert y.grad_fn.seen == (True, True, False)
    y.backward()
    assert x.grad.item() == 16.0 and other.grad.item() == 100.0


def test_an_argument_given_twice():
    mul = function(
        lambda ctx, a, b: (ctx.save_for_backward(a, b), a * b)[1],
        lambda ctx, g: (g * ctx.saved_tensors[1], g * ctx.saved_tensors[0]),
    )
    x = leaf(3.0)
    mul(x, x).backward()
    assert x.grad.item() == 6.0


def test_tensors_inside_containers_are_constants():
    f = function(lambda ctx, x, pair: x * pair[0], lambda ctx, g: (g, None))
    x, inside = leaf(3.0), leaf(5.0)
    f(x, [inside]).backward()
    assert x.grad.item() == 1.0 and inside.grad is None


# -- outputs ---------------------------------------------------------------------------------------------------------------


def test_several_outputs():
    both = function(
        lambda ctx, x: (ctx.save_for_backward(x), (x * 2, x**2))[1],
        lambda ctx, g, h: g * 2 + h * 2 * ctx.saved_tensors[0],
    )
    x = leaf(1.0, 2.0)
    a, b = both(x)
    assert a.grad_fn is b.grad_fn and (a.output_nr, b.output_nr) == (0, 1)
    (a.sum() + 10 * b.sum()).backward()
    assert x.grad.tolist() == [2.0 + 20.0, 2.0 + 40.0]


def test_a_tuple_of_one_stays_a_tuple():
    result = function(lambda ctx, x: (x * 2,), lambda ctx, g: g * 2)(leaf(1.0))
    assert type(result) is tuple and result[0].requires_grad


def test_an_output_without_gradient_gets_zeros():
    seen = []

    def backward(ctx, g, h):
        seen.append((values(g).tolist(), values(h).tolist(), h.dtype))
        return g * 2

    x = leaf(1.0, 2.0)
    a, _ = function(lambda ctx, x: (x * 2, x.float()), backward)(x)
    a.sum().backward()
    assert seen == [([1.0, 1.0], [0.0, 0.0], wengert.float32)]


def test_set_materialize_grads_false_gives_none():
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx, g, h):
        seen.append((g is None, h is None))
        return None if g is None else g * 2

    x = leaf(1.0)
    a, b = function(forward, backward)(x)
    a.backward(retain_graph=True)
    grad(b, x, allow_unused=True)
    assert seen == [(False, True), (True, False)] and x.grad.item() == 2.0


def test_other_objects_among_the_outputs_pass_through():
    seen = []

    def backward(ctx, *grads):
        seen.append([g is None for g in grads])
        return grads[0] * 2

    marker = object()
    x = leaf(1.0)
    y, text, nothing, same = function(lambda ctx, x: (x * 2, "text", None, marker), backward)(x)
    assert (text, nothing, same) == ("text", None, marker)
    y.backward()
    assert x.grad.item() == 2.0 and seen == [[False, True, True, True]]


def test_integer_outputs_require_no_gradient():
    x = leaf(1.5, 2.5)
    y, floor = function(lambda ctx, x: (x * 2, x.long()), lambda ctx, g, h: g * 2)(x)
    assert y.requires_grad and not floor.requires_grad and floor.tolist() == [1, 2]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_mark_non_differentiable():
    seen = []

    def forward(ctx, x):
        a, b = x * 2, x * 3
        ctx.mark_non_differentiable(b)
        return a, b

    def backward(ctx, g, h):
        seen.append(values(h).tolist())
        return g * 2

    x = leaf(1.0)
    a, b = function(forward, backward)(x)
    assert a.requires_grad and not b.requires_grad
    (a + b).backward()
    assert x.grad.item() == 2.0 and seen == [[0.0]]


def test_an_input_returned_as_it_is():
    x = leaf(1.0, 2.0)
    y = function(lambda ctx, x: x, lambda ctx, g: g * 10)(x)
    assert y is not x and y.grad_fn.name() == "FBackward" and np.shares_memory(values_of(y), values_of(x))
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0] and x.is_leaf


def values_of(tensor):
    return tensor.detach().numpy()


def test_an_input_returned_as_it_is_after_an_operation():
    x = leaf(1.0, 2.0)
    middle = x * 3
    node = middle.grad_fn
    y = function(lambda ctx, x: x, lambda ctx, g: g * 10)(middle)
    assert middle.grad_fn is node
    (y + middle).sum().backward()
    assert x.grad.tolist() == [33.0, 33.0]


def test_one_object_returned_twice():
    def forward(ctx, x):
        y = x * 2
        return y, y

    x = leaf(1.0)
    a, b = function(forward, lambda ctx, g, h: g * 2 + h * 2)(x)
    (a + 3 * b).backward()
    assert x.grad.item() == 8.0


def test_a_view_of_an_input():
    x = leaf(1.0, 2.0)
    y = function(lambda ctx, x: x.view(1, 2), lambda ctx, g: g.view(2) * 10)(x)
    assert tuple(y.shape) == (1, 2) and y.grad_fn.name() == "FBackward"
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]


def test_a_view_returned_by_a_function_must_not_be_written():
    y = function(lambda ctx, x: x.view(1, 2), lambda ctx, g: g.view(2))(leaf(1.0, 2.0) * 1)
    with pytest.raises(RuntimeError, match=r"^Output 0 of F.* is a view and is being modified inplace"):
        y.add_(1)


def test_writes_into_an_input_returned_as_it_is_are_counted():
    x = leaf(1.0, 2.0) * 1
    y = function(lambda ctx, x: x, lambda ctx, g: g)(x)
    z = x * x
    with wengert.no_grad():
        y.add_(1)
    assert x._version == y._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


# -- saving ----------------------------------------------------------------------------------------------------------------


def test_saved_tensors_return_the_tensors_that_were_saved():
    seen = {}

    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(x, None, y)
        return y

    def backward(ctx, g):
        seen["saved"] = ctx.saved_tensors
        return g * 2

    x = leaf(3.0)
    y = function(forward, backward)(x)
    y.backward()
    a, nothing, b = seen["saved"]
    assert a is x and nothing is None and b.tolist() == [6.0]
    assert b.grad_fn is y.grad_fn and b.requires_grad


def test_the_last_call_of_save_for_backward_counts():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x * 5)
        return x * 1

    y = function(forward, lambda ctx, g: g)(leaf(2.0))
    assert [t.tolist() for t in y.grad_fn.saved_tensors] == [[10.0]]


def test_an_intermediate_may_be_saved():
    def forward(ctx, x):
        middle = x * 2
        ctx.save_for_backward(middle)
        return middle * middle

    x = leaf(3.0)
    function(forward, lambda ctx, g: g * 4 * ctx.saved_tensors[0])(x).backward()
    assert x.grad.item() == 24.0


def test_saved_tensors_go_with_the_pass():
    x = leaf(3.0)
    y = Cube.apply(x)
    y.backward(retain_graph=True)
    assert y.grad_fn.saved_tensors[0] is x
    y.backward()
    with pytest.raises(RuntimeError, match=r"^Trying to backward through the graph a second time"):
        _ = y.grad_fn.saved_tensors
    with Unchanged(x, y), pytest.raises(RuntimeError, match=r"^Trying to backward through the graph a second time"):
        y.backward()


def test_a_function_that_saved_nothing_runs_again():
    x = leaf(3.0)
    y = function(lambda ctx, x: x * 2, lambda ctx, g: g * 2)(x)
    y.backward()
    y.backward()
    assert x.grad.item() == 4.0


def test_saved_variables_is_an_old_name():
    y = Cube.apply(leaf(3.0))
    with pytest.warns(DeprecationWarning, match="'saved_variables' is deprecated; use 'saved_tensors'"):
        assert y.grad_fn.saved_variables[0].item() == 3.0


@pytest.mark.parametrize("what", ["input", "output"])
def test_a_write_after_saving_is_noticed(what):
    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(x if what == "input" else y)
        return y

    x = leaf(3.0)
    middle = x + 1
    y = function(forward, lambda ctx, g: g * ctx.saved_tensors[0])(middle)
    z = y * 1
    (middle if what == "input" else y).add_(1)  # the write
    with pytest.raises(RuntimeError) as caught:
        z.backward()
    text = str(caught.value)
    producer = "Add" if what == "input" else "F"
    assert text.startswith(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.DoubleTensor [1]], which is output 0 of {producer}, is at version 1; expected version 0 instead."
    )
    assert f"written at {line_of(__file__, 'the write')}" in text


def test_save_for_backward_takes_tensors_only():
    f = function(lambda ctx, x: (ctx.save_for_backward(x, 3), x * 1)[1], lambda ctx, g: g)
    with pytest.raises(TypeError, match=r"^save_for_backward can only save variables, but argument 1 is of type int"):
        f(leaf(1.0))


def test_saving_makes_no_reference_cycle():
    class Big:
        pass

    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(x, y)
        ctx.big = Big()
        died.append(weakref.ref(ctx.big))
        return y

    died = []
    gc.disable()
    try:
        y = function(forward, lambda ctx, g: g)(leaf(3.0) * 1)
        node = weakref.ref(y.grad_fn)
        del y
        assert died[0]() is None and node() is None
    finally:
        gc.enable()


# -- the node ----------------------------------------------------------------------------------------------------------------


def test_ctx_is_the_node():
    contexts = []

    def forward(ctx, x):
        contexts.append(ctx)
        ctx.anything = "kept"
        return x * 2

    def backward(ctx, g):
        contexts.append(ctx)
        return g * 2

    y = function(forward, backward)(leaf(1.0))
    y.backward()
    assert contexts[0] is contexts[1] is y.grad_fn and y.grad_fn.anything == "kept"


def test_next_functions_have_an_entry_a_tensor_argument():
    x = leaf(1.0)
    y = function(lambda ctx, n, x, constant: x * 1, lambda ctx, g: (None, g, None))(3, x, numbers(1.0))
    (node, number), other = y.grad_fn.next_functions
    assert node.variable is x and number == 0 and other == (None, 0)
    assert y.grad_fn.requires_grad


def test_hooks_on_a_functions_node():
    seen = []
    x = leaf(1.0)
    y = function(lambda ctx, x: x * 2, lambda ctx, g: g * 2)(x)
    y.grad_fn.register_prehook(lambda grads: seen.append(("pre", grads[0].item())))
    y.grad_fn.register_hook(lambda gi, go: seen.append(("post", gi[0].item(), go[0].item())))
    y.backward()
    assert seen == [("pre", 1.0), ("post", 2.0, 1.0)]


def test_a_functions_output_may_be_written_in_place():
    x = leaf(1.0)
    y = function(lambda ctx, x: x * 2, lambda ctx, g: g * 2)(x)
    y.mul_(5)
    y.backward()
    assert x.grad.item() == 10.0


def test_jvp_and_vmap_say_that_they_are_missing():
    with pytest.raises(NotImplementedError):
        Cube.jvp(None, numbers(1.0))
    with pytest.raises(NotImplementedError):
        Cube.vmap(None, None, numbers(1.0))
