"""The exceptions, how messages name things, and the texts that users of torch search for."""

import copy
import warnings

import pytest

import wengert
from wengert import dtypes, errors
from wengert.errors import classes


def leaf(*shape):
    return wengert.ones(*shape, requires_grad=True)


def function(forward, backward=None):
    """`apply` of a custom Function named F."""
    methods = {"forward": staticmethod(forward)} | ({"backward": staticmethod(backward)} if backward else {})
    return type("F", (wengert.autograd.Function,), methods).apply


def backward_twice():
    loss = (leaf(2) ** 2).sum()
    loss.backward()
    loss.backward()


def write_after_saving():
    y = leaf(2) + 1
    z = y * y
    y.add_(1)
    z.sum().backward()


def hooked(hook):
    x = leaf(2)
    x.register_hook(hook)
    x.sum().backward()


def assign(tensor, name, value):
    setattr(tensor, name, value)


MESSAGES = [
    (
        backward_twice,
        RuntimeError,
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
        "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
        "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
        "after calling backward.\nThe freed values are those of PowBackward0, recorded at ",
    ),
    (
        lambda: wengert.ones(2).sum().backward(),
        RuntimeError,
        "element 0 of tensors does not require grad and does not have a grad_fn",
    ),
    (
        lambda: (leaf(3) * 2).backward(wengert.ones(4)),
        RuntimeError,
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([4]) and output[0] has a shape of torch.Size([3]).",
    ),
    (
        lambda: (leaf(3) * 2).backward(),
        RuntimeError,
        "grad can be implicitly created only for scalar outputs. The output has shape [3]. Hint: ",
    ),
    (
        lambda: wengert.autograd.grad((leaf(2) * 2).sum(), [leaf(2)]),
        RuntimeError,
        "The differentiated Tensor at index 0 appears to not have been used in the graph. Set allow_unused=True if this is "
        "the desired behavior.",
    ),
    (
        write_after_saving,
        RuntimeError,
        "one of the variables needed for gradient computation has been modified by an inplace operation: [torch.FloatTensor "
        "[2]], which is output 0 of Add, is at version 1; expected version 0 instead. Hint: enable anomaly detection to find "
        "the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False).\n"
        "It was saved by MulBackward0 at ",
    ),
    (
        lambda: leaf(2).add_(1),
        RuntimeError,
        "a leaf Variable that requires grad is being used in an in-place operation.",
    ),
    (
        lambda: leaf(2)[0].add_(1),
        RuntimeError,
        "a view of a leaf Variable that requires grad is being used in an in-place operation.",
    ),
    (
        lambda: function(lambda ctx, x: (ctx.mark_dirty(x), x)[1])(leaf(2)),
        RuntimeError,
        "a leaf Variable that requires grad has been used in an in-place operation.",
    ),
    (
        lambda: (leaf(2) * 2).requires_grad_(False),
        RuntimeError,
        "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that "
        "doesn't require differentiation use var_no_grad = var.detach().",
    ),
    (
        lambda: wengert.ones(2, dtype=wengert.int32, requires_grad=True),
        RuntimeError,
        "Only Tensors of floating point and complex dtype can require gradients (got torch.int32). Hint: ",
    ),
    (
        lambda: assign(wengert.ones(2, dtype=wengert.int64), "requires_grad", True),
        RuntimeError,
        "only Tensors of floating point and complex dtype can require gradients (got torch.int64). Hint: ",
    ),
    (
        lambda: wengert.ones(2).register_hook(print),
        RuntimeError,
        "cannot register a hook on a tensor that doesn't require gradient",
    ),
    (lambda: hooked(lambda g: 3), TypeError, "expected Variable, but hook returned 'int'"),
    (
        lambda: hooked(lambda g: wengert.ones(3)),
        RuntimeError,
        "hook '<lambda>' has changed the size of value (was [2] got [3])",
    ),
    (lambda: wengert.ones(2).retain_grad(), RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"),
    (
        lambda: function(lambda ctx, x, y: x * y, lambda ctx, g: g)(leaf(2), leaf(2)).sum().backward(),
        RuntimeError,
        "function FBackward returned an incorrect number of gradients (expected 2, got 1)",
    ),
    (
        lambda: function(lambda ctx, x: ctx.save_for_backward(3))(leaf(2)),
        TypeError,
        "save_for_backward can only save variables, but argument 0 is of type int",
    ),
    (
        lambda: function(lambda ctx, x: x * 1)(leaf(2)).sum().backward(),
        NotImplementedError,
        "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD.",
    ),
    (
        lambda: assign(leaf(2), "grad", wengert.ones(3)),
        RuntimeError,
        "attempting to assign a gradient of size '[3]' to a tensor of size '[2]'. Please ensure that the gradient and the "
        "tensor are the same size",
    ),
    (
        lambda: assign(leaf(2), "grad", 3),
        TypeError,
        "assigned grad expected to be a Tensor or None but got grad of type int",
    ),
    (lambda: (leaf(2) * 1)[0].detach_(), RuntimeError, "Can't detach views in-place. Use detach() instead."),
    (
        lambda: leaf(2).numpy(),
        RuntimeError,
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
    ),
    (
        lambda: copy.deepcopy(leaf(2) * 1),
        RuntimeError,
        "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.",
    ),
    (
        lambda: wengert.ones(2, 1, 3) + wengert.ones(5, 3, 3),
        RuntimeError,
        "The size of tensor a (2) must match the size of tensor b (5) at non-singleton dimension 0",
    ),
    (
        lambda: wengert.ones(2, 3) @ wengert.ones(4, 2),
        RuntimeError,
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x2)",
    ),
    (
        lambda: wengert.ones(2, 3).t().view(6),
        RuntimeError,
        "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous "
        "subspaces). Use .reshape(...) instead.",
    ),
    (
        lambda: bool(wengert.ones(2)),
        RuntimeError,
        "Boolean value of Tensor with more than one value is ambiguous",
    ),
]

