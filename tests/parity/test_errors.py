"""Programs that go wrong: wengert raises what torch raises, in torch's words. Each runs with either library as `torch`."""

import copy
import warnings

import numpy as np
import pytest

import wengert

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


PROGRAMS = [
    double_backward_pass,
    lambda: torch.ones(2).sum().backward(),
    lambda: torch.autograd.backward([leaf(1).sum(), torch.ones(1).sum()]),
    lambda: (leaf(3) * 2).backward(),
    lambda: (torch.ones((), dtype=torch.complex64, requires_grad=True) * 1).backward(),
    lambda: (leaf(3) * 2).backward(torch.ones(4)),
    lambda: (leaf(3) * 2).backward(torch.ones(3, dtype=torch.complex64)),
    lambda: torch.autograd.backward([leaf(3) * 2], ["a"]),
    lambda: torch.autograd.grad(leaf(3).sum(), []),
    lambda: leaf(3).sum().backward(inputs=[]),
    lambda: torch.autograd.grad(leaf(3).sum(), [3]),
    lambda: torch.autograd.grad(leaf(3).sum(), [torch.ones(3)]),
    unused,
    lambda: write_after_save(lambda y: y.add_(1)),
    write_leaf_after_save,
    write_with_anomaly_detection,
    lambda: leaf(2).add_(1),
    lambda: leaf(2)[0].add_(1),
    lambda: (leaf(4) * 1).split(2)[1].add_(1),
    write_view_of_no_grad,
    write_view_of_inference,
    lambda: function(lambda ctx, x: x, lambda ctx, g: g)(leaf(2) * 1).add_(1),
    lambda: (leaf(2) * 1)[0].detach_(),
    lambda: leaf(2).resize_(3),
    lambda: torch.add(leaf(2), 1, out=torch.ones(2)),
    lambda: leaf(2) * inference_tensor(),
    lambda: inference_tensor().requires_grad_(),
    lambda: inference_tensor()._version,
    lambda: (leaf(2) * 2).requires_grad_(False),
    lambda: torch.ones(2, dtype=torch.int32, requires_grad=True),
    lambda: set_attribute(torch.ones(2, dtype=torch.int32), "requires_grad", True),
    lambda: set_attribute(torch.ones(2), "requires_grad", "a"),
    lambda: torch.ones(2).retain_grad(),
    lambda: set_attribute(leaf(2), "data", torch.ones(2, dtype=torch.int32)),
    lambda: torch.ones(2).register_hook(print),
    lambda: hooked(lambda g: 3),
    lambda: node_hooked(lambda gi, go: 3),
    lambda: hooked(named(lambda g: torch.ones(3))),
    lambda: hooked(named(lambda g: g.double())),
    lambda: node_hooked(named(lambda gi, go: (1, 2, 3))),
    lambda: set_attribute(leaf(2), "grad", torch.ones(3)),
    lambda: set_attribute(leaf(2), "grad", 3),
    lambda: (lambda x: set_attribute(x, "grad", x))(leaf(2)),
    lambda: function(product, lambda ctx, g: (torch.ones(3), g))(leaf(2), leaf(2)).sum().backward(),
    lambda: function(product, lambda ctx, g: g)(leaf(2), leaf(2)).sum().backward(),
    lambda: function(product, lambda ctx, g: (3, g))(leaf(2), leaf(2)).sum().backward(),
    lambda: function(product, lambda ctx, g: (g, g))(leaf(2), 3).sum().backward(),
    lambda: function(lambda ctx, x: (ctx.save_for_backward(3), x * 1)[1])(leaf(2)),
    lambda: function(lambda ctx, x: (ctx.mark_dirty(x), x * 1)[1])(leaf(2) * 1),
    lambda: function(lambda ctx, x: (ctx.mark_dirty(x), x)[1])(leaf(2)),
    lambda: torch.autograd.Function.apply(leaf(2)),
    lambda: function(lambda ctx, x: x * 1)(leaf(2)).sum().backward(),
    twice_through_once_differentiable,
    nan_with_anomaly_detection,
    # Arguments
    lambda: torch.sin("3"),
    lambda: torch.matmul(torch.ones(2), 3),
    lambda: torch.sin(torch.ones(2), torch.ones(2)),
    lambda: torch.cumsum(torch.ones(2)),
    lambda: torch.sin(torch.ones(2), x=1),
    lambda: torch.softmax(torch.ones(2), 0, dim=0),
    # Dimensions
    lambda: torch.ones(2, 3).sum(-3),
    lambda: torch.tensor(1.0).sum(1),
    lambda: torch.ones(2, 3).sum((0, -2)),
    lambda: torch.bmm(torch.ones(2, 3), torch.ones(3, 3, 3)),
    lambda: torch.ones(0).max(),
    lambda: torch.ones(0, 3).max(0),
    # Shapes
    lambda: torch.ones(3) + torch.ones(4),
    lambda: torch.ones(2, 1, 3) + torch.ones(5, 3, 3),
    lambda: torch.ones(2, 0) + torch.ones(2, 3),
    lambda: torch.ones(3).add_(torch.ones(2, 3)),
    lambda: torch.ones(2, 3).expand(4, 5, 6),
    lambda: torch.ones(2, 3).expand(-1, 5),
    lambda: torch.ones(2, 3).expand(2, -2),
    lambda: torch.ones(3).expand(-1, 3),
    lambda: torch.ones(6).view(4),
    lambda: torch.ones(6).reshape(4, -1),
    lambda: torch.ones(6).view(-1, -1),
    lambda: torch.ones(6).view(-2, 3),
    lambda: torch.ones(0).view(-1, 0),
    lambda: torch.ones(2, 3).t().view(6),
    lambda: torch.cat([torch.ones(2, 3), torch.ones(2, 4)]),
    lambda: torch.cat([torch.ones(2, 3), torch.ones(2)]),
    lambda: torch.cat([torch.tensor(1.0)]),
    lambda: torch.stack([torch.ones(2), torch.ones(3)]),
    lambda: torch.ones(2, 3) @ torch.ones(4, 2),
    lambda: torch.ones(3) @ torch.ones(2, 3),
    lambda: torch.ones(2, 3) @ torch.ones(2),
    lambda: torch.ones(3) @ torch.ones(2),
    lambda: torch.tensor(1.0) @ torch.ones(3),
    lambda: torch.ones(5, 2, 3) @ torch.ones(4, 3, 2),
    # Indices
    lambda: torch.ones(2, 3)[0, -4],
    lambda: torch.ones(3)[0, 0],
    lambda: torch.ones(3)[1.5],
    lambda: torch.ones(3)[torch.ones(2)],
    lambda: torch.ones(2, 3)[torch.ones(4) > 0],
    lambda: torch.ones(3, 3)[torch.tensor([0, 1]), torch.tensor([0, 1, 2])],
    # Dtypes
    lambda: torch.ones(2, dtype=torch.uint8).fill_(300),
    lambda: torch.promote_types(torch.uint16, torch.int64),
    lambda: torch.from_numpy(np.ones(2, ">f4")),
    lambda: torch.ones(2, dtype=torch.int64).add_(1.5),
    lambda: torch.ones(2, dtype=torch.int64).mean(),
    lambda: torch.ones(2).bool() - torch.ones(2).bool(),
    lambda: torch.ones(2).bool() - 1,
    lambda: -torch.ones(2).bool(),
    # Conversion
    lambda: leaf(2).numpy(),
    lambda: copy.deepcopy(leaf(2) * 1),
    lambda: torch.ones(2).item(),
    lambda: torch.ones(2).__index__(),
    lambda: bool(torch.ones(2)),
    lambda: bool(torch.ones(0)),
    lambda: len(torch.tensor(1)),
    lambda: list(torch.tensor(1)),
    lambda: torch.device("cuda:0", 1),
    # Less common
    lambda: torch.ones(2, 3).movedim((0, 0), (0, 1)),
    lambda: torch.ones(2, 3).movedim((0, 1), (0,)),
    lambda: torch.narrow(torch.ones(3), 0, torch.tensor(1.0), 1),
    lambda: torch.linspace(torch.ones(2), torch.ones(2), 3),
    lambda: torch.empty_permuted((2,), (0, 1)),
    lambda: torch.empty_permuted((2, 3), (0, 5)),
    lambda: torch.empty_permuted((2, 3), (0, 0)),
    lambda: torch.set_grad_enabled("a"),
    lambda: set_attribute(leaf(2) * 1, "grad_dtype", torch.float64),
    lambda: (leaf(2) * 1).grad_dtype,
    lambda: set_attribute(leaf(2), "grad_dtype", 3),
    lambda: torch.autograd.backward(leaf(1).sum(), "a"),
    lambda: torch.autograd.backward([leaf(1).sum(), leaf(1).sum()], [None]),
    lambda: torch.set_num_threads(1.5),
    lambda: torch.set_num_threads(-1),
    lambda: torch.linalg.cholesky_ex("x"),
    lambda: torch.linalg.inv_ex("x"),
    lambda: torch.linalg.solve_ex("x", leaf(2)),
    lambda: torch.lu_unpack("x", 1),
    lambda: torch.nn.functional.cosine_embedding_loss(None, leaf(2, 2), leaf(2, 2)),
]

