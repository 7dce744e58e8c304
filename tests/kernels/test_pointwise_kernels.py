"""Each compiled pointwise kernel beside its twin, the forward or rule that it was traced from, run by NumPy."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from loops import each
from wengert import kernels, ops
from wengert.backends import numpy as numpy_backend
from wengert.core.op import MISSING
from wengert.ops.faces import array_face
from wengert.ops.registry import OPS

native = kernels.native
pytestmark = pytest.mark.skipif(native is None, reason="nothing is compiled here")

ROOT = Path(__file__).parents[2] / "src" / "wengert" / "kernels"
ops.load_all()
ROLES = [line.split('"')[1] for line in (ROOT / "roles.h").read_text().splitlines() if line.startswith("ROLE")]
# Made of additions, multiplications, divisions, roots and choices alone, each rounded as NumPy rounds it.
EXACT = {
    re.split(r"[(,]", line)[1] for line in (ROOT / "table.h").read_text().splitlines() if "(" in line and "VM(" not in line
} - {"rad2deg"}  # fmt: skip  # NumPy's has a constant of another rounding
DTYPES = [np.float32, np.float64]
TOLERANCE = {np.float32: 4e-6, np.float64: 1e-13}


def twin(role):
    """The function that NumPy runs for the role, and the names of its operands."""
    name, _, target = role.partition(".")
    op = OPS[name]
    if not target:
        return lambda *inputs, **params: op.forward(numpy_backend, *inputs, **params), op.input_names, op
    rule = next(r for r in op.rules if len(r.targets) == 1 and op.input_names[r.targets[0]] == target)
    return lambda *values: rule.function(array_face, *values), ("ct", *rule.names), op


class Draws(dict):
    """Random values from 0 to 1 for each name."""

    def __init__(self, shape, dtype):
        self.rng, self.shape, self.dtype = np.random.default_rng(len(shape)), shape, dtype

    def __missing__(self, name):
        self[name] = np.asarray(self.rng.random(self.shape), self.dtype)
        return self[name]


def parameters(op):
    """The operation's parameters at their defaults; numbers that rise from one to the next for those that have none."""
    return {n: 0.25 + i / 2 if op.defaults[n] is MISSING else op.defaults[n] for i, n in enumerate(op.param_names)}


def run_both(role, draw, dtype):
    """The kernel's result and NumPy's; draw(name) gives the values of an operand."""
    function, names, op = twin(role)
    kernel, operands, _ = native.role(role)
    low, high = op.domain
    params = parameters(op)
    values = {}
    for name in names:
        values[name] = draw(name) if name == "ct" or name not in params else params[name]
        if name not in ("ct", "out") and name not in params:
            values[name] = np.asarray(low + (high - low) * values[name], dtype)
    if "out" in names:
        inputs = {n: np.asarray(low + (high - low) * draw(n), dtype) for n in op.input_names}
        values.update({n: x for n, x in inputs.items() if n in values})
        values["out"] = np.asarray(op.forward(numpy_backend, *inputs.values(), **params))
    with np.errstate(all="ignore"):
        expected = function(*values.values(), **(params if "." not in role else {}))
        found = native.apply(kernel, tuple([values[n] if n in values else params[n] for n in operands.split()]))
    return found, expected


def assert_twins(role, found, expected, dtype):
    assert found is not None and found.dtype == dtype
    if native.names()[native.role(role)[0]] in EXACT:
        np.testing.assert_array_equal(found, expected)
    else:
        limit = TOLERANCE[dtype]
        np.testing.assert_allclose(found, expected, rtol=limit, atol=limit)


@each("dtype", DTYPES)
@each("role", ROLES)
def test_kernel_agrees_with_its_traced_formula(role, dtype):
    for shape in [(), (1,), (7,), (33, 5), (3, 700)]:
        found, expected = run_both(role, Draws(shape, dtype).__getitem__, dtype)
        assert_twins(role, found, np.broadcast_to(expected, shape), dtype)


SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.5, -2.5, 1e-30, -1e-30, 1e30, -1e30, 88.0, 104.0, 1e-44, -1e-44, 1e6]
# The lesser zero of a tie, and what SciPy makes of infinities, are not claimed; powers of negative numbers are tested apart.
UNLIKE = {"logaddexp": "equal infinities", "sinc": "infinities", "special_spherical_bessel_j0": "infinities"}


