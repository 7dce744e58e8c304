"""The contract of Function: inputs that it writes, setup_context, the results of backward, and the error for each breach."""

import pytest

import wengert
from lines import line_of
from snapshots import Unchanged
from user_functions import Cube, function, leaf, numbers
from wengert.autograd import Function, grad
from wengert.autograd.function import once_differentiable

# -- writing in place --------------------------------------------------------------------------------------------------------


def triple_forward(ctx, x):
    x.mul_(3)
    ctx.mark_dirty(x)
    return x


def test_mark_dirty():
    x = leaf(1.0, 2.0)
    middle = x * 1
    y = function(triple_forward, lambda ctx, g: g * 3)(middle)
    assert y is middle and y.grad_fn.name() == "FBackward" and y.tolist() == [3.0, 6.0] and y._version > 0
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_mark_dirty_on_a_view_changes_the_base():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    base = x * 1
    part = base[1:3]
    y = function(triple_forward, lambda ctx, g: g * 3)(part)
    assert y is part and base.grad_fn.name() == "torch::autograd::CopySlices" and base.tolist() == [1.0, 6.0, 9.0, 4.0]
    (base * numbers(1.0, 10.0, 100.0, 1000.0)).sum().backward()
    assert x.grad.tolist() == [1.0, 30.0, 300.0, 1000.0]


def test_mark_dirty_on_a_view_that_is_not_the_first_argument():
    def forward(ctx, a, x):
        ctx.save_for_backward(a, x.clone())
        x.mul_(a)
        ctx.mark_dirty(x)
        return x

    def backward(ctx, g):
        a, x = ctx.saved_tensors
        return g * x, g * a

    a, x = leaf(5.0, 7.0), leaf(1.0, 2.0, 3.0, 4.0)
    base = x * 1
    function(forward, backward)(a, base[1:3])
    assert base.tolist() == [1.0, 10.0, 21.0, 4.0]
    (base * numbers(1.0, 10.0, 100.0, 1000.0)).sum().backward()
    assert a.grad.tolist() == [20.0, 300.0] and x.grad.tolist() == [1.0, 50.0, 700.0, 1000.0]


def test_mark_dirty_on_a_view_allows_one_output_only():
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        return x, x * 2

    base = leaf(1.0, 2.0) * 1
    with pytest.raises(RuntimeError, match=r"^If your Function modifies inplace an input that is a view of another Tensor"):
        function(forward, lambda ctx, g, h: g)(base[:1])


def test_mark_dirty_on_a_leaf():
    x = leaf(1.0)
    f = function(lambda ctx, x: (ctx.mark_dirty(x), x)[1], lambda ctx, g: g)
    with pytest.raises(RuntimeError, match=r"^a leaf Variable that requires grad has been used in an in-place operation"):
        f(x)
    assert x.is_leaf and x.requires_grad


def test_a_written_input_forgets_its_retained_gradient():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.backward(retain_graph=True)
    function(triple_forward, lambda ctx, g: g * 3)(y)
    assert y.grad is None
    y.backward()
    assert (y.grad.item(), x.grad.item()) == (1.0, 8.0)


def test_mark_dirty_of_a_tensor_that_is_no_input_warns():
    f = function(lambda ctx, x: (y := x * 2, ctx.mark_dirty(y))[0], lambda ctx, g: g * 2)
    x = leaf(1.0)
    with pytest.warns(UserWarning, match=r"^ctx.mark_dirty\(\) received a tensor that was not an input"):
        f(x).backward()
    assert x.grad.item() == 2.0


def test_mark_dirty_without_requires_grad():
    x = numbers(1.0)
    y = function(triple_forward, lambda ctx, g: g * 3)(x)
    assert y is x and not y.requires_grad and x.tolist() == [3.0] and x._version > 0


def test_a_dirty_input_among_several_outputs():
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        return x, x * 2

    x = leaf(1.0)
    middle = x * 1
    a, b = function(forward, lambda ctx, g, h: g * 3 + h * 6)(middle)
    assert a is middle
    (a + 10 * b).backward()
    assert x.grad.item() == 63.0


def test_a_dirty_input_must_be_returned():
    f = function(lambda ctx, x: (ctx.mark_dirty(x), x * 1)[1], lambda ctx, g: g)
    with pytest.raises(RuntimeError, match=r"^Some elements marked as dirty during the forward method were not returned"):
        f(leaf(1.0) * 1)


@pytest.mark.parametrize("method", ["mark_dirty", "mark_non_differentiable"])
def test_marks_take_tensors_only(method):
    f = function(lambda ctx, x: (getattr(ctx, method)(3), x * 1)[1], lambda ctx, g: g)
    with pytest.raises((TypeError, RuntimeError), match=f"^{method} "):
        f(leaf(1.0))


