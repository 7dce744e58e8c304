"""Modules, hooks, containers, initial values: wengert gives what torch gives, in torch's words."""

# The programs are short on purpose: many calls in little space.
# ruff: noqa: B023, E731, E741, RET504, RUF005, RUF015

import copy
import pickle
from collections import OrderedDict

import pytest

import wengert
from outcomes import assert_same_outcomes

torch = pytest.importorskip("torch")


def registration_and_state(torch, note):
    nn = torch.nn
    m = nn.Module()

    class A(nn.Module):
        def __init__(s):
            super().__init__()
            s.l = nn.Linear(2, 3)
            s.register_buffer("b", torch.ones(2))
            s.register_buffer("nb", torch.ones(1), persistent=False)
            s.w = nn.Parameter(torch.ones(2))
            s.none = None

    a = A()
    note(lambda: nn.Module(1))
    note(lambda: nn.Module(x=1))
    note(lambda: nn.Linear(2, 3, foo=1))
    note(m, 1)
    note(lambda: m.foo)
    note(lambda: a(1))
    note(lambda: setattr(a, "w", torch.ones(2)))
    note(lambda: setattr(a, "w", 3))
    note(lambda: setattr(a, "l", 3))
    note(lambda: setattr(a, "l", None))
    note(lambda: setattr(a, "b", 3))
    note(lambda: setattr(a, "b", nn.Parameter(torch.ones(1))))
    a = A()
    note(lambda: a.register_parameter(3, None))
    note(lambda: a.register_parameter("a.b", None))
    note(lambda: a.register_parameter("", None))
    note(lambda: a.register_parameter("training", None))
    note(lambda: a.register_parameter("x", torch.ones(2)))
    note(lambda: a.register_parameter("x", nn.Parameter(torch.ones(2)) * 2))
    note(lambda: a.register_parameter("x", torch.ones(2, requires_grad=True) * 2))
    note(lambda: a.register_parameter("x", 3))
    note(lambda: a.register_buffer(3, None))
    note(lambda: a.register_buffer("a.b", None))
    note(lambda: a.register_buffer("", None))
    note(lambda: a.register_buffer("training", None))
    note(lambda: a.register_buffer("x", 3))
    note(lambda: a.add_module(3, None))
    note(lambda: a.add_module("a.b", None))
    note(lambda: a.add_module("", None))
    note(lambda: a.add_module("training", None))
    note(lambda: a.add_module("x", 3))
    note(lambda: a.add_module("x", torch.ones(2)))
    note(lambda: a.get_submodule("l.q"))
    note(lambda: a.get_submodule("l.weight"))
    note(lambda: a.get_submodule(""))
    note(lambda: a.get_parameter("l.q"))
    note(lambda: a.get_parameter("b"))
    note(lambda: a.get_parameter("l.weight").shape)
    note(lambda: a.get_buffer("b"))
    note(lambda: a.get_buffer("w"))
    note(lambda: a.get_buffer("zz"))
    note(lambda: a.get_parameter("q.q"))
    note(lambda: a.set_submodule("", nn.Linear(1, 1)))
    note(lambda: a.set_submodule("q", nn.Linear(1, 1)))
    note(lambda: a.set_submodule("q2", nn.Linear(1, 1), strict=True))
    note(lambda: a.set_submodule("l", 3))
    note(lambda: a.set_submodule("z.z", nn.Linear(1, 1)))
    note(lambda: a.set_submodule("w", nn.Linear(1, 1)))
    note(lambda: a.set_submodule("l.weight", nn.Linear(1, 1)))

    class B(nn.Module):
        def __init__(s):
            s.x = nn.Parameter(torch.ones(1))

    note(B)

    class B(nn.Module):
        def __init__(s):
            s.x = nn.Linear(1, 1)

    note(B)

    class B(nn.Module):
        def __init__(s):
            s.x = torch.ones(1)

    note(B)

    class B(nn.Module):
        def __init__(s):
            s.x = nn.Buffer(torch.ones(1))

    note(B)

    class B(nn.Module):
        def __init__(s):
            s.register_parameter("x", None)

    note(B)

    class B(nn.Module):
        def __init__(s):
            s.register_buffer("x", None)

    note(B)
    note(lambda: a.train("x"))
    note(lambda: a.train(1))
    note(lambda: a.to(torch.int64))
    a = A()
    sd = a.state_dict()
    note(lambda: sd._metadata)
    note(lambda: a.load_state_dict({}))
    note(lambda: a.load_state_dict(3))
    note(lambda: a.load_state_dict({**sd, "zz": 1, "l.q": 2}))
    note(lambda: a.load_state_dict({**sd, "w": torch.ones(3)}))
    note(lambda: a.load_state_dict({**sd, "w": 3}))
    note(lambda: a.load_state_dict({**sd, "zz": 1}, strict=False))
    note(lambda: a.load_state_dict(sd))
    note(lambda: a.load_state_dict({**sd, "w": torch.ones(3), "q": 2}))
    note(lambda: a.load_state_dict({"w": torch.ones(3)}, strict=False))
    note(lambda: a.load_state_dict({}, strict=False))
    note(lambda: a.load_state_dict({**sd, "w": 3}, assign=True))
    note(lambda: a.load_state_dict({**sd, "w": torch.ones(2)}, assign=True))
    note(lambda: (a.w, a.b))
    note(lambda: a.load_state_dict({**sd, "w": nn.Parameter(torch.ones(2), False)}, assign=True))
    note(lambda: a.w)
    note(a.get_extra_state)
    note(a.set_extra_state, 3)

    class E_(nn.Module):
        def get_extra_state(s):
            return 5

        def set_extra_state(s, x):
            s.got = x

    e = E_()
    note(e.state_dict)
    note(lambda: e.load_state_dict({"_extra_state": 7}) and e.got)
    note(lambda: e.load_state_dict({}))
    note(lambda: nn.Linear(1, 1).load_state_dict({"weight": torch.ones(1, 1), "bias": torch.ones(1), "_extra_state": 3}))
    note(lambda: delattr(a, "nope"))
    note(lambda: delattr(a, "w"))
    note(lambda: a.w)
    note(lambda: delattr(a, "b"))
    note(lambda: delattr(a, "l"))
    note(lambda: a)
    note(lambda: list(A().named_modules(prefix="p")))
    note(lambda: [n for n, _ in A().named_buffers()])
    note(lambda: nn.Module()._get_name())
    note(lambda: nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Sequential(nn.Tanh())))
    note(lambda: nn.ModuleList([nn.Linear(2, 3), nn.Linear(2, 3), nn.Linear(2, 3), nn.ReLU()]))
    note(lambda: nn.ModuleDict({"a": nn.ReLU()}))
    note(lambda: nn.ParameterList([nn.Parameter(torch.ones(2, 3)), torch.ones(2), "x"]))
    note(lambda: nn.ParameterDict({"a": nn.Parameter(torch.ones(2, 3)), "b": torch.ones(2), "c": "x"}))
    p = nn.Parameter(torch.ones(2))
    note(lambda: p)
    note(lambda: copy.deepcopy(p))
    note(lambda: pickle.loads(pickle.dumps(p)))
    note(lambda: nn.Parameter())
    note(lambda: nn.Parameter(torch.tensor([1]), False))
    note(lambda: nn.Parameter(3))
    note(lambda: nn.Parameter([1.0]))
    note(lambda: nn.Buffer(torch.ones(2)))
    note(lambda: nn.Buffer())
    note(lambda: isinstance(torch.ones(2), nn.Buffer))
    note(lambda: isinstance(nn.Buffer(torch.ones(2)), nn.Buffer))
    note(lambda: isinstance(torch.ones(2), nn.Parameter))
    u = nn.UninitializedParameter()
    note(lambda: u)
    note(lambda: u.shape)
    note(lambda: u.materialize((2,)))
    note(lambda: type(u))
    note(lambda: u.shape)
    note(lambda: nn.UninitializedBuffer())
    note(lambda: copy.deepcopy(nn.UninitializedParameter()))
    note(lambda: pickle.loads(pickle.dumps(nn.UninitializedParameter())))
    note(lambda: torch.nn.parameter.is_lazy(nn.UninitializedParameter()))
    note(lambda: nn.UninitializedParameter().dtype)
    note(lambda: nn.UninitializedParameter().requires_grad)
    note(lambda: nn.UninitializedParameter().share_memory_())
    note(lambda: nn.UninitializedParameter().data.shape)
    note(lambda: nn.UninitializedParameter().ndim)
    note(lambda: nn.UninitializedParameter().foo)
    l = nn.LazyLinear(3)
    note(lambda: l)
    note(lambda: l.state_dict())
    note(lambda: l(torch.ones(2, 4)).shape)
    note(lambda: l)
    note(lambda: type(l))
    note(lambda: nn.LazyLinear(3).share_memory())
    note(lambda: nn.LazyLinear(3).double())
    note(lambda: nn.LazyLinear(3).load_state_dict(nn.Linear(2, 3).state_dict()))
    note(lambda: nn.LazyLinear(3).has_uninitialized_params())
    note(lambda: nn.Linear(3, 3).load_state_dict(nn.LazyLinear(3).state_dict()))
    note(lambda: nn.Linear(3, 3)(torch.ones(2, 4)))
    note(lambda: nn.LazyLinear(3).weight)
    note(lambda: nn.Sequential(3))
    note(lambda: nn.ModuleList([3]))
    note(lambda: nn.ModuleList(3))
    note(lambda: nn.ModuleDict({"a": 3}))
    note(lambda: nn.ModuleDict([("a", nn.ReLU())]))
    note(lambda: nn.ModuleDict(3))
    note(lambda: nn.ModuleDict([3]))
    note(lambda: nn.ModuleDict([(1, 2, 3)]))
    note(lambda: nn.ModuleList([nn.ReLU()])[3])
    note(lambda: nn.ModuleList([nn.ReLU()])["a"])
    note(lambda: nn.ModuleList([nn.ReLU()])(1))
    note(lambda: nn.Sequential()[0])
    note(lambda: nn.ModuleDict({})["q"])
    note(lambda: nn.ModuleList().extend(3))
    note(lambda: nn.ModuleList() + 3)
    note(lambda: nn.ParameterList(3))
    note(lambda: nn.ParameterDict(3))
    note(lambda: nn.ParameterDict({1: 2}))
    note(lambda: nn.ParameterList().extend("ab"))
    note(lambda: nn.ParameterList().extend(torch.ones(2)))
    note(lambda: nn.ParameterList([1])[2])
    note(lambda: nn.ParameterList([1])())
    note(lambda: nn.ParameterDict({})())
    note(lambda: nn.Sequential() + 3)
    note(lambda: nn.Sequential() * 3.0)
    note(lambda: nn.Sequential() * 0)
    note(lambda: nn.Sequential(nn.ReLU()) * 2)
    note(lambda: nn.Sequential().extend(3))
    note(lambda: nn.Sequential().insert(5, nn.ReLU()))
    note(lambda: nn.Sequential().insert(0, 3))
    note(lambda: nn.Sequential()(torch.ones(1)))
    note(lambda: 2 * nn.Sequential(nn.ReLU()))
    note(lambda: nn.ParameterDict().update(3))
    note(lambda: nn.ParameterDict().update([3]))
    note(lambda: nn.ParameterDict().update([(1, 2, 3)]))
    note(lambda: nn.ParameterDict([("a", 1)]))
    note(lambda: nn.ParameterDict()["q"])
    note(lambda: nn.ModuleList([nn.ReLU()]).pop("x"))
    note(lambda: nn.Container(a=nn.ReLU()))


