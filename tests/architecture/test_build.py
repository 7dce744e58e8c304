"""The build: what is compiled, what runs without a compiler, and what wengert.__config__ says about it."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

import pytest

import wengert
from loops import each
from wengert import _finder, _shim

ROOT = Path(__file__).parents[2]
CORE = ROOT / "src" / "wengert" / "core"


def core_modules() -> list[str]:
    """The modules that meson.build compiles."""
    listed = re.search(r"^core_modules = \[(.*?)\]", (CORE / "meson.build").read_text(), re.MULTILINE | re.DOTALL)
    assert listed is not None
    return re.findall(r"'(\w+)'", listed[1])


def run_python(code: str, *, pure: bool) -> str:
    """Return the output of the code in a fresh interpreter, compiled if possible, or pure."""
    env = {name: value for name, value in os.environ.items() if name != "WENGERT_PURE"}
    if pure:
        env["WENGERT_PURE"] = "1"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


# Form of the sources that the build relies on.


def test_modules_with_a_pxd_are_compiled_and_no_others():
    assert sorted(core_modules()) == sorted(path.stem for path in CORE.glob("*.pxd"))


@each("name", core_modules())
def test_pxd_makes_cython_known(name):
    """Without `cimport cython` there, the types in the .py are unknown; see wengert._shim."""
    assert re.search(r"^cimport cython$", (CORE / f"{name}.pxd").read_text(), re.MULTILINE)


@each("name", core_modules())
def test_pxd_decorates_no_class(name):
    """Cython ignores that there without a word: a missing @cython.trashcan is a crash when a long graph is released."""
    assert not re.search(r"^@.*\n(@.*\n)*cdef class", (CORE / f"{name}.pxd").read_text(), re.MULTILINE)


@each("name", core_modules())
def test_thread_state_is_not_cimported(name):
    """A static variable of wk_tls.h is another one in each module that calls the header's functions: only modes may."""
    cimports = re.findall(r"^from wengert\.core\.modes cimport (.*)$", (CORE / f"{name}.pxd").read_text(), re.MULTILINE)
    assert not [line for line in cimports if re.search(r"\bwk_", line)]


