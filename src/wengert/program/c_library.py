"""Compiling C source with the system's compiler, and a cache of what it made.

The cache is a folder of the user's own: $XDG_CACHE_HOME/wengert, or ~/.cache/wengert. A library's name is the hash of its source,
the compiler, its flags and its version. A file beside it has the hash of the library's bytes: a library that is damaged, or that
another user could have written, is compiled again, never loaded. See docs/adr/0055.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shlex
import stat
import subprocess
import sys
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from wengert import errors
from wengert.kernels import native

_FLAGS = ("-std=gnu99", "-shared", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-w")
_V3 = ("-mavx2", "-mfma", "-mbmi", "-mbmi2", "-mf16c", "-mlzcnt")
_LEVELS = {"v3": _V3, "v4": (*_V3, "-mavx512f", "-mavx512vl", "-mavx512bw", "-mavx512dq", "-mavx512cd")}
_SHORT = 400_000  # characters; longer sources are compiled with fewer optimizations
_TIME = 300.0  # seconds


class CCompilerError(errors.WengertError, RuntimeError):
    """There is no C compiler, or it fails, or its results cannot be kept."""


@cache
def _version_of(command: str) -> str | None:
    """Return what a compiler says about itself, or None if it does not run."""
    try:
        found = subprocess.run([*shlex.split(command), "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return found.stdout if found.returncode == 0 else None


def compiler_command() -> str:
    """Return the command of the C compiler: $CC, or the first of cc, gcc and clang. Raises CCompilerError if there is none."""
    if sys.platform == "win32":
        raise CCompilerError("programs are not compiled by a C compiler on Windows. Hint: use backend='auto'")
    for command in [os.environ["CC"]] if os.environ.get("CC") else ["cc", "gcc", "clang"]:
        if _version_of(command) is not None:
            return command
    raise CCompilerError("there is no C compiler: none of $CC, cc, gcc and clang runs. Hint: install gcc, or use backend='auto'")


def folder() -> Path:
    """Return the folder of the cache, made if it is not there. Raises CCompilerError if others may write it."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    path = (Path(base) if base.startswith(os.sep) else Path.home() / ".cache") / "wengert"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        problem = _problem_of(path)
    except (OSError, RuntimeError) as error:
        raise CCompilerError(f"the cache of compiled programs cannot be used: {error}") from error
    if problem:
        raise CCompilerError(f"the cache of compiled programs {path} {problem}. Hint: set XDG_CACHE_HOME to a folder of yours")
    return path


def _problem_of(path: Path) -> str:
    """Return why a file or folder may be someone else's, or "". Links are not followed."""
    found = path.lstat()
    if not (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
        return "is no plain file or folder"
    if found.st_uid != os.getuid():
        return "is owned by another user"
    return "can be written by other users" if found.st_mode & 0o022 else ""


class Build:
    """A library that is in the cache, or that a compiler is making. wait() gives it."""

    def __init__(self, source: str) -> None:
        command = compiler_command()
        level = "base" if native is None else native.level
        optimization = "-O3" if len(source) < _SHORT else "-O1"
        self.command = [*shlex.split(command), *_FLAGS, optimization, *_LEVELS.get(level, ())]
        version = _version_of(command)
        key = "\0".join([source, *self.command, version or "", sys.implementation.cache_tag or ""])
        self.path = folder() / f"{sha256(key.encode()).hexdigest()}.so"
        self._process: Any = None
        self._files: list[Path] = []
        if not self._is_whole():
            self._start(source)

    def _is_whole(self) -> bool:
        """Whether the library is in the cache, as it was made."""
        sums = self.path.with_suffix(".sha256")
        try:
            if _problem_of(self.path) or _problem_of(sums):
                return False
            return sums.read_text(encoding="ascii") == sha256(self.path.read_bytes()).hexdigest()
        except (OSError, ValueError):
            return False

    def _start(self, source: str) -> None:
        for suffix, text in ((".c", source), (".so", "")):
            handle, name = tempfile.mkstemp(suffix, "making-", self.path.parent)
            self._files.append(Path(name))
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(text)
        self._process = subprocess.Popen(
            [*self.command, *map(str, (self._files[0], "-o", self._files[1], "-lm"))], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        _unfinished.add(self)

    def is_done(self) -> bool:
        """Whether wait() returns at once."""
        return self._process is None or self._process.poll() is not None

    def stop(self) -> None:
        """Stop the compiler, if it works, and remove its files."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()
        self._process = None
        for path in self._files:
            with contextlib.suppress(OSError):
                path.unlink()
        _unfinished.discard(self)

    def wait(self) -> Any:
        """Return the library, a ctypes.CDLL. Raises CCompilerError if the compiler fails."""
        import ctypes

        if self._process is not None:
            try:
                _, complaint = self._process.communicate(timeout=_TIME)
                if self._process.returncode != 0:
                    raise CCompilerError(f"the C compiler fails: {complaint[-2000:]}")
                self._keep()
            except (subprocess.SubprocessError, OSError) as error:
                raise CCompilerError(f"the C compiler fails: {error}") from error
            finally:
                self.stop()
        try:
            return ctypes.CDLL(str(self.path))
        except OSError as error:
            raise CCompilerError(f"a compiled program cannot be loaded: {error}") from error

    def _keep(self) -> None:
        """Move the library into its place, and note the hash of its bytes."""
        self._files[1].chmod(0o700)
        made = sha256(self._files[1].read_bytes()).hexdigest()
        handle, name = tempfile.mkstemp(".sha256", "making-", self.path.parent)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(made)
        self._files[1].replace(self.path)
        Path(name).replace(self.path.with_suffix(".sha256"))


_unfinished: set[Build] = set()


@atexit.register
def _stop_compilers() -> None:
    for build in list(_unfinished):
        build.stop()


def load(source: str) -> Any:
    """Return the compiled library of a source: from the cache, or made by the C compiler. Raises CCompilerError."""
    return Build(source).wait()
