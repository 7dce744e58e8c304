"""The functions and methods of the compiled core refuse wrong arguments: none ends the process.

Each function is called in a forked child, because a call may change the core's state.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import signal
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import wengert
from wengert.ops import OPS

_compiled = pytest.importorskip("wengert.core._compiled", reason="the core is not compiled")
pytestmark = [
    pytest.mark.skipif(os.environ.get("WENGERT_PURE") == "1", reason="the core is not compiled"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]

HOSTILE: list[Any] = [None, 3, 2**70, -1, "a", object(), (), (None,), [None, None], {}, {"index": None}, int]
NOT_CALLED = "wengert.core.trace.find_kernel"  # it makes as many values as it is told

_TYPED = re.compile(r"^cpdef [^(]*?(\w+)\((?:Op|Node|OpNode|TensorBase|GraphTask|SavedTensor|NodeHooks) ", re.MULTILINE)
# Functions whose first argument is of a class of the core.
TYPED = {
    f"wengert.core.{path.stem}.{name}"
    for path in (Path(__file__).parents[2] / "src/wengert/core").glob("*.pxd")
    for name in _TYPED.findall(path.read_text())
}


def modules() -> list[Any]:
    """The modules of the compiled core."""
    return [import_module(f"wengert.core.{name}") for name in _compiled.modules.split()]


def callables() -> Iterator[tuple[str, Any]]:
    """Yield (name, object) for each function, class and method of the compiled core."""
    for module in modules():
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) != module.__name__ or not callable(value):
                continue
            if f"{module.__name__}.{name}" == NOT_CALLED:
                continue
            yield f"{module.__name__}.{name}", value
            if isinstance(value, type):
                for method in vars(value):
                    bound = getattr(value, method, None)
                    if callable(bound) and method not in ("__class__", "__init_subclass__", "__subclasshook__", "__reduce_ex__"):
                        yield f"{module.__name__}.{name}.{method}", bound


def valid_values() -> dict[str, Any]:
    """A right value for an argument, by the class in its annotation."""
    x = wengert.ones(2, 3, requires_grad=True)
    y = x.exp()
    row = x.detach()[0]
    node = y.grad_fn
    core = {name: value for module in modules() for name, value in vars(module).items()}
    edge = core["edge_at"](node, 0)
    return {
        "Op": OPS["exp"], "TensorBase": row, "ViewInfo": row._view, "Node": node, "OpNode": node, "Edge": edge,
        "AccumulateGrad": edge.node, "NodeHooks": node._ensure_hooks(), "TensorMeta": node._meta, "Plan": node._plan,
        "RuleCall": node._plan.calls[0], "SavedTensor": node._saved[0], "VersionCounter": row._counter,
        "GraphTask": core["GraphTask"].__new__(core["GraphTask"]), "InputBuffer": core["InputBuffer"](),
        "ReadCotangent": core["ReadCotangent"](row._array, 0, False), "bool": True, "int": 0, "str": "name", "list": [x], "tuple": (x,),
        "dict": {}, "Any": x,
    }  # fmt: skip


def value_for(annotation: Any, valid: dict[str, Any]) -> Any:
    """Return a right value for an annotation, or a tensor."""
    return valid.get(str(annotation).partition("[")[0].partition(" |")[0], valid["Any"])


def argument_lists(function: Any, valid: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield wrong arguments: hostile values for all of 0 to 8 arguments, and for one argument among right ones."""
    for hostile in HOSTILE:
        for count in range(9):
            yield (hostile,) * count
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return
    right = [value_for(p.annotation, valid) for p in parameters]
    for i in range(len(right)):
        for hostile in HOSTILE:
            yield (*right[:i], hostile, *right[i + 1 :])


def deadly(functions: list[tuple[str, Any]], valid: dict[str, Any]) -> list[str]:
    """Call functions with all their wrong arguments in forked children. Return the names of those that end their child."""
    found = []
    while functions:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                for _, function in functions:
                    signal.alarm(20)
                    for arguments in argument_lists(function, valid):
                        with contextlib.suppress(BaseException):
                            function(*arguments)
                    os.write(writer, b".")
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            done = len(pipe.read())
        os.waitpid(child, 0)
        found += [name for name, _ in functions[done : done + 1]]
        functions = functions[done + 1 :]
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_no_call_of_the_compiled_core_ends_the_process():
    found = dict(callables())
    assert len(found) > 300
    valid = valid_values()
    # A setter leaves the core in a state that no other call should meet.
    alone = [[item] for item in found.items() if "set_" in item[0]]
    together = [item for item in found.items() if "set_" not in item[0]]
    assert [name for functions in [together, *alone] for name in deadly(functions, valid)] == []


def test_none_is_refused_for_an_argument_of_a_class_of_the_core():
    wrong = []
    for name, function in callables():
        with contextlib.suppress(TypeError, ValueError):
            parameters = list(inspect.signature(function).parameters.values())
            if name in TYPED:
                try:
                    function(*[None] * len(parameters))
                except TypeError:
                    continue
                wrong.append(name)
    assert len(TYPED) > 50
    assert wrong == []


@pytest.mark.parametrize("call", [
    lambda x, node: wengert.Tensor.squeeze_(None), lambda x, node: wengert.Tensor.unsqueeze_(None, 0),
    lambda x, node: wengert.Tensor.t_(None), lambda x, node: wengert.Tensor.transpose_(None, 0, 1),
    lambda x, node: wengert.Tensor.copy_(None, (1, 1)), lambda x, node: wengert.Tensor.fill_(None, 1),
    lambda x, node: wengert.Tensor.zero_(None), lambda x, node: wengert.Tensor.add_(None, 1),
    lambda x, node: wengert.Tensor.squeeze_(3), lambda x, node: type(node).register_hook(None, print),
    lambda x, node: type(node).register_hook(x, print), lambda x, node: wengert.autograd.graph.gradient_edge(None),
])  # fmt: skip
def test_methods_refuse_what_is_no_tensor_and_no_node(call):
    x = wengert.ones(2, requires_grad=True)
    with pytest.raises(TypeError):
        call(x, x.exp().grad_fn)
