"""Build the package in another way than `make inplace` does: for tools that run the tests on such a build."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMPILED = ("core", "kernels")  # the parts that hold libraries


def build(folder: Path, options: Iterable[str], environment: dict[str, str] | None = None) -> Path:
    """Compile into folder/build with options of Meson, copy the sources and the libraries into folder/package, and return that."""
    meson = [sys.executable, "-m", "mesonbuild.mesonmain"]
    made, package = folder / "build", folder / "package"
    if not (made / "build.ninja").exists():
        subprocess.run([*meson, "setup", "-Dnative=enabled", *options, str(made)], cwd=ROOT, env=environment, check=True)
    subprocess.run([*meson, "compile", "-C", str(made)], cwd=ROOT, env=environment, check=True)
    shutil.rmtree(package, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.c", "*.h")
    shutil.copytree(ROOT / "src" / "wengert", package / "wengert", ignore=ignored)
    for part in COMPILED:
        for file in (made / "src" / "wengert" / part).glob("*.so"):
            shutil.copy(file, package / "wengert" / part)
    shutil.copy(made / "src" / "wengert" / "_build_facts.py", package / "wengert")
    return package
