"""Large and deep graphs: no recursion anywhere, memory that comes back, graphs that die by reference count alone.

What is measured runs in a process of its own, where nothing else allocates.
"""

import gc
import json
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

import wengert
from wengert.autograd import Function, grad
from wengert.autograd.profiler import profile

exhaustive = pytest.mark.exhaustive
linux_only = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc")

# Functions for the programs below. `resident` is the process's memory in MB, less what the C library keeps for later.
PRELUDE = """
import ctypes, gc, json, os, sys
import wengert
from wengert.autograd import Function, backward, grad

def resident():
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):
        pass
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

def report(**values):
    print(json.dumps(values))

n = int(sys.argv[1])
if "nogc" in sys.argv:
    gc.disable()
sys.setrecursionlimit(500)  # what recursed over the graph would fail at once
"""


def run_program(program, *arguments, timeout=570):
    """Run PRELUDE + program in a process of its own, and return its report."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stderr[-3000:]}"
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def no_gc():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


# -- millions of nodes -------------------------------------------------------------------------------------------------------

CHAIN = """
step = {"add": lambda y: y + 1.0, "mul": lambda y: y * 1.0, "tanh": lambda y: y.tanh()}[sys.argv[2]]
x = wengert.zeros(2, requires_grad=True)

def chain(n):
    y = x
    for _ in range(n):
        y = step(y)
    return y.sum()

chain(2000).backward()
x.grad = None
before = resident()
y = chain(n)
built = resident()
if "released" not in sys.argv:
    y.backward()
del y
after = resident()
report(before=before, built=built, after=after, grad=None if x.grad is None else x.grad.tolist())
"""

SIZES = [200_000, pytest.param(2_000_000, marks=exhaustive)]


@linux_only
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("collector", ["gc", "nogc"])
def test_a_long_chain_is_built_run_and_released(n, collector):
    result = run_program(CHAIN, n, "add", collector)
    assert result["grad"] == [1.0, 1.0]
    assert_memory_came_back(result, n)


@linux_only
@pytest.mark.parametrize("operation", ["mul", "tanh"])
def test_a_long_chain_that_saves_is_built_run_and_released(operation):
    result = run_program(CHAIN, 200_000, operation, "nogc")
    assert result["grad"] == [1.0, 1.0]  # of tanh at zero, too
    assert_memory_came_back(result, 200_000)


@linux_only
@pytest.mark.parametrize("n", SIZES)
def test_a_long_chain_is_released_without_having_run(n):
    result = run_program(CHAIN, n, "add", "nogc", "released")
    assert result["grad"] is None
    assert_memory_came_back(result, n)


def assert_memory_came_back(result, n):
    grown = result["built"] - result["before"]
    kept = result["after"] - result["before"]
    assert grown > n * 100 / 1e6, "the chain was not there to be measured"
    assert kept < 5 + 0.03 * grown, f"{kept:.1f} MB of {grown:.1f} MB stayed"


FAILING = """
x = wengert.zeros(1000, requires_grad=True)

class Fails(Function):
    @staticmethod
    def forward(ctx, a):
        return a * 1

    @staticmethod
    def backward(ctx, g):
        raise KeyError("mine")

def attempt(n):
    y = Fails.apply(x)
    for _ in range(n):
        y = y.tanh()
    try:
        y.sum().backward()
    except KeyError:
        pass

