"""torch.compiler and torch.compile: a function is recorded once, and later calls run the recording without Python.

See docs/compile.md for what is recorded and what is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wengert.program.compiled import Compiled, CompileError as CompileError, is_recording_here, require_compiler, reset_all
from wengert.program.files import ProgramFileError as ProgramFileError, loads
from wengert.program.loaded import Loaded

__all__ = [
    "CompileError", "ProgramFileError", "allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin",
    "disable", "is_compiling", "is_dynamo_compiling", "is_exporting", "list_backends", "load", "reset", "set_stance", "wrap_numpy",
]  # fmt: skip

_MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
_EAGER = frozenset({"eager", "aot_eager"})


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "auto",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """Return a function that does what `model` does, a function or method. Without one, return a decorator.

    The first call with arguments of a kind (structure, shapes, strides, dtypes, which require grad, Python numbers) runs `model`
    and records all that it does to tensors: forward, backward passes, writes in place, gradients, steps of optimizers, random
    numbers. Later calls run the recording. Results, gradients and versions are those of `model`. What cannot be recorded makes the
    function run eagerly, with one warning that says why and at which line.

    A recording is used as long as the Python objects that the function reaches (closure, globals, attributes) are the same. Tensors
    among them are read anew. `if` statements on tensors of one element are followed. `.programs()` of the result returns the
    recordings, `.explain()` a text about them.

    fullgraph: raise CompileError, a RuntimeError, instead of running eagerly. backend: "eager" returns `model`; "auto" and other
    names of torch's backends record; "c" writes recordings as C, which the system's compiler compiles. disable: return `model`.
    options: {"exact": True} keeps sums in the order of the eager operations, so that all results are eager's bit for bit. mode: one
    of torch's, which are the same here. A Module is returned as it is: compile the function that makes a step with it.

    Raises CCompilerError, a RuntimeError, for backend="c" if there is no C compiler, RuntimeError for another mode or option, or
    for both together.

    >>> import wengert
    >>> @wengert.compile
    ... def energy(x):
    ...     return (x * x).sum()
    >>> energy(wengert.ones(2)), energy(wengert.ones(2) * 2)
    (tensor(2.), tensor(8.))
    >>> len(energy.programs())
    1
    """
    if backend == "c":
        require_compiler()
    if model is None:
        return lambda fn: compile(
            fn, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable
        )
    if not callable(model):
        raise TypeError(f"compile() expects a function or a module, got {type(model).__name__}")
    exact = _read_options(mode, options)
    if disable or backend in _EAGER or isinstance(model, Compiled) or hasattr(model, "_compiled_call_impl"):
        return model
    return Compiled(model, fullgraph, exact, "c" if backend == "c" else "auto")


def _read_options(mode: str | None, options: dict[str, Any] | None) -> bool:
    """Return whether sums keep their order."""
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if mode is not None and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    for name, value in (options or {}).items():
        if name != "exact":
            raise RuntimeError(f"Unexpected optimization option {name}, known options are ['exact']")
        if type(value) is not bool:
            raise RuntimeError(f"Unexpected type of attr {name}, got {type(value).__name__} should be bool")
    return bool(options and options.get("exact"))


def load(path: Any) -> Any:
    """Return the programs that `compile(fn).save(path)` has written, as a function of tensors. No Python source of fn is needed.

    The function takes the tensors that were among fn's arguments, in order, in their shapes and dtypes. `.tensors` lists the
    tensors that the programs reach, such as parameters, which are in the file. Nothing of the file is executed as code.

    Raises ProgramFileError, a ValueError, for a file that is no program or is damaged, and OSError. The function raises TypeError
    for other tensors, RuntimeError if a condition has another outcome than in all recorded calls.

    >>> import tempfile, os, wengert
    >>> double = wengert.compile(lambda x: 2 * x)
    >>> double(wengert.ones(2))
    tensor([2., 2.])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     double.save(os.path.join(folder, "double"))
    ...     wengert.compiler.load(os.path.join(folder, "double"))(wengert.tensor([3.0, 4.0]))
    tensor([6., 8.])
    """
    with open(path, "rb") as file:
        return Loaded(loads(file.read()))


def is_compiling() -> bool:
    """Whether a function is being recorded by this thread."""
    return is_recording_here()


def is_dynamo_compiling() -> bool:
    """Whether a function is being recorded by this thread."""
    return is_recording_here()


def is_exporting() -> bool:
    """Whether a program is being exported: always False."""
    return False


def _same(fn: Any) -> Any:
    return fn


def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return the decorated function as it is, or what a compiled function was made from: @disable and @disable(recursive=False)."""
    return _same if fn is None else fn.function if isinstance(fn, Compiled) else fn


def allow_in_graph(fn: Any) -> Any:
    """Return the function or functions as they are."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """Return the function as it is."""
    return fn


def wrap_numpy(fn: Any) -> Any:
    """Return the function as it is: it takes NumPy arrays already."""
    return fn


def reset() -> None:
    """Forget the recordings of all compiled functions."""
    reset_all()


def cudagraph_mark_step_begin() -> None:
    """Do nothing: there are no CUDA graphs."""


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """Return the names of the backends of compile."""
    return ["auto", "eager"]


@contextmanager
def set_stance(stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None) -> Iterator[None]:
    """Return a context manager and decorator that does nothing."""
    yield


def __dir__() -> list[str]:
    return sorted(__all__)
