"""The messages against those that torch gives when provoked."""

import copy
import warnings

import numpy as np
import pytest

from wengert import errors

torch = pytest.importorskip("torch")


def leaf(*shape):
    return torch.ones(*shape, requires_grad=True)


def double_backward_pass():
    y = (leaf(3) ** 2).sum()
    y.backward()
    y.backward()


def write_after_save(write):
    y = leaf(2) + 1
    z = y * y
    write(y)
    z.sum().backward()


def write_leaf_after_save():
    x = leaf(2)
    z = x * x
    with torch.no_grad():
        x.add_(1)
    z.sum().backward()


def write_with_anomaly_detection():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.set_detect_anomaly(True):
            write_after_save(lambda y: y.add_(1))


def nan_with_anomaly_detection():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.set_detect_anomaly(True):
            (torch.zeros(2, requires_grad=True).sqrt() * 0).sum().backward()


def unused():
    torch.autograd.grad((leaf(2) * 2).sum(), [leaf(2)])


def write_view_of_no_grad():
    x = leaf(4)
    with torch.no_grad():
        view = x.view(2, 2)
    view.add_(1)


def write_view_of_inference():
    x = torch.ones(2)
    with torch.inference_mode():
        view = x.view(2)
    view.mul_(leaf(2))


def inference_tensor():
    with torch.inference_mode():
        return torch.ones(2)


def set_attribute(tensor, name, value):
    setattr(tensor, name, value)


def hooked(hook):
    x = leaf(2)
    x.register_hook(hook)
    x.sum().backward()


def node_hooked(hook):
    x = leaf(2) * 1
    x.grad_fn.register_hook(hook)
    x.sum().backward()


def named(function):
    function.__name__ = "f"
    return function


def function(forward, backward=None):
    """Applies a custom Function named F made of these two and returns its output."""
    methods = {"forward": staticmethod(forward)}
    if backward is not None:
        methods["backward"] = staticmethod(backward)
    return type("F", (torch.autograd.Function,), methods).apply


def twice_through_once_differentiable():
    apply = function(
        lambda ctx, x: (ctx.save_for_backward(x), x * 1)[1],
        torch.autograd.function.once_differentiable(lambda ctx, g: g * ctx.saved_tensors[0]),
    )
    x = leaf(2)
    (grad,) = torch.autograd.grad((apply(x) ** 2).sum(), x, create_graph=True)
    grad.sum().backward()


def product(ctx, x, y):
    return x * y


