"""Compilers for the text of kernels: the host's, which runs them, and NVIDIA's, which needs no GPU."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from wengert.backends.kernels import OPTIONS

_HOST = """#include <math.h>
#include <string.h>
#define __device__
#define __forceinline__ inline __attribute__((unused))
"""


def host_library(text: str, folder: Path) -> Any:
    """Return a library of the host's functions that a source defines as extern "C". Skip the test where there is no compiler."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no compiler of C++")
    (folder / "kernels.cpp").write_text(_HOST + text)
    options = ["-O0", "-w", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run([compiler, *options, "-o", "kernels.so", "kernels.cpp"], cwd=folder, check=True, timeout=300)
    return ctypes.CDLL(str(folder / "kernels.so"))


def nvrtc() -> Any:
    """Return NVIDIA's compiler, a library that needs no GPU. Skip the test where it is not installed."""
    found = find_spec("nvidia.cuda_nvrtc") if find_spec("nvidia") else None
    paths = [path for folder in (found.submodule_search_locations if found else ()) for path in Path(folder, "lib").glob("libnvrtc.so.*")]
    if not paths:
        pytest.skip("NVIDIA's compiler is not installed (pip install nvidia-cuda-nvrtc-cu12)")
    return ctypes.CDLL(str(paths[0]))


def compiled(text: str, options: Sequence[str] = OPTIONS) -> bytes:
    """Return the machine code of a source for sm_90."""
    library, program, size = nvrtc(), ctypes.c_void_p(), ctypes.c_size_t()
    assert library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None) == 0
    given = [option.encode() for option in ("--gpu-architecture=sm_90", "-w", *options)]
    failed = library.nvrtcCompileProgram(program, len(given), (ctypes.c_char_p * len(given))(*given))
    part = "ProgramLog" if failed else "CUBIN"
    getattr(library, f"nvrtcGet{part}Size")(program, ctypes.byref(size))
    content = ctypes.create_string_buffer(size.value)
    getattr(library, f"nvrtcGet{part}")(program, content)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    assert not failed, content.value.decode()[:3000]
    return content.raw
