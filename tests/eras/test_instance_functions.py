"""Functions as torch 0.1 to 0.3 had them: forward and backward are methods of an instance that is called once."""

import gc
import warnings
import weakref

import pytest

import wengert as torch
from wengert.autograd import Function, NestedIOFunction, Variable, grad
from wengert.autograd.function import InplaceFunction

pytestmark = pytest.mark.filterwarnings("ignore:.*calling an instance of a Function:DeprecationWarning")


class Scale(Function):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        self.save_for_backward(x)
        return x * self.factor

    def backward(self, grad_output):
        (self.seen,) = self.saved_tensors
        return grad_output * self.factor


class Exp(Function):
    def forward(self, x):
        result = x.exp()
        self.save_for_backward(result)
        return result

    def backward(self, grad_output):
        (result,) = self.saved_tensors
        return grad_output * result


class Product(Function):
    """Two inputs, two outputs."""

    def forward(self, x, y):
        self.save_for_backward(x, y, None)
        return x * y, x + y

    def backward(self, grad_product, grad_sum):
        x, y, nothing = self.saved_tensors
        assert nothing is None
        grad_x = grad_product * y + grad_sum if self.needs_input_grad[0] else None
        grad_y = grad_product * x + grad_sum if self.needs_input_grad[1] else None
        return grad_x, grad_y


def leaf(*values):
    return Variable(torch.tensor(values), requires_grad=True)