@each("dtype", DTYPES)
@each("role", [r for r in ROLES if "." not in r and r not in UNLIKE])
def test_special_values_are_numpys(role, dtype):
    op = OPS[role]
    kernel, operands, _ = native.role(role)
    values = np.array(SPECIAL, dtype)
    grids = np.meshgrid(*[values] * len(op.input_names)) if len(op.input_names) < 3 else [values] * len(op.input_names)
    params = parameters(op)
    with np.errstate(all="ignore"):
        expected = op.forward(numpy_backend, *grids, **params)
        found = native.apply(kernel, (*grids, *[params[n] for n in operands.split()[len(grids) :]]))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
    # 1 + tanh and 1 + erf lose what is left of a number close to 1.
    absolute = np.finfo(dtype).eps if "gelu" in role else np.finfo(dtype).tiny
    np.testing.assert_allclose(found, expected, rtol=TOLERANCE[dtype], atol=absolute)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_clamp_between_any_bounds_is_numpys_minimum_of_the_maximum(dtype):
    x, low, high = np.meshgrid(*[np.array(SPECIAL, dtype)] * 3)
    np.testing.assert_array_equal(native.apply(native.find("clamp_between"), (x, low, high)), np.minimum(np.maximum(x, low), high))


@pytest.mark.parametrize("name", ["exp", "log1p", "tanh", "sin", "tan", "asin", "atan", "sinh", "asinh", "erf", "neg", "round"])
def test_a_negative_zero_stays_one(name):
    for dtype in DTYPES:
        out = native.apply(native.role(name)[0], (np.array([-0.0, 0.0], dtype),))
        if name != "exp":
            assert list(np.signbit(out)) == ([True, False] if name != "neg" else [False, True])


@pytest.mark.parametrize(("x", "y"), [(-0.0, 3.0), (-0.0, -3.0), (-2.0, 3.0), (-2.0, 0.5), (-1.0, np.inf), (-np.inf, 3.0), (np.nan, 0.0),
                                  (1.0, np.nan), (0.0, -1.0), (-8.0, 2.0), (1e30, 2.0), (1e-30, 2.0), (-np.inf, 0.5)])  # fmt: skip
def test_powers_are_as_c_has_them(x, y):
    for dtype in DTYPES:
        with np.errstate(all="ignore"):
            expected = np.power(np.longdouble(dtype(x)), np.longdouble(dtype(y))).astype(dtype)
        found = native.apply(native.find("pow"), (np.array([x], dtype), np.array([y], dtype)))[0]
        np.testing.assert_allclose(found, expected, rtol=TOLERANCE[dtype])
        assert np.signbit(found) == np.signbit(expected) or np.isnan(expected)


# -- the driver --------------------------------------------------------------------------------------------------------

PAIRS = [
    ((), ()), ((), (3,)), ((0,), (1,)), ((3, 0), (1, 1)), ((1,), (1,)), ((5, 7), (5, 7)), ((5, 7), (7,)), ((5, 7), (5, 1)),
    ((5, 1), (1, 7)), ((2, 3, 4, 5), (3, 1, 5)), ((2, 3, 4, 5), (4, 1)), ((1000, 3), (3,)), ((3, 1000), (3, 1)), ((400, 1), (1, 300)),
    ((64, 8, 128), (8, 1)),
]  # fmt: skip


def layouts(x):
    """Return the values in several memory layouts."""
    yield x
    if x.ndim:
        yield np.asfortranarray(x)
        spaced = np.full((*x.shape[:-1], 2 * x.shape[-1] + 3), np.nan, x.dtype)
        part = spaced[..., 1 : 2 * x.shape[-1] + 1 : 2]
        part[...] = x
        yield part
        yield np.ascontiguousarray(x[..., ::-1])[..., ::-1]
        far = np.full((*x.shape, 5000), np.nan, x.dtype)[..., 7]
        if far.size < 2000:
            far[...] = x
            yield far
    if x.ndim > 1:
        yield np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 0, -1)), -1, 0)


@pytest.mark.parametrize("kernel", ["sub", "div", "atan2"])
@pytest.mark.parametrize("shapes", PAIRS, ids=str)
def test_any_shapes_and_layouts(shapes, kernel):
    rng = np.random.default_rng(0)
    function = {"sub": np.subtract, "div": np.divide, "atan2": np.arctan2}[kernel]
    x, y = (np.asarray(rng.uniform(0.5, 1.5, shape).astype(np.float32)) for shape in shapes)
    expected = function(x, y)
    for a in layouts(x):
        for b in layouts(y):
            found = native.apply(native.find(kernel), (a, b))
            assert found.shape == expected.shape
            if kernel == "atan2":
                np.testing.assert_allclose(found, expected, rtol=4e-7)
            else:
                np.testing.assert_array_equal(found, expected)


def test_results_lie_in_memory_as_numpys_do():
    x = np.arange(24.0).reshape(2, 3, 4)
    for a in (x, x.T, x.transpose(1, 0, 2), np.asfortranarray(x), x[:, ::-1], x[::-1].T):
        assert native.apply(native.find("mul"), (a, a)).strides == np.multiply(a, a).strides