def test_mark_shared_storage_shares_the_version():
    def forward(ctx, x):
        y = wengert.from_numpy(x.detach().numpy())
        ctx.mark_shared_storage((x, y))
        return y

    x = leaf(1.0, 2.0) * 1
    with pytest.warns(FutureWarning, match="`mark_shared_storage` is deprecated"):
        y = function(forward, lambda ctx, g: g)(x)
    before = x._version
    with wengert.no_grad():
        y.add_(1)
    assert x._version == before + 1


def test_mark_shared_storage_counts_earlier_writes():
    def forward(ctx, x):
        y = wengert.from_numpy(x.detach().numpy())
        z = wengert.from_numpy(x.detach().numpy())
        y.add_(1)
        ctx.mark_shared_storage((y, z), (x, y))
        return y, z

    x = leaf(1.0, 2.0) * 1
    squares = x * x
    with pytest.warns(FutureWarning, match="`mark_shared_storage` is deprecated"):
        y, z = function(forward, lambda ctx, g, h: g + h)(x)
    assert x._version == y._version == z._version == 1
    with wengert.no_grad():
        z.add_(1)
    assert x._version == y._version == z._version == 2
    with pytest.raises(RuntimeError, match=r"is at version 2; expected version 0 instead"):
        squares.sum().backward()


@pytest.mark.filterwarnings("ignore:`mark_shared_storage`:FutureWarning")
def test_mark_shared_storage_takes_pairs_of_tensors():
    with pytest.raises(TypeError, match=r"^mark_shared_storage can only accept variables, but argument 1 is of type int"):
        function(lambda ctx, x: ctx.mark_shared_storage((x, 3)), lambda ctx, g: g)(leaf(1.0))


# -- setup_context -----------------------------------------------------------------------------------------------------------


def test_setup_context():
    seen = {}

    class Mul(Function):
        @staticmethod
        def forward(x, y):
            return x * y, x + y

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen["inputs"], seen["output"], seen["recording"] = inputs, output, wengert.is_grad_enabled()
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g, h):
            x, y = ctx.saved_tensors
            return g * y + h, g * x + h

    x, y = leaf(3.0), leaf(5.0)
    product, total = Mul.apply(x, y)
    assert seen["inputs"] == (x, y) and type(seen["output"]) is tuple and not seen["recording"]
    (product + 10 * total).backward()
    assert (x.grad.item(), y.grad.item()) == (15.0, 13.0)


def test_setup_context_sees_defaults_and_keywords_as_inputs():
    class Scale(Function):
        @staticmethod
        def forward(x, times=5, plus=0):
            return x * times + plus

        @staticmethod
        def setup_context(ctx, inputs, output):
            _, ctx.times, ctx.plus = inputs

        @staticmethod
        def backward(ctx, g):
            return g * ctx.times, None, None

    x = leaf(1.0)
    Scale.apply(x).backward()
    assert x.grad.item() == 5.0
    Scale.apply(x, plus=1, times=7).backward()
    assert x.grad.item() == 12.0


def test_setup_context_may_mark():
    class F(Function):
        @staticmethod
        def forward(x):
            return x * 2, x * 3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_non_differentiable(output[1])
            ctx.set_materialize_grads(False)

        @staticmethod
        def backward(ctx, g, h):
            assert h is None
            return g * 2

    x = leaf(1.0)
    a, b = F.apply(x)
    assert not b.requires_grad
    a.backward()
    assert x.grad.item() == 2.0


def test_forward_without_ctx_needs_setup_context():
    f = function(lambda x: x * 2, lambda ctx, g: g)
    with pytest.raises(TypeError):
        f(leaf(1.0))


# -- what backward returns -----------------------------------------------------------------------------------------------------


def test_none_for_an_input_means_no_gradient():
    x, y = leaf(1.0), leaf(2.0)
    z = function(lambda ctx, a, b: a * b, lambda ctx, g: (None, g))(x * 1, y)
    z.backward()
    assert x.grad is None and y.grad.item() == 1.0


def test_more_nones_than_inputs_are_fine():
    x = leaf(1.0)
    function(lambda ctx, x: x * 1, lambda ctx, g: (g, None, None))(x).backward()
    assert x.grad.item() == 1.0