def test_arguments_go_to_init():
    x = leaf(1.0, 2.0)
    f = Scale(3.0)
    y = f(x)
    assert y.tolist() == [3.0, 6.0] and y.requires_grad
    y.backward(torch.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [3.0, 30.0]
    assert f.seen.tolist() == [1.0, 2.0] and not f.seen.requires_grad


def test_init_is_optional():
    x = leaf(0.0)
    Exp()(Exp()(x)).backward()
    assert x.grad.item() == pytest.approx(2.718281828)


def test_a_subclass_need_not_call_the_base_class_init():
    class Shift(Function):
        def __init__(self, by):
            self.by = by

        def forward(self, x):
            return x + self.by

        def backward(self, grad_output):
            return grad_output

    x = leaf(1.0)
    Shift(2.0)(x).backward()
    assert x.grad.item() == 1.0


def test_the_instance_is_the_node():
    x, y = leaf(1.0), torch.ones(1)
    f = Product()
    product, total = f(x, y)
    assert product.grad_fn is f and total.grad_fn is f and (product.output_nr, total.output_nr) == (0, 1)
    assert (f.num_inputs, f.num_outputs, f.requires_grad) == (2, 2, True)
    assert f.needs_input_grad == (True, False)
    assert f.next_functions[0][0].variable is x and f.next_functions[1] == (None, 0)
    assert f.name() == "Product" and repr(product) == "tensor([1.], grad_fn=<Product>)"


def test_several_inputs_and_outputs():
    x, y = leaf(2.0), leaf(5.0)
    product, total = Product()(x, y)
    (product * 10 + total).backward()
    assert (x.grad.item(), y.grad.item()) == (51.0, 21.0)


def test_an_output_without_gradient_counts_as_zeros():
    x, y = leaf(2.0), leaf(5.0)
    Product()(x, y)[0].backward()
    assert (x.grad.item(), y.grad.item()) == (5.0, 2.0)


def test_forward_and_backward_see_tensors_without_history():
    seen = []

    class Look(Function):
        def forward(self, x):
            y = x * 2
            seen.append((x.requires_grad, y.requires_grad, torch.is_grad_enabled()))
            return y

        def backward(self, grad_output):
            result = grad_output * 2
            seen.append((grad_output.requires_grad, result.requires_grad, torch.is_grad_enabled()))
            return result

    x = leaf(1.0)
    grad(Look()(x), x, create_graph=True)
    assert seen == [(False, False, False)] * 2


def test_a_non_differentiable_output_has_no_gradient_at_all():
    """Row A63: None, where a static backward gets zeros."""
    seen = []

    class Parts(Function):
        def forward(self, x):
            whole = x.floor()
            self.mark_non_differentiable(whole)
            return x * 2, whole

        def backward(self, grad_double, grad_whole):
            seen.append(grad_whole)
            return grad_double * 2

    x = leaf(1.5)
    double, whole = Parts()(x)
    assert double.requires_grad and not whole.requires_grad
    (double + whole).backward()
    assert seen == [None] and x.grad.item() == 2.0


# -- once ------------------------------------------------------------------------------------------------------------------


def test_an_instance_is_used_once():
    x = leaf(1.0)
    f = Scale(3.0)
    y = f(x)
    with pytest.raises(RuntimeError, match=r"^each Scale can be used once"):
        f(x)
    y.backward()
    assert x.grad.item() == 3.0 and y.grad_fn is f


def test_a_function_runs_once_also_if_nothing_was_recorded():
    f = Exp()
    f(torch.ones(1))
    with pytest.raises(RuntimeError, match=r"^each Exp can be used once"):
        f(torch.ones(1))


def test_a_call_that_failed_does_not_count():
    class Strict(Scale):
        def forward(self, x):
            if (x < 0).any():
                raise ValueError("negative")
            return super().forward(x)

    f, x = Strict(3.0), leaf(2.0)
    with pytest.raises(ValueError, match="negative"):
        f(leaf(-1.0))
    f(x).backward()
    assert x.grad.item() == 3.0


def test_differentiable_once():
    x = leaf(1.0)
    (first,) = grad(Exp()(x * x).sum(), x, create_graph=True)
    assert first.item() == pytest.approx(2 * 2.718281828)
    with pytest.raises(RuntimeError, match=r"^Exp is not differentiable twice$"):
        first.backward()
    assert x.grad is None


def test_a_second_pass_may_bypass_the_function():
    x, w = leaf(2.0), leaf(3.0)
    (first,) = grad(Scale(5.0)(x) * 1 + w * w, w, create_graph=True)
    first.backward()
    assert w.grad.item() == 2.0


def test_buffers_are_freed():
    x = leaf(1.0)
    y = Exp()(x)
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    assert x.grad.item() == pytest.approx(2 * 2.718281828)


# -- in place --------------------------------------------------------------------------------------------------------------


class Increment(InplaceFunction):
    def forward(self, x):
        if not self.inplace:
            return x + 1
        self.mark_dirty(x)
        return x.add_(1)

    def backward(self, grad_output):
        return grad_output * 100


def test_inplace_functions():
    x = leaf(1.0)
    for inplace in (False, True):
        y = x * 2
        f = Increment(inplace)
        z = f(y)
        assert (z is y) is inplace and z.grad_fn is f and z.item() == 3.0
        assert grad(z, x)[0].item() == 200.0


class Products(NestedIOFunction):
    def forward_extended(self, a, others):
        b, named = others
        self.save_for_backward(a, [b, named["c"]])
        return a * b, [a * named["c"]]

    def backward_extended(self, grad_ab, grads):
        a, (b, c) = self.saved_tensors
        (grad_ac,) = grads
        return grad_ab * b + grad_ac * c, [grad_ab * a, {"c": grad_ac * a}]


def test_nested_inputs_and_results():
    a, b, c = leaf(2.0), leaf(3.0), leaf(5.0)
    ab, [ac] = Products()(a, [b, {"c": c}])
    assert (ab.item(), ac.item()) == (6.0, 10.0)
    (ab + 10 * ac).backward()
    assert (a.grad.item(), b.grad.item(), c.grad.item()) == (53.0, 2.0, 20.0)


def test_nested_results_that_are_written_or_not_differentiable():
    class F(NestedIOFunction):
        def forward_extended(self, pair):
            x, y = pair
            x.mul_(2)
            rounded = (y * 4).round()
            self.mark_dirty([x])
            self.mark_non_differentiable({"rounded": rounded})
            return {"x": x, "rounded": rounded}

        def backward_extended(self, grads):
            assert grads["rounded"] is None
            return [[grads["x"] * 2, None]]

    x, y = leaf(1.0), leaf(0.6)
    middle = x * 1
    result = F()([middle, y])
    assert result["x"] is middle and result["rounded"].item() == 2.0 and not result["rounded"].requires_grad
    result["x"].backward()
    assert x.grad.item() == 2.0 and y.grad is None


def test_nested_inputs_are_tensors():
    with pytest.raises(TypeError):
        Products()(leaf(1.0), [3, {"c": leaf(1.0)}])


def test_a_write_is_noticed_by_a_node_that_saved_the_old_value():
    y = leaf(1.0) * 2
    square = y * y
    Increment(True)(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        square.backward()


def test_a_leaf_cannot_be_written():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="^a leaf Variable that requires grad has been used in an in-place operation"):
        Increment(True)(x)


def test_saved_tensors_must_not_be_written():
    x = leaf(1.0) * 1
    y = Scale(2.0)(x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_an_input_may_be_returned():
    class Pass(Function):
        def forward(self, x):
            return x

        def backward(self, grad_output):
            return grad_output * 7

    x = leaf(1.0)
    f = Pass()
    y = f(x)
    assert y is not x and y.grad_fn is f and y.data_ptr() == x.data_ptr()
    y.backward()
    assert x.grad.item() == 7.0


def test_shared_storage():
    class Alias(Function):
        def forward(self, x):
            y = torch.from_numpy(x.numpy())
            self.mark_shared_storage((x, y))
            return y

        def backward(self, grad_output):
            return grad_output

    x = leaf(1.0) * 1
    with pytest.warns(FutureWarning, match="mark_shared_storage"):
        y = Alias()(x)
    before = x._version
    with torch.no_grad():
        y.add_(1)
    assert x._version == before + 1


# -- contracts -------------------------------------------------------------------------------------------------------------


def returning(*results):
    class Broken(Function):
        def forward(self, x):
            return x * 2

        def backward(self, grad_output):
            return results

    return Broken


def test_trailing_nones_are_accepted():
    x = leaf(1.0)
    returning(torch.ones(1), None, None)()(x).backward()
    assert x.grad.item() == 1.0


@pytest.mark.parametrize(("results", "text"), [
    ((torch.ones(2), torch.ones(2)), r"function Broken returned an incorrect number of gradients \(expected 1, got 2\)"),
    ((), r"function Broken returned an incorrect number of gradients \(expected 1, got 0\)"),
    ((3.0,), r"expected Variable or None \(got float\)"),
    ((torch.ones(3),), "Function Broken returned an invalid gradient at index 0"),
])  # fmt: skip
def test_wrong_results_of_backward(results, text):
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match=text):
        returning(*results)()(x).sum().backward()
    assert x.grad is None


def test_only_tensors_are_arguments():
    f = Scale(2.0)
    with pytest.raises(TypeError, match=r"^expected a Variable argument, but got float \(argument 0 of Scale\)"):
        f(1.0)
    assert f(leaf(1.0)).item() == 2.0  # a refused call does not count


def test_only_tensors_are_results():
    class Number(Function):
        def forward(self, x):
            return x.item()

    with pytest.raises(TypeError, match=r"^Number\.forward: expected a Variable or a tuple of them, but got float$"):
        Number()(leaf(1.0))


def test_static_functions_are_not_called():
    class Today(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    with pytest.raises(RuntimeError, match=r"Hint: call \.apply\(\.\.\.\) of the class"):
        Today()(leaf(1.0))
    assert Today.apply(leaf(1.0)).item() == 2.0


def test_the_call_warns_at_the_users_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Exp()(leaf(1.0))
    assert [(w.category, w.filename) for w in caught] == [(DeprecationWarning, __file__)]
    assert "call Exp.apply(...)" in str(caught[0].message)


def test_nothing_is_recorded_without_need():
    for x in (torch.ones(1), leaf(1.0)):
        with torch.set_grad_enabled(False):
            f = Exp()
            y = f(x)
        assert y.grad_fn is None and not y.requires_grad and not f.requires_grad
    assert Exp()(torch.ones(1)).grad_fn is None


def test_volatile_inputs():
    with pytest.warns(DeprecationWarning, match="volatile"):
        v = Variable(torch.ones(1), volatile=True)
    results = Product()(v, leaf(1.0))
    assert all(y.volatile and y.grad_fn is None for y in results)


def test_hooks_on_the_instance():
    seen = []
    f = Scale(3.0)
    y = f(leaf(1.0))
    f.register_hook(lambda grad_inputs, grad_outputs: seen.append((grad_inputs[0].item(), grad_outputs[0].item())))
    y.backward()
    assert seen == [(3.0, 1.0)]


def test_no_reference_cycle():
    f = Exp()
    reference = weakref.ref(f)
    gc.disable()
    try:
        y = f(leaf(1.0))
        del f
        assert reference() is not None
        del y
        assert reference() is None
    finally:
        gc.enable()


def test_a_page_of_the_tutorial_with_and_without_static_methods():
    """Both styles of one operation give the same."""

    class Instance(Function):
        def forward(self, a, b):
            self.save_for_backward(a, b)
            return a + b

        def backward(self, grad_output):
            return grad_output.clone(), grad_output.clone()

    class Static(Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a + b

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output.clone(), grad_output.clone()

    a, b = leaf(1.0), leaf(2.0)
    for c in (Instance()(a, b), Static.apply(a, b)):
        a.grad = b.grad = None
        c.backward()
        assert (c.item(), a.grad.item(), b.grad.item()) == (3.0, 1.0, 1.0)


def test_gradcheck():
    x = leaf(0.3, -0.7).double().detach().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: Exp()(Scale(2.0)(x)), x)
