"""Writes docs/numpy-functions.md: what each public function of NumPy does with a tensor that requires grad.

    PYTHONPATH=src:tests python -m numpy_page

The functions are called as core/test_numpy_functions.py calls them. tests/documents/test_numpy_page.py holds the page to it.
"""

from __future__ import annotations

import sys
import textwrap
import warnings
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "core"))
import numpy as np
import test_numpy_functions as calls
import test_numpy_polynomial as polynomials

from wengert.array_functions.refusals import hint_of

PAGE = Path(__file__).parents[1] / "docs" / "numpy-functions.md"

# What NumPy's methods and attributes of arrays are on a tensor. torch has other meanings for some names.
AS_NUMPYS = """
    T all any argmax argmin argsort clip conj diagonal dtype flatten itemsize mT mean nbytes ndim prod ravel
    real reshape round shape squeeze sum swapaxes take tolist trace view
""".split()  # noqa: SIM905
AS_TORCHS = """
    cumprod cumsum data device dot imag item max min nonzero put repeat size sort std transpose var
""".split()  # noqa: SIM905
ABSENT = """
    argpartition astype base byteswap choose compress conjugate copy ctypes dump dumps fill flags flat getfield partition
    resize searchsorted setfield setflags strides to_device tobytes tofile
""".split()  # noqa: SIM905

# What refuses, and has a derivative. What writes into arrays is not here: into tensors it differentiates.
DIFFERENTIABLE_BUT_REFUSED = """
    asarray_chkfinite asmatrix bmat from_dlpack frombuffer histogram histogram2d histogramdd kaiser lib.stride_tricks.as_strided
""".split()  # noqa: SIM905

# What was measured; see _namespaces.
FIGURES = """
| `np.sum(x)` | 1.6 | 0.8 | 0.2 |
| `np.sum(m, axis=0)` | 3.1 | 0.9 | 0.2 |
| `np.mean(m, axis=1)` | 3.1 | 1.0 | 0.2 |
| `np.max(m, axis=1)` | 2.8 | 0.8 | 0.2 |
| `np.std(x)` | 5.5 | 1.0 | 0.2 |
| `np.exp(x)` | 1.3 | 0.6 | 0.2 |
| `np.add(x, y)` | 1.4 | 0.7 | 0.2 |
| `array * x` | 1.6 | 0.6 | 0.2 |
| `np.concatenate([x, y])` | 4.1 | 1.2 | 0.2 |
| `np.stack([x, y])` | 4.6 | 1.3 | 0.3 |
| `np.where(c, x, y)` | 2.9 | 1.2 | 0.2 |
| `np.dot(x, y)` | 2.7 | 0.9 | 0.2 |
| `np.matmul(m, m)` | 1.8 | 0.9 | 0.2 |
| `np.einsum("ij,jk->ik", m, m)` | 6.2 | 1.5 | 0.4 |
| `np.linalg.solve(m, m)` | 7.1 | 1.2 | 0.2 |
| `np.linalg.norm(x)` | 5.0 | 1.0 | 0.2 |
| `np.linalg.inv(m)` | 4.6 | 0.9 | 0.2 |
| `np.reshape(x, (2, 2))` | 2.0 | 1.1 | 0.2 |
| `np.transpose(m)` | 2.0 | 1.1 | 0.2 |
| `np.clip(x, 0.3, 0.6)` | 2.7 | 1.0 | 0.2 |
| `np.cumsum(x)` | 2.3 | 0.8 | 0.2 |
| `np.outer(x, y)` | 3.3 | 1.0 | 0.2 |
| `np.tensordot(m, m, 1)` | 16.2 | 1.5 | 0.2 |
| `np.expand_dims(m, 0)` | 1.6 | 0.8 | 0.2 |
| `np.diag(x)` | 4.1 | 0.9 | 0.2 |
| `np.trace(m)` | 3.4 | 1.1 | 0.2 |
| `np.fft.fft(x)` | 11.4 | 1.0 | 0.2 |
| `np.sort(x)` | 4.1 | 1.1 | 0.2 |
| `np.zeros_like(x)` | 1.8 | 0.7 | 0.2 |
| `np.diff(x)` | 7.3 | 1.2 | 0.2 |
| `np.take(x, [0, 2])` | 5.5 | 1.0 | 0.2 |
"""

_HEAD = """# NumPy's functions

<!-- Written by tests/numpy_page.py from the calls of tests/core/test_numpy_functions.py. -->

What each public function of NumPy does with a tensor that requires grad, and with a dual tensor. First and second derivatives, backward
and forward, are compared with finite differences. The test fails if a function is added to NumPy and not listed. Another test calls
every public name and method with tensors in many places, and finds no gradient that is lost without a word.
[en/numpy.md](en/numpy.md) shows programs.

"""


