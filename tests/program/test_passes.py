"""What the passes over programs do, seen in the programs' instructions, and that results stay what they were."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as torch
from wengert.kernels import native
from wengert.program.memory import Arena

compiled_kernels = pytest.mark.skipif(native is None, reason="nothing is compiled")


def program_of(fn, *inputs, **options):
    """The program of a function, after checking that its second run gives what the function gives."""
    compiled = torch.compile(fn, fullgraph=True, **options)
    for _ in range(3):
        found, expected = compiled(*inputs), fn(*inputs)
    for x, y in zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]:
        np.testing.assert_allclose(x.numpy(), y.numpy(), rtol=1e-6, atol=1e-7)
    assert compiled.recordings[0].runs == 2
    return compiled.recordings[0].executable


def names(executable):
    return [x.name for x in executable.program.instructions]


def test_an_arena_reuses_and_joins_pieces():
    arena = Arena()
    a, b, c = arena.take(64), arena.take(128), arena.take(64)
    assert (a, b, c, arena.size) == (0, 64, 192, 256)
    arena.give(a, 64)
    arena.give(b, 128)
    assert arena.take(192) == 0 and arena.size == 256  # the two pieces are one again
    arena.give(c, 64)
    assert arena.take(256) == 192 and arena.size == 448  # the last piece grows


@compiled_kernels
def test_memory_is_used_again():
    def fn(x):
        for _ in range(20):
            x = (x @ x).tanh()
        return x

    executable = program_of(fn, torch.rand(8, 8) / 8)
    assert executable.unplanned >= 20 * 256 and executable.nbytes <= 3 * 256


@compiled_kernels
def test_values_that_are_read_later_keep_their_memory():
    def fn(x):
        kept = [x * i for i in range(1, 12)]
        y = x.sum(0)
        for k in reversed(kept):
            y = (k @ y).tanh() + k.sum(0)
        return y, kept[0] + kept[-1]

    program_of(fn, torch.rand(5, 5))


@compiled_kernels
def test_an_item_keeps_its_memory():
    def fn(x):
        total = (x * x).sum()
        y = x
        for _ in range(5):
            y = torch.tanh(y @ y)
        return y, total.item()

    compiled = torch.compile(fn, fullgraph=True)
    for i in range(3):
        x = torch.full((4, 4), 0.25 * (i + 1))
        assert compiled(x)[1] == fn(x)[1]


def test_constants_are_folded():
    def fn(x):
        scale = torch.ones(3) / 4 + 1
        return x * scale

    assert names(program_of(fn, torch.rand(2, 3))) == ["mul"]


def test_constants_that_are_written_are_not_folded():
    def fn(x):
        total = torch.zeros(3)
        total += x
        return total * 2

    compiled = torch.compile(fn, fullgraph=True)
    for i in range(4):
        x = torch.full((3,), float(i))
        assert compiled(x).tolist() == fn(x).tolist()


@compiled_kernels
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("join", [torch.stack, torch.cat])
def test_joining_is_copying(join, dim):
    executable = program_of(lambda x, y: join([x, y * 2, x.t().t()], dim), torch.rand(3, 4), torch.rand(3, 4))
    assert "_stack" not in names(executable) and "_cat" not in names(executable) and names(executable).count("copy") >= 2


@compiled_kernels
def test_a_squared_loss_shares_the_difference_with_its_gradient():
    w = torch.rand(4, 1, requires_grad=True)

    def fn(x, y):
        loss = torch.nn.functional.mse_loss(x @ w, y)
        return loss.detach(), *torch.autograd.grad(loss, w)

    inputs = torch.rand(8, 4), torch.rand(8, 1)
    assert "_mse_loss" not in names(program_of(fn, *inputs))
    assert "_mse_loss" in names(program_of(fn, *inputs, options={"exact": True}))


@pytest.mark.parametrize("shapes", [((5, 7), (7,)), ((7,), (7, 5)), ((9,), (9,)), ((20, 50), (50,)), ((50,), (50, 20)), ((300, 300), (300,))])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["rows", "columns", "slices"])
def test_products_with_vectors(shapes, dtype, layout):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    if layout == "columns":
        arrays = [np.asfortranarray(x) for x in arrays]
    if layout == "slices":
        arrays = [np.repeat(x, 2, 0)[::2] for x in arrays]
    x, y = (torch.as_tensor(a) for a in arrays)
    compiled = torch.compile(lambda a, b: a @ b, fullgraph=True)
    for _ in range(2):
        found = compiled(x, y)
    expected = arrays[0].astype("f8") @ arrays[1].astype("f8")
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5 if dtype == np.float32 else 1e-12, atol=1e-4 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("size", [2, 3, 17])
def test_products_that_a_kernel_refuses_run_in_the_program(size):
    """Batches of small matrices are NumPy's, although a kernel for batches exists."""
    x = torch.rand(3, 2, size, size)
    program_of(lambda x: torch.softmax(x @ x.transpose(-1, -2), -1) @ x, x)


@pytest.mark.parametrize(("options", "message"), [
    ({"mode": "fastest"}, "Unrecognized mode=fastest"), ({"options": {"speed": 3}}, "Unexpected optimization option speed"),
    ({"options": {"exact": 1}}, "Unexpected type of attr exact, got int should be bool"),
    ({"mode": "default", "options": {}}, "Either mode or options can be specified"),
])  # fmt: skip
def test_unknown_options_are_refused(options, message):
    with pytest.raises(RuntimeError, match=message):
        torch.compile(lambda x: x, **options)
