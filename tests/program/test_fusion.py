"""Which instructions become one, and that their results stay eager's, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as torch
from wengert.kernels import native

pytestmark = pytest.mark.skipif(native is None, reason="nothing is compiled")


def numbers(dtype, shape=(50, 40)):
    """Random numbers, with NaN, infinities, zeros of both signs and ties of x and y among them."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, *shape)).astype(dtype)
    for k, special in enumerate((np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5)):
        x[k], y[:, k] = special, special
    y[10:20] = x[10:20]
    return torch.tensor(x), torch.tensor(y)


def instructions(fn, *inputs):
    """Names of the instructions of a function, after checking that compiled runs give its results bit for bit."""
    compiled = torch.compile(fn, fullgraph=True, options={"exact": True})
    expected = fn(*inputs)
    for _ in range(3):
        found = compiled(*inputs)
        for a, b in zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]:
            assert a.dtype == b.dtype and a.numpy().tobytes() == b.numpy().tobytes()
    assert compiled.recordings[0].runs >= 2
    return [x.name for x in compiled.programs()[0].instructions]


def gradient(fn):
    return lambda x, y: torch.func.grad(lambda x: fn(x, y).sum())(x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fn", [
    lambda x, y: torch.where((x > 0.5) & ~(y < x), x * 2, y + 1),
    lambda x, y: torch.where(torch.isnan(x) | torch.isfinite(y), x, y) * x,
    lambda x, y: torch.where(x > 0.1, x * 3, 0.0) + torch.where(x > 1e300, 1, y),
    lambda x, y: torch.where(x != y, x, -y) * 2,
    lambda x, y: torch.where(x >= y[0], 1.5, torch.where(x <= y[:, :1], x, y)) - x,
], ids=["and", "or", "numbers", "unequal", "broadcast"])  # fmt: skip
def test_conditions_and_selections_are_one_instruction(fn, dtype):
    assert len(instructions(fn, *numbers(dtype))) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_at_kinks_are_one_instruction(dtype):
    fn = gradient(lambda x, y: torch.relu(torch.relu(x * y) - x) + torch.nn.functional.leaky_relu(x, 0.1))
    assert len(instructions(fn, *numbers(dtype))) == 1


def test_conditions_that_something_else_reads_are_computed():
    x, y = numbers(np.float32)
    found = instructions(lambda x, y: (torch.where(x > y, x, y) * 2, x > y), x, y)
    assert "gt" in found
    found = instructions(lambda x, y: torch.where(x > y, (x + 1) @ y.t() @ y, x * 2) * (x > y), x, y)
    assert "gt" in found


def test_conditions_of_other_dtypes_are_no_numbers():
    x, y = numbers(np.float32)
    n = torch.arange(40)
    instructions(lambda x, y: torch.where(n > 20, x * 2, y + 1) * 3, x, y)
    instructions(lambda x, y: torch.where(x.double() > y.double(), x * 2, y + 1) * 3, x, y)
    instructions(lambda x, y: torch.where((n > 20) & (x > y), x * 2, y + 1) * 3, x, y)
    instructions(lambda x, y: torch.where(x > 2**60 + 1, x * 2, y + 1) * 3, x, y)


def test_an_instruction_between_two_pointwise_ones_runs_before_both():
    x, y = numbers(np.float64)
    found = instructions(lambda x, y: (x * 2 + 1) * y.sum(0) - (y @ y.t()).sum(0)[:40], x, y)
    assert [len(name.split("+")) for name in found if name.startswith("fused")] == [4]
    assert found[-1].startswith("fused")


def test_an_instruction_that_reads_what_is_written_in_between_stays():
    x, y = numbers(np.float64)

    def fn(x, y):
        total = torch.zeros(40, dtype=torch.float64)
        doubled = x * 2
        total += doubled.sum(0)
        scaled = doubled * total
        total += 1
        return scaled + total, total * y[0]

    instructions(fn, x, y)


