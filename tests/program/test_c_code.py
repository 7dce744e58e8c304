"""Programs as C: the functions that a C compiler makes of recordings give what the eager calls give."""

from __future__ import annotations

import shutil
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest

import wengert as torch
from compiled_samples import inputs_of, outcome_of, program_of
from loops import each
from op_samples.cases import CASES, is_public
from thread_counts import threads
from wengert.kernels import native
from wengert.program import c_library, compiled as compiled_module

pytestmark = pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="needs a C compiler")
HAS_KERNELS = native is not None  # without them, eager calls NumPy's functions, which round otherwise
BATCH = 60  # operations that one C function computes


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture
def quick_compiler(monkeypatch):
    """Let the C compiler optimize little, which takes a third of the time."""
    monkeypatch.setattr(c_library, "_SHORT", 0)


def c_instructions(fn: Any) -> list[Any]:
    """Return the instructions of the newest recording that C functions run."""
    found = [x for x in fn.recordings[0].executable.instructions if x.kind == "c"]
    return [part for x in found for y in x.parts for part in (y.parts or [y])]


def kinds(fn: Any) -> set[str]:
    return {x.kind for x in fn.recordings[0].executable.instructions}


def arrays_of(result: Any) -> list[np.ndarray]:
    found = result if isinstance(result, (tuple, list)) else (result,)
    return [x.detach().numpy().copy() if isinstance(x, torch.Tensor) else np.asarray(x) for x in found]


def assert_same(fn: Any, *calls: tuple[Any, ...], exact: bool = True, rtol: float = 1e-12) -> Any:
    """Check that a compiled function gives eager's results, bit for bit if `exact`."""
    compiled = torch.compile(fn, backend="c", fullgraph=True)
    for arguments in calls:
        expected = arrays_of(fn(*arguments))
        for _ in range(2):
            for x, y in zip(expected, arrays_of(compiled(*arguments)), strict=True):
                assert x.dtype == y.dtype and x.shape == y.shape
                if exact and HAS_KERNELS:
                    np.testing.assert_array_equal(y, x)
                else:
                    eps = np.finfo(x.dtype).eps if x.dtype.kind == "f" else 0
                    np.testing.assert_allclose(y, x, rtol=max(rtol, 8 * eps), atol=1e-300)
    assert "c" in kinds(compiled)
    return compiled


def uniform(*shape: int, seed: int = 0, dtype: Any = np.float64) -> Any:
    return torch.tensor(np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype))


# -- operations --------------------------------------------------------------------------------------------------------


def batched(programs: list[Any]) -> Any:
    """Return one function that runs programs, each on its part of the inputs."""

    def run(*parts):
        return [x for program, part in zip(programs, parts, strict=True) for x in program(*part)]

    return run


