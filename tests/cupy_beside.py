"""Make each call of the stand-in's library of CuPy, too, and note where CuPy raises, waits otherwise, or gives another dtype or shape.

    python -m cupy_beside --samples 1 --dtypes float64,float32

runs samples of all operations, their derivatives and tangents, and prints what it notes, one JSON object a line.

    python -m pytest -p cupy_beside tests/core/test_devices.py

runs tests so, and fails if anything is noted. It needs CuPy, but no GPU: see cupy_without_gpu.py. tests/ops/test_cupy.py runs both."""

from __future__ import annotations

import argparse
import json
import os
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import cupy_without_gpu

cupy = cupy_without_gpu.install()

import cupyx.scipy.special as special  # noqa: E402 (CuPy comes first)

import device_library  # noqa: E402
import standin  # noqa: E402
import wengert  # noqa: E402
from op_samples.cases import by_operation  # noqa: E402
from ops import test_on_device as suite  # noqa: E402
from wengert.backends import cupy as backend  # noqa: E402
from wengert.errors import UnsupportedDtypeError  # noqa: E402

noted: dict[tuple[str, str, str], dict[str, Any]] = {}  # by function, what happened and the line of wengert that calls
calls = 0
_running = ""
_run = standin._run

# Results whose shape or dtype depends on elements, which CuPy's kernels do not compute here.
_BY_ELEMENTS = frozenset({"nonzero", "flatnonzero", "unique", "argwhere", "bincount", "compress", "eig", "repeat"})
_UNLIKE = {
    # The range is that of the elements, and these are 0.
    ("histogram", "ValueError: autodetected range of [0.0, 0.0] is not finite"),
}


def of_cupy(x: Any) -> Any:
    """Return a copy of an array of the stand-in, with the same strides, as CuPy's; the same for those in a list or tuple."""
    if type(x) is standin.Array:
        data = x.data_
        if not data.size:
            return cupy.empty(data.shape, data.dtype)
        if 0 not in data.strides and min(data.strides, default=1) > 0:
            data = data.copy("K")
        memory = cupy.cuda.UnownedMemory(data.__array_interface__["data"][0], data.nbytes, data, x.index)
        return cupy.ndarray(data.shape, data.dtype, cupy.cuda.MemoryPointer(memory, 0), data.strides)
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        return type(x)([of_cupy(y) for y in x])
    return x


def form(x: Any) -> Any:
    """Return what must be the same in both libraries: the dtype and shape of an array, the type of another object."""
    if isinstance(x, (cupy.ndarray, standin.Array)):
        return f"{x.dtype}{list(x.shape)}"
    if isinstance(x, (list, tuple)):
        return [form(y) for y in x]
    return type(x).__name__


def described(x: Any) -> str:
    if isinstance(x, (list, tuple)):
        return f"({', '.join(map(described, x))})"
    return form(x) if isinstance(x, standin.Array) else repr(x)[:40]


def function_of_cupy(function: Any) -> Callable[..., Any]:
    """Return CuPy's function for one of NumPy's or SciPy's. Raises AttributeError if there is none."""
    name = function.__name__
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        found = getattr(getattr(backend, function.__self__.__name__), name)
    elif getattr(function, "__objclass__", None) is np.ndarray:
        found = getattr(cupy.ndarray, name)
    elif isinstance(function, np.ufunc) and getattr(np, name, None) is function:
        found = getattr(backend, name)
    elif isinstance(function, np.ufunc) or function.__module__.startswith("scipy"):
        found = getattr(special, name)
    else:
        module = function.__module__.removeprefix("numpy.")
        part = {"linalg": backend.linalg, "fft": backend.fft}.get(module, backend)
        found = getattr(backend.lib.stride_tricks if name == "as_strided" else part, name)
    return found  # type: ignore[no-any-return]


def note(function: str, what: str, call: str) -> None:
    lines = [f"{f.filename.rpartition('/')[2]}:{f.lineno}" for f in traceback.extract_stack() if "/wengert/" in f.filename]
    found = noted.setdefault((function, what, lines[-1] if lines else ""), {"count": 0, "operation": _running, "call": call})
    found["count"] += 1


def beside(name: str, call: str, wanted: Any, by_standin: Callable[[], Any], by_cupy: Callable[[], Any]) -> Any:
    """Return what the stand-in makes of a call, and note what CuPy makes otherwise. wanted: whether the form of results is compared."""
    global calls
    calls += 1
    waits = standin.waits
    result = by_standin()
    waited, copies = standin.waits > waits, cupy_without_gpu.copies
    try:
        with cupy.cuda.Device(standin.current_device()):
            found = by_cupy()
    except Exception as error:
        what = f"{type(error).__name__}: {str(error)[:120]}"
        if (name, what) not in _UNLIKE:
            note(name, what, call)
        return result
    if (cupy_without_gpu.copies > copies) != waited and wanted is not None:
        note(name, "CuPy does not wait" if waited else "CuPy waits", call)
    if wanted and form(found) != form(result):
        note(name, f"CuPy's result is {form(found)}, NumPy's is {form(result)}", call)
    return result