attempt(100)
before = resident()
for _ in range(20):
    attempt(n // 20)
report(before=before, after=resident(), grad=x.grad is None)
"""


@linux_only
def test_failing_passes_keep_nothing():
    result = run_program(FAILING, 20_000, "nogc")
    assert result["after"] - result["before"] < 8 and result["grad"]  # 20,000 arrays of 4 KB went by


TRAINING = """
w = wengert.zeros(100, 100, requires_grad=True)
x = wengert.ones(50, 100)

def step():
    loss = ((x @ w).tanh() ** 2).mean()
    loss.backward()
    with wengert.no_grad():
        w.sub_(w.grad * 0.1)
    w.grad = None

for _ in range(50):
    step()
before = resident()
for _ in range(n):
    step()
report(before=before, after=resident())
"""


@linux_only
def test_training_steps_keep_nothing():
    result = run_program(TRAINING, 3000, "nogc")
    assert result["after"] - result["before"] < 4


READS = """
x = wengert.ones(1000, requires_grad=True)
total = x[0]
for i in range(1, n):
    total = total + x[i % 1000]
total.backward()
report(smallest=x.grad.min().item(), largest=x.grad.max().item())
"""


@pytest.mark.parametrize("n", [100_000, pytest.param(1_000_000, marks=exhaustive)])
def test_very_many_reads_of_elements(n):
    result = run_program(READS, n, "gc")
    assert result == {"smallest": n / 1000, "largest": n / 1000}


def test_reads_of_a_vector_share_one_buffer_in_the_backward_pass():
    """The cotangents of 400 reads go into one buffer of the length of the vector, not into 400."""
    x = wengert.ones(16_000, requires_grad=True)
    with profile(profile_memory=True) as prof:
        sum(x[i] * x[i] for i in range(200)).backward()
    assert x.grad.sum().item() == 400.0
    (reads,) = [a for a in prof.key_averages() if a.key == "SelectBackward0"]
    assert reads.count == 400 and reads.cpu_memory_usage == x.nbytes


NESTED_VIEWS = """
x = wengert.zeros(n)
before = resident()
views = [x]
for _ in range(n - 1):
    views.append(views[-1][1:])
report(grown=resident() - before, length=len(views[-1]), version=views[-1].add_(1)._version, last=x[-1].item())
"""


@linux_only
def test_a_view_of_a_view_of_a_view_costs_no_more_than_the_first():
    result = run_program(NESTED_VIEWS, 16_000)
    assert (result["length"], result["version"], result["last"]) == (1, 1, 1.0)
    assert result["grown"] < 50  # a list of all steps in each view would take 1,250 MB


# -- deep graphs of every kind -------------------------------------------------------------------------------------------------

DEEP = {
    "custom Functions": """
class Id(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * 1
    @staticmethod
    def backward(ctx, g):
        return g
def make(x):
    y = x
    for _ in range(n):
        y = Id.apply(y)
    return y
""",
    "writes": """
def make(x):
    y = x * 1
    for _ in range(n):
        y.add_(1)
    return y
""",
    "writes into views": """
def make(x):
    y = x * 1
    for _ in range(n):
        y[0].mul_(1)
    return y
""",
    "setting elements": """
def make(x):
    y = x * 1
    for _ in range(n):
        y[0] = y[0].clone() * 1
    return y
""",
    "several outputs": """
def make(x):
    y = x
    for _ in range(n):
        a, b = y.unbind(0)
        y = wengert.stack([a, b])
    return y
""",
    "hooks": """
def make(x):
    y = x
    for _ in range(n):
        y = y + 1
        y.register_hook(lambda g: None)
        y.grad_fn.register_prehook(lambda go: None)
    return y
""",
    "diamonds": """
def make(x):
    y = x
    for _ in range(n):
        y = y * 0.5 + y * 0.5
    return y
""",
    "retained gradients": """
def make(x):
    y = x
    for _ in range(n):
        y = y + 1
        y.retain_grad()
    return y
""",
    "views": """
def make(x):
    y = x * 1
    for _ in range(n):
        y = y.view(2)
    return y
""",
    "detached and rejoined": """
def make(x):
    y = x
    for _ in range(n):
        y = y + (y.detach() * 0)
    return y
""",
}

RUN_DEEP = """
import gc, warnings
x = wengert.ones(2, requires_grad=True)
make(x).sum().backward()
first = x.grad.tolist()
y = make(x)
middle = y * 1
grad(middle.sum(), x, create_graph=False, retain_graph=True)
del y, middle  # released after a pass that kept it
y = make(x)
del y  # released without a pass
report(first=first, left=gc.collect() if "nogc" in sys.argv else 0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", DEEP)
def test_a_deep_graph_runs_and_dies_without_recursion(kind):
    result = run_program(DEEP[kind] + RUN_DEEP, 20_000, "nogc")
    assert result["first"] == [1.0, 1.0]
    assert result["left"] < 1000, "something was left to the garbage collector"


SECOND_ORDER = """
x = wengert.ones(2, requires_grad=True)
y = x
for _ in range(n):
    y = y * 1.0
(g,) = grad((y * y).sum(), x, create_graph=True)
(h,) = grad(g.sum(), x)
report(g=g.tolist(), h=h.tolist())
"""


def test_second_derivatives_of_a_deep_graph():
    assert run_program(SECOND_ORDER, 20_000, "nogc") == {"g": [2.0, 2.0], "h": [2.0, 2.0]}


WIDE = """
x = wengert.ones(2, requires_grad=True)
leaves = [wengert.ones(2, requires_grad=True) for _ in range(n)]
wengert.stack([x] * n + leaves).sum().backward()
total = sum((x * 1 for _ in range(n)), x)
total.sum().backward()
backward([x * 1 for _ in range(n)], [wengert.ones(2)] * n)
report(x=x.grad.tolist(), leaves=sum(leaf.grad.sum().item() for leaf in leaves))
"""


def test_a_wide_graph():
    n = 20_000
    assert run_program(WIDE, n, "nogc") == {"x": [3.0 * n + 1] * 2, "leaves": 2.0 * n}


# -- graphs die by reference count ---------------------------------------------------------------------------------------------


def leaf(*numbers):
    return wengert.tensor(list(numbers), dtype=wengert.float64, requires_grad=True)


def graph_of(root):
    """Weak references to every node behind root, to root, and to the array that root shows."""
    from snapshots import nodes_behind

    nodes = [node for node in nodes_behind(root) if type(node).__name__ != "AccumulateGrad"]
    return [weakref.ref(node) for node in nodes] + [weakref.ref(root), weakref.ref(root._array)]


class SavesAll(Function):
    @staticmethod
    def forward(ctx, a):
        b = a.exp()
        ctx.save_for_backward(a, b, a * 2)
        ctx.note = [ctx.needs_input_grad]
        return b

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[1]


GRAPHS = {
    "saved inputs": lambda x: x * x * x,
    "saved outputs": lambda x: x.exp().tanh().sigmoid(),
    "softmax": lambda x: x.softmax(0),
    "a Function": lambda x: SavesAll.apply(SavesAll.apply(x)),
    "writes": lambda x: (x * 2).mul_(3).add_(1).tanh_(),
    "views": lambda x: (x * 2).view(2, 1).t()[0],
    "writes into views": lambda x: written(x * 2),
    "several outputs": lambda x: wengert.stack([part * 2 for part in (x * 1).unbind(0)]),
    "index": lambda x: x[wengert.tensor([0, 1, 0])],
    "matmul": lambda x: x.view(1, 2) @ x.view(2, 1),
    "gradient of a gradient": lambda x: grad((x**4).sum(), x, create_graph=True)[0],
}


def written(a):
    a[0] = a[1] * 2
    return a


def hooked(y):
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda gi, go: None)
    y.grad_fn.register_prehook(lambda go: None)
    y.retain_grad()
    y.grad_fn.metadata["own"] = "mine"
    return y


@pytest.mark.parametrize("hooks", [False, True], ids=["plain", "hooked"])
@pytest.mark.parametrize("pass_", ["unused", "run", "kept", "failed"])
@pytest.mark.parametrize("kind", GRAPHS)
def test_a_graph_dies_with_its_last_tensor(no_gc, kind, pass_, hooks):
    x = leaf(0.5, 0.25)
    y = GRAPHS[kind](x)
    if hooks:
        hooked(y)
    root = y.sum()
    references = graph_of(root)
    del y
    if pass_ == "run":
        root.backward()
    elif pass_ == "kept":
        root.backward(retain_graph=True)
    elif pass_ == "failed":
        x.register_hook(lambda g: 3)
        with pytest.raises(TypeError) as caught:
            root.backward(retain_graph=True)
        del caught
    assert all(r() is not None for r in references)
    del root
    assert [r() for r in references if r() is not None] == []


def test_gradients_of_a_pass_belong_to_nobody_else(no_gc):
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward()
    memory = weakref.ref(x.grad._array)
    x.grad = None
    assert memory() is None


def test_few_cotangents_are_alive_at_a_time(no_gc):
    x = leaf(1.0, 2.0)
    y, seen, alive = x, [], []

    def hook(g):
        seen.append(weakref.ref(g._array))
        alive.append(sum(s() is not None for s in seen))

    for _ in range(50):
        y = y * 2.0
        y.register_hook(hook)
    y.sum().backward()
    assert len(seen) == 50 and max(alive) <= 3


def test_the_leaves_of_a_dropped_graph_die(no_gc):
    x = leaf(1.0, 2.0)
    y = (x * 2).sum()
    y.backward()
    references = [weakref.ref(x), weakref.ref(x.grad)]
    del x
    assert references[0]() is not None  # the graph holds its leaf
    del y
    assert [r() for r in references] == [None, None]


def test_a_cycle_through_a_hook_can_be_collected():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: (y, None)[1])  # noqa: F821
    y.sum().backward()
    reference = weakref.ref(y)
    memory = weakref.ref(y._array)
    del y
    gc.collect()
    assert reference() is None and memory() is None


def test_a_cycle_through_metadata_or_a_context_can_be_collected():
    class Keeps(Function):
        @staticmethod
        def forward(ctx, a):
            b = a * 1
            ctx.out = b
            return b

        @staticmethod
        def backward(ctx, g):
            return g

    y = Keeps.apply(leaf(1.0))
    z = leaf(1.0) * 2
    z.grad_fn.metadata["tensor"] = z
    references = [weakref.ref(y), weakref.ref(z)]
    del y, z
    gc.collect()
    assert [r() for r in references] == [None, None]


def test_a_cycle_through_grad_can_be_collected():
    """backward(create_graph=True): .grad's graph holds the leaf. The warning says so; the collector must still find it."""
    x = leaf(2.0)
    with pytest.warns(UserWarning, match="reference cycle"):
        (x**3).backward(create_graph=True)
    reference = weakref.ref(x)
    del x
    gc.collect()
    assert reference() is None


def test_memory_of_saved_values_can_be_counted():
    """A graph keeps only the values alive that its rules need: both factors for a * b, nothing for a + b."""
    x = leaf(*np.zeros(8))
    kept = []
    for build in (lambda a, b: a * b, lambda a, b: a + b, lambda a, b: a * 2 - b, lambda a, b: (a @ b).exp()):
        a, b = x + 0, x + 1
        memories = [weakref.ref(a._array), weakref.ref(b._array)]
        y = build(a, b)
        del a, b
        gc.collect()
        kept.append(sum(m() is not None for m in memories))
        del y
    assert kept == [2, 0, 0, 2]
