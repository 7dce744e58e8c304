"""Every C file passes gcc, clang, gcc for aarch64 and gcc with musl, and none of them warns. `make compilers` installs the last three."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from architecture.test_build import core_modules

ROOT = Path(__file__).parents[2]
CORE, KERNELS = ROOT / "src" / "wengert" / "core", ROOT / "src" / "wengert" / "kernels"
COMPILERS = ["gcc", "clang", "aarch64-linux-gnu-gcc", "musl-gcc"]


def assert_no_complaint(compiler: str, paths: list[Path]) -> None:
    """Check the syntax of the files with the compiler, and fail with its errors and warnings."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed: `make compilers`")
    if compiler not in ("gcc", "clang") and "-linux-gnu/python" in Path(sysconfig.get_config_h_filename()).read_text():
        pytest.skip(f"this Python's pyconfig.h, which is Debian's, includes a file of each architecture, and has none for {compiler}")
    folders = (np.get_include(), sysconfig.get_path("include"), CORE, KERNELS)
    command = [compiler, "-fsyntax-only", "-O1", "-Wall", "-Wextra", "-Werror"]
    command += [*(f"-I{folder}" for folder in folders), '-DWK_CORE_MODULES="node"']
    command += [] if compiler.startswith("aarch64") else ["-DWK_HAS_LEVELS"]

    def check(path: Path) -> str:
        return subprocess.run([*command, str(path)], capture_output=True, text=True, check=False).stderr

    with ThreadPoolExecutor(2) as threads:
        found = [text for text in threads.map(check, paths) if text]
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
def test_c_files_pass(compiler):
    paths = sorted([*KERNELS.glob("*.c"), *CORE.glob("*.c")])
    assert len(paths) > 30
    assert_no_complaint(compiler, paths)


@pytest.fixture(scope="module")
def translated(tmp_path_factory) -> list[Path]:
    """C files that Cython makes of the core's modules."""
    if find_spec("Cython") is None:
        pytest.skip("Cython is not installed")
    folder = tmp_path_factory.mktemp("translated")
    command = [sys.executable, str(ROOT / "tools" / "cythonize.py"), str(ROOT / "src"), str(folder), *core_modules()]
    subprocess.run(command, check=True, capture_output=True)
    return sorted(folder.glob("*.c"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("compiler", COMPILERS)
def test_translated_modules_pass(translated, compiler):
    assert len(translated) == len(core_modules())
    assert_no_complaint(compiler, translated)