@pytest.mark.parametrize(("kernel", "function"), [("add", np.add), ("atan2", np.arctan2)])
def test_an_output_may_overlap_its_inputs(kernel, function):
    k = native.find(kernel)
    for n in (10, 5000):
        for inside, outside in [(slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None)), (slice(None), slice(None)),
                                (slice(None, None, -1), slice(None))]:  # fmt: skip
            memory = np.random.default_rng(0).random(n)
            expected = function(memory[inside], memory[inside].copy())
            target = memory[outside]
            assert native.apply(k, (memory[inside], memory[inside]), target) is target
            np.testing.assert_allclose(target, expected, rtol=1e-14)
        square = np.random.default_rng(1).random((n // 10, n // 10))
        expected = function(square, square.T)
        native.apply(k, (square, square.T), square)
        np.testing.assert_allclose(square, expected, rtol=1e-14)


def test_outputs_that_cannot_take_the_result_are_left_to_numpy():
    k, x = native.find("add"), np.ones(4)
    read_only = np.zeros(4)
    read_only.flags.writeable = False
    for out in (np.zeros(3), np.zeros((1, 4)), np.zeros(4, np.float32), read_only, np.lib.stride_tricks.as_strided(np.zeros(1), (4,), (0,))):
        assert native.apply(k, (x, x), out) is None


@pytest.mark.parametrize("operands", [(np.ones(2, int), 1.0), (np.ones(2), np.ones(2, np.float32)), (1.0, 2.0), (np.ones(2), None),
                                      (np.ones(2), np.ones(3)), (np.ones(2), True), (np.ones(2), 2**60), (np.ones(2, ">f8"), 1.0),
                                      (np.ones(2), 1j), (np.ones(2, np.float16), 1.0)], ids=str)  # fmt: skip
def test_other_operands_are_left_to_numpy(operands):
    assert native.apply(native.find("add"), operands) is None


def test_numbers_are_operands():
    x = np.array([1.5, -2.0], np.float32)
    for number in (3, 0.1, -1e300, float("nan")):
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(native.apply(native.find("sub"), (number, x)), number - x)
            np.testing.assert_array_equal(native.apply(native.find("atan2"), (x, number)).astype(np.float16), np.arctan2(x, np.float32(number)).astype(np.float16))


@pytest.mark.parametrize("n_threads", range(1, 9))
def test_any_number_of_threads(n_threads):
    before = native.get_num_threads()
    rng = np.random.default_rng(0)
    try:
        native.set_num_threads(n_threads)
        for shape in [(300_001,), (3, 100_003), (100_003, 3), (70, 60, 50), (2, 2, 100_000)]:
            x, y = rng.random(shape, np.float32), rng.random(shape[-1:], np.float32)
            for a in (x, x[..., ::-1], np.asfortranarray(x)):
                np.testing.assert_array_equal(native.apply(native.find("mul"), (a, y)), a * y)
                np.testing.assert_allclose(native.apply(native.find("exp"), (a,)), np.exp(a), rtol=3e-7)
    finally:
        native.set_num_threads(before)


# -- CPU levels and the table ------------------------------------------------------------------------------------------

DUMP = """
import sys, numpy as np
from wengert.kernels import native
rng = np.random.default_rng(0)
results = {}
for dtype in (np.float32, np.float64):
    x = [np.concatenate([rng.uniform(-9, 9, 500), [0.0, np.inf, -np.inf, np.nan, 1e9]]).astype(dtype) for _ in range(4)]
    for kernel, name in enumerate(native.names()):
        for n in range(1, 5):
            try:
                results[f"{name} {dtype.__name__}"] = native.apply(kernel, tuple(x[:n]))
                break
            except ValueError:
                pass
np.savez(sys.argv[1], level=native.level, **results)
"""


def dump(level, path):
    return subprocess.run([sys.executable, "-c", DUMP, str(path)], env=os.environ | {"WENGERT_ISA": level}, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["v3", "v4"])
def test_cpu_levels_agree(level, tmp_path):
    assert dump("base", tmp_path / "base.npz").returncode == 0
    done = dump(level, tmp_path / "level.npz")
    if done.returncode:
        assert "WENGERT_ISA" in done.stderr
        pytest.skip("this CPU has no such level")
    base, found = np.load(tmp_path / "base.npz"), np.load(tmp_path / "level.npz")
    assert found["level"] == level
    for key in base.files[1:]:
        name, dtype = key.split()
        if name in EXACT:
            np.testing.assert_array_equal(found[key], base[key], err_msg=key)
        else:
            limit = 1e-5 if dtype == "float32" else 1e-12
            np.testing.assert_allclose(found[key], base[key], rtol=limit, atol=limit, err_msg=key)


def test_an_unknown_level_is_refused(tmp_path):
    assert "expected base, v3 or v4" in dump("v9", tmp_path / "none").stderr


def test_tables_are_up_to_date():
    """Fails after a change of a rule. Then: make generate, and compile again."""
    done = subprocess.run([sys.executable, "-m", "wengert.ops.fuse", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