MESSAGES = [
    (double_backward_pass, errors.backward_twice()),
    (lambda: torch.ones(2).sum().backward(), errors.no_graph(0)),
    (lambda: torch.autograd.backward([leaf(1).sum(), torch.ones(1).sum()]), errors.no_graph(1)),
    (lambda: (leaf(3) * 2).backward(), errors.no_implicit_gradient((3,))),
    (
        lambda: (torch.ones((), dtype=torch.complex64, requires_grad=True) * 1).backward(),
        errors.no_implicit_complex_gradient("complex64"),
    ),
    (lambda: (leaf(3) * 2).backward(torch.ones(4)), errors.gradient_shape(0, (4,), (3,))),
    (
        lambda: (leaf(3) * 2).backward(torch.ones(3, dtype=torch.complex64)),
        errors.gradient_complex(0, "complex64", "float32"),
    ),
    (lambda: torch.autograd.backward([leaf(3) * 2], ["a"]), errors.gradient_type(str)),
    (lambda: torch.autograd.grad(leaf(3).sum(), []), errors.inputs_empty("grad")),
    (lambda: leaf(3).sum().backward(inputs=[]), errors.inputs_empty("backward")),
    (lambda: torch.autograd.grad(leaf(3).sum(), [3]), errors.input_type(int)),
    (lambda: torch.autograd.grad(leaf(3).sum(), [torch.ones(3)]), errors.input_without_grad(0)),
    (unused, errors.input_unused(0)),
    (
        lambda: write_after_save(lambda y: y.add_(1)),
        errors.modified_in_place("float32", (2,), 0, "AddBackward0", 1, 0),
    ),
    (write_leaf_after_save, errors.modified_in_place("float32", (2,), 0, None, 1, 0)),
    (
        write_with_anomaly_detection,
        errors.modified_in_place("float32", (2,), 0, "AddBackward0", 1, 0, anomaly=True),
    ),
    (lambda: leaf(2).add_(1), errors.leaf_inplace()),
    (lambda: leaf(2)[0].add_(1), errors.leaf_inplace(view=True)),
    (lambda: (leaf(4) * 1).split(2)[1].add_(1), errors.multi_view_inplace(1, "SplitBackward0")),
    (write_view_of_no_grad, errors.no_grad_view_inplace()),
    (write_view_of_inference, errors.inference_view_inplace()),
    (
        lambda: function(lambda ctx, x: x, lambda ctx, g: g)(leaf(2) * 1).add_(1),
        errors.function_view_inplace(0, "FBackward"),
    ),
    (lambda: (leaf(2) * 1)[0].detach_(), errors.detach_view()),
    (lambda: leaf(2).resize_(3), errors.resize_requires_grad()),
    (lambda: torch.add(leaf(2), 1, out=torch.ones(2)), errors.out_requires_grad("add")),
    (lambda: leaf(2) * inference_tensor(), errors.inference_saved()),
    (lambda: inference_tensor().requires_grad_(), errors.inference_requires_grad()),
    (lambda: inference_tensor()._version, errors.inference_version()),
    (lambda: (leaf(2) * 2).requires_grad_(False), errors.requires_grad_of_non_leaf(False)),
    (lambda: torch.ones(2, dtype=torch.int32, requires_grad=True), errors.integer_requires_grad()),
    (
        lambda: set_attribute(torch.ones(2, dtype=torch.int32), "requires_grad", True),
        errors.integer_requires_grad(setter=True, dtype="int32"),
    ),
    (lambda: set_attribute(torch.ones(2), "requires_grad", "a"), errors.requires_grad_type()),
    (lambda: torch.ones(2).retain_grad(), errors.retain_grad_without_grad()),
    (lambda: set_attribute(leaf(2), "data", torch.ones(2, dtype=torch.int32)), errors.data_dtype()),
    (lambda: torch.ones(2).register_hook(print), errors.hook_without_grad()),
    (lambda: hooked(lambda g: 3), errors.hook_returned(int)),
    (lambda: node_hooked(lambda gi, go: 3), errors.hook_returned(int, expected="tuple")),
    (lambda: hooked(named(lambda g: torch.ones(3))), errors.hook_changed_size("f", (3,), (2,))),
    (lambda: hooked(named(lambda g: g.double())), errors.hook_changed_dtype("f", "float64", "float32")),
    (lambda: node_hooked(named(lambda gi, go: (1, 2, 3))), errors.hook_wrong_number(2, 3, "f")),
    (lambda: set_attribute(leaf(2), "grad", torch.ones(3)), errors.grad_assigned_shape((3,), (2,))),
    (lambda: set_attribute(leaf(2), "grad", 3), errors.grad_assigned_type(int)),
    (lambda: (lambda x: set_attribute(x, "grad", x))(leaf(2)), errors.grad_assigned_itself()),
    (
        lambda: function(product, lambda ctx, g: (torch.ones(3), g))(leaf(2), leaf(2)).sum().backward(),
        errors.invalid_gradient_shape("FBackward", 0, (3,), (2,)),
    ),
    (
        lambda: function(product, lambda ctx, g: g)(leaf(2), leaf(2)).sum().backward(),
        errors.gradient_wrong_number("FBackward", 2, 1),
    ),
    (
        lambda: function(product, lambda ctx, g: (3, g))(leaf(2), leaf(2)).sum().backward(),
        errors.gradient_not_a_tensor(int),
    ),
    (
        lambda: function(product, lambda ctx, g: (g, g))(leaf(2), 3).sum().backward(),
        errors.gradient_unexpected("FBackward", 2),
    ),
    (
        lambda: function(lambda ctx, x: (ctx.save_for_backward(3), x * 1)[1])(leaf(2)),
        errors.save_for_backward_type(0, int),
    ),
    (
        lambda: function(lambda ctx, x: (ctx.mark_dirty(x), x * 1)[1])(leaf(2) * 1),
        errors.dirty_not_returned(),
    ),
    (lambda: function(lambda ctx, x: (ctx.mark_dirty(x), x)[1])(leaf(2)), errors.leaf_marked_dirty()),
    (lambda: torch.autograd.Function.apply(leaf(2)), errors.no_forward()),
    (lambda: function(lambda ctx, x: x * 1)(leaf(2)).sum().backward(), errors.no_backward()),
    (twice_through_once_differentiable, errors.differentiated_twice()),
    (lambda: torch.igamma(leaf(2), leaf(2)).sum().backward(), errors.missing_derivative("igamma", "input")),
    (nan_with_anomaly_detection, errors.nan_gradient("SqrtBackward0", 0)),
    # Arguments
    (lambda: torch.sin(3), errors.wrong_argument_type("sin", "input", 0, int)),
    (lambda: torch.matmul(torch.ones(2), 3), errors.wrong_argument_type("matmul", "other", 1, int)),
    (lambda: torch.sin(torch.ones(2), torch.ones(2)), errors.too_many_arguments("sin", 1, 2)),
    (lambda: torch.softmax(torch.ones(2)), errors.missing_argument("softmax", "dim")),
    (lambda: torch.sin(torch.ones(2), x=1), errors.unexpected_keyword("sin", "x")),
    (lambda: torch.sin(torch.ones(2), input=1), errors.multiple_values("sin", "input")),
    # Dimensions
    (lambda: torch.ones(2, 3).sum(-3), errors.dim_out_of_range(-3, 2)),
    (lambda: torch.tensor(1.0).sum(1), errors.dim_out_of_range(1, 0)),
    (lambda: torch.ones(2, 3).sum((0, -2)), errors.dim_repeated(0)),
    (lambda: torch.bmm(torch.ones(2, 3), torch.ones(3, 3, 3)), errors.wrong_ndim("batch1", "a 3D tensor")),
    (lambda: torch.ones(0).max(), errors.empty_reduction("max")),
    (lambda: torch.ones(0, 3).max(0), errors.empty_reduction("max", 0)),
    # Shapes
    (lambda: torch.ones(3) + torch.ones(4), errors.broadcast(3, 4, 0)),
    (lambda: torch.ones(2, 1, 3) + torch.ones(5, 3, 3), errors.broadcast_shapes((2, 1, 3), (5, 3, 3))),
    (lambda: torch.ones(2, 0) + torch.ones(2, 3), errors.broadcast_shapes((2, 0), (2, 3))),
    (lambda: torch.ones(3).add_(torch.ones(2, 3)), errors.inplace_shape((3,), (2, 3))),
    (lambda: torch.ones(2, 3).expand(4, 5, 6), errors.expand_mismatch((2, 3), (4, 5, 6))),
    (lambda: torch.ones(2, 3).expand(-1, 5), errors.expand_mismatch((2, 3), (-1, 5))),
    (lambda: torch.ones(2, 3).expand(2, -2), errors.expand_mismatch((2, 3), (2, -2))),
    (lambda: torch.ones(3).expand(-1, 3), errors.expand_mismatch((3,), (-1, 3))),
    (lambda: torch.ones(6).view(4), errors.view_size((4,), 6)),
    (lambda: torch.ones(6).reshape(4, -1), errors.view_size((4, -1), 6)),
    (lambda: torch.ones(6).view(-1, -1), errors.view_size((-1, -1), 6)),
    (lambda: torch.ones(6).view(-2, 3), errors.view_size((-2, 3), 6)),
    (lambda: torch.ones(0).view(-1, 0), errors.view_size((-1, 0), 0)),
    (lambda: torch.ones(2, 3).t().view(6), errors.view_stride()),
    (lambda: torch.cat([torch.ones(2, 3), torch.ones(2, 4)]), errors.cat_size(0, 3, 4, 1)),
    (lambda: torch.cat([torch.ones(2, 3), torch.ones(2)]), errors.cat_ndim(2, 1)),
    (lambda: torch.cat([torch.tensor(1.0)]), errors.cat_zero_dim(0)),
    (lambda: torch.stack([torch.ones(2), torch.ones(3)]), errors.stack_size((2,), (3,), 1)),
    (lambda: torch.ones(2, 3) @ torch.ones(4, 2), errors.matmul((2, 3), (4, 2))),
    (lambda: torch.ones(3) @ torch.ones(2, 3), errors.matmul((3,), (2, 3))),
    (lambda: torch.ones(2, 3) @ torch.ones(2), errors.matmul((2, 3), (2,))),
    (lambda: torch.ones(3) @ torch.ones(2), errors.matmul((3,), (2,))),
    (lambda: torch.tensor(1.0) @ torch.ones(3), errors.matmul((), (3,))),
    (lambda: torch.ones(5, 2, 3) @ torch.ones(4, 3, 2), errors.matmul((5, 2, 3), (4, 3, 2))),
    # Indices
    (lambda: torch.ones(2, 3)[0, -4], errors.index_out_of_range(-4, 1, 3)),
    (lambda: torch.ones(3)[0, 0], errors.too_many_indices(1)),
    (lambda: torch.ones(3)[1.5], errors.index_type(float)),
    (lambda: torch.ones(3)[torch.ones(2)], errors.index_dtype()),
    (lambda: torch.ones(2, 3)[0, torch.ones(4) > 0], errors.mask_shape((4,), 0, (3,), 0)),
    (
        lambda: torch.ones(3, 3)[torch.tensor([0, 1]), torch.tensor([0, 1, 2])],
        errors.index_shapes((2,), (3,)),
    ),
    # Dtypes
    (lambda: torch.ones(2, dtype=torch.uint8).fill_(300), errors.value_overflow("uint8_t")),
    (
        lambda: torch.promote_types(torch.uint16, torch.int64),
        errors.no_promotion("uint16", "int64"),
    ),
    (lambda: torch.from_numpy(np.ones(2, ">f4")), errors.foreign_byte_order()),
    (lambda: torch.ones(2, dtype=torch.int64).add_(1.5), errors.result_dtype("float32", "int64")),
    (lambda: torch.ones(2, dtype=torch.int64).mean(), errors.needs_floating("mean", "int64")),
    (lambda: torch.ones(2).bool() - torch.ones(2).bool(), errors.bool_subtraction(both=True)),
    (lambda: torch.ones(2).bool() - 1, errors.bool_subtraction(both=False)),
    (lambda: -torch.ones(2).bool(), errors.bool_negation()),
    # Conversion
    (lambda: leaf(2).numpy(), errors.numpy_requires_grad()),
    (lambda: copy.deepcopy(leaf(2) * 1), errors.deepcopy_of_non_leaf()),
    (lambda: torch.ones(2).item(), errors.not_one_element(2)),
    (lambda: float(torch.ones(2)), errors.not_a_number()),
    (lambda: torch.ones(2).__index__(), errors.not_an_index()),
    (lambda: bool(torch.ones(2)), errors.ambiguous_bool(2)),
    (lambda: bool(torch.ones(0)), errors.ambiguous_bool(0)),
    (lambda: len(torch.tensor(1)), errors.len_of_zero_dim()),
    (lambda: list(torch.tensor(1)), errors.iteration_over_zero_dim()),
    (lambda: torch.device("cuda:0", 1), errors.device_index_twice("cuda:0")),
]

