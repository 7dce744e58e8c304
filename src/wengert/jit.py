"""torch.jit: its decorators return what they are given, so that programs run as the Python that they are.

TorchScript compiles a part of Python that means the same as Python. `script(model)` and `trace(model, inputs)` therefore return the
model itself. `trace(function, inputs)` is another name for `wengert.compile`. Saving and loading programs of TorchScript is
refused.

>>> import wengert
>>> @wengert.jit.script
... def double(x):
...     return 2 * x
>>> double(wengert.ones(2))
tensor([2., 2.])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final as Final, NamedTuple, get_args, get_origin

from wengert import errors
from wengert.compiler import compile
from wengert.futures import Future
from wengert.nn.modules.module import Module

__all__ = [
    "Attribute", "CompilationUnit", "Error", "Final", "Future", "ScriptFunction", "ScriptModule", "TracerWarning", "annotate",
    "enable_onednn_fusion", "export", "fork", "freeze", "ignore", "interface", "is_scripting", "is_tracing", "isinstance", "load",
    "onednn_fusion_enabled", "optimize_for_inference", "optimized_execution", "save", "script", "script_if_tracing",
    "script_method", "set_fusion_strategy", "strict_fusion", "trace", "trace_module", "unused", "wait",
]  # fmt: skip

_is_instance = isinstance
Error = RuntimeError  # what torch raises from compiled programs


class TracerWarning(Warning):
    """Warning of torch.jit.trace about values that a trace fixes. It is never given here: programs name it to silence it."""


class Attribute(NamedTuple):
    """A value of a ScriptModule with its type."""

    value: Any
    type: Any


class ScriptModule(Module):
    """A Module. torch compiles the methods of its subclasses."""


def script(obj: Any, *_: Any, **__: Any) -> Any:
    """Return obj, a function, module or class, as it is."""
    return obj


def trace(func: Any, example_inputs: Any = None, *_: Any, **__: Any) -> Any:
    """Return `wengert.compile(func)`, which has recorded a call with example_inputs, a tensor or a tuple of arguments.

    A module is returned as it is, and so is func without example_inputs. Unlike a trace of torch, the function goes on to obey its
    if statements, and takes other shapes than those of example_inputs."""
    if example_inputs is None or _is_instance(func, Module) or not callable(func):
        return func
    compiled = compile(func)
    compiled(*(example_inputs if _is_instance(example_inputs, tuple) else (example_inputs,)))
    return compiled


def trace_module(mod: Any, inputs: Any = None, *_: Any, **__: Any) -> Any:
    """Return mod as it is."""
    return mod


def _same(fn: Any) -> Any:
    """Return the decorated function or class as it is."""
    return fn


script_method = script_if_tracing = export = interface = _same


def ignore(drop: Any = False, **_: Any) -> Any:
    """Return the decorated function as it is: @ignore and @ignore(drop=True)."""
    return drop if callable(drop) else _same


def unused(fn: Any) -> Any:
    """Return the decorated function as it is."""
    return fn


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return the_value."""
    return the_value


def is_scripting() -> bool:
    """Whether a compiled program runs: always False."""
    return False


def is_tracing() -> bool:
    """Whether a program is being traced: always False."""
    return False


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether obj is of a type such as list[int], dict[str, Tensor] or Optional[int]; its elements are looked at.

    Raises RuntimeError for a bare list, dict or tuple."""
    if target_type in (list, dict, tuple):
        name = target_type.__name__
        example = {"list": "list[int]", "dict": "dict[int, str]", "tuple": "tuple[int, str]"}[name]
        raise RuntimeError(f"Attempted to use {name} without a contained type. Please add a contained type, e.g. {example}")
    origin, arguments = get_origin(target_type), get_args(target_type)
    if _is_instance(target_type, tuple):
        return any(isinstance(obj, kind) for kind in target_type)
    if origin is None:
        return obj is None if target_type is None else _is_instance(obj, target_type)
    if origin is list:
        return _is_instance(obj, list) and all(isinstance(x, arguments[0]) for x in obj)
    if origin is dict:
        return _is_instance(obj, dict) and all(isinstance(k, arguments[0]) and isinstance(v, arguments[1]) for k, v in obj.items())
    if origin is tuple:
        return _is_instance(obj, tuple) and len(obj) == len(arguments) and all(map(isinstance, obj, arguments))
    return any(obj is None if kind is type(None) else isinstance(obj, kind) for kind in arguments)


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """Call func now, and return a Future of its result."""
    future: Future[Any] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future[Any]) -> Any:
    """Return the result of a Future."""
    return future.wait()


def freeze(mod: Any, *_: Any, **__: Any) -> Any:
    """Return mod as it is."""
    return mod


def optimize_for_inference(mod: Any, *_: Any, **__: Any) -> Any:
    """Return mod as it is."""
    return mod


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """Return a context manager that does nothing."""
    yield


class strict_fusion:
    """Context manager that does nothing."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


def enable_onednn_fusion(enabled: bool) -> None:
    """Do nothing: no program is compiled."""


def onednn_fusion_enabled() -> bool:
    """Whether compiled programs use oneDNN: always False."""
    return False


def set_fusion_strategy(strategy: Any) -> Any:
    """Do nothing and return strategy: no program is compiled."""
    return strategy


def _refusal(what: str) -> Exception:
    return errors.MissingFeatureError(
        f"{what} is not part of wengert, which has no TorchScript. Hint: wengert.save(model.state_dict(), file) and "
        "load_state_dict keep a model's parameters, and its Python class makes the model."
    )


def save(m: Any, f: Any, *_: Any, **__: Any) -> None:
    """Raise MissingFeatureError: there is no compiled program that could be saved."""
    raise _refusal("jit.save")


def load(f: Any, *_: Any, **__: Any) -> Any:
    """Raise MissingFeatureError: files of compiled programs cannot be run."""
    raise _refusal("jit.load")


class CompilationUnit:
    """Refuses: TorchScript's source is not compiled."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise _refusal("jit.CompilationUnit")


class ScriptFunction:
    """The class of torch's compiled functions. Nothing is an instance of it here."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise _refusal("jit.ScriptFunction")


def __dir__() -> list[str]:
    return sorted(__all__)
