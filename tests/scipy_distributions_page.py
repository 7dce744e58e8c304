"""Writes docs/scipy-distributions.md: in what each method of each distribution of wengert.scipy.stats differentiates.

    PYTHONPATH=src:tests python -m scipy_distributions_page

tests/scipy/test_distributions.py compares the derivatives with finite differences. tests/documents/test_scipy_page.py holds the page
to what the calls do.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import scipy.stats

import wengert
import wengert.scipy.stats as stats
from scipy_families import CONTINUOUS, DISCRETE

PAGE = Path(__file__).parents[1] / "docs" / "scipy-distributions.md"

_HEAD = """# SciPy's distributions

<!-- Written by tests/scipy_distributions_page.py from calls of the distributions. -->

In what the methods of the distributions of `wengert.scipy.stats` differentiate. `all`: in x (or q), loc, scale and all shapes. A list
of names: in all but these shapes, for which the call raises an error that names the shape or the function of `scipy.special` that has no
derivative in it. `x loc scale`: in no shape. A dash: not at all. Discrete distributions differentiate in their real shapes;
those with no real shape have no derivative.

Outside the support the derivative is 0, as that of the value there. Results for invalid shapes are NaN. Quantiles without a formula have
derivatives up to the third order, all other methods of any order. Columns: `density` is pdf, logpdf, pmf and logpmf; `mass` cdf, logcdf,
sf and logsf; `quantile` ppf, isf, median and interval; `moments` mean, var, std and stats. `moment` and `expect`
differentiate as the density does; `expect` also in tensors that the function closes over. `fit` differentiates in the sample, where
the likelihood has a smooth maximum.

"""

# Shapes that are integers.
_INTEGERS = {
    "betabinom": "n", "betanbinom": "n", "binom": "n", "zipfian": "n", "boltzmann": "N", "hypergeom": "M n N", "nhypergeom": "M n r",
    "randint": "low high", "nchypergeom_fisher": "M n N", "nchypergeom_wallenius": "M n N", "irwinhall": "n", "kstwo": "n", "ksone": "n",
}  # fmt: skip


def _differentiates(call: object, *arguments: object, at: int) -> bool:
    given = [wengert.tensor(x, dtype=wengert.float64, requires_grad=i == at) for i, x in enumerate(arguments)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = call(*given)  # type: ignore[operator]
            if not found.requires_grad:
                return False
            found.backward()
    except (RuntimeError, TypeError):  # SciPy raises TypeError for some entropies
        return False
    return True


def outcome(name: str, method: str, shapes: tuple[float, ...]) -> str:
    """In what a method differentiates."""
    theirs, ours = getattr(scipy.stats, name), getattr(stats, name)
    names = ["p"] if name == "poisson_binom" else theirs.shapes.split(", ") if theirs.shapes else []
    real = [i for i, shape in enumerate(names) if shape not in _INTEGERS.get(name, "").split()]
    first = [] if method in ("mean", "entropy") else [0.45 if method == "ppf" else float(theirs.ppf(0.45, *shapes))]
    call = getattr(ours, method)
    missing = [names[i] for i in real if not _differentiates(call, *first, *shapes, at=i + len(first))]
    if name in CONTINUOUS:
        after = [*first, *shapes, 0.0, 1.0]
        if first and not _differentiates(call, *after, at=0):
            return "–"
        if not first and not (names and not missing) and not _differentiates(call, *after, at=len(after) - 1):
            return "–"
    elif not real:
        return "no real shape"
    elif len(missing) == len(real):
        return "–"
    if not missing:
        return "all"
    return ("x loc scale" if first else "loc scale") if len(missing) == len(real) else "not " + ", ".join(missing)


def page() -> str:
    text = _HEAD
    for title, families, methods in (
        ("Continuous", CONTINUOUS, {"density": "logpdf", "mass": "cdf", "quantile": "ppf", "moments": "mean", "entropy": "entropy"}),
        ("Discrete", DISCRETE, {"density": "logpmf", "mass": "cdf", "moments": "mean", "entropy": "entropy"}),
    ):
        text += f"## {title}\n\n| family | {' | '.join(methods)} |\n|{'---|' * (len(methods) + 1)}\n"
        for name, shapes in sorted(families.items()):
            cells = [outcome(name, method, tuple(np.asarray(s, np.float64) for s in shapes)) for method in methods.values()]
            text += f"| `{name}` | {' | '.join(cells)} |\n"
        text += "\n"
    return text.rstrip("\n") + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written: {PAGE}")