def hooks(torch, note):
    nn = torch.nn

    class M(nn.Module):
        def forward(s, x, y=2):
            return x * y

    def nm(x):
        if isinstance(x, (tuple, list)):
            return tuple(nm(i) for i in x)
        if isinstance(x, nn.Module):
            return type(x).__name__
        return x

    log = []

    def h(tag, ret=None):

        def f(*a, **k):
            log.append((tag, nm(a), k))
            return ret

        return f

    def fresh():
        log.clear()
        return M()

    def run(setup, call=None):
        m = fresh()
        setup(m)
        x = torch.ones(2, requires_grad=True)
        try:
            out = (call or (lambda m, x: m(x)))(m, x)
            (out[0] if isinstance(out, tuple) else list(out.values())[0] if isinstance(out, dict) else out).sum().backward()
            return (out, x.grad, list(log))
        finally:
            pass

    note(run, lambda m: m.register_forward_pre_hook(h("p")))
    note(run, lambda m: m.register_forward_pre_hook(h("p", torch.zeros(2))))
    note(run, lambda m: m.register_forward_pre_hook(h("p", (torch.zeros(2), 5))))
    note(run, lambda m: m.register_forward_pre_hook(h("p"), with_kwargs=True), lambda m, x: m(x, y=3))
    note(
        run,
        lambda m: m.register_forward_pre_hook(h("p", ((torch.zeros(2, requires_grad=True),), {"y": 9})), with_kwargs=True),
        lambda m, x: m(x, y=3),
    )
    note(run, lambda m: m.register_forward_pre_hook(h("p", 3), with_kwargs=True), lambda m, x: m(x, y=3))
    note(run, lambda m: m.register_forward_hook(h("f")))
    note(run, lambda m: m.register_forward_hook(h("f", torch.ones(1, requires_grad=True))))
    note(run, lambda m: m.register_forward_hook(h("f"), with_kwargs=True), lambda m, x: m(x, y=3))
    note(run, lambda m: (m.register_forward_hook(h("1")), m.register_forward_hook(h("2"), prepend=True)))
    note(run, lambda m: (m.register_forward_pre_hook(h("1")), m.register_forward_pre_hook(h("2"), prepend=True)))
    note(run, lambda m: m.register_full_backward_hook(h("b")))
    note(run, lambda m: m.register_full_backward_hook(h("b", (torch.full((2,), 7.0),))))
    note(run, lambda m: m.register_full_backward_hook(h("b", torch.full((2,), 7.0))))
    note(run, lambda m: m.register_full_backward_hook(h("b", 3)))
    note(run, lambda m: m.register_full_backward_hook(h("b", (1, 2))))
    note(run, lambda m: m.register_full_backward_pre_hook(h("bp")))
    note(run, lambda m: m.register_full_backward_pre_hook(h("bp", (torch.full((2,), 7.0),))))
    note(run, lambda m: m.register_full_backward_pre_hook(h("bp", torch.full((2,), 7.0))))
    note(run, lambda m: m.register_full_backward_pre_hook(h("bp", (1, 2))))
    note(
        run,
        lambda m: (
            m.register_full_backward_pre_hook(h("bp")),
            m.register_full_backward_hook(h("b")),
            m.register_full_backward_hook(h("b0"), prepend=True),
        ),
    )
    note(run, lambda m: m.register_backward_hook(h("ob")))
    note(run, lambda m: m.register_backward_hook(h("ob", (torch.full((2,), 7.0), None))))
    note(run, lambda m: (m.register_backward_hook(h("ob")), m.register_full_backward_hook(h("b"))))
    note(run, lambda m: (m.register_full_backward_hook(h("b")), m.register_backward_hook(h("ob"))))

    class Bad(nn.Module):
        def forward(s, x):
            raise ValueError("no")

    def ac(**k):
        m = Bad()
        log.clear()
        m.register_forward_hook(h("f"), **k)
        try:
            m(1)
        except ValueError:
            return list(log)

    note(ac)
    note(ac, always_call=True)

    def ac2():
        m = Bad()
        log.clear()

        def g(*a):
            raise KeyError("hook")

        m.register_forward_hook(g, always_call=True)
        m(1)

    note(ac2)
    mm = torch.nn.modules.module
    for reg in (
        "register_module_forward_pre_hook",
        "register_module_forward_hook",
        "register_module_full_backward_pre_hook",
        "register_module_full_backward_hook",
        "register_module_backward_hook",
    ):

        def go():
            hd = getattr(mm, reg)(h(reg))
            try:
                return run(lambda m: m.register_forward_hook(h("f")))
            finally:
                hd.remove()

        note(go)

    def both():
        a = mm.register_module_full_backward_hook(h("1"))
        try:
            mm.register_module_backward_hook(h("2"))
        finally:
            a.remove()

    note(both)

    def both():
        a = mm.register_module_backward_hook(h("1"))
        try:
            mm.register_module_full_backward_hook(h("2"))
        finally:
            a.remove()

    note(both)
    for reg in ("parameter", "buffer", "module"):

        def go():
            log.clear()
            hd = getattr(mm, f"register_module_{reg}_registration_hook")(h(reg))
            try:
                nn.BatchNorm1d(2)
                nn.Sequential(nn.ReLU())
                return [(x[0], x[1][0], x[1][1]) for x in log]
            finally:
                hd.remove()

        note(go)

    def go(ret):
        log.clear()
        hd = mm.register_module_parameter_registration_hook(lambda m, n, p: ret)
        try:
            return nn.Linear(1, 1).weight
        finally:
            hd.remove()

    note(go, nn.Parameter(torch.ones(3)))
    note(go, 3)

    class D(nn.Module):
        def forward(s, x):
            return {"a": x * 2, "b": 3}

    def d(reg, ret=None):
        m = D()
        log.clear()
        getattr(m, reg)(h("b", ret))
        x = torch.ones(2, requires_grad=True)
        m(x)["a"].sum().backward()
        return (x.grad, list(log))

    for r in ("register_full_backward_hook", "register_backward_hook", "register_full_backward_pre_hook"):
        note(d, r)

    class L_(nn.Module):
        def forward(s, x):
            return [x * 2, x * 3]

    def d(reg, ret=None, x=None):
        m = L_()
        log.clear()
        getattr(m, reg)(h("b", ret))
        x = torch.ones(2, requires_grad=True) if x is None else x
        m(x)[0].sum().backward()
        return (x.grad, list(log))

    for r in ("register_full_backward_hook", "register_backward_hook", "register_full_backward_pre_hook"):
        note(d, r)

    def d():
        m = nn.Linear(2, 1)
        nn.init.ones_(m.weight)
        nn.init.zeros_(m.bias)
        log.clear()
        m.register_full_backward_hook(h("b"))
        m(torch.ones(1, 2)).sum().backward()
        return list(log)

    note(d)

    def d():
        m = M()
        log.clear()
        m.register_full_backward_hook(h("b"))
        return (m(torch.ones(2)), log)

    note(d)

    def d():
        m = M()
        log.clear()
        m.register_full_backward_hook(h("b"))
        x = torch.ones(2, requires_grad=True)
        y = m(x)
        y.mul_(2)
        return y

    note(d)

    def d():
        m = M()
        log.clear()
        m.register_full_backward_hook(h("b"))
        x = torch.ones(2, requires_grad=True)
        y = m(x)
        return y

    note(d)

    def d():
        m = M()
        m.register_full_backward_hook(h("b"))
        x = torch.ones(2, requires_grad=True)
        return (m(x, y=x).sum().backward(), x.grad)

    note(d)

    class Ch(nn.Module):
        def forward(s, x):
            return x.mul_(2)

    def d():
        m = Ch()
        m.register_full_backward_hook(h("b"))
        x = torch.ones(2, requires_grad=True)
        return m(x * 1)

    note(d)

    def d():
        m = nn.Linear(2, 2)
        m.register_forward_hook(h("a"))
        m.register_state_dict_pre_hook(h("sp"))
        m.register_state_dict_post_hook(h("post"))
        m._register_state_dict_hook(h("old"))
        m.register_load_state_dict_pre_hook(h("lp"))
        m.register_load_state_dict_post_hook(h("lpost"))
        m._register_load_state_dict_pre_hook(h("olp"))
        log.clear()
        sd = m.state_dict(keep_vars=False)
        m.load_state_dict(sd)
        return [(x[0], len(x[1]), [type(y).__name__ for y in x[1]], sorted(x[2])) for x in log]

    note(d)

    def d():
        m = nn.Linear(2, 2)
        m.register_state_dict_post_hook(lambda *a: 3)
        m.state_dict()

    note(d)

    def d():
        m = nn.Linear(2, 2)
        m.register_load_state_dict_post_hook(lambda *a: 3)
        m.load_state_dict(m.state_dict())

    note(d)

    def d():
        m = nn.Linear(2, 2)
        m.register_load_state_dict_post_hook(lambda m, k: k.missing_keys.append("zz"))
        m.load_state_dict(m.state_dict())

    note(d)

    def d():
        m = nn.Linear(2, 2)
        f = lambda *a: None
        m._register_state_dict_hook(f)
        m.register_state_dict_post_hook(f)

    note(d)

    def d():
        m = nn.Linear(2, 2)
        f = lambda *a: None
        m.register_state_dict_post_hook(f)
        m._register_state_dict_hook(f)

    note(d)
    note(lambda: nn.Linear(2, 2).zero_grad(False))
    note(lambda: nn.Linear(2, 2).requires_grad_(False).weight.requires_grad)
    note(lambda: pickle.loads(pickle.dumps(nn.Linear(2, 2))))
    note(lambda: nn.Linear(2, 2)._version)
    note(lambda: nn.Linear(2, 2).dump_patches)
    note(lambda: nn.Linear(2, 2).to_empty(device="cpu").weight.shape)
    note(lambda: nn.Linear(2, 2).to(device="cpu", dtype=torch.float64).weight.dtype)
    note(lambda: nn.Linear(2, 2).type("torch.DoubleTensor").weight.dtype)
    note(lambda: nn.Linear(2, 2).type(torch.DoubleTensor).weight.dtype)
    note(lambda: nn.Linear(2, 2).bfloat16().weight.dtype)
    note(lambda: (lambda m: (m.weight.sum().backward(), m.double(), m.weight.grad.dtype))(nn.Linear(2, 2))[2])
    note(
        lambda: (lambda l: (setattr(l, "w2", nn.Buffer(torch.ones(1))), list(l._buffers), l._non_persistent_buffers_set))(
            nn.Linear(1, 1)
        )
    )
    note(
        lambda: (
            lambda l: (
                setattr(l, "w2", nn.Buffer(torch.ones(1), persistent=False)),
                list(l._buffers),
                l._non_persistent_buffers_set,
            )
        )(nn.Linear(1, 1))
    )
    p = torch.ones(3)
    q = nn.Parameter(p)
    note(lambda: (p.add_(1), q, q._version, p._version))
    note(lambda: q.data_ptr() == p.data_ptr())
    note(lambda: q.__dict__)
    note(lambda: nn.Parameter(q) is q)
    note(lambda: nn.Parameter(torch.ones(2, requires_grad=True) * 2).is_leaf)

    class Sub(torch.Tensor):
        pass

    note(lambda: nn.Parameter.__name__ + nn.Parameter.__module__ + nn.Linear.__module__)
    note(lambda: torch.stack([q, q]).shape)
    note(lambda: repr(nn.Parameter(torch.ones(0))))
    note(lambda: nn.Parameter(torch.ones(2, 2)))
    note(lambda: str(q))
    note(lambda: f"{q}")
    note(lambda: nn.Parameter(torch.ones(2), requires_grad=False))
    note(lambda: nn.Linear(0, 3))
    note(lambda: nn.Linear(2, 3).extra_repr())
    note(lambda: nn.Module().extra_repr())
    note(lambda: nn.Module())
    note(lambda: nn.Linear(1, 1).apply(3))
    m = nn.Linear(2, 2)
    note(lambda: m.load_state_dict(nn.Linear(3, 2).state_dict()))
    note(lambda: nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1)).load_state_dict({"0.weight": 1, "5": 2}))


