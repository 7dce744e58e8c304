"""The programs of examples/science: written for NumPy and SciPy, they give the same numbers on tensors, and right gradients."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import wengert
from wengert.autograd import forward_ad, grad

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(path.stem for path in (ROOT / "examples" / "science").glob("*.py"))


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / "science" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if name == "heat" else name for name in PROGRAMS])
def test_program_runs_on_arrays_and_differentiates_on_tensors(name):
    module = load(name)
    value = module.program(module.START)
    assert np.ndim(value) == 0 and not isinstance(value, wengert.Tensor)
    x = wengert.tensor(module.START, requires_grad=True)
    found = module.program(x)
    assert float(found.detach()) == pytest.approx(float(value), rel=1e-9)
    (gradient,) = grad(found, x)
    h = 1e-4

    def at(i, k):
        moved = module.START.copy()
        moved[i] += k * h
        return float(module.program(moved))

    for i in range(len(module.START)):
        expected = (8 * (at(i, 1) - at(i, -1)) - (at(i, 2) - at(i, -2))) / (12 * h)
        assert float(gradient[i]) == pytest.approx(expected, rel=1e-5, abs=1e-6 * max(1.0, abs(float(value)))), (name, i)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(wengert.tensor(module.START), wengert.ones(len(module.START)).double())
        tangent = forward_ad.unpack_dual(module.program(dual)).tangent
    assert float(tangent.detach()) == pytest.approx(float(gradient.sum()), rel=1e-7, abs=1e-9)


def page():
    """The page docs/science.md. `PYTHONPATH=src:tests python tests/documents/test_science.py` writes it."""
    text = (
        "# Ten programs of scientists\n\n<!-- Written by tests/documents/test_science.py from examples/science. -->\n\n"
        "Each program is written for NumPy and SciPy. Its imports name `wengert.scipy` where SciPy does not hand functions to tensors.\n"
        "Called with an array, it gives a number. Called with a tensor, it gives the same number, with gradients that\n"
        "`tests/documents/test_science.py` compares with finite differences:\n\n"
        "```python\nx = wengert.tensor(START, requires_grad=True)\nprogram(x).backward()\nx.grad\n```\n"
    )
    for name in PROGRAMS:
        source = (ROOT / "examples" / "science" / f"{name}.py").read_text(encoding="utf-8")
        text += f"\n## {name.replace('_', ' ').capitalize()}\n\n```python\n{source}```\n"
    return text


def test_the_page_shows_every_program():
    assert len(PROGRAMS) == 10
    assert (ROOT / "docs" / "science.md").read_text(encoding="utf-8") == page()


if __name__ == "__main__":
    (ROOT / "docs" / "science.md").write_text(page(), encoding="utf-8")