def recordable(case: Any) -> bool:
    """Whether a sample of an operation with its gradient is recorded as a whole, and needs nothing but tensors."""
    program = program_of(case, True)
    compiled = torch.compile(program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = outcome_of(program, inputs_of(case, 0, True))
        outcome_of(compiled, inputs_of(case, 0, True))
    return isinstance(first, list) and bool(compiled.recordings) and len(compiled.recordings[0].executable.program.outputs) > 0


@pytest.mark.slow
def test_every_operation_with_a_c_form_gives_what_the_runner_gives(quick_compiler):
    cases = [case for case in CASES if is_public(case.op) and case.number == 0 and recordable(case)]
    assert len(cases) > 400
    seen: set[str] = set()
    for start in range(0, len(cases), BATCH):
        part = cases[start : start + BATCH]
        program = batched([program_of(case, True) for case in part])
        compiled = torch.compile(program, backend="c")
        for number in (0, 1, 0):
            inputs = [inputs_of(case, number, True) for case in part]
            torch.manual_seed(7)
            expected = arrays_of(program(*inputs))
            torch.manual_seed(7)
            found = arrays_of(compiled(*inputs))
            for x, y in zip(expected, found, strict=True):
                assert x.dtype == y.dtype
                np.testing.assert_allclose(y, x, rtol=1e-11, atol=1e-12)
        if compiled.recordings:
            seen |= {x.name for x in c_instructions(compiled)}
    assert len(seen) > 60, sorted(seen)


POINTWISE = [
    lambda x, y: x + y, lambda x, y: x - 2 * y, lambda x, y: x * y, lambda x, y: x / (y + 3), lambda x, y: x.tanh() * y.exp(),
    lambda x, y: (x.abs() + 0.1).log(), lambda x, y: x.sigmoid() - y, lambda x, y: torch.maximum(x, y), lambda x, y: x.clamp(-0.5, 0.5),
    lambda x, y: torch.where(x > y, x, y * 2), lambda x, y: (x.abs() + 1).sqrt(), lambda x, y: x.relu() + torch.erf(y),
    lambda x, y: x.sin() + y.cos(), lambda x, y: (x**2) * (y**3), lambda x, y: -x + y.floor(), lambda x, y: torch.atan2(x, y),
    lambda x, y: torch.nn.functional.gelu(x) * y, lambda x, y: x.mul(y).add(y, alpha=0.5), lambda x, y: (x.abs() + 0.5) ** 1.5,
    lambda x, y: torch.lerp(x, y, 0.3), lambda x, y: (x <= y).to(x.dtype) * x, lambda x, y: torch.addcmul(x, x, y, value=0.1),
]  # fmt: skip
MOVES = [
    lambda x, y: x.t().contiguous().t() + y, lambda x, y: torch.cat([x[:2], y[2:]]), lambda x, y: torch.stack([x, y])[1] * x,
    lambda x, y: x[:, :1] * y, lambda x, y: x + y[0], lambda x, y: x.reshape(-1).reshape(x.shape) * y,
]  # fmt: skip


def write_rows(x: Any, y: Any) -> Any:
    z = x.clone()
    z[1:3] *= y[1:3]
    z[0].copy_(y[-1])
    z[:, 1].add_(1.5)
    z.t()[0] = y[:, 2]
    z[-1, -1] = 4.0
    return z


def write_all(x: Any, y: Any) -> Any:
    z = x * 2
    z.sub_(y, alpha=0.25).mul_(x)
    z.clamp_(min=-0.5)
    return z


def random_function(seed: int) -> Any:
    """Return a function of two matrices of one shape: operations chosen by the seed, each on earlier results."""
    rng = np.random.default_rng(seed)
    steps = [
        (([*POINTWISE, *MOVES, write_rows, write_all])[rng.integers(len(POINTWISE) + len(MOVES) + 2)], rng.integers(0, 1000, 2))
        for _ in range(12)
    ]

    def run(x, y):
        values = [x, y]
        for f, (i, j) in steps:
            values.append(f(values[i % len(values)], values[j % len(values)]))
        return values[-3:]

    return run


@pytest.mark.slow
@each("dtype", [np.float32, np.float64])
def test_random_programs_give_eagers_results_bit_for_bit(dtype):
    functions = [random_function(seed) for seed in range(40)]

    def run(x, y):
        return tuple([z for f in functions for z in f(x, y)])

    calls = [(uniform(4, 5, seed=s, dtype=dtype), uniform(4, 5, seed=s + 1, dtype=dtype)) for s in (0, 10)]
    compiled = assert_same(run, *calls, rtol=1e-4 if dtype == np.float32 else 1e-12)
    assert len(c_instructions(compiled)) > 300


def test_gradients_and_writes_of_a_training_step():
    def make():
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
        parameters = list(model.parameters())

        def step(x, y):
            loss = ((model(x) - y) ** 2).mean()
            for p, g in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
                step_parameter(p, g)
            return loss.detach()

        return step, parameters

    def step_parameter(p, g):
        with torch.no_grad():
            p.sub_(g, alpha=0.1)

    x, y = uniform(16, 2, dtype=np.float32), uniform(16, 1, seed=1, dtype=np.float32)
    outcomes = []
    for backend in ("eager", "c"):
        step, parameters = make()
        step = torch.compile(step, backend=backend, fullgraph=True)
        losses = [step(x, y).item() for _ in range(20)]
        outcomes.append([losses, *[p.detach().numpy() for p in parameters], [p._version for p in parameters]])
    for a, b in zip(*outcomes, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
    assert outcomes[0][-1] == outcomes[1][-1] and kinds(step) == {"c"}


SHAPES = [
    ((3, 4), (4, 5)), ((16, 16), (16, 16)), ((1, 7), (7, 33)), ((17, 9), (9, 1)), ((5,), (5,)), ((6, 5), (5,)), ((5,), (5, 6)),
    ((2, 3, 4), (2, 4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((1, 1), (1, 1)), ((9, 2), (2, 40)),
]  # fmt: skip


def test_products():
    inputs = []
    for i, shapes in enumerate(SHAPES):
        a, b = uniform(*shapes[0], seed=i), uniform(*shapes[1], seed=i + 20)
        inputs.append((a, b, *[x.t().contiguous().t() if x.ndim == 2 else x for x in (a, b)]))

    def run(*inputs):
        return [z for x, y, u, v in inputs for z in (2 * (x @ y), u @ v + 1, x @ v, u @ y)]

    compiled = assert_same(run, tuple(inputs), exact=False)
    assert kinds(compiled) == {"c"}


def test_reductions():
    def run(x):
        y = x * 2
        found = [y.sum()]
        for dim in (0, 1, 2, (0, 1), (1, 2), (0, 2), (0, 1, 2)):
            found += [y.sum(dim), y.mean(dim, keepdim=True), y.amax(dim), y.amin(dim, keepdim=True)]
        return found

    compiled = assert_same(run, (uniform(3, 18, 5),), (uniform(3, 18, 5, seed=1),), exact=False)
    assert kinds(compiled) == {"c"}


def test_softmax():
    def run(x):
        y = x * 3
        return [z for dim in (0, 1) for z in (y.softmax(dim), y.log_softmax(dim), y.logsumexp(dim))]

    x = uniform(6, 19)
    x[2, 3], x[4] = float("inf"), float("-inf")
    assert_same(run, (uniform(6, 19),), exact=False)
    compiled = torch.compile(run, backend="c", fullgraph=True)
    for found, expected in zip(compiled(x), run(x), strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-12)


def test_special_values():
    x = torch.tensor([0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 5e-324, 1e308, 9000.0])

    def run(x):
        y = x + 0
        return y.tanh(), y.exp(), y.relu(), torch.maximum(y, -y), y.sin(), y == y, y > 0, torch.where(y > 0, y, -y), y.sign(), 1 / y

    assert_same(run, (x.double(),), (x,))


def test_views_that_overlap_are_left_to_the_runner():
    def run(x):
        y = x * 1
        y[1:].copy_(y[:-1])
        y[:-1] += y[1:]
        return (y + 1).tanh() * y

    assert_same(run, (uniform(6),))


def test_random_numbers_and_conditions_between_c_functions():
    def run(x):
        y = (x * 2).tanh() + 1
        y = y + torch.rand(4)
        return (y * 3 + 1 if y.sum() > 100 else y * 2 - 1).exp()

    compiled = torch.compile(run, backend="c", fullgraph=True)
    torch.manual_seed(0)
    expected = [run(uniform(4, seed=s)).tolist() for s in range(4)]
    torch.manual_seed(0)
    np.testing.assert_allclose([compiled(uniform(4, seed=s)).tolist() for s in range(4)], expected, rtol=0 if HAS_KERNELS else 1e-14)
    assert {"c", "guard", "host"} <= kinds(compiled)


def test_long_programs_are_a_table_of_repeated_functions():
    w = uniform(3, 3)

    def run(x):
        for _ in range(300):
            x = x + 0.01 * (w @ x).tanh()
        return x

    compiled = assert_same(run, (uniform(3),), exact=False)
    (c,) = compiled.recordings[0].executable.instructions
    source = c.function.source
    assert source.n_calls >= 600 and source.n_functions < 12 and len(source.body) < 100_000


def test_gradients_through_a_compiled_function_are_c_too():
    def run(x):
        return (x.tanh() * x).exp()

    compiled = torch.compile(run, backend="c", fullgraph=True)
    x = uniform(5).requires_grad_()
    for _ in range(2):
        expected = torch.autograd.grad(run(x).sum(), x)[0]
        np.testing.assert_allclose(torch.autograd.grad(compiled(x).sum(), x)[0].numpy(), expected.numpy(), rtol=1e-14)


def test_other_layouts_and_unaligned_memory():
    @torch.compile(backend="c")
    def run(x):
        return (x * 2 + 1).tanh()

    x = np.random.default_rng(0).uniform(-1, 1, (6, 8))
    apart = np.frombuffer(b"x" + x.tobytes(), np.uint8)[1:].view(np.float64).reshape(6, 8)
    for array in (x, x.T, x[::2, ::-1], np.asfortranarray(x), apart, x[:0]):
        expected = np.tanh(array * 2 + 1)
        for _ in range(2):
            np.testing.assert_allclose(run(torch.from_numpy(array.copy() if not array.flags.writeable else array)).numpy(), expected, rtol=1e-15)


def test_threads_at_once():
    @torch.compile(backend="c")
    def run(x):
        return ((x @ x).tanh() @ x).sum(0)

    inputs = [uniform(12, 12, seed=s) for s in range(8)]
    expected = [run(x).tolist() for x in inputs]
    found: dict[int, list[Any]] = {}

    def work(i):
        found[i] = [run(inputs[i]).tolist() for _ in range(50)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i, results in found.items():
        np.testing.assert_allclose(results, [expected[i]] * 50, rtol=1e-12)


def test_a_failed_run_leaves_parameters_as_they_were():
    held = torch.zeros(3)

    @torch.compile(backend="c")
    def run(x):
        held.add_(x * 2 + 1)
        if x.sum() > 0:
            return x * 1
        raise ValueError("negative")

    run(torch.ones(3))
    run(torch.ones(3))
    assert held.tolist() == [6.0] * 3
    for _ in range(2):
        with pytest.raises(ValueError, match="negative"):
            run(-torch.ones(3))
    assert held.tolist() == [4.0] * 3


def test_auto_compiles_what_runs_often(monkeypatch):
    monkeypatch.setattr(compiled_module, "RUNS_BEFORE_C", 5)
    monkeypatch.setattr(compiled_module, "_BETWEEN_LOOKS", 1)

    @torch.compile
    def run(x):
        for _ in range(10):
            x = x.tanh() * 1.5 - 0.1
        return x

    x = uniform(5)
    expected = run(x).tolist()
    for _ in range(1000):
        if "c" in kinds(run):
            break
        assert run(x).tolist() == expected
        time.sleep(0.02)
    assert kinds(run) == {"c"}
    np.testing.assert_allclose(run(x).tolist(), expected, rtol=0 if HAS_KERNELS else 1e-14)


@pytest.mark.slow
def test_auto_writes_long_programs_a_little_in_each_call(monkeypatch, quick_compiler):
    monkeypatch.setattr(compiled_module, "RUNS_BEFORE_C", 2)
    monkeypatch.setattr(compiled_module, "_BETWEEN_LOOKS", 1)
    monkeypatch.setattr(compiled_module, "_SECONDS_OF_WRITING", 1e-3)

    weight = uniform(4, 4, seed=1)

    @torch.compile
    def run(x):
        for _ in range(600):
            x = (x + 0.1 * (x * x).sum()).tanh() @ weight * 0.3 + 0.1
        return x

    x = uniform(4)
    expected = run(x).tolist()
    writing = 0
    for _ in range(3000):
        if "c" in kinds(run):
            break
        np.testing.assert_allclose(run(x).tolist(), expected, rtol=1e-12)
        writing += run.recordings[0].next_look == run.recordings[0].runs + 1
        time.sleep(0.001)
    assert "c" in kinds(run) and writing > 20
    np.testing.assert_allclose(run(x).tolist(), expected, rtol=1e-12)


@pytest.mark.slow
@each("dtype", [np.float32, np.float64])
def test_products_of_all_shapes(dtype, quick_compiler):
    """Rows, columns and transposed matrices, with sizes around those of vector registers and of groups of them."""
    rng = np.random.default_rng(0)
    shapes = [(1, 5, 1), (1, 50, 50), (50, 50, 1), (3, 7, 2), (4, 64, 65), (17, 3, 33), (5, 70, 9), (16, 40, 130), (2, 1, 3), (1, 9, 300)]
    pairs = [(rng.uniform(-1, 1, (m, k)).astype(dtype), rng.uniform(-1, 1, (k, n)).astype(dtype)) for m, k, n in shapes]

    def run(*x):
        found = []
        for first in range(0, len(x), 4):
            a, b = x[first].t(), x[first + 3]
            found += [a @ b, b.t() @ a.t(), a[0] @ b, a @ b[:, 0], a.contiguous() @ b.t().contiguous().t()]
        return found

    tensors = [torch.tensor(np.ascontiguousarray(y)) for a, b in pairs for y in (a.T, a, b.T, b)]
    compiled = torch.compile(run, backend="c", fullgraph=True)
    for _ in range(2):
        found = compiled(*tensors)
    assert kinds(compiled) == {"c"}
    expected = [y for a, b in pairs for y in (a @ b, b.T @ a.T, a[0] @ b, a @ b[:, 0], a @ b)]
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x.numpy(), y, rtol=1e-13 if dtype == np.float64 else 1e-5, atol=1e-13 if dtype == np.float64 else 1e-5)


def test_auto_leaves_large_arrays_and_machines_without_a_compiler_to_the_runner(monkeypatch):
    monkeypatch.setattr(compiled_module, "RUNS_BEFORE_C", 3)
    with threads(2):
        check_what_auto_leaves(monkeypatch)


def check_what_auto_leaves(monkeypatch):
    def run(x):
        for _ in range(10):
            x = x.tanh() * 1.5 - x.sum(0)  # threads of C functions do not share sums down columns
        return x

    large, small = torch.compile(run), torch.compile(run)
    for _ in range(5):
        large(uniform(300, 300))
    monkeypatch.setenv("CC", "no-such-compiler")
    for _ in range(5):
        small(uniform(3))
    assert "c" not in kinds(large) | kinds(small) and large.recordings[0].runs == small.recordings[0].runs == 4


def test_an_operation_of_a_tensor_with_itself(quick_compiler):
    x = torch.tensor(np.array([0.5, 1.5, 3.0]))
    function = lambda t: torch.logaddexp(t, t) * 2 + t**t  # noqa: E731
    compiled = torch.compile(function, backend="c")
    for _ in range(3):
        torch.testing.assert_close(compiled(x), function(x), rtol=1e-12, atol=1e-12)
