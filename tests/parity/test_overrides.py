"""Subclasses of Tensor, objects with __torch_function__, and modes: what programs see, compared with torch."""

from __future__ import annotations

import copy
import pickle
import threading

import pytest

import wengert
import wengert.overrides
from twins import assert_same, run

torch = pytest.importorskip("torch")

PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


def subclass(t):
    return type("Mine", (t.Tensor,), {})


def recorder(t, base=None):
    """Return (class, list): each call that the class takes over is put into the list, and runs as if nothing were."""
    log = []

    def record(cls, func, types, args=(), kwargs=None):
        log.append(func.__name__)
        return super(made, cls).__torch_function__(func, types, args, kwargs)

    made = type("Recorded", (base or t.Tensor,), {"__torch_function__": classmethod(record)})
    return made, log


def duck(name="Duck", base=object):
    """Return a class that is no tensor, and answers each call with what it was called with."""

    def answer(cls, func, types, args=(), kwargs=None):
        return [cls.__name__, func.__name__, [kind.__name__ for kind in types], len(args), sorted(kwargs or {})]

    return type(name, (base,), {"__torch_function__": classmethod(answer)})


def refusing():
    return type("Refusing", (), {"__torch_function__": classmethod(lambda *_: NotImplemented)})


def names_seen(t, step):
    """Return the names of the functions that a mode sees while step runs."""
    seen = []

    class Log(t.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    with Log():
        step()
    return seen


# -- subclasses ----------------------------------------------------------------------------------------------------------

KEPT = {
    "operators": lambda t, m: [m + 1, 1 + m, m - 1, 1 - m, 2 * m, m / 2, 2 / m, m // 2, m % 2, m**2, 2**m, m @ m, -m, +m, abs(m)],
    "comparisons": lambda t, m: [m == 1, m != 1, m < 2, m >= 2, ~(m > 1), (m > 1) & (m > 2), (m > 1) | (m > 2)],
    "with tensors": lambda t, m: [m + t.ones(2, 2), t.ones(2, 2) + m, t.ones(2, 2) @ m, t.add(t.ones(2, 2), m), t.ones(2, 2).mul(m)],
    "indexing": lambda t, m: [m[0], m[:, 1], m[m > 1], m[None], m[..., 0], t.ones(2, 2)[m > 1]],
    "views": lambda t, m: [m.T, m.mT, m.view(4), m.reshape(4), m.t(), m.permute(1, 0), m.unsqueeze(0), m.flatten(), m.expand(2, 2, 2)],
    "several": lambda t, m: [*m.split(1), *m.unbind(), *m.chunk(2), *t.broadcast_tensors(m, t.ones(2)), *m.max(0), *t.linalg.svd(m)],
    "lists": lambda t, m: [t.cat([m, t.ones(2, 2)]), t.stack([t.ones(2, 2), m]), t.hstack([m, m]), t.einsum("ij,jk->ik", m, m)],
    "like": lambda t, m: [t.zeros_like(m), t.ones_like(m), t.empty_like(m) * 0, t.full_like(m, 2.0), m.new_zeros(2), m.new_ones(2)],
    "conversions": lambda t, m: [m.double(), m.to(t.int64), m.float(), m.clone(), m.detach(), m.data, m.contiguous(), m.type_as(m)],
    "functional": lambda t, m: [
        t.nn.functional.relu(m), t.nn.functional.linear(m, m), t.nn.functional.softmax(m, 0), t.nn.functional.gelu(m),
        t.nn.functional.dropout(m, 0.0), t.nn.functional.mse_loss(m, m), t.nn.functional.pad(m, (1, 1)),
    ],
    "namespaces": lambda t, m: [
        t.linalg.inv(m), t.linalg.norm(m), t.special.erf(m), t.fft.ifft(t.fft.fft(m)).real, t.logsumexp(m, 0), t.where(m > 1, m, m),
    ],
    "reductions": lambda t, m: [m.sum(), m.mean(0), t.std(m), m.argmax(), m.any(), m.cumsum(0), m.sort().values, m.topk(1).values],
    "creation from it": lambda t, m: [t.as_tensor(m), t.asarray(m)],
    "iteration": lambda t, m: list(m),
    "parts": lambda t, m: [m.real, t.complex(m, m).imag],
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_results_have_the_class_of_a_subclass(name):
    def kept(t):
        mine = subclass(t)
        results = KEPT[name](t, mine([[1.0, 2.0], [3.0, 5.0]]))
        return [[type(r).__name__, r] for r in results]

    assert_same(run(kept, wengert), run(kept, torch))


@program
def not_made_tensors_of_the_class(t):
    m = subclass(t)([[1.0, 2.0], [3.0, 4.0]])
    return (
        m.sum().item(), m.tolist(), m.shape == (2, 2), m.size(0), m.ndim, m.is_leaf, bool(t.equal(m, m)), bool(t.allclose(m, m)),
        type(t.tensor(m.tolist())).__name__, m.is_contiguous(), m.requires_grad, len(m), float(m[0, 0]), int(m[0, 0]), m.stride(),
    )  # fmt: skip


@program
def printed_by_its_name(t):
    m = subclass(t)([1.0, 2.0])
    named = repr(m), str(m), f"{m}", repr(subclass(t)([[1.0], [2.0]])), repr(m.requires_grad_() * 2)
    return [*named, repr(t.nn.Parameter(subclass(t)([1.0]))), repr(t.nn.Parameter(t.ones(1)))]


@program
def made_in_every_way(t):
    mine = subclass(t)
    made = [
        mine([1, 2]), mine(t.ones(2)), t.ones(2).as_subclass(mine), t.Tensor._make_subclass(mine, t.ones(2), True),
        mine(2, 3) * 0, mine() * 0,
    ]  # fmt: skip
    return [[type(m).__name__, m] for m in made]


@program
def constructors_of_users_run(t):
    class Named(t.Tensor):
        @staticmethod
        def __new__(cls, data, label, *args, **kwargs):
            return super().__new__(cls, data, *args, **kwargs)

        def __init__(self, data, label):
            super().__init__()
            self.label = label

    class Converted(t.Tensor):
        def __new__(cls, data, label=None):
            made = t.as_tensor(data).as_subclass(cls)
            made.label = label
            return made

    return [[type(m).__name__, m.label, m] for m in (Named([1.0], "a"), Converted([2.0], label="b"))]


@program
def not_a_class_of_tensors(t):
    return t.ones(2).as_subclass(int)


@program
def gradients_pass_through(t):
    mine = subclass(t)
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = (x.as_subclass(mine) * 3).exp().sum()
    y.backward()
    leaf = mine([1.0, 2.0]).requires_grad_()
    (leaf * leaf).sum().backward()
    (other,) = t.autograd.grad((leaf**3).sum(), leaf, create_graph=True)
    (second,) = t.autograd.grad(other.sum(), leaf)
    names = [type(v).__name__ for v in (y, leaf.grad, other, second, leaf)]
    return names, x.grad, leaf.grad, second, type(y.grad_fn).__name__


@program
def hooks_get_plain_gradients(t):
    leaf = subclass(t)([1.0, 2.0]).requires_grad_()
    seen = []
    leaf.register_hook(lambda g: seen.append(type(g).__name__))
    (leaf * 2).sum().backward()
    return seen


@program
def custom_functions_see_the_class(t):
    seen = []

    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append(type(x).__name__)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append(type(g).__name__)
            return g * 2

    x = subclass(t)([1.0]).requires_grad_()
    Double.apply(x).sum().backward()
    return seen, x.grad


@program
def written_in_place(t):
    mine = subclass(t)
    m = mine([1.0, 2.0])
    same = m.add_(1) is m
    m += 1
    m[0] = 7.0
    m.mul_(mine([2.0, 2.0]))
    out = mine([0.0, 0.0])
    written = t.add(t.ones(2), t.ones(2), out=out)
    plain = t.zeros(2)
    plain.add_(m)
    return same, type(m).__name__, m, written is out, type(written).__name__, out, type(plain).__name__, plain


@program
def copies_keep_class_and_attributes(t):
    mine = subclass(t)
    mine.__module__ = __name__
    globals()["Mine"] = mine
    mine.__qualname__ = "Mine"
    m = mine([1.0, 2.0])
    m.label = "a"
    copied = [copy.copy(m), pickle.loads(pickle.dumps(m))]
    return [[type(c).__name__, c.label, c] for c in copied]


@program
def a_parameter_takes_nothing_over(t):
    p = t.nn.Parameter(t.ones(2))
    results = [p * 2, p.sum(), p[0], p.clone(), t.cat([p, p])]
    kept = t.nn.Parameter(subclass(t)([1.0, 2.0]))
    return [type(r).__name__ for r in results], type(kept * 2).__name__, type(kept).__name__, isinstance(kept, t.nn.Parameter)


@program
def siblings_are_refused_and_children_win(t):
    mine, other = subclass(t), type("Other", (t.Tensor,), {})
    child = type("Child", (mine,), {})
    results = [mine([1.0]) + child([1.0]), child([1.0]) + mine([1.0]), t.add(mine([1.0]), child([1.0]))]
    try:
        mine([1.0]) + other([1.0])
        refused = "no"
    except TypeError as error:
        refused = "unsupported operand" in str(error)
    return [type(r).__name__ for r in results], refused


@program
def a_class_that_switches_itself_off(t):
    quiet = type("Quiet", (t.Tensor,), {"__torch_function__": t._C._disabled_torch_function_impl})
    q = quiet([1.0, 2.0])
    return type(q).__name__, type(q * 2).__name__, type(t.sin(q)).__name__


# -- what __torch_function__ gets --------------------------------------------------------------------------------------------

ASKED = {
    "operators": lambda t, x: (x + 1, 1 + x, x - 1, 1 - x, x * 2, x / 2, 2 / x, x // 2, 2 // x, x % 2, 2 % x, x**2, 2**x, x @ x),
    "unary": lambda t, x: (-x, abs(x), ~(x > 0)),
    "comparisons": lambda t, x: (x == 1, x != 1, x < 1, x <= 1, x > 1, x >= 1),
    "indexing": lambda t, x: (x[0], x[0, 1], x[x > 0]),
    "functions": lambda t, x: (t.add(x, x), t.mean(x), t.cat([x, x]), t.stack([x, x]), t.where(x > 0, x, x), t.einsum("ij->i", x)),
    "functional": lambda t, x: (t.nn.functional.relu(x), t.nn.functional.linear(x, x), t.nn.functional.dropout(x)),
    "namespaces": lambda t, x: (t.linalg.norm(x), t.fft.fft(x), t.linalg.inv(x + t.eye(2))),
    "methods": lambda t, x: (x.add(1), x.sum(), x.view(4), x.clone(), x.detach(), x.to(t.float64), x.split(1), x.new_zeros(2)),
    "properties": lambda t, x: (x.shape, x.T, x.grad, x.data, x.dtype, x.requires_grad, x.ndim, x.is_leaf, x.grad_fn),
    "python": lambda t, x: (len(x), float(x[0, 0]), bool(x[0, 0]), x.tolist(), 1.0 in x, repr(x), f"{x[0, 0]}", copy.deepcopy(x)),
    "writes": lambda t, x: (x.add_(1), x.__setitem__(0, 1.0), x.requires_grad_(), x.size(), x.dim(), x.numel()),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_mode_sees_what_it_sees_in_torch(name):
    def seen(t):
        return names_seen(t, lambda: ASKED[name](t, t.ones(2, 2)))

    assert run(seen, wengert) == run(seen, torch)


@program
def a_class_sees_its_calls(t):
    made, log = recorder(t)
    x = made([[1.0, 2.0], [3.0, 4.0]])
    log.clear()
    results = [x + 1, t.exp(x), x.sum(), t.nn.functional.relu(x), x[0], t.cat([x, t.ones(2, 2)])]
    return log, [type(r).__name__ for r in results]


@program
def factories_are_seen_by_modes(t):
    return names_seen(t, lambda: (t.ones(2), t.zeros(2), t.rand(2), t.arange(3), t.tensor([1.0]), t.eye(2), t.randn(2), t.full((2,), 1.0)))


@program
def functions_are_the_public_ones(t):
    got = []

    class Log(t.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            got.append(func)
            return func(*args, **(kwargs or {}))

    x = t.ones(2, 2)
    with Log():
        t.add(x, x), t.nn.functional.relu(x), t.linalg.norm(x), x.grad, x.sum(), x.add_(1), x[0], t.ones(2)
    wanted = t.add, t.nn.functional.relu, t.linalg.norm, t.Tensor.grad.__get__, t.Tensor.sum, t.Tensor.add_, t.Tensor.__getitem__, t.ones
    return [mine == theirs for mine, theirs in zip(got, wanted, strict=True)]


@program
def backward_is_one_call(t):
    x = t.ones(2, requires_grad=True)
    return names_seen(t, lambda: ((x * x).sum().backward(), t.autograd.grad((x * x).sum(), x)))


# -- objects that are no tensors --------------------------------------------------------------------------------------------

DUCKS = {
    "operation": lambda t, d: [t.add(d, 1), t.add(1, d), t.mul(t.ones(2), d), t.sin(d), t.matmul(t.ones(2), d)],
    "keywords": lambda t, d: [t.mean(d, dim=0), t.mean(input=d), t.sum(d, 0, keepdim=True)],
    "lists": lambda t, d: [t.cat([d, d], dim=0), t.stack([t.ones(2), d]), t.hstack((d, d))],
    "composite": lambda t, d: [t.einsum("i->i", d), t.std(d), t.logsumexp(d, 0)],
    "functional": lambda t, d: [t.nn.functional.linear(d, d), t.nn.functional.conv1d(d, d), t.nn.functional.mse_loss(d, d)[:4]],
    "namespaces": lambda t, d: [t.linalg.inv(d), t.fft.fft(d), t.linalg.norm(d)],
    "reflected": lambda t, d: [t.ones(2) + d, t.ones(2) * d, d + t.ones(2), d * t.ones(2), t.ones(2) - d, t.ones(2).mul_(d)],
    "index": lambda t, d: [t.ones(2)[d]],
}


@pytest.mark.parametrize("name", DUCKS)
def test_objects_are_asked(name):
    def asked(t):
        return DUCKS[name](t, duck()())

    assert run(asked, wengert) == run(asked, torch)


@program
def classes_are_asked_in_torchs_order(t):
    first = duck("First")
    second, third = duck("Second", first), duck("Third")
    return [t.add(first(), second()), t.add(second(), first()), t.cat([first(), third(), second()]), t.add(third(), first())]


@program
def all_refuse(t):
    try:
        t.add(refusing()(), 1)
    except TypeError as error:
        return str(error).split("\n")[0], "Refusing" in str(error)


@program
def all_refuse_in_functional(t):
    try:
        t.nn.functional.relu(refusing()())
    except TypeError as error:
        return str(error)[:90]


@program
def operators_try_the_other_operand(t):
    class Right(refusing()):
        def __radd__(self, other):
            return "its own"

    return t.ones(2) + Right()


# -- modes ------------------------------------------------------------------------------------------------------------------


@program
def modes_nest(t):
    log = []

    class Named(t.overrides.TorchFunctionMode):
        def __init__(self, name):
            self.name = name

        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append(self.name + func.__name__)
            return func(*args, **(kwargs or {}))

    outer = Named("outer ")
    with outer, Named("inner "):
        t.ones(2)
        with outer:
            t.zeros(2)
    t.ones(3)
    return log


@program
def modes_may_replace_results_and_fail(t):
    class Twice(t.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if func is t.zeros:
                raise ValueError("no zeros")
            result = func(*args, **(kwargs or {}))
            return result * 2 if func is t.ones else result

    with Twice():
        doubled = t.ones(2)
        try:
            t.zeros(2)
            failed = None
        except ValueError as error:
            failed = str(error)
        again = t.ones(2)
    return doubled, failed, again, t.ones(2)


@program
def modes_come_before_classes(t):
    made, log = recorder(t)
    x = made([1.0])
    log.clear()

    class Mode(t.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append("mode " + func.__name__ + " " + " ".join([kind.__name__ for kind in types]))
            return func(*args, **(kwargs or {}))

    with Mode():
        t.exp(x)
    return log


@program
def modes_are_of_one_thread(t):
    seen = []

    class Log(t.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    with Log():
        thread = threading.Thread(target=lambda: t.ones(2))
        thread.start()
        thread.join()
    return seen


@program
def switched_off(t):
    seen = []

    class Log(t.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    m = subclass(t)([1.0])
    with Log():
        with t._C.DisableTorchFunction():
            t.ones(1)
        with t._C.DisableTorchFunctionSubclass():
            plain = type(m + 1).__name__
    return seen, plain, type(m + 1).__name__


@program
def a_mode_that_changes_nothing(t):
    with t.overrides.BaseTorchFunctionMode():
        return t.ones(2) + 1


# -- helpers ------------------------------------------------------------------------------------------------------------------


@program
def helpers(t):
    o, d, m = t.overrides, duck()(), subclass(t)([1.0])

    def public(x, y=1):
        if o.has_torch_function((x,)):
            return o.handle_torch_function(public, (x,), x, y=y)
        return "plain"

    @o.wrap_torch_function(lambda x, y=1: (x,))
    def wrapped(x, y=1):
        return "plain"

    return (
        o.has_torch_function((d,)), o.has_torch_function((t.ones(1), 1)), o.has_torch_function_unary(t.nn.Parameter(t.ones(1))),
        o.has_torch_function_variadic(1, d), o.has_torch_function_unary(m), o.is_tensor_like(d), o.is_tensor_like(1), o.is_tensor_like(m),
        public(1), public(d, 2), wrapped(1), wrapped(d), [o.resolve_name(f) for f in (t.add, t.nn.functional.relu, t.Tensor.add_, t.fft.fft)],
        o.resolve_name(t.Tensor.grad.__get__), o.is_tensor_method_or_property(t.Tensor.grad.__get__), o.is_tensor_method_or_property(t.ones),
        t.add in o.get_overridable_functions()[t], t.ones in o.get_ignored_functions(), o.get_testing_overrides()[t.add](1, 2),
        t.Tensor.add_ in o.get_overridable_functions()[t.Tensor], t.nn.functional.relu in o.get_overridable_functions()[t.nn.functional],
    )  # fmt: skip


@program
def a_refused_public_function(t):
    def public(x):
        return t.overrides.handle_torch_function(public, (x,), x)

    try:
        return public(refusing()())
    except TypeError as error:
        return str(error).replace(str(public.__module__), "")[:60]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function):
    assert_same(run(function, wengert), run(function, torch))


def test_a_program_without_overrides_is_not_asked_for_any():
    """Run in a process of its own: classes of parameters alone do not begin overriding, the first instance of a subclass does."""
    import subprocess
    import sys

    text = """
import wengert
from wengert.core.override import overriding
wengert.nn.Linear(2, 2)(wengert.ones(1, 2)).sum().backward()
assert not overriding()
class Mine(wengert.Tensor): pass
assert not overriding()
before = wengert.cat
assert type(Mine([1.0]) + 1) is Mine and overriding()
assert type(before([Mine([1.0])])) is Mine
"""
    subprocess.run([sys.executable, "-c", text], check=True)


@pytest.mark.parametrize("call", ["torch.mean(d)", "torch.add(1, d)", "torch.einsum('i->i', d)", "torch.linalg.norm(d)", "torch.ones(2) + d",
                                  "torch.logsumexp(d, 0)", "torch.ones(2).add_(d)"])  # fmt: skip
def test_the_first_object_of_a_program_is_asked(call):
    import subprocess
    import sys

    text = f"""
import wengert as torch
class Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return "asked for " + func.__name__
d = Duck()
print({call})
"""
    done = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True)
    name = call.removeprefix("torch.").split("(")[0] if "+" not in call and "add_" not in call else "add" if "+" in call else "add_"
    assert done.stdout.strip() == f"asked for {name.replace('linalg.norm', 'linalg_norm')}"


def test_frames_of_calls_that_modes_may_take_over_can_be_looked_at():
    """Debuggers and test runners read the variables of each frame. Those of functions with exchanged code have free variables."""
    with wengert.overrides.BaseTorchFunctionMode():
        wengert.ones(2)
    with pytest.raises(RuntimeError) as caught:
        wengert.nn.functional.conv2d(wengert.ones(2), wengert.ones(3))
    assert all(isinstance(entry.frame.f_locals, dict) for entry in caught.traceback)