def containers(torch, note):
    nn = torch.nn
    R, T, S = (nn.ReLU, nn.Tanh, nn.Sigmoid)

    def seq():
        return nn.Sequential(R(), T(), S())

    def on(mk, f):

        def g():
            m = mk()
            r = f(m)
            return r if r is not None and r is not m else m

        note(g)

    def q(mk, *fs):
        for f in fs:
            on(mk, f)

    q(
        seq,
        lambda m: m[0],
        lambda m: m[-1],
        lambda m: m[1:],
        lambda m: m[::2],
        lambda m: len(m),
        lambda m: m.__setitem__(1, R()),
        lambda m: m.__setitem__(5, R()),
        lambda m: m.__delitem__(0),
        lambda m: m.__delitem__(slice(0, 2)),
        lambda m: m.__delitem__(7),
        lambda m: m.append(R()),
        lambda m: m.extend([R(), T()]),
        lambda m: m.insert(1, S()),
        lambda m: m.insert(-1, R()),
        lambda m: m.insert(3, R()),
        lambda m: m.pop(0),
        lambda m: m.pop(-1),
        lambda m: m + nn.Sequential(R()),
        lambda m: m.__iadd__(nn.Sequential(R())),
        lambda m: m.__iadd__(3),
        lambda m: m * 2,
        lambda m: m.__imul__(2),
        lambda m: m.__imul__(0),
        lambda m: m.__imul__("a"),
        lambda m: list(m),
        lambda m: "__dir__",
        lambda m: [x for x in dir(m) if x.isdigit()],
        lambda m: m["a"],
        lambda m: m[1.0],
        lambda m: m.append(3),
        lambda m: m.pop(9),
        lambda m: m.pop(slice(0, 2)),
        lambda m: m[0:2].__class__,
        lambda m: 3 * m,
        lambda m: m.__setitem__(0, 3),
        lambda m: m.add_module("9", R()),
    )

    class S2(nn.Sequential):
        pass

    note(lambda: S2(R(), T())[:1])
    note(lambda: nn.Sequential(OrderedDict([("a", R()), ("b", T())])))
    note(lambda: nn.Sequential(OrderedDict([("a", R()), ("b", T())]))[1:])
    note(lambda: nn.Sequential(OrderedDict([("a", R()), ("b", T())])).append(S()))
    note(lambda: nn.Sequential(OrderedDict([("a", R()), ("b", T())])).insert(0, S()))
    note(lambda: nn.Sequential({"a": R()}))
    note(lambda: nn.Sequential(None))
    note(lambda: nn.Sequential([R()]))

    def d():
        m = nn.Sequential(OrderedDict([("a", R()), ("b", T()), ("c", S())]))
        del m[1]
        return m

    note(d)

    def ml():
        return nn.ModuleList([R(), T(), S()])

    q(
        ml,
        lambda m: m[0],
        lambda m: m[-1],
        lambda m: m[1:],
        lambda m: m[::2],
        lambda m: len(m),
        lambda m: m.__setitem__(1, R()),
        lambda m: m.__setitem__(5, R()),
        lambda m: m.__delitem__(0),
        lambda m: m.__delitem__(slice(0, 2)),
        lambda m: m.__delitem__(7),
        lambda m: m.append(R()),
        lambda m: m.extend([R(), T()]),
        lambda m: m.insert(1, S()),
        lambda m: m.insert(-1, R()),
        lambda m: m.insert(9, R()),
        lambda m: m.pop(0),
        lambda m: m.pop(),
        lambda m: m + nn.ModuleList([R()]),
        lambda m: m + [R()],
        lambda m: m.__iadd__([R()]),
        lambda m: m * 2,
        lambda m: list(m),
        lambda m: [x for x in dir(m) if x.isdigit()],
        lambda m: m[1.0],
        lambda m: m.append(3),
        lambda m: m.extend({"a": R()}),
        lambda m: m.extend(nn.ModuleDict({"a": R()})),
        lambda m: m(1),
        lambda m: m.append(None),
        lambda m: m.insert(0, 3),
    )
    note(lambda: nn.ModuleList())
    note(lambda: nn.ModuleDict())
    note(lambda: nn.ModuleList([nn.Sequential(R()), nn.Sequential(R()), nn.Sequential(R(), T())]))
    note(lambda: nn.ModuleList([None, R()]))

    def md():
        return nn.ModuleDict({"a": R(), "b": T()})

    q(
        md,
        lambda m: m["a"],
        lambda m: len(m),
        lambda m: list(m),
        lambda m: "a" in m,
        lambda m: m.__setitem__("c", S()),
        lambda m: m.__delitem__("a"),
        lambda m: m.__delitem__("z"),
        lambda m: m.pop("a"),
        lambda m: m.pop("z"),
        lambda m: m.keys(),
        lambda m: m.items(),
        lambda m: m.values(),
        lambda m: m.update({"z": S()}),
        lambda m: m.update([("z", S())]),
        lambda m: m.update(nn.ModuleDict({"y": R()})),
        lambda m: m.update({"b2": R(), "a2": T()}),
        lambda m: m.clear(),
        lambda m: m.__setitem__(1, R()),
        lambda m: m.__setitem__("a", 3),
        lambda m: m("x"),
        lambda m: m.get("a"),
        lambda m: m.setdefault("q", R()),
        lambda m: m.copy(),
        lambda m: m.popitem(),
        lambda m: m.__setitem__("a.b", R()),
        lambda m: m.__setitem__("keys", R()),
        lambda m: m | m,
    )
    P = lambda n: nn.Parameter(torch.ones(n))

    def pl():
        return nn.ParameterList([P(1), P(2), torch.ones(3)])

    q(
        pl,
        lambda m: m[0],
        lambda m: m[-1],
        lambda m: m[1:],
        lambda m: len(m),
        lambda m: m.__setitem__(1, P(5)),
        lambda m: m.__setitem__(1, torch.ones(7)),
        lambda m: m.__setitem__(9, P(1)),
        lambda m: m.append(P(4)),
        lambda m: m.append(torch.ones(4)),
        lambda m: m.append(3),
        lambda m: m.extend([P(1)]),
        lambda m: m.extend(pl()),
        lambda m: m.__iadd__([P(1)]),
        lambda m: m + [1],
        lambda m: m.pop(),
        lambda m: m.__delitem__(0),
        lambda m: [n for n, _ in m.named_parameters()],
        lambda m: list(m),
        lambda m: m.state_dict(),
        lambda m: [x for x in dir(m) if x.isdigit()],
        lambda m: m(1),
        lambda m: m.__setitem__("a", P(1)),
        lambda m: m.__setitem__(slice(0, 1), [1]),
        lambda m: m.insert(0, P(1)),
        lambda m: m.__setitem__(0, "x"),
        lambda m: list(m.parameters()) + [len(m)],
        lambda m: m.extra_repr(),
    )

    def pd():
        return nn.ParameterDict({"a": P(1), "b": torch.ones(2), "c": "x"})

    q(
        pd,
        lambda m: m["a"],
        lambda m: len(m),
        lambda m: list(m),
        lambda m: "a" in m,
        lambda m: m.__setitem__("d", P(3)),
        lambda m: m.__setitem__("b", "now"),
        lambda m: m.__delitem__("a"),
        lambda m: m.__delitem__("z"),
        lambda m: m.pop("a"),
        lambda m: m.pop("z"),
        lambda m: m.popitem(),
        lambda m: m.keys(),
        lambda m: list(m.items()),
        lambda m: list(m.values()),
        lambda m: m.update({"z": P(2)}),
        lambda m: m.update([("z", P(2))]),
        lambda m: m.clear(),
        lambda m: m.__setitem__(1, P(1)),
        lambda m: m.get("a"),
        lambda m: m.get("z"),
        lambda m: m.get("z", 3),
        lambda m: m.setdefault("q", P(1)),
        lambda m: m.setdefault("a"),
        lambda m: m.copy(),
        lambda m: m | pd(),
        lambda m: m.__ior__({"k": P(1)}),
        lambda m: m.fromkeys(["x", "y"], 1),
        lambda m: m.fromkeys("xy"),
        lambda m: list(reversed(m)),
        lambda m: [n for n, _ in m.named_parameters()],
        lambda m: m.state_dict(),
        lambda m: m.__setitem__("a.b", P(1)),
        lambda m: m.__setitem__("keys", P(1)),
        lambda m: {"z": 1} | m,
        lambda m: m | 3,
        lambda m: m.x,
        lambda m: m.a,
        lambda m: m(),
    )
    note(lambda: nn.ParameterDict())
    note(lambda: nn.ParameterList())
    note(lambda: nn.ParameterDict(pd()))
    note(lambda: nn.ParameterDict({"b": P(1), "a": P(2)}))
    note(
        lambda: nn.ParameterList(
            [torch.ones(1, dtype=torch.float64), nn.Parameter(torch.ones(2, 2, dtype=torch.complex64)), nn.ParameterList([P(1)])]
        )
    )
    note(lambda: nn.ParameterDict({"q": torch.ones(1, dtype=torch.float64), "z": nn.ParameterList([P(1)])}))
    note(lambda: copy.deepcopy(pd()))
    note(lambda: pickle.loads(pickle.dumps(pl())))
    note(lambda: copy.deepcopy(seq()))


