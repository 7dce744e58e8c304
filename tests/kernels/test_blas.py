"""WENGERT_BLAS: products by a BLAS of the user's choice, each choice in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from wengert.kernels import native

pytestmark = pytest.mark.skipif(native is None, reason="kernels are not compiled")

LIBRARIES = sorted((Path(np.__file__).parents[1] / "numpy.libs").glob("*openblas*.so*"))
needs_library = pytest.mark.skipif(not LIBRARIES, reason="this NumPy brings no library to copy")

PRODUCTS = """
import numpy as np
from wengert import __config__
from wengert.kernels import rows
print(__config__.info()["products"])
rng = np.random.default_rng(0)
taken = 0
for m, k, n in [(1, 1, 1), (64, 784, 256), (100, 1, 100), (1, 300, 500), (500, 300, 1), (97, 65, 131), (8, 64, 4096), (700, 600, 500)]:
    for dtype in (np.float32, np.float64):
        for batch in ((), (3,), (2, 5)) if m * k * n < 1e7 else ((), (3,)):
            x, y = (rng.standard_normal((*batch, *shape)).astype(dtype) for shape in ((m, k), (k, n)))
            exact = np.einsum("...ij,...jk->...ik", x.astype(np.float64), y.astype(np.float64), optimize=True)
            layouts = [lambda a: a, lambda a: np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2), lambda a: np.repeat(a, 2, -2)[..., ::2, :]]
            for left in layouts:
                for right in layouts:
                    out = rows.matmul(left(x), right(y))
                    if out is None:
                        continue
                    taken += 1
                    np.testing.assert_allclose(out, exact, atol=np.finfo(dtype).eps * 16 * np.sqrt(k) * 10, rtol=1e-3 if dtype is np.float32 else 1e-10)
                    assert out.dtype == dtype and out.flags.c_contiguous
assert rows.matmul(np.ones((64, 0), np.float32), np.ones((0, 64), np.float32)).tolist() == np.zeros((64, 64)).tolist()
print(taken)
"""


def run(choice: str, program: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "WENGERT_BLAS": choice}
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)


@pytest.mark.slow
@needs_library
def test_products_by_a_library_are_right_in_every_layout(tmp_path):
    library = shutil.copy(LIBRARIES[0], tmp_path / "libmine.so")
    done = run(str(library), PRODUCTS)
    assert done.returncode == 0, done.stderr
    name, taken = done.stdout.splitlines()
    assert name == str(library) and int(taken) == (6 * 3 + 2 * 2) * 2 * 9


@pytest.mark.slow
@pytest.mark.parametrize(("choice", "name"), [("own", "wengert's own"), ("numpy", "NumPy's BLAS")])
def test_products_by_a_named_choice_are_right(choice, name):
    done = run(choice, PRODUCTS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == name


def test_own_products_are_the_default():
    done = run("", "from wengert import __config__; print(__config__.info()['products'])")
    assert done.stdout == "wengert's own\n", done.stderr


def test_a_missing_library_is_refused():
    done = run("/nowhere/libblas.so", "import wengert")
    assert "ImportError: WENGERT_BLAS=/nowhere/libblas.so: no such library can be loaded." in done.stderr
    assert "Expected own, numpy, mkl, blis, openblas or the path of a library" in done.stderr


@needs_library
def test_the_library_that_numpy_uses_is_not_set_to_one_thread():
    done = run(str(LIBRARIES[0]), "import numpy, wengert")
    assert "the process has loaded this library already; if NumPy has, WENGERT_BLAS=numpy uses it" in done.stderr


def test_a_library_without_products_is_refused(tmp_path):
    other = shutil.copy(native.__file__, tmp_path / "libother.so")
    assert "the library has no cblas_sgemm and cblas_dgemm" in run(str(other), "import wengert").stderr
