"""Settings of NumPy's functions on tensors that require grad: axis, keepdims, where, initial, dtype, order and out, alone and together.

Values, dtypes and shapes are NumPy's, and the derivative that of central differences.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import wengert
from loops import each
from wengert.autograd import grad

RNG = np.random.default_rng(3)
A, T = RNG.uniform(0.3, 0.9, (2, 3, 2)), RNG.normal(size=(2, 3, 2))
MASK = RNG.uniform(size=A.shape) > 0.3
MASK[0, 0] = True
AXES = [{}, {"axis": None}, {"axis": 1}, {"axis": -1}, {"axis": (0, 2)}, {"axis": (2, 1, 0)}]
ONE_AXIS = [{}, {"axis": 0}, {"axis": -1}]
KEPT = [{}, {"keepdims": True}, {"keepdims": False}]
WHERE, FIRST, DTYPE = [{}, {"where": MASK}], [{}, {"initial": 0.5}], [{}, {"dtype": np.float32}]
WHERE_AND_FIRST = [{}, {"initial": 0.5}, {"where": MASK, "initial": 0.5}]

# Names -> the settings that are combined.
SETTINGS: dict[str, list[list[dict[str, Any]]]] = {
    "sum prod nansum nanprod": [AXES, KEPT, WHERE, FIRST, DTYPE],
    "max min amax amin nanmax nanmin": [AXES, KEPT, WHERE_AND_FIRST],
    "mean nanmean": [AXES, KEPT, WHERE, DTYPE],
    "std var nanstd nanvar": [AXES, KEPT, WHERE, [{}, {"ddof": 1}, {"correction": 1}]],
    "ptp median nanmedian": [AXES, KEPT],
    "average": [AXES, KEPT, [{}, {"weights": A + 0.1}]],
    "cumsum cumprod nancumsum nancumprod": [[*ONE_AXIS, {"axis": None}], DTYPE],
    "cumulative_sum cumulative_prod": [[{"axis": 1}], DTYPE, [{}, {"include_initial": True}]],
    "diff": [ONE_AXIS, [{}, {"n": 2}], [{}, {"prepend": 0.5}, {"append": A[:1, :1, :1] * np.ones((2, 3, 2))}]],
    "flip": [AXES], "sort": [[*ONE_AXIS, {"axis": None}]], "roll": [[{"shift": 1}, {"shift": (1, 2), "axis": (0, 1)}]],
    "ravel": [[{"order": o} for o in "CFAK"]],
    "reshape": [[{"shape": (3, 4)}, {"shape": (-1, 2)}], [{"order": o} for o in "CFA"]],
    "copy": [[{}, {"order": "F"}]],
    "expand_dims": [[{"axis": 0}, {"axis": -1}, {"axis": (0, 2)}]],
    "transpose": [[{}, {"axes": (1, 0, 2)}, {"axes": (-1, 0, 1)}]],
    "moveaxis": [[{"source": 0, "destination": -1}, {"source": (0, 1), "destination": (1, 2)}]],
    "linalg.norm": [[{}, {"axis": 1}, {"axis": (0, 1)}, {"axis": (0, 1), "ord": 1}, {"axis": 1, "ord": 3}], KEPT],
    "linalg.vector_norm": [AXES, KEPT, [{}, {"ord": 3}]],
    "linalg.matrix_norm": [KEPT, [{}, {"ord": 1}, {"ord": "nuc"}]],
    "trace": [[{}, {"offset": 1}, {"axis1": 1, "axis2": 2}], DTYPE],
    "repeat": [[{"repeats": 2}, {"repeats": [1, 2, 0], "axis": 1}]],
    "take": [[{"indices": [0, 1], "axis": 1}, {"indices": 7}, {"indices": [[0, 1]], "axis": -1}], [{}, {"mode": "wrap"}, {"mode": "clip"}]],
    "quantile nanquantile": [[{"q": 0.3}, {"q": [0.2, 0.7]}], AXES, KEPT, [{}, {"method": "lower"}, {"method": "midpoint"}]],
    "clip": [[{"a_min": 0.4, "a_max": 0.7}, {"a_min": None, "a_max": 0.7}, {"min": 0.4}, {"max": A[0] + 0.01}]],
    "round": [[{}, {"decimals": 1}]],
    "exp sqrt sin": [DTYPE, [{}, {"order": "F"}]],
    "fft.fft fft.rfft": [[{}, {"n": 4}, {"axis": 1}, {"norm": "ortho"}, {"n": 2, "axis": 1, "norm": "forward"}]],
    "fft.fftn": [[{}, {"s": (2, 2), "axes": (0, 1)}, {"axes": (1,)}, {"norm": "ortho"}]],
    "unwrap": [ONE_AXIS], "gradient": [[{"axis": 0}, {"axis": (1, 0)}, {"axis": 1, "edge_order": 2}]],
    "trapezoid": [[{}, {"axis": 1}, {"dx": 0.5}]], "squeeze": [[{}]], "rot90": [[{}, {"k": 2, "axes": (1, 2)}]],
    "pad": [[{"pad_width": 1}, {"pad_width": ((0, 1), (2, 0), (0, 0))}], [{"mode": "edge"}, {"mode": "constant", "constant_values": 2.0}]],
    "tile": [[{"reps": 2}, {"reps": (2, 1, 1, 2)}]], "nan_to_num": [[{}, {"nan": 1.0}]],
}  # fmt: skip


def function_of(name: str) -> Any:
    found: Any = np
    for part in name.split("."):
        found = getattr(found, part)
    return found


def combined(settings: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [{name: value for part in parts for name, value in part.items()} for parts in product(*settings)]


def parts_of(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (list, tuple)) else [found]


def check(run: Any, settings: dict[str, Any]) -> None:
    expected = parts_of(run(A, **settings))
    x = wengert.tensor(A, requires_grad=True)
    found = parts_of(run(x, **settings))
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert isinstance(mine, wengert.Tensor) and mine.requires_grad
        assert mine.shape == np.shape(theirs) and mine.dtype == theirs.dtype, (mine.shape, mine.dtype, theirs.shape, theirs.dtype)
        tolerance = 1e-5 if mine.dtype.itemsize == 4 else 1e-11
        np.testing.assert_allclose(mine.numpy(force=True), theirs, rtol=tolerance, atol=tolerance)
    if settings.get("dtype") is np.float32:
        return
    weights = [RNG.normal(size=np.shape(part)) for part in expected]
    total = sum((part.real * wengert.tensor(w)).sum() for part, w in zip(found, weights, strict=True))
    (g,) = grad(total, x)
    step = 1e-6
    above, below = [parts_of(run(A + sign * step * T, **settings)) for sign in (1, -1)]
    slope = sum((np.real(p - q) * w).sum() for p, q, w in zip(above, below, weights, strict=True)) / (2 * step)
    np.testing.assert_allclose((g.numpy() * T).sum(), slope, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
@each("names", SETTINGS)
def test_settings_give_what_numpy_gives(names):
    for name in names.split():
        for settings in combined(SETTINGS[names]):
            try:
                function_of(name)(A, **settings)
            except (TypeError, ValueError, RuntimeWarning):  # NumPy does not combine them, or warns that nothing is left
                continue
            try:
                check(function_of(name), settings)
            except Exception as error:
                error.add_note(f"with numpy.{name} and {settings}")
                raise


WITH_OUT = {
    "sum": {"axis": 1}, "prod": {"axis": (0, 1)}, "max": {"axis": 0}, "min": {}, "mean": {"axis": 1, "keepdims": True}, "std": {"axis": 0}, "var": {},
    "cumsum": {"axis": 1}, "cumprod": {"axis": 0}, "ptp": {"axis": 2}, "median": {"axis": 0}, "nansum": {"axis": 1}, "nanmax": {}, "nanmean": {"axis": 0},
    "quantile": {"q": 0.4, "axis": 1}, "clip": {"a_min": 0.4, "a_max": 0.7}, "round": {"decimals": 1}, "take": {"indices": [1, 0], "axis": 1},
    "compress": {"condition": [True, False], "axis": 0}, "trace": {"offset": 0}, "exp": {}, "sqrt": {"where": MASK}, "negative": {},
}  # fmt: skip


@pytest.mark.parametrize("name", WITH_OUT)
def test_out_takes_the_result_and_its_history(name):
    settings = WITH_OUT[name]

    def run(a: Any, **more: Any) -> Any:
        given = {**settings, **more}
        return np.compress(given.pop("condition"), a, **given) if "condition" in given else getattr(np, name)(a, **given)

    expected = np.full(A.shape if "where" in settings else np.shape(run(A)), 7.0)
    run(A, out=expected)
    x, out = wengert.tensor(A, requires_grad=True), wengert.full(expected.shape, 7.0, dtype=wengert.float64)
    assert run(x, out=out) is out and out.requires_grad
    np.testing.assert_allclose(out.numpy(force=True), expected, rtol=1e-12)
    (g,) = grad((out * out).sum(), x)
    step = 1e-6
    above, below = [run(A + sign * step * T, out=np.full(expected.shape, 7.0)) for sign in (1, -1)]
    np.testing.assert_allclose((g.numpy() * T).sum(), ((above**2).sum() - (below**2).sum()) / (2 * step), rtol=1e-6, atol=1e-6)


def test_out_of_another_shape_is_refused_before_it_is_written():
    x, out = wengert.tensor(A, requires_grad=True), wengert.zeros(5, dtype=wengert.float64)
    with pytest.raises(ValueError, match="output array has shape"):
        np.sum(x, axis=1, out=out)
    assert not out.any() and out._version == 0