def test_random_numbers_keep_their_order():
    def fn(x):
        first = x * 2
        a = torch.rand(4)
        second = first + 1
        b = torch.rand(4)
        return second * b, a

    compiled = torch.compile(fn)
    for seed in range(4):
        torch.manual_seed(seed)
        expected = fn(torch.ones(4))
        torch.manual_seed(seed)
        assert [x.tolist() for x in compiled(torch.ones(4))] == [x.tolist() for x in expected]


def test_constants_of_one_number_are_numbers():
    x = torch.tensor([-0.0, 0.0, 3.0])
    instructions(lambda x: x * (torch.tensor(0.5) + 0.25) + torch.tensor(-0.0), x)
    instructions(lambda x: x * torch.full((), float("nan")), x)
    compiled = torch.compile(lambda x: x * torch.tensor(0.1), fullgraph=True)
    compiled(x)
    assert str(compiled.programs()[0].instructions[0]).endswith("mul(in0, 0.10000000149011612)")


def test_a_constant_that_gives_a_result_its_shape_stays():
    x = torch.tensor([1.0, 2.0])
    found = torch.compile(lambda x: (x * torch.ones(1, 1).expand(3, 2)) * 2, fullgraph=True)
    for _ in range(3):
        assert found(x).tolist() == [[2.0, 4.0]] * 3


def test_a_long_function_is_few_instructions():
    """Dozens of values wait for the backward pass in registers."""

    rate = torch.tensor(0.03, dtype=torch.float64)

    def price(s, k, t, v):
        root = torch.sqrt(t)
        d1 = (torch.log(s / k) + (0.03 + 0.5 * v * v) * t) / (v * root)
        d2 = d1 - v * root
        return s * torch.erf(d1) - k * torch.exp(-rate * t) * torch.erf(d2)

    rng = np.random.default_rng(0)
    inputs = [torch.tensor(rng.uniform(0.5, 2, 3000)) for _ in range(4)]
    found = instructions(torch.func.grad(lambda *x: price(*x).sum(), argnums=(0, 2, 3)), *inputs)
    assert sum(name.startswith("fused") for name in found) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gelu_and_its_derivative_share_erf(dtype):
    x, y = torch.tensor(np.random.default_rng(0).normal(size=(2, 30, 40)).astype(dtype))

    def fn(x, y):
        slope, value = torch.func.grad_and_value(lambda x: (torch.nn.functional.gelu(x) * y).sum())(x)
        return slope, torch.nn.functional.gelu(x) * 2

    found = instructions(fn, x, y)
    assert sum(name.count("erf") for name in found) == 1 and not any("gelu" in name for name in found)
    assert instructions(lambda x, y: torch.nn.functional.gelu(x) + y, x, y) == ["fused[_gelu+add]"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 2, 3, 10, 15, 16, 17, 33, 127, 128, 129, 300, 700])
def test_short_and_long_rows_of_broadcast_operands(size, dtype):
    """Rows that are the same, rows of one number, and strided ones are copied into blocks."""
    rng = np.random.default_rng(size)
    a, b, c, d = (
        torch.tensor(rng.normal(size=shape).astype(dtype)) for shape in ((5, 1, size), (7, size), (5, 7, 1), (5, size, 7))
    )
    found = instructions(lambda a, b, c, d: ((a - b) * c + 2, (a - b) * d.transpose(1, 2)), a, b, c, d)
    assert len(found) == 1


def test_large_broadcasts_are_the_same_on_two_threads():
    rng = np.random.default_rng(0)
    a, b, c = (torch.tensor(rng.normal(size=shape)) for shape in ((400, 1, 10), (25, 10), (400, 25, 1)))
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            assert len(instructions(lambda a, b, c: ((a - b) * c).tanh() * (a - b), a, b, c)) == 1
    finally:
        torch.set_num_threads(before)
