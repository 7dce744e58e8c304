"""NumPy alone is enough: SciPy, opt_einsum and ml_dtypes are asked for by the functions that need them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import scipy.special

from wengert.ops import matrices, plain_special

TESTS = Path(__file__).parents[1]

# The first lines of a program that cannot import the optional libraries.
WITHOUT = """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("scipy", "opt_einsum", "ml_dtypes", "torch"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.split(".")[0])
sys.meta_path.insert(0, Without())
"""


def run(code: str, **environment: str) -> str:
    """Run a program without the optional libraries, and return what it prints."""
    done = subprocess.run([sys.executable, "-c", WITHOUT + code], capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


ORDINARY = """
import numpy as np, wengert as torch, wengert.nn.functional as F
x = torch.linspace(0.1, 0.9, 12, dtype=torch.float64).reshape(3, 4).requires_grad_()
square = (x[:, :3] + 2 * torch.eye(3, dtype=torch.float64))
results = [
    torch.erf(x), torch.erfc(x), torch.erfinv(x), torch.lgamma(x), torch.digamma(x), torch.polygamma(1, x), torch.logit(x), torch.i0(x.detach()),
    F.gelu(x), torch.special.entr(x), torch.special.xlog1py(x, x), torch.special.ndtr(x), torch.einsum("ij,kj,kl->il", x, x, x),
    torch.fft.fft(x).abs(), torch.fft.irfft(torch.fft.rfft(x, dim=1), n=4, dim=1), torch.fft.fft2(x).abs(),
    torch.linalg.inv(square), torch.linalg.solve(square, x), torch.linalg.qr(square).R, torch.linalg.det(square), torch.linalg.svdvals(x),
    torch.linalg.lu_factor(square).LU, torch.linalg.cond(square), torch.linalg.cholesky_ex(square @ square.T).L,
    torch.linalg.inv_ex(square).inverse, torch.linalg.solve_triangular(square, x, upper=True),
]
x[torch.zeros(70000, dtype=torch.int64)].sum().backward()
for result in results:
    gradient = torch.autograd.grad(result.sum(), x)[0] if result.requires_grad else torch.zeros(1)
    print(repr(float(result.detach().square().sum())), repr(float(gradient.square().sum())))