BUILTINS = (NotImplementedError, RuntimeError, TypeError, IndexError, ValueError)


@pytest.mark.parametrize(("provoke", "ours"), MESSAGES, ids=[type(ours).__name__ for _, ours in MESSAGES])
def test_message(provoke, ours):
    """Our message is torch's, perhaps with more after it; where torch's goes on about itself, ours is its beginning."""
    with pytest.raises(BUILTINS) as caught:
        provoke()
    theirs = str(caught.value)
    shorter = str(ours).split(" Hint:")[0].rstrip(" .")
    assert str(ours).startswith(theirs.rstrip(" .\n")) or theirs.startswith(shorter)
    builtin = next(b for b in BUILTINS if isinstance(caught.value, b))
    assert isinstance(ours, builtin)


def leaf_grad_of_non_leaf():
    return (leaf(2) * 1).grad


WARNINGS = [
    (leaf_grad_of_non_leaf, errors.non_leaf_grad()),
    (
        lambda: torch.autograd.backward([leaf(1).sum()], grad_variables=[None]),
        errors.grad_variables_deprecated(),
    ),
    (  # the rest of torch's, that the argument is ignored, would not be true
        lambda: (lambda x: torch.autograd.grad(x.sum(), x, only_inputs=False))(leaf(2)),
        FutureWarning(str(errors.only_inputs_deprecated()).partition(" (")[0]),
    ),
    (lambda: leaf(2).sum().backward(create_graph=True), errors.create_graph_cycle()),
]


@pytest.mark.parametrize(("provoke", "ours"), WARNINGS)
def test_warning(provoke, ours):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Some of torch's warnings come only once in a process.
        before = torch.is_warn_always_enabled()
        torch.set_warn_always(True)
        try:
            provoke()
        finally:
            torch.set_warn_always(before)
    assert [type(w.message) for w in caught] == [type(ours)]
    assert str(caught[0].message).startswith(str(ours))
