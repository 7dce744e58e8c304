"""Import CuPy on a machine without a GPU: its host code runs as on a GPU, on arrays in main memory, and its kernels do nothing.

So CuPy itself checks the names, arguments and dtypes of every call, chooses its kernels and writes their CUDA source. Elements that
a kernel would compute stay 0. `copies` counts the copies to main memory, each of which would wait for a GPU; `sources` keeps the
text of each kernel.

CuPy's modules reach the driver through C functions that cupy_backends exports in `__pyx_capi__`. `install` replaces these by
functions of this module before the modules are loaded, and cuBLAS and its like by libraries of functions that return 0. It needs
gcc and nm. Import CuPy in a process of its own: nothing is undone.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

DEVICES = 2
CAPABILITY = 9, 0  # an H100 or H200
copies = 0
sources: dict[str, tuple[str, ...]] = {}  # the text of each kernel, and the options of its compiler

_LIBRARIES = ("cupy_backends/cuda/libs/cublas", "cupy_backends/cuda/libs/cusolver", "cupy_backends/cuda/libs/curand",
              "cupy_backends/cuda/libs/cusparse", "cupy/cuda/cufft", "cupyx/_cusolver")  # fmt: skip
# Functions of NVIDIA's libraries that write what CuPy reads at once.
_BODIES = {
    "cusolverGetProperty": "int cusolverGetProperty(int part, int *v) { *v = part == 0 ? 11 : part == 1 ? 7 : 3; return 0; }",
    **{
        f"cublas{t}getrsBatched": f"int cublas{t}getrsBatched(void *h, int o, int n, int m, void *a, int l, void *p, void *b, "
        "int k, int *info, int s) { *info = 0; return 0; }"
        for t in "SDCZ"
    },
}
_LATER = {"libcusolver": ("cusolverDnXgeev", "cusolverDnXgeev_bufferSize")}  # looked up by name at run time
_TYPES: dict[str, Any] = {
    "PyObject *": ctypes.py_object, "intptr_t": ctypes.c_ssize_t, "size_t": ctypes.c_size_t, "int": ctypes.c_int,
    "unsigned int": ctypes.c_uint, "float": ctypes.c_float, "cudaMemcpyKind": ctypes.c_int, "CUdevice": ctypes.c_int,
}  # fmt: skip
_kept: list[Any] = []  # what C code points to
_device = 0
_numbers = count(1)
_memory = ctypes.CDLL(None)
_memory.calloc.restype, _memory.calloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t] * 2
_memory.free.argtypes = [ctypes.c_void_p]


def is_possible() -> bool:
    """Whether CuPy and the programs that this needs are installed."""
    from shutil import which

    return find_spec("cupy") is not None and sys.platform == "linux" and bool(which("gcc") and which("nm"))


def _number(*_: Any) -> int:
    """Return a new handle of a stream, an event, a module or a function."""
    return next(_numbers)


def _malloc(size: int, *_: Any) -> int:
    if size > 1 << 33:  # the size of a workspace that a function of 0 has not set
        size = 1 << 12
    found: int = _memory.calloc(max(size, 1), 1)
    return found


def _copy(target: int, source: int, size: int, kind: int, *_: Any) -> None:
    global copies
    copies += kind == 2  # to main memory
    ctypes.memmove(target, source, size)


def _set_device(index: int) -> None:
    global _device
    assert 0 <= index < DEVICES
    _device = index


def _attribute(attribute: int, _: int) -> int:
    return {75: CAPABILITY[0], 76: CAPABILITY[1], 16: 132}.get(attribute, 1024)  # the last: number of multiprocessors


def _properties(_: int) -> dict[str, Any]:
    sizes = {"totalGlobalMem": 139 << 30, "multiProcessorCount": 132, "sharedMemPerBlock": 49152, "maxThreadsPerBlock": 1024}
    return {"name": b"none", "major": CAPABILITY[0], "minor": CAPABILITY[1], "warpSize": 32, **sizes}


_RUNTIME: dict[str, Callable[..., Any]] = {
    "getDeviceCount": lambda: DEVICES, "getDevice": lambda: _device, "setDevice": _set_device, "driverGetVersion": lambda: 12080,
    "runtimeGetVersion": lambda: 12080, "_getCUDAMajorVersion": lambda: 12, "deviceGetAttribute": _attribute, "malloc": _malloc,
    "mallocAsync": _malloc, "free": lambda p, *_: _memory.free(p), "freeAsync": lambda p, *_: _memory.free(p),
    "hostAlloc": _malloc, "freeHost": lambda p: _memory.free(p), "memcpy": _copy, "memcpyAsync": _copy,
    "memcpyPeer": lambda to, i, source, j, size, *_: ctypes.memmove(to, source, size) and None,
    "memcpyPeerAsync": lambda to, i, source, j, size, *_: ctypes.memmove(to, source, size) and None,
    "memset": lambda p, value, size, *_: ctypes.memset(p, value, size) and None,
    "memsetAsync": lambda p, value, size, *_: ctypes.memset(p, value, size) and None,
    "memGetInfo": lambda: (100 << 30, 139 << 30), "getDeviceProperties": _properties, "streamCreate": _number,
    "streamCreateWithFlags": _number, "streamCreateWithPriority": _number, "eventCreate": _number, "eventCreateWithFlags": _number,
    "eventElapsedTime": lambda start, end: 1.5, "streamQuery": lambda s: 0, "eventQuery": lambda e: 0, "pointerGetMemoryType": lambda p: 2, "deviceCanAccessPeer": lambda i, j: 1,
}  # fmt: skip
_DRIVER: dict[str, Callable[..., Any]] = {
    "get_build_version": lambda: 12080, "ctxGetCurrent": lambda: 1, "ctxGetDevice": lambda: _device, "moduleLoad": _number,
    "moduleLoadData": _number, "moduleGetFunction": _number, "funcGetAttribute": lambda *_: 1024, "streamGetCtx": lambda s: 1,
    "occupancyMaxActiveBlocksPerMultiprocessor": lambda *_: 8, "occupancyMaxPotentialBlockSize": lambda *_: (132, 512),
}  # fmt: skip
_NVRTC: dict[str, Callable[..., Any]] = {"getVersion": lambda: (12, 8), "getSupportedArchs": lambda: [90]}


def _replace(module: ModuleType, functions: dict[str, Callable[..., Any]]) -> None:
    """Replace what a module exports to other modules, in C and in Python. What `functions` lacks does nothing."""
    name_of, new = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_New
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    for name, capsule in list(module.__pyx_capi__.items()):
        signature = name_of(capsule)
        parts = re.fullmatch(r"(.*?)\s*\((.*)\)", signature.decode())
        if parts is None:
            continue  # a number
        given = [part.strip() for part in parts[2].split(",") if part.strip() != "void"]
        result = ctypes.py_object if parts[1].startswith("struct __pyx_obj") else _TYPES.get(parts[1])
        types = [_TYPES.get(part) or (ctypes.c_void_p if "optional_args" in part else ctypes.c_int if "skip_dispatch" in part else None)
                 for part in given]  # fmt: skip
        if result is None or None in types:
            continue  # it takes or returns a structure of C
        n = sum("__pyx" not in part for part in given)
        function = functions.get(name) or ((lambda *_: None) if parts[1] == "PyObject *" else (lambda *_: 0))
        called = ctypes.PYFUNCTYPE(result, *types)(lambda *a, function=function, n=n: function(*a[:n]))
        _kept.extend([called, signature])
        module.__pyx_capi__[name] = new(ctypes.cast(called, ctypes.c_void_p).value, signature, None)
        if hasattr(module, name):
            setattr(module, name, lambda *a, function=function, **_: function(*a))


def _load_libraries(root: Path) -> dict[str, Any]:
    """Load a library of functions that return 0 for each of NVIDIA's that CuPy's modules name. Return them by name."""
    wanted: dict[str, set[str]] = {}
    for name in _LIBRARIES:
        for path in root.glob(f"{name}.*.so"):
            listed = subprocess.run(["nm", "-D", str(path)], capture_output=True, text=True, check=True).stdout
            for function, library in re.findall(r" U (cu\w+)@(lib\S+)", listed):
                wanted.setdefault(library, set()).add(function)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for library, functions in wanted.items():
            name = library.partition(".")[0]
            texts = [_BODIES.get(f, f"int {f}(void) {{ return 0; }}") for f in sorted(functions | set(_LATER.get(name, ())))]
            source, versions, target = [Path(folder, f"{library}{end}") for end in (".c", ".map", "")]
            source.write_text("\n".join(texts))
            versions.write_text(f"{library} {{ global: *; }};\n")
            options = ["-shared", "-fPIC", "-w", f"-Wl,-soname,{library}", f"-Wl,--version-script={versions}"]
            subprocess.run(["gcc", *options, "-o", str(target), str(source)], check=True, timeout=60)
            loaded = ctypes.CDLL(str(target), mode=ctypes.RTLD_GLOBAL)
            found[name.removeprefix("lib")] = SimpleNamespace(_handle_uint=loaded._handle, abs_path=str(target))
            _kept.append(loaded)
    return found


def install() -> Any:
    """Import CuPy, and return it."""
    os.environ.update(CUPY_ACCELERATORS="", CUPY_CACHE_IN_MEMORY="1")
    found = find_spec("cupy")
    assert found is not None and found.origin is not None
    libraries = _load_libraries(Path(found.origin).parents[1])
    runtime, driver = import_module("cupy_backends.cuda.api.runtime"), import_module("cupy_backends.cuda.api.driver")
    _replace(runtime, {**_RUNTIME, "pointerGetAttributes": lambda p: runtime.PointerAttributes(_device, p, p, 2)})
    _replace(driver, _DRIVER)
    _replace(import_module("cupy_backends.cuda.libs.nvrtc"), _NVRTC)
    import_module("cuda.pathfinder").load_nvidia_dynamic_lib = lambda name, *_, **__: libraries.get(name)

    cupy = import_module("cupy")
    compiler = import_module("cupy.cuda.compiler")

    def compile_nothing(source: str, options: Any = (), arch: Any = None, filename: str = "", names: Any = None, *_: Any) -> Any:
        sources[source] = tuple(options)
        return b"", {name: name for name in names or ()}

    compiler._compile_using_nvrtc_no_warning = compile_nothing
    compiler._preprocess = lambda *_: ""
    thrust = import_module("cupy.cuda.thrust")
    for name in ("sort", "argsort", "lexsort"):
        setattr(thrust, name, lambda *_: None)
    for library in ("cusolver", "cusparse"):
        module = import_module(f"cupy_backends.cuda.libs.{library}")
        for name in dir(module):
            if "ufferSize" in name:
                size = (64, 64) if name.startswith("x") else 64
                setattr(module, name, lambda *_, size=size: size)
    cupy.cuda.set_allocator(None)  # memory is set to 0 each time
    return cupy
