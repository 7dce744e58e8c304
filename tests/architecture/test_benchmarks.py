"""The benchmarks run, measure what they say, and can do without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import standin
import wengert

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def programs(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return pytest.importorskip("programs")


@pytest.fixture
def measure(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return pytest.importorskip("measure")


def run_benchmarks(*options: str, without_torch: bool = False) -> subprocess.CompletedProcess:
    code = f"import sys, runpy; sys.argv[1:] = {list(options)!r}; sys.path.insert(0, {str(FOLDER)!r})\n"
    if without_torch:
        code += "sys.modules['torch'] = None\n"  # importing it raises ImportError
    code += f"runpy.run_path({str(FOLDER / 'run.py')!r}, run_name='__main__')"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_chain_computes_the_gradients(programs):
    """y = x a^50 + b (1 + a + ... + a^49), element by element."""
    gradients = programs.prepare_chain(wengert)()
    assert gradients.shape == (3, 4, 4)
    rng = np.random.default_rng(0)
    x, a, b = [rng.uniform(low, high, (4, 4)) for low, high in ((-1, 1), (0.98, 1.0), (-0.01, 0.01))]
    powers = np.arange(50).reshape(50, 1, 1)
    np.testing.assert_allclose(gradients[0], a**50, rtol=1e-4)
    np.testing.assert_allclose(gradients[2], (a**powers).sum(0), rtol=1e-4)
    of_a = 50 * x * a**49 + b * (powers[1:] * a ** (powers[1:] - 1)).sum(0)
    np.testing.assert_allclose(gradients[1], of_a, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("prepare", ["prepare_reads", "prepare_reads_and_sums"])
def test_reads_compute_the_gradient(programs, prepare):
    x = np.random.default_rng(0).uniform(-1, 1, 20_000).astype(np.float32)
    expected = np.zeros_like(x)
    expected[::10] = 2 * x[::10]
    np.testing.assert_allclose(getattr(programs, prepare)(wengert)(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["prepare_training_step", "prepare_lenet"])
def test_training_step_lowers_the_loss(programs, name):
    program = getattr(programs.networks, name)(wengert)
    first = program()
    for _ in range(20):
        last = program()
    assert 2 < first < 4 and last < first


def test_growth_programs_compute_gradients(programs, monkeypatch):
    growth = pytest.importorskip("growth")
    found = {name: growth.prepare(wengert, operation, other, 1_000)() for name, operation, other in growth.OPERATIONS}
    x, y = np.random.default_rng(0).uniform(-1, 1, (2, 100, 10)).astype(np.float32)
    np.testing.assert_array_equal(found["x * y"], y)
    np.testing.assert_array_equal(found["x.t() * y.t()"], y)
    np.testing.assert_array_equal(found["x[:, ::2] * y[:, ::2]"], np.where(np.arange(10) % 2, 0, y))
    np.testing.assert_allclose(found["exp"], np.exp(x), rtol=1e-5)
    np.testing.assert_allclose(found["tanh"], 1 / np.cosh(x) ** 2, rtol=1e-5)
    np.testing.assert_array_equal(found["relu"], x > 0)
    np.testing.assert_array_equal(found["sum"], np.ones_like(x))
    np.testing.assert_allclose(found["softmax of rows of 10"], 0, atol=1e-6)


def test_every_operator_runs_and_has_gradients(programs):
    operators = pytest.importorskip("operators")
    names = [operator.name for operator in operators.OPERATORS]
    assert len(set(names)) == len(names) > 90
    for operator in operators.OPERATORS:
        parts = operators.prepare(wengert, operator, usual=False)
        gradient = parts["both"]()
        assert gradient.shape == operator.small[0] and np.isfinite(gradient).all() and gradient.any(), operator.name
        assert not parts["forward"]().requires_grad, operator.name


@pytest.mark.slow
def test_operators_are_measured_by_library_and_size(programs):
    operators = pytest.importorskip("operators")
    found = list(operators.measure_operators({"wengert": wengert, "torch": wengert}, 1, "outer"))
    assert [(result["operator"], result["size"]) for result in found] == [("outer", "small"), ("outer", "usual")]
    for result in found:
        assert 0 < result["forward"]["wengert"] < 1 and 0 < result["both"]["wengert"] < 1
        assert 0.05 < result["both"]["ratio"] < 20  # of a library to itself


def test_suite_over_time_runs_every_program(programs, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER / "asv" / "suite")
    suite = pytest.importorskip("programs_over_time")
    assert json.loads((FOLDER / "asv" / "asv.conf.json").read_text())["benchmark_dir"] == "suite"
    assert set(suite.Programs.params) == {case.name for case in programs.CASES} - {"longest-chain"}
    timed = suite.Programs()
    timed.setup("chain")
    timed.time_forward_and_backward("chain")


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads the peak of memory from /proc")
@pytest.mark.slow
def test_measured_memory_excludes_the_preparation(monkeypatch):
    """log-softmax of 512 x 10000 floats: scores of 20 MiB beforehand; the result, its gradient and the cotangent come on top."""
    monkeypatch.syspath_prepend(FOLDER)
    fresh = pytest.importorskip("fresh")
    size = 512 * 10_000 * 4 / 2**20
    assert 2 * size < fresh.measure_memory("wengert", "log-softmax") < 6 * size
    assert fresh.measure_memory("wengert", "chain") < 5


@pytest.mark.slow
def test_compiled_programs_are_timed_in_four_ways_and_written_to_a_page(tmp_path):
    pytest.importorskip("threadpoolctl")
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n<!-- compiled: written by hand -->\nold\n<!-- end of compiled -->\n\nmore\n")
    command = [sys.executable, FOLDER / "compiled.py", "--only", "chain", "small-step", "--rounds", "1", "--page", page]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert text.startswith("# Page\n\n<!-- compiled: written by hand -->\n") and text.endswith("<!-- end of compiled -->\n\nmore\n")
    assert "old" not in text and text.count("| chain of 100") == text.count("| training step 2-16-16-1") == 2
    assert "| geometric mean |" in text


def test_compiled_programs_give_the_same_as_eager_ones(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    pairs = pytest.importorskip("compiled_programs").PAIRS
    assert len({pair.name for pair in pairs}) == len(pairs) == 10
    for pair in pairs:
        if pair.name in ("chain", "rosenbrock", "hessian", "small-step", "mixture"):
            (eager, arguments), (function, same) = pair.wengert(wengert), pair.wengert(wengert)
            compiled = wengert.compile(function, fullgraph=True)
            for _ in range(3):
                np.testing.assert_allclose(first_number(compiled(*same)), first_number(eager(*arguments)), rtol=1e-5)


def first_number(x):
    return first_number(x[0]) if isinstance(x, tuple) else x.reshape(-1)[0].item()


def test_mean_of_ratios_is_geometric(measure):
    assert measure.geometric_mean([4.0, 0.25]) == pytest.approx(1.0)
    assert measure.geometric_mean([2.0, 8.0]) == pytest.approx(4.0)


def test_ratio_compares_the_best_times_and_quartiles_compare_rounds(measure):
    ratio, low, high = measure.compare([4.0, 6.0, 8.0, 5.0], [2.0, 2.0, 2.0, 2.5])
    assert ratio == 2.0
    assert (low, high) == (2.0, 3.75)  # of 2, 3, 4 and 2


def test_names_are_the_cases(programs):
    names = [case.name for case in programs.CASES]
    assert len(set(names)) == len(names)
    assert {case.name: case.target for case in programs.CASES if case.target is not None} == {
        "chain": 5.0, "small-training-step": 4.0, "training-step": 1.5, "large-training-step": 1.0, "recurrent-network": 3.0, "attention": 1.5,
        "prices": 4.0, "tanh": 6.0, "log-softmax": 2.0, "lenet": 1.0, "longest-chain": 4.0, "many-reads": 100.0,
        "lstm": 1.3, "transformer": 1.2, "adam": 6.0,
    }  # fmt: skip


@pytest.mark.slow
def test_run_without_torch_prints_times_alone(tmp_path):
    file = tmp_path / "results.json"
    options = ["--only", "chain", "graph", "--rounds", "1", "--nodes", "1000", "--json", str(file)]
    done = run_benchmarks(*options, without_torch=True)
    assert done.returncode == 0, done.stderr
    assert "torch is not installed" in done.stdout
    assert "graph of 1,000 nodes" in done.stdout
    chain, *graphs = json.loads(file.read_text())["results"]
    assert chain["wengert"] > 0 and "torch" not in chain and "ratio" not in chain
    assert graphs and all(graph["nodes"] == 1000 and graph["build"] > 0 for graph in graphs)


@pytest.mark.slow
def test_run_beside_torch_prints_ratios(tmp_path):
    pytest.importorskip("torch")
    file = tmp_path / "results.json"
    done = run_benchmarks("--only", "chain", "--rounds", "2", "--json", str(file))
    assert done.returncode == 0, done.stderr
    (chain,) = json.loads(file.read_text())["results"]
    assert chain["low"] <= chain["high"] and chain["ratio"] == chain["torch"] / chain["wengert"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "nothing"], "argument --only: invalid choice: 'nothing'"),
        (["--rounds", "0"], "--rounds must be at least 1"),
        (["--threads", "-1"], "--threads must be at least 1"),
    ],
)
def test_bad_options_are_refused(options, message):
    done = run_benchmarks(*options, without_torch=True)
    assert done.returncode == 2 and message in done.stderr


def test_benchmarks_of_a_gpu_say_that_there_is_none():
    done = subprocess.run([sys.executable, str(FOLDER / "gpu.py")], capture_output=True, text=True, check=False)
    if wengert.cuda.is_available():
        pytest.skip("there is a GPU: make bench-cuda")
    assert done.returncode == 1 and "bench-cuda needs a GPU and CuPy, and found none" in done.stderr


@pytest.mark.slow
def test_cases_of_a_gpu_compute_there_what_they_compute_in_main_memory(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    gpu = pytest.importorskip("gpu")
    cases = {title: prepare for title, prepare in gpu.CASES.items() if "1024" not in title and "10,000,000" not in title}
    for title, prepare in cases.items():
        expected = prepare(wengert)()
        with standin.in_use(), wengert.device("cuda"):
            np.testing.assert_allclose(prepare(wengert)(), expected, rtol=1e-3, atol=1e-5, err_msg=title)