def initial_values(torch, note):
    nn = torch.nn
    i = nn.init
    for n in [
        "linear",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "sigmoid",
        "tanh",
        "relu",
        "leaky_relu",
        "selu",
        "foo",
        "gelu",
    ]:
        note(i.calculate_gain, n)
    note(i.calculate_gain, "leaky_relu", 0.3)
    note(i.calculate_gain, "leaky_relu", True)
    note(i.calculate_gain, "leaky_relu", "x")
    note(i.calculate_gain, "leaky_relu", 2)
    w = torch.empty(2, 3)
    note(i.constant_, w, 2.0)
    note(i.ones_, w)
    note(i.zeros_, w)
    note(i.eye_, w)
    note(i.eye_, torch.empty(2))
    note(i.dirac_, torch.empty(2, 3, 3))
    note(i.dirac_, torch.empty(4, 2, 3, 3), 2)
    note(i.dirac_, torch.empty(4, 2, 3), 3)
    note(i.dirac_, torch.empty(4, 2))
    note(i.dirac_, torch.empty(2, 2, 2, 2, 2))
    note(i.uniform_, w, 1, 0)
    note(i.normal_, w, 0, -1)
    note(i.xavier_uniform_, torch.empty(2))
    note(i.kaiming_uniform_, torch.empty(2, 2), mode="foo")
    note(i.kaiming_uniform_, torch.empty(2, 2), nonlinearity="foo")
    note(i.kaiming_uniform_, torch.empty(0, 2))
    note(i.kaiming_normal_, torch.empty(0, 2))
    note(i.orthogonal_, torch.empty(2))
    note(i.orthogonal_, torch.empty(0, 2))
    note(i.sparse_, torch.empty(2), 0.1)
    note(i.trunc_normal_, w, 5, 1, -2, 2) if 0 else None
    note(lambda: i.trunc_normal_(torch.empty(3), 10.0, 1.0, -2.0, 2.0).shape)
    note(lambda: i.xavier_uniform(w).shape)
    note(lambda: i.constant(w, 1))
    note(i._calculate_fan_in_and_fan_out, torch.empty(4, 3, 2, 2))
    note(i._calculate_correct_fan, torch.empty(4, 3, 2), "FAN_OUT")
    note(i._calculate_correct_fan, torch.empty(4, 3, 2), "x")
    p = nn.Parameter(torch.empty(2, 2))
    note(i.ones_, p)
    note(i.constant_, p, 3)
    note(lambda: i.uniform_(nn.Parameter(torch.empty(1000))).min() >= 0)
    note(lambda: i.uniform_(torch.empty(2, dtype=torch.int64)))
    note(lambda: i.constant_(torch.empty(2, dtype=torch.int64), 3))
    note(lambda: (lambda o: torch.allclose(o @ o.T, torch.eye(3), atol=1e-05))(i.orthogonal_(torch.empty(3, 5))))
    note(lambda: (lambda o: torch.allclose(o.T @ o, 4 * torch.eye(3), atol=1e-05))(i.orthogonal_(torch.empty(5, 3), gain=2)))
    note(lambda: (i.sparse_(torch.empty(10, 5), 0.33) == 0).sum(0))
    note(i.sparse_, torch.empty(3, 3), 2.0)

    def st(f, shape, **k):
        torch.manual_seed(0)
        x = f(torch.empty(shape, dtype=torch.float64), **k)
        return (round(float(x.std()), 2), round(float(x.abs().max()), 2), round(float(x.mean()), 2))


@pytest.mark.parametrize("program", [registration_and_state, hooks, containers, initial_values], ids=lambda f: f.__name__)
def test_outcomes_are_those_of_torch(program):
    assert_same_outcomes(program, wengert, torch)