BUILTINS = (NotImplementedError, RuntimeError, TypeError, IndexError, ValueError)


def provoked(program, library, monkeypatch):
    """Return the exception that a program raises if `torch` is this library."""
    monkeypatch.setitem(globals(), "torch", library)
    with pytest.raises(BUILTINS) as caught:
        program()
    return caught.value


@pytest.mark.parametrize("program", PROGRAMS)
def test_message(program, monkeypatch):
    """Our message is torch's, perhaps with more after it; where torch's goes on about itself, ours is its beginning."""
    theirs, ours = provoked(program, torch, monkeypatch), provoked(program, wengert, monkeypatch)
    shorter = str(ours).split(" Hint:")[0].rstrip(" .")
    assert str(ours).startswith(str(theirs).rstrip(" .\n")) or str(theirs).startswith(shorter)
    builtin = next(b for b in BUILTINS if isinstance(theirs, b))
    assert isinstance(ours, builtin) and isinstance(ours, wengert.errors.WengertError)


WARNINGS = [
    lambda: (leaf(2) * 1).grad,
    lambda: torch.autograd.backward([leaf(1).sum()], grad_variables=[None]),
    lambda: torch.autograd.grad((x := leaf(2)).sum(), x, only_inputs=False),
    lambda: leaf(2).sum().backward(create_graph=True),
]


def warned(program, library, monkeypatch):
    """The only warning of a program when its name `torch` is this library."""
    monkeypatch.setitem(globals(), "torch", library)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program()
    (warning,) = caught
    return warning.message


@pytest.mark.parametrize("program", WARNINGS)
def test_warning(program, monkeypatch):
    # Some of torch's warnings come only once in a process.
    always, before = torch.set_warn_always, torch.is_warn_always_enabled()
    always(True)
    try:
        theirs = warned(program, torch, monkeypatch)
    finally:
        always(before)
    ours = warned(program, wengert, monkeypatch)
    assert type(theirs) is type(ours)
    # Where torch ignores only_inputs, wengert does what it asks for, and says so.
    assert str(theirs).startswith(str(ours).partition(" (")[0])