def run(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = getattr(function, "__name__", str(function))
    arguments = ", ".join([*map(described, args), *[f"{key}={described(x)}" for key, x in kwargs.items()]])
    given, named = of_cupy(args), {key: of_cupy(x) for key, x in kwargs.items()}
    compared = name not in _BY_ELEMENTS and kwargs.get("out") is None and not name.startswith("__i")
    by_masks = name in ("at", "argwhere")  # at: the stand-in counts before; argwhere: of an array without elements CuPy waits for nothing
    return beside(
        name, f"{name}({arguments})", None if by_masks else compared,
        lambda: _run(function, args, kwargs), lambda: function_of_cupy(function)(*given, **named),
    )  # fmt: skip


def _has_mask(key: Any) -> bool:
    return any(getattr(getattr(x, "dtype", None), "kind", "") == "b" for x in (key if isinstance(key, tuple) else (key,)))


def watch() -> None:
    """Make all later calls of the stand-in's library of CuPy, too."""
    backend.start()
    standin._run = run
    read, write = standin.Array.__getitem__, standin.Array.__setitem__

    def getitem(self: Any, key: Any) -> Any:
        mine, place = of_cupy(self), of_cupy(key)
        return beside("[]", f"{form(self)}[{described(key)}]", not _has_mask(key), lambda: read(self, key), lambda: mine[place])

    def setitem(self: Any, key: Any, value: Any) -> None:
        if _has_mask(key) and isinstance(value, standin.Array) and value.ndim:
            return write(self, key, value)  # as many values as the mask has true elements
        mine, place, given = of_cupy(self), of_cupy(key), of_cupy(value)
        call = f"{form(self)}[{described(key)}] = {described(value)}"
        return beside("[]=", call, False, lambda: write(self, key, value), lambda: mine.__setitem__(place, given))

    standin.Array.__getitem__, standin.Array.__setitem__ = getitem, setitem  # type: ignore[method-assign]
    for name in ("cast", "sum_to_size", "run_kernel", "run_sum"):

        def watched(*args: Any, name: str = name, of_standin: Any = getattr(standin, name)) -> Any:
            given = [args[0] if isinstance(args[0], standin.kernels.Kernel) else of_cupy(args[0]), *map(of_cupy, args[1:])]
            call = f"{name}({', '.join(map(described, args))})"
            return beside(name, call, True, lambda: of_standin(*args), lambda: getattr(backend, name)(*given))

        setattr(standin, name, watched)


def run_case(case: Any, dtype: np.dtype) -> None:
    """Run a case with its derivatives and tangents on the stand-in, if it runs on the CPU."""
    passes: Sequence[Callable[..., Any]] = (suite.derivatives, suite.tangents) if any(d.grad for d in case.data()) else (suite.derivatives,)
    for one in passes:
        try:
            wengert.manual_seed(0)
            one(case, case.tensors(dtype), lambda t: t)
        except Exception:
            continue  # of no derivative, or not of this dtype
        wengert.manual_seed(0)
        with standin.in_use(), suppress(UnsupportedDtypeError):  # of complex numbers that a rule takes from NumPy only
            one(suite.moved(case), [suite.on_device(x) for x in case.tensors(dtype)], lambda t: t.to(device_library.a_place()))


def pytest_configure() -> None:
    watch()


def pytest_runtest_setup(item: Any) -> None:
    global _running
    _running = item.nodeid


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: Any) -> None:
    for (function, what, line), others in noted.items():
        print(f"{line} {function}: {what}: {others['call']} ({others['count']} times, first in {others['operation']})")
    print(f"{calls} calls of CuPy, {len(noted)} notes", flush=True)
    os._exit(int(bool(noted)))  # CuPy's modules do not unload without a GPU


def main() -> None:
    global _running
    parser = argparse.ArgumentParser(description="Make each call of the stand-in's library of CuPy, too.")
    parser.add_argument("--samples", type=int, default=None, help="of each operation; all by default")
    parser.add_argument("--dtypes", default="float64")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), help="I N: run part I of N")
    parser.add_argument("--operation", default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    watch()
    chosen = sorted(by_operation(lambda case: options.operation in (None, case.name)).items())
    for name, cases in chosen[options.part[0] :: options.part[1]]:
        _running = name
        for case in cases[: options.samples]:
            for dtype in options.dtypes.split(","):
                run_case(case, np.dtype(dtype))
    for (function, what, line), others in noted.items():
        print(json.dumps({"function": function, "what": what, "line": line, **others}))
    print(json.dumps({"operations": len(chosen), "calls": calls, "kernels": len(cupy_without_gpu.sources)}), flush=True)
    os._exit(0)  # CuPy's modules do not unload without a GPU


if __name__ == "__main__":
    main()