WARNINGS = [
    (
        lambda: (leaf(2) * 1).grad,
        UserWarning,
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated "
        "during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use "
        ".retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf "
        "Tensor instead.",
    ),
    (
        lambda: wengert.autograd.backward([leaf(1).sum()], grad_variables=[None]),
        FutureWarning,
        "`grad_variables` is deprecated. Use `grad_tensors` instead.",
    ),
    (
        lambda: wengert.autograd.grad((x := leaf(2)).sum(), x, only_inputs=False),
        FutureWarning,
        "only_inputs argument is deprecated (defaults to True; torch ignores it now, this package does what it asks for). To "
        "accumulate gradient for other parts of the graph, please use torch.autograd.backward.",
    ),
    (
        lambda: leaf(2).sum().backward(create_graph=True),
        UserWarning,
        "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which "
        "can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use "
        "this function, make sure to reset the .grad fields of your parameters to None after use to break the cycle and avoid "
        "the leak.",
    ),
]


@pytest.mark.parametrize(("program", "builtin", "text"), MESSAGES, ids=[text[:30] for _, _, text in MESSAGES])
def test_error(program, builtin, text):
    """Its text begins so; it is one of ours, and the nearest built-in exception is the one that torch raises."""
    with pytest.raises(builtin) as caught:
        program()
    assert str(caught.value).startswith(text)
    assert isinstance(caught.value, errors.WengertError)


@pytest.mark.parametrize(("program", "category", "text"), WARNINGS, ids=[text[:30] for _, _, text in WARNINGS])
def test_warning(program, category, text):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program()
    assert [(w.category, str(w.message)) for w in caught] == [(category, text)]


def test_every_exception_is_exported():
    assert set(classes.__all__) == {name for name, value in vars(classes).items() if isinstance(value, type)}
    assert all(getattr(errors, name) is getattr(classes, name) for name in classes.__all__)


@pytest.mark.parametrize("name", classes.__all__)
def test_exceptions_are_public_and_documented(name):
    exception = getattr(errors, name)
    assert issubclass(exception, errors.WengertError)
    assert exception.__module__ == "wengert.errors"
    assert exception.__doc__
    # Each is also a built-in exception that user code catches today.
    if exception is not errors.WengertError:
        assert issubclass(exception, (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError))


@pytest.mark.parametrize(
    ("shapes", "sizes", "dim"),
    [
        (((2, 3), (3, 4)), (3, 4), 1),
        (((5, 2, 3), (3, 4)), (3, 4), 2),
        (((2, 3), (5, 3, 3)), (2, 3), 1),
        (((2, 0), (2, 3)), (0, 3), 1),
        (((1,), (3,), (4,)), (3, 4), 0),
    ],
)
def test_broadcast_shapes_finds_the_last_dimension_that_differs(shapes, sizes, dim):
    text = "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}"
    assert str(errors.broadcast_shapes(*shapes)) == text.format(*sizes, dim)


def test_messages_about_possible_shapes_are_a_mistake():
    with pytest.raises(AssertionError):
        errors.broadcast_shapes((2, 3), (1, 3))
    with pytest.raises(AssertionError):
        errors.expand_mismatch((1, 3), (2, -1))


@pytest.mark.parametrize(
    ("node", "operation"),
    [("AddBackward0", "Add"), ("SplitBackward1", "Split"), ("MyExpBackward", "MyExp"), ("CopySlices", "CopySlices")],
)
def test_operation_name(node, operation):
    assert errors.operation_name(node) == operation


def test_names_of_dtypes_of_all_kinds():
    for d in dtypes.DTYPES:
        assert errors.dtype_name(d) == errors.dtype_name(d.dtype) == errors.dtype_name(d.name) == repr(d)
        assert errors.tensor_type(d.dtype) == dtypes.legacy_type_name(d)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (errors.c_name("float16"), "c10::Half"),
        (errors.c_name(dtypes.int64), "long int"),
        (errors.scalar_name("uint16"), "UInt16"),
        (errors.type_name(int), "int"),
        (errors.type_name("int"), "int"),
        (errors.called("_pad"), "pad"),
        (errors.called("__and__"), "__and__"),
    ],
)
def test_names_in_messages(name, text):
    assert name == text