print(float(x.grad[0, 0]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("pure", ["", "1"])
def test_ordinary_functions_need_numpy_alone(pure):
    """The values and gradients are those that the same program gets with SciPy."""
    alone = run(ORDINARY, WENGERT_PURE=pure).split()
    with_scipy = subprocess.run([sys.executable, "-c", ORDINARY], capture_output=True, text=True, check=True).stdout.split()
    assert len(alone) == 2 * 26 + 1
    np.testing.assert_allclose(np.array(alone, float), np.array(with_scipy, float), rtol=2e-11)


REFUSED = """
import wengert as torch
x = torch.ones(3, 3)
for call in (
    lambda: torch.special.bessel_j0(x), lambda: torch.linalg.matrix_exp(x), lambda: torch.linalg.lstsq(x, x), lambda: torch.igamma(x, x),
    lambda: torch.zeros(2, dtype=torch.bfloat16), lambda: torch.backends.opt_einsum.get_opt_einsum(),
):
    try:
        call()
    except ModuleNotFoundError as error:
        print(str(error).replace(chr(10), " | "), error.name)
print(torch.backends.opt_einsum.is_available())
"""


def test_other_functions_say_what_they_need():
    lines = run(REFUSED).splitlines()
    hint = '| Hint: pip install "wengert[full]", or pip install'
    for line, name in zip(lines, ["special_bessel_j0", "linalg_matrix_exp", "linalg_lstsq", "igamma"], strict=False):
        assert line == f"No module named 'scipy': {name}() needs SciPy. {hint} scipy scipy"
    assert lines[4].endswith(f"{hint} ml_dtypes ml_dtypes") and "needs ml_dtypes" in lines[4]
    assert lines[5].endswith(f"{hint} opt_einsum opt_einsum") and lines[6] == "False"


@pytest.mark.slow
def test_quick_tests_of_the_core_pass():
    chosen = ["core/test_engine.py", "core/test_views_inplace.py", "core/test_nodes.py", "core/test_writing.py", "core/test_sizes.py", "autograd/test_backward.py"]
    arguments = ["-q", "-m", "not slow and not exhaustive", "-p", "no:cacheprovider", *[str(TESTS / name) for name in chosen]]
    printed = run(f"import pytest\nsys.exit(pytest.main({arguments!r}))")
    assert " passed" in printed and " failed" not in printed


# -- the plain functions, compared with SciPy's --------------------------------------------------------------------------

WIDE = np.concatenate([np.linspace(-30, 30, 1999), np.linspace(-1.2, 2.2, 999), [0.0, -0.0, -3.0, 1e-8, -1e-8, 1e8, np.inf, np.nan]])
ONES = np.concatenate([np.linspace(-1, 1, 2001), [1e-20, 1 - 1e-15, 1e-10 - 1, 2.0, np.nan]])


@pytest.mark.parametrize(
    ("name", "x", "relative"),
    [("erf", WIDE, 4e-15), ("erfc", WIDE[np.abs(WIDE) < 26], 4e-15), ("gammaln", WIDE, 4e-15), ("psi", WIDE, 4e-15), ("erfinv", ONES, 4e-15),
     ("logit", np.abs(ONES), 4e-15), ("entr", ONES, 4e-15), ("i0", WIDE, 4e-15)],
)  # fmt: skip
def test_plain_special_functions(name, x, relative):
    """Errors are relative to values above 1/4, and absolute below, where zeros of the function lie."""
    wanted = getattr(scipy.special, name)(x)
    np.testing.assert_allclose(getattr(plain_special, name)(x), wanted, rtol=relative, atol=1e-15 if name != "psi" else 4e-12)


def test_plain_erfc_keeps_its_digits_far_out():
    x = np.linspace(5, 26, 99)
    np.testing.assert_allclose(plain_special.erfc(x), scipy.special.erfc(x), rtol=1e-13)


@pytest.mark.parametrize("s", [1.5, 2.0, 3.0, 8.0, 30.0])
def test_plain_zeta(s):
    q = np.concatenate([np.linspace(0.01, 50, 999), np.linspace(-5.99, -0.01, 99), [0.0, -2.0, np.inf, np.nan, 1e6]])
    np.testing.assert_allclose(plain_special.zeta(s, q), scipy.special.zeta(s, q), rtol=4e-15)


def test_plain_xlog1py():
    x, y = np.meshgrid([0.0, 1.0, -2.0, np.nan], [-1.0, 0.0, 1e-18, 3.0, np.inf, np.nan])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(plain_special.xlog1py(x, y), scipy.special.xlog1py(x, y))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (6, 3), (3, 6)])
def test_plain_getrf(dtype, shape):
    rng = np.random.default_rng(3)
    matrix = (rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype == np.complex128 else 0)).astype(dtype)
    factors, pivots, first_zero = matrices._getrf(matrix)
    k = min(shape)
    lower, upper = np.tril(factors[:, :k], -1) + np.eye(shape[0], k), np.triu(factors[:k])
    product = lower @ upper
    for i in reversed(range(k)):
        product[[i, pivots[i]]] = product[[pivots[i], i]]
    np.testing.assert_allclose(product, matrix, atol=1e-5 if dtype == np.float32 else 1e-13)
    assert first_zero == 0 and np.abs(lower).max() <= (1 + 1e-6 if dtype != np.complex128 else 1.5) and factors.dtype == dtype


def test_plain_getrf_finds_the_zero_pivot_of_lapack():
    for matrix in (np.zeros((3, 3)), np.diag([1.0, 0.0, 2.0]), np.array([[1.0, 2.0], [2.0, 4.0]]), np.eye(3)):
        assert matrices._getrf(matrix)[2] == scipy.linalg.lapack.dgetrf(matrix)[2]


def test_plain_potrf_finds_the_minor_of_lapack():
    for diagonal in ([1.0, 2.0, 3.0], [-1.0, 2.0, 3.0], [1.0, -2.0, 3.0], [1.0, 2.0, 0.0]):
        factor, order = matrices._potrf(np.diag(diagonal), lower=1)
        wanted, lapacks = scipy.linalg.lapack.dpotrf(np.diag(diagonal), lower=1)
        assert order == lapacks
        if not order:
            np.testing.assert_allclose(factor, np.tril(wanted))
