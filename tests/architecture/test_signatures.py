"""inspect.signature of public callables: what the stubs say, on the compiled core and the uncompiled one. They pickle by name."""

from __future__ import annotations

import ast
import inspect
import pickle
import pydoc
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import wengert
import wengert.nn.functional as F
from wengert import ops

PACKAGE = Path(wengert.__file__).parent
NAMESPACES = {"": "__init__", "nn.functional": "nn/functional", "linalg": "linalg", "special": "special", "fft": "fft", "masked": "masked"}
KINDS = inspect._ParameterKind


def declared(body: list[ast.stmt]) -> dict[str, list[ast.FunctionDef]]:
    """Overloads of each function in a stub."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef) and not any(ast.unparse(d).endswith((".setter", ".deleter")) for d in node.decorator_list):
            found.setdefault(node.name, []).append(node)
    return found


def parameters(function: ast.FunctionDef) -> list[tuple[str, Any, str]]:
    """(name, kind, default) of each parameter in a stub. A default is a text, "" for none."""
    a = function.args
    positional = [*a.posonlyargs, *a.args]
    defaults = [""] * (len(positional) - len(a.defaults)) + [ast.unparse(d) for d in a.defaults]
    kinds = [KINDS.POSITIONAL_ONLY] * len(a.posonlyargs) + [KINDS.POSITIONAL_OR_KEYWORD] * len(a.args)
    found = [(p.arg, kind, d) for p, kind, d in zip(positional, kinds, defaults, strict=True)]
    if a.vararg:
        found.append((a.vararg.arg, KINDS.VAR_POSITIONAL, ""))
    found += [(p.arg, KINDS.KEYWORD_ONLY, "" if d is None else ast.unparse(d)) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    if a.kwarg:
        found.append((a.kwarg.arg, KINDS.VAR_KEYWORD, ""))
    return found


def seen(function: Any) -> list[tuple[str, Any, str]]:
    """The same of a callable, by inspect.signature."""
    return [(p.name, p.kind, "" if p.default is p.empty else repr(p.default)) for p in inspect.signature(function).parameters.values()]


def agree(ours: list[tuple[str, Any, str]], stub: list[tuple[str, Any, str]]) -> bool:
    """Whether names, kinds and defaults are the same. `...` in a stub stands for any default."""
    if [(name, kind) for name, kind, _ in ours] != [(name, kind) for name, kind, _ in stub]:
        return False
    return all(mine == theirs or (theirs == "..." and mine) for (_, _, mine), (_, _, theirs) in zip(ours, stub, strict=True))


def takes(ours: list[tuple[str, Any, str]], overload: list[tuple[str, Any, str]]) -> bool:
    """Whether a signature admits one of several overloads: it names each of its keywords, and requires nothing else."""
    names, anything = {name for name, _, _ in ours}, any(kind is KINDS.VAR_POSITIONAL for _, kind, _ in ours)
    required = {name for name, kind, d in ours if not d and kind not in (KINDS.VAR_POSITIONAL, KINDS.VAR_KEYWORD)}
    given = {name for name, _, _ in overload}
    keywords = {name for name, kind, _ in overload if kind is KINDS.KEYWORD_ONLY} - {"axis", "keepdims"}
    return (keywords <= names or ours[-1][1] is KINDS.VAR_KEYWORD) and (anything or len(required) <= len(given))


def wrong(name: str, function: Any, overloads: list[list[tuple[str, Any, str]]]) -> Iterator[str]:
    try:
        ours = seen(function)
    except (TypeError, ValueError) as error:
        yield f"{name}: {error!r}"
        return
    if not (agree(ours, overloads[0]) if len(overloads) == 1 else all(takes(ours, overload) for overload in overloads)):
        yield f"{name}: {inspect.signature(function)}, the stub has {overloads}"


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_every_function_has_the_signature_of_its_stub(namespace):
    module = import_module(f"wengert.{namespace}".rstrip("."))
    body = ast.parse((PACKAGE / f"{NAMESPACES[namespace]}.pyi").read_text()).body
    stubs = declared(body)
    assert len(stubs) > 15 and set(ops.functions(namespace)) - {"vmap"} <= set(stubs) | {n for n in dir(module) if n.endswith("Tensor")}
    assert not [line for name, nodes in stubs.items() for line in wrong(name, getattr(module, name), [parameters(n) for n in nodes])]


def test_every_method_has_the_signature_of_its_stub():
    """Apart from the first parameter, and from out=, which functions alone should be given."""
    body = next(n for n in ast.parse((PACKAGE / "tensor.pyi").read_text()).body if isinstance(n, ast.ClassDef)).body
    x = wengert.ones(2, 2)
    found = []
    for name, nodes in declared(body).items():
        member = inspect.getattr_static(wengert.Tensor, name, None)
        if any(ast.unparse(d) != "overload" for d in nodes[0].decorator_list) or isinstance(member, property):
            continue
        if name in ("__init__", "__new__", "__getitem__"):  # of the C type
            continue
        stubs = [[p for p in parameters(n)[1:] if p[0] != "out"] for n in nodes]
        method = inspect.signature(getattr(x, name))
        shown = method.replace(parameters=[p for p in method.parameters.values() if p.name != "out"])

        def stand_in() -> None: ...

        stand_in.__signature__ = shown  # type: ignore[attr-defined]
        found += wrong(name, stand_in, stubs)
    assert not found


@pytest.mark.parametrize("namespace", [*NAMESPACES, "signal.windows"])
def test_functions_pickle_by_name(namespace):
    module = import_module(f"wengert.{namespace}".rstrip("."))
    for name in dir(module):
        function = getattr(module, name)
        if inspect.isroutine(function) and not name.startswith("_"):
            assert pickle.loads(pickle.dumps(function)) is function, name


def test_methods_pickle_by_name():
    for name in dir(wengert.Tensor):
        if not name.startswith("__") and inspect.isroutine(inspect.getattr_static(wengert.Tensor, name)):
            method = getattr(wengert.Tensor, name)
            assert pickle.loads(pickle.dumps(method)) is method, name


def test_process_pools_take_functions():
    x = wengert.tensor([3.0, -4.0])
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        calls = [pool.submit(function, x) for function in (F.relu, wengert.abs, wengert.linalg.norm, wengert.Tensor.square)]
        assert [call.result().tolist() for call in calls] == [[3.0, 0.0], [3.0, 4.0], 5.0, [9.0, 16.0]]


def test_help_shows_the_parameters():
    assert "conv2d(input: 'Tensor', weight: 'Tensor', bias: 'Tensor | None' = None, stride:" in pydoc.plain(pydoc.render_doc(F.conv2d))
    assert "norm(A: 'Tensor', ord: 'Number | str | None' = None" in pydoc.plain(pydoc.render_doc(wengert.linalg.norm))
    assert str(inspect.signature(wengert.ones(2).requires_grad_)) in ("(requires_grad=True)", "(requires_grad: 'bool' = True) -> 'TensorBase'")


def test_source_of_a_function_is_its_formula():
    assert "xp.tanh(x)" in inspect.getsource(wengert.tanh)
    assert inspect.getsource(wengert.zeros).startswith("@creation()\ndef zeros(")


def test_signatures_follow_arguments_that_are_refused():
    with pytest.raises(TypeError):
        inspect.signature(wengert.sum).bind(wengert.ones(2), no_such=1)
    bound = inspect.signature(wengert.sum).bind(wengert.ones(2), 0, keepdim=True)
    assert bound.arguments["dim"] == 0


def test_signatures_stay_while_overriding():
    """Overriding exchanges the code of functions for the rest of the process: signatures and second names are those of before."""
    code = """if True:
        import inspect, wengert as torch
        from wengert.overrides import TorchFunctionMode
        functions = [torch.flatten, torch.clamp, torch.Tensor.div, torch.autograd.grad, torch.nn.functional.relu, torch.Tensor.fill_]
        before = [str(inspect.signature(f)) for f in functions[:-2]]
        class Mode(TorchFunctionMode):
            def __torch_function__(self, function, types, args=(), kwargs=None):
                return function(*args, **(kwargs or {}))
        with Mode():
            torch.ones(2) + 1
        assert [str(inspect.signature(f)) for f in functions[:-2]] == before, [str(inspect.signature(f)) for f in functions[:-2]]
        assert all("args" not in str(inspect.signature(f)) for f in functions)
        print(torch.flatten(torch.ones(2, 2), start_dim=0).shape, torch.sum(torch.ones(2, 2), axis=0).shape)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "torch.Size([4]) torch.Size([2])\n"