@each("name", core_modules())
def test_shim_has_every_cython_name(name):
    """Code under `if cython.compiled:` never runs uncompiled. But type checkers read it, so its names count, too."""
    used = {
        node.attr
        for node in ast.walk(ast.parse((CORE / f"{name}.py").read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "cython"
    }
    assert not {attribute for attribute in used if not hasattr(_shim, attribute)}


def test_version_is_the_same_everywhere():
    declared = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())
    assert declared is not None
    assert wengert.__version__ == declared[1]
    try:
        assert importlib.metadata.version("wengert") == declared[1]
    except importlib.metadata.PackageNotFoundError:
        pass  # run from the source tree


# What runs.

WHICH = f"""
import importlib, json, sys, wengert
files = {{name: importlib.import_module("wengert.core." + name).__file__ for name in {core_modules()}}}
imported_cython = "cython" in sys.modules or "Cython" in sys.modules
print(json.dumps([files, imported_cython, wengert.__config__.info()]))
"""


def test_pure_runs_every_source():
    files, imported_cython, info = json.loads(run_python(WHICH, pure=True))
    assert {Path(file).suffix for file in files.values()} == {".py"}
    assert not imported_cython
    assert info["core"] == "python"
    assert info["why"] == "WENGERT_PURE is set"


def test_compiled_install_runs_every_extension():
    files, imported_cython, info = json.loads(run_python(WHICH, pure=False))
    if info["core"] == "python":
        pytest.skip(f"this installation has no compiled core: {info['why']}")
    assert len(set(files.values())) == 1, "all of them are in one library"
    assert files["engine"].endswith(tuple(EXTENSION_SUFFIXES))
    assert not imported_cython


def test_core_compiled_in_the_source_tree_is_not_stale():
    """`make inplace` copies the library beside its sources, and Python would go on using it after an edit."""
    library = CORE / f"_compiled{EXTENSION_SUFFIXES[0]}"
    if not library.exists() or Path(_finder.__file__).parent != CORE.parent:
        pytest.skip("the package that runs is not the source tree's, or is not compiled")
    inputs = [path for pattern in ("*.pxd", "*.h", "*.c") for path in CORE.glob(pattern)]
    for path in (*inputs, *(CORE / f"{name}.py" for name in core_modules())):
        assert library.stat().st_mtime >= path.stat().st_mtime, f"run `make inplace`: {path.name} is newer"


@pytest.mark.parametrize(("value", "pure"), [("1", True), ("yes", True), ("0", False), ("", False), (None, False)])
def test_wengert_pure_is_read_as_a_switch(monkeypatch, value, pure):
    monkeypatch.delenv("WENGERT_PURE", raising=False)
    if value is not None:
        monkeypatch.setenv("WENGERT_PURE", value)
    assert _finder.requested() is pure


def test_finders_leave_other_modules_alone():
    library = _finder._LibraryFinder("somewhere", frozenset({"wengert.core.op"}))
    for finder in (_finder._SourceFinder, library):
        assert finder.find_spec("wengert.ops.registry") is None
        assert finder.find_spec("wengert.core.no_such_module") is None
        assert finder.find_spec("numpy") is None


def test_a_module_of_the_library_can_be_asked_for_and_made_anew():
    """As the import system and tools see it: find_spec, and importlib.reload of what an extension module allows."""
    code = "from importlib import reload, util; import wengert; from wengert.core import op; spec = util.find_spec(op.__name__);"
    code += "print(spec.origin == op.__file__ == op.__spec__.origin, op.__loader__.name, reload(op) is op)"
    assert run_python(code, pure=False).split() == ["True", "wengert.core.op", "True"]


def test_config_shows_core_threads_blas_and_cpu(capsys):
    wengert.__config__.show()
    shown = capsys.readouterr().out
    info = wengert.__config__.info()
    assert re.search(rf"^core +{info['core']} \(", shown, re.MULTILINE)
    assert re.search(rf"^threads +{len(os.sched_getaffinity(0))}$", shown, re.MULTILINE)
    assert re.search(rf"^BLAS +{re.escape(info['blas']['name'])}", shown, re.MULTILINE)
    assert re.search(r"^CPU +\S", shown, re.MULTILINE)
    assert re.search(r"^SIMD +\S", shown, re.MULTILINE)


# Building, with and without a compiler. In the environment at hand: an isolated build would fetch its requirements.


def build_wheel(folder: Path, *arguments: str, compiler: str | None = None) -> subprocess.CompletedProcess[str]:
    env = dict(os.environ, PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if compiler is not None:
        env["CC"] = compiler
    command = [sys.executable, "-m", "pip", "wheel", "-v", "--no-build-isolation", "--no-deps", "--no-index"]
    command += [f"--config-settings=build-dir={folder / 'build'}", *arguments, "-w", str(folder), str(ROOT)]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


needs_build_tools = pytest.mark.skipif(
    not (ROOT / "meson.build").is_file() or find_spec("mesonpy") is None or find_spec("Cython") is None,
    reason="needs the source tree, meson-python and Cython",
)


@pytest.mark.exhaustive
@needs_build_tools
def test_without_a_compiler_a_pure_package_is_installed(tmp_path):
    built = build_wheel(tmp_path, compiler="/bin/false")
    assert built.returncode == 0, built.stderr
    output = (built.stdout + built.stderr).splitlines()
    notice = [line for line in output if "installing wengert as pure Python" in line]
    assert len(notice) == 1
    assert "no working C compiler found" in notice[0]

    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    assert not [path for path in site.rglob("*") if path.name.endswith(tuple(EXTENSION_SUFFIXES))]
    sources = {path.relative_to(ROOT / "src") for path in (ROOT / "src").rglob("*.py")}
    assert sources <= {path.relative_to(site) for path in site.rglob("*.py")}
    assert (site / "wengert" / "py.typed").is_file()

    code = f"import sys; sys.path.insert(0, {str(site)!r})\n{WHICH}"
    files, _, info = json.loads(run_python(code, pure=False))
    assert Path(files["engine"]).is_relative_to(site)
    assert (info["core"], info["why"]) == ("python", "no working C compiler found")

    importing = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(site)!r}); import wengert, wengert.nn"]
    env = {name: value for name, value in os.environ.items() if name != "WENGERT_PURE"}
    said = subprocess.run(importing, env=env, capture_output=True, text=True, check=True).stderr
    assert said.count("RuntimeWarning") == 1 and "plain Python, several times slower than compiled (no working C compiler found)" in said
    assert subprocess.run(importing, env=env | {"WENGERT_PURE": "1"}, capture_output=True, text=True, check=True).stderr == ""


@pytest.mark.exhaustive
@needs_build_tools
@pytest.mark.parametrize(
    ("refused", "core", "kernels"),
    [
        ("rows_v4.c", "compiled", "CPU level base"),
        ("vector_size", "compiled", "not compiled"),
        ("_compiled.c.o", "python", "not compiled"),
    ],
)
def test_a_compiler_that_refuses_something_ends_in_a_working_package(tmp_path, refused, core, kernels):
    """It refuses a file or an extension of C. Without newer processors' kernels, all kernels, or uncompiled. -O0 only spares time."""
    compiler = tmp_path / "compiler"
    no_vectors = "-Dvector_size=unknown -Werror=attributes" if refused == "vector_size" else ""
    compiler.write_text(f'#!/bin/sh\ncase "$*" in *{refused}*) echo "no {refused}" >&2; exit 1;; esac\nexec cc "$@" -O0 {no_vectors}\n')
    compiler.chmod(0o755)
    built = build_wheel(tmp_path, compiler=str(compiler))
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    code = f"import sys; sys.path.insert(0, {str(site)!r})\nimport json, wengert\nx = wengert.ones(3, requires_grad=True)\n"
    code += "x.exp().softmax(0).sum().backward()\nprint(json.dumps(wengert.__config__.info()))"
    info = json.loads(run_python(code, pure=False))
    assert (info["core"], info["kernels"]) == (core, kernels)
    if core == "python":
        assert info["why"] == "the C compiler failed"


@pytest.mark.exhaustive
@needs_build_tools
def test_native_enabled_fails_without_a_compiler(tmp_path):
    built = build_wheel(tmp_path, "--config-settings=setup-args=-Dnative=enabled", compiler="/bin/false")
    assert built.returncode != 0
    assert not list(tmp_path.glob("*.whl"))