def outcomes() -> dict[str, str]:
    """What became of the derivative, for each function that this version of NumPy has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: calls.check_reverse(name, calls.caller(name, arguments)) for name, arguments in calls.ROWS.items()}


def listed(names: list[str]) -> str:
    """The names, those of each namespace in a paragraph."""
    ufuncs = [name for name in names if "." in name and isinstance(getattr(np, name.split(".")[0]), np.ufunc)]
    groups = {
        "numpy": [n for n in names if "." not in n], "numpy.linalg": [n for n in names if n.startswith("linalg.")],
        "numpy.fft": [n for n in names if n.startswith("fft.")], "numpy.emath": [n for n in names if n.startswith("emath.")],
        "numpy.lib": [n for n in names if n.startswith("lib.")], "Methods of ufuncs": ufuncs,
    }  # fmt: skip
    return "".join(f"{_wrapped(f'{title}: {_in_code(sorted(found))}.')}\n\n" for title, found in groups.items() if found)


def _in_code(names: list[str]) -> str:
    return ", ".join([f"`{name}`" for name in names])


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 132, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def page() -> str:
    found = outcomes()
    differentiated = [name for name, what in found.items() if what in ("differentiated", "constant")]
    constant = [name for name, what in found.items() if what == "no number"]
    done = len(differentiated) + sum(len(polynomials.functions(family)) for family in polynomials.FAMILIES)
    share = _wrapped(
        f"{done} functions that have a derivative differentiate, those of `numpy.polynomial` in `wengert.numpy.polynomial`. "
        f"{len(DIFFERENTIABLE_BUT_REFUSED)} do not: {_in_code(DIFFERENTIABLE_BUT_REFUSED)}. This is "
        f"{100 * done / (done + len(DIFFERENTIABLE_BUT_REFUSED)):.1f} %. `numpy.ma` and `numpy.random` refuse, and are not counted."
    )
    text = f"{_HEAD}{share}\n\n## {len(differentiated)} differentiate\n\n{listed(differentiated)}"
    text += f"## {len(constant)} have nothing to differentiate\n\nTheir results are integers, conditions, text, or new memory.\n\n"
    text += listed(constant)
    refused = [name for name, what in found.items() if what in ("refused", "warned")]
    text += f"## {len(refused)} refuse\n\nThey raise an error that names the function, or warn at the line. What the error says:\n\n"
    reasons: dict[str | None, list[str]] = {}
    for name in refused:
        reasons.setdefault(hint_of("out" if name.endswith((".at", ".__call__")) else name), []).append(name)
    namespaces = _namespaces()
    lines = [f"- {_in_code(names)}. {why}" for why, names in reasons.items()]
    return text + "".join([f"{_wrapped(line, '  ')}\n" for line in lines]) + namespaces


def _namespaces() -> str:
    """The sections on NumPy's other namespaces, on methods and on time."""
    families = sum(len(polynomials.functions(family)) for family in polynomials.FAMILIES)
    points = "`polyval`, `polyvalfromroots`, `chebval`, `legval`, `hermval`, `hermeval` and `lagval`"
    rows = [
        f"**numpy.polynomial**: {families} functions in six families, and six classes. In `wengert.numpy.polynomial` all of them "
        f"differentiate, in coefficients and points. In `numpy.polynomial` itself {points} take tensors as points; coefficients that "
        "require grad raise an error that names the function. What returns the nodes of a degree (`chebpts1`, `leggauss`) has no derivative.",
        "**numpy.random**: functions, and methods of `Generator` and `RandomState`, refuse parameters that require grad. Write "
        "`loc + scale * rng.normal(size=n)`, or draw by `rsample` of `wengert.distributions`.",
        "**numpy.ma**: refuses. Masked arrays hold no history. Write `np.where(mask, 0.0, x)`, or use `wengert.masked`.",
        "**numpy.lib**: `stride_tricks.sliding_window_view` and `scimath` (`numpy.emath`) differentiate. `stride_tricks.as_strided` refuses: "
        "write `x.as_strided(size, stride)`. `array_utils`, `format`, `introspect`, `mixins` and `npyio` are not for numbers.",
        "**numpy.char, numpy.strings, numpy.rec**: not for numbers. They refuse.",
        "**Calls of Python functions**: `frompyfunc`, `apply_along_axis`, `apply_over_axes`, `piecewise` and `fromfunction` differentiate. "
        "`vectorize` refuses; `wengert.numpy.vectorize` differentiates.",
        "**like=**: `array`, `asarray`, `full`, `arange`, `zeros`, `ones`, `empty`, `eye`, `fromiter` and others return tensors with "
        "`like=x`, and refuse tensors that require grad without.",
    ]
    text = "\n## Other namespaces\n\n" + "".join([f"{_wrapped(f'- {row}', '  ')}\n" for row in rows])
    text += "\n## Methods and attributes of arrays\n\nA tensor has torch's methods. `wengert.numpy` has arrays with NumPy's.\n\n"
    for title, names in (
        (f"{len(AS_NUMPYS)} do what NumPy's do", AS_NUMPYS), (f"{len(AS_TORCHS)} do what torch's do, which differs", AS_TORCHS),
        (f"{len(ABSENT)} are not there; functions such as `np.astype(x, dtype)` are", ABSENT),
    ):  # fmt: skip
        text += f"{_wrapped(f'- {title}: {_in_code(names)}.', '  ')}\n"
    text += "\n## Time\n\n" + _wrapped(
        "Microseconds of a call by NumPy's name, how much more it takes than torch's spelling, and how much of it NumPy takes to hand over "
        "a call: tensors of four float64 that require grad, compiled core, NumPy 2.4, Python 3.11, the least of many rounds in turns, on a "
        "busy machine. `python benchmarks/numpy_calls.py` prints the table."
    )
    return f"{text}\n\n| call | microseconds | more than torch's spelling | NumPy's own |\n|---|---|---|---|\n{FIGURES.strip()}\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written: {PAGE}")