def test_gradients_that_broadcasting_made_are_summed():
    x = leaf(1.0, 2.0)
    function(lambda ctx, x: x * 1, lambda ctx, g: wengert.ones(3, 2, dtype=wengert.float64))(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_gradients_are_cast_to_the_inputs_dtype():
    x = wengert.ones(2, requires_grad=True)
    function(lambda ctx, x: x * 1, lambda ctx, g: g.double())(x).sum().backward()
    assert x.grad.dtype is wengert.float32


def test_a_real_gradient_does_for_a_complex_input():
    x = wengert.tensor([1j, 2.0], requires_grad=True)
    function(lambda ctx, x: x * 1, lambda ctx, g: g.real)(x).backward(wengert.tensor([3 + 1j, 4j]))
    assert x.grad.dtype is wengert.complex64 and x.grad.tolist() == [3, 0]


def test_a_gradient_of_any_dtype_is_dropped_where_none_is_wanted():
    f = function(lambda ctx, x, y: x * y, lambda ctx, g: (g, wengert.ones(7, dtype=wengert.complex64)))
    x = leaf(1.0)
    f(x, numbers(2.0)).backward()
    assert x.grad.item() == 1.0


def plain(ctx, x, y=None):
    return x * 1


WRONG = {
    "too few": (
        lambda: function(lambda ctx, x, y: x * y, lambda ctx, g: g)(leaf(1.0), leaf(1.0)),
        RuntimeError,
        r"^function FBackward returned an incorrect number of gradients \(expected 2, got 1\)",
    ),
    "too many": (
        lambda: function(plain, lambda ctx, g: (g, g))(leaf(1.0)),
        RuntimeError,
        r"^function FBackward returned an incorrect number of gradients \(expected 1, got 2\)",
    ),
    "a list": (
        lambda: function(plain, lambda ctx, g: [g, g])(leaf(1.0), leaf(1.0)),
        RuntimeError,
        r"^function FBackward returned an incorrect number of gradients \(expected 2, got 1\)",
    ),
    "a number": (
        lambda: function(plain, lambda ctx, g: 3.0)(leaf(1.0)),
        (RuntimeError, TypeError),
        r"^expected Variable or None \(got float\)",
    ),
    "for a constant": (
        lambda: function(plain, lambda ctx, g: (g, g))(leaf(1.0), 3),
        RuntimeError,
        r"^function FBackward returned a gradient different than None at position 2, but the corresponding forward input "
        r"was not a Variable",
    ),
    "wrong shape": (
        lambda: function(plain, lambda ctx, g: numbers(1.0, 2.0, 3.0))(leaf(1.0, 2.0)).sum(),
        RuntimeError,
        r"^Function FBackward returned an invalid gradient at index 0 - got \[3\] but expected shape compatible with \[2\]",
    ),
    "a shape that would have to broadcast": (
        lambda: function(plain, lambda ctx, g: numbers(1.0))(leaf(1.0, 2.0)).sum(),
        RuntimeError,
        r"^Function FBackward returned an invalid gradient at index 0 - got \[1\] but expected shape compatible with \[2\]",
    ),
    "complex for a real input": (
        lambda: function(plain, lambda ctx, g: g * 1j)(leaf(1.0)),
        RuntimeError,
        r"^Function FBackward returned an invalid gradient at index 0 - got dtype torch.complex128 but expected "
        r"torch.float64. Hint: return the real part of the gradient, grad.real.",
    ),
    "integers for a complex input": (
        lambda: function(plain, lambda ctx, g: g.real.long())(leaf(1.0) * 1j).real,
        RuntimeError,
        r"^Function FBackward returned an invalid gradient at index 0 - got dtype torch.int64 but expected torch.complex128. "
        r"Hint: return a floating one.",
    ),
    "no backward": (
        lambda: function(plain)(leaf(1.0)),
        NotImplementedError,
        r"^You must implement either the backward or vjp method for your custom autograd.Function to use it with backward",
    ),
    "backward and vjp": (
        lambda: function(plain, lambda ctx, g: g, vjp=lambda ctx, g: g)(leaf(1.0)),
        RuntimeError,
        r"^Implementing both 'backward' and 'vjp' for a custom Function is not allowed",
    ),
    "the user's own error": (
        lambda: function(plain, lambda ctx, g: {}["missing"])(leaf(1.0)),
        KeyError,
        "missing",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_backward_raises_and_changes_nothing(case):
    make, kind, text = WRONG[case]
    y = make()
    x = leaf(5.0)
    root = y * 2 + x
    with Unchanged(x, root), pytest.raises(kind, match=text):
        root.backward(retain_graph=True)
    grad(root, x)  # the rest of the graph still runs


@pytest.mark.parametrize("case", ["too few", "wrong shape", "complex for a real input", "a number", "the user's own error"])
def test_a_wrong_backward_raises_the_same_under_create_graph(case):
    make, kind, text = WRONG[case]
    y = make()
    leaves = [node.variable for node, _ in first_function(y).next_functions if node is not None]
    with pytest.raises(kind, match=text):
        grad(y, leaves, create_graph=True)
    assert wengert.is_grad_enabled()


def first_function(y):
    node = y.grad_fn
    while node.name() != "FBackward":
        node = node.next_functions[0][0]
    return node


def test_an_error_in_backward_names_the_forward_line():
    y = function(plain, lambda ctx, g: {}["missing"])(leaf(1.0))  # the forward call
    with pytest.raises(KeyError) as caught:
        y.backward()
    notes = "\n".join(getattr(caught.value, "__notes__", []))
    assert "FBackward" in notes and line_of(__file__, "the forward call") in notes


# -- mistakes in forward -----------------------------------------------------------------------------------------------------


def test_an_exception_in_forward_passes_and_restores_recording():
    x = leaf(1.0)
    with Unchanged(x), pytest.raises(ZeroDivisionError):
        function(lambda ctx, x: 1 / 0, lambda ctx, g: g)(x)
    assert wengert.is_grad_enabled()


def test_no_forward():
    with pytest.raises(NotImplementedError, match=r"^You must implement the forward function for custom autograd.Function"):
        Function.apply(leaf(1.0))


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_a_static_function_is_not_called_as_an_instance():
    with pytest.raises(RuntimeError, match=r"^Legacy autograd function with non-static forward method is deprecated"):
        Cube()(leaf(1.0))


# -- other forms of backward ---------------------------------------------------------------------------------------------------


def test_vjp_is_another_name_for_backward():
    x = leaf(1.0)
    function(lambda ctx, x: x * 3, vjp=lambda ctx, g: g * 3)(x).backward()
    assert x.grad.item() == 3.0


def test_once_differentiable_is_unrecorded():
    seen = []

    @once_differentiable
    def backward(ctx, g):
        seen.append(wengert.is_grad_enabled())
        return g * 2

    x = leaf(1.0)
    double = function(lambda ctx, x: x * 2, backward)
    double(x).backward()
    assert x.grad.item() == 2.0
    (g,) = grad(double(x), x, create_graph=True)
    assert seen == [False, False] and g.item() == 2.0


def test_once_differentiable_raises_at_the_second_derivative_only():
    @once_differentiable
    def backward(ctx, g):
        return g * 3 * ctx.saved_tensors[0] ** 2

    cube = function(lambda ctx, x: (ctx.save_for_backward(x), x**3)[1], backward)
    x = leaf(2.0)
    (g,) = grad(cube(x) ** 2, x, create_graph=True)
    assert g.item() == 2 * 8 * 12
    with pytest.raises(RuntimeError, match=r"^trying to differentiate twice a function that was marked with @once_differ"):
        g.backward()
    assert wengert.is_grad_enabled() and x.grad is None


def test_once_differentiable_with_several_gradients():
    @once_differentiable
    def backward(ctx, g):
        return g * 2, None, g * 3

    f = function(lambda ctx, a, n, b: a * 2 + b * 3, backward)
    x, y = leaf(1.0), leaf(1.0)
    gx, gy = grad(f(x, 7, y) ** 2, [x, y], create_graph=True)
    assert (gx.item(), gy.item()) == (20.0, 30.0)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        (gx + gy).backward()


# -- what backward may take away ---------------------------------------------------------------------------------------------


def test_boxed_gradients_come_in_one_list():
    seen = []

    class F(Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx, x):
            return x * 2, "no tensor", x * 3

        @staticmethod
        def backward(ctx, grads):
            seen.append([None if g is None else g.item() for g in grads])
            return grads.pop() * 3 + grads.pop(0) * 2

    x = leaf(1.0)
    a, _, b = F.apply(x)
    (a + 10 * b).backward()
    assert seen == [[1.0, None, 10.0]] and x.grad.item() == 32.0
    assert a.grad_fn.apply_boxed([numbers(1.0), None, numbers(0.0)]).item() == 2.0


def test_saved_tensors_that_are_handed_out_once():
    class F(Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x * 3)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (tripled,) = ctx.saved_tensors
            assert ctx._raw_saved_tensors == ()
            return g * tripled

    x = leaf(5.0)
    y = F.apply(x)
    y.backward(retain_graph=True)
    assert x.grad.item() == 15.0
    with pytest.raises(RuntimeError, match=r"^saved_tensors can only be accessed once when clear_saved_tensors_on_access"):
        y.backward()
