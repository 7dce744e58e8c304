"""Names of arguments: each name under which torch takes an argument is taken here, and means the same.

The calls are samples of the operations. Their arguments are given by keywords, from the last to the first. Which keywords
torch takes is found by calling it with the names in its messages, docstrings and signatures, and with NumPy's spellings.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import wengert  # noqa: E402
from op_samples.cases import Case, flatten, over_operations, tensors_in  # noqa: E402
from parity.test_ops import run, to_torch, unlike  # noqa: E402
from wengert.ops import load_all  # noqa: E402
from wengert.ops.registry import ALIASES, prefix_of  # noqa: E402

load_all()

NUMPY = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("a", "x", "x1"), "other": ("x2",)}

# Names that are not tried: a value of another meaning would be taken as a bool or a dtype.
FLAGS = {"dtype", "inplace", "keepdim", "out", "training"}

# Calls that differ, and why.
REFUSED = {
    ("Tensor.div", "x2"): "the method is called too often to look for second names",
    ("Tensor.divide", "x2"): "the method is called too often to look for second names",
    ("Tensor.true_divide", "x2"): "the method is called too often to look for second names",
}


def names_of(op: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, our function, torch's) for each public name that both packages have."""
    for name, home in [(op.name, op)] + [(name, other) for name, other in ALIASES.items() if other is op]:
        for namespace in home.namespaces:
            public = name.removeprefix(prefix_of(namespace))
            path = f"{namespace}.{public}".removeprefix(".")
            ours, theirs = find(wengert, path), find(torch, path)
            if theirs is not None and callable(theirs):
                yield f"torch.{path}", ours, theirs
        if home.method:
            method = home.method if isinstance(home.method, str) and name == op.name else name
            theirs = getattr(torch.Tensor, method, None)
            if theirs is not None:
                yield f"Tensor.{method}", getattr(wengert.Tensor, method), theirs


def find(root: Any, path: str) -> Any:
    for part in path.split("."):
        root = getattr(root, part, None)
    return root


def listed(function: Any, first: Any = None) -> list[str]:
    """Names of the parameters of one of torch's functions. first: a tensor on which a method is called."""
    if inspect.isfunction(function):
        return list(inspect.signature(function).parameters)
    error = run(function, [] if first is None else [first], {"no_such_name": 1})
    text = " ".join(line for line in str(error).splitlines() if line.startswith(" * "))
    text = text or next(iter((function.__doc__ or "").strip().splitlines()), "")
    names = re.findall(r"(?:\w+ of \w+|[\w.]+)? ?\b([A-Za-z_]\w*)(?: = [^,)]*|=[^,)]*|: ?[^,)]*)?(?=[,)])", text)
    return [name for name in dict.fromkeys(names) if name not in ("Tensor", "None", "True", "False")]


def same(ours: Any, theirs: Any) -> bool:
    """Whether results have the same shapes. Their values are compared elsewhere; random ones differ."""
    theirs = [x for x in (theirs if isinstance(theirs, (tuple, list)) else [theirs]) if isinstance(x, torch.Tensor)]
    found = tensors_in(ours)
    return len(found) != len(theirs) or [tuple(x.shape) for x in found] == [tuple(x.shape) for x in theirs]


def refused_names(case: Case, ours: Any, theirs: Any, is_method: bool) -> Iterator[tuple[str, str]]:
    """Yield (keyword, description) for each keyword that torch takes and that is refused here, or means something else."""
    inputs, params = case.tensors("float64", requires_grad=False), dict(case.params)
    twins, twin_params = [to_torch(x) for x in inputs], {k: to_torch(v) for k, v in params.items()}
    if isinstance(run(theirs, twins, twin_params), Exception) or isinstance(run(ours, inputs, params), Exception):
        return  # torch gives some parameters other names: a call by position is in test_ops
    names = listed(theirs, twins[0] if is_method else None)
    for name in list(params):
        for spelling in NUMPY.get(name, ()):
            renamed = {spelling if k == name else k: v for k, v in params.items()}
            wanted = run(theirs, twins, {spelling if k == name else k: v for k, v in twin_params.items()})
            yield from compared(spelling, run(ours, inputs, renamed), wanted)
    while len(inputs) > is_method:
        (*inputs, last), (*twins, twin) = inputs, twins
        taken = None
        for name in dict.fromkeys([*names, "self", *[s for n in names for s in NUMPY.get(n, ())]]):
            if name in params or name in FLAGS:
                continue
            wanted = run(theirs, twins, {**twin_params, name: twin})
            if not isinstance(wanted, Exception):
                taken = taken or name
                yield from compared(name, run(ours, inputs, {**params, name: last}), wanted)
        if taken is None:
            return
        params[taken], twin_params[taken] = last, twin


def compared(name: str, result: Any, wanted: Any) -> Iterator[tuple[str, str]]:
    if isinstance(wanted, Exception):
        return
    if isinstance(result, Exception):
        yield name, str(result)
    elif not same(result, wanted):
        yield name, "another result"




@pytest.mark.slow
@over_operations(lambda op: bool(op.method or op.namespaces))
def test_keywords_of_torch_are_taken(op, case):
    for name, ours, theirs in names_of(op):
        found = dict(refused_names(case, ours, theirs, name.startswith("Tensor.")))
        assert {keyword: text for keyword, text in found.items() if (name, keyword) not in REFUSED} == {}, name


# Results that differ without the argument, for reasons that parity/test_ops.py gives.
FREE = {
    "svd": "the signs of the vectors are free",
    "feature_dropout": "draws of its own",
    "poisson": "draws of its own",
    "masked_norm": "torch's norm of no elements is 0 for every order",
    "_standard_gamma_grad": "torch computes in another way",
}


def shorter_calls(case: Case) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (number of inputs, parameters) of the case's call without one parameter, without all, and without the last inputs."""
    params = case.params
    for left_out in params:
        yield len(case.sample.inputs), {name: value for name, value in params.items() if name != left_out}
    for n in range(len(case.sample.inputs), 0, -1):
        yield n, {}


@pytest.mark.slow
@over_operations(lambda op: bool(op.method or op.namespaces) and op.name.removeprefix("linalg_") not in FREE)
def test_arguments_left_out_have_the_defaults_of_torch(op, case):
    if case.is_random or "empty" in op.name:
        return
    inputs = case.wrapped(case.values("float64", writable=True))
    for name, ours, theirs in names_of(op):
        for n, params in shorter_calls(case):
            torch.manual_seed(0)
            wanted = run(theirs, [to_torch(x) for x in inputs[:n]], {k: to_torch(v) for k, v in params.items()})
            if isinstance(wanted, Exception):
                continue
            wengert.manual_seed(0)
            result = run(ours, inputs[:n], params)
            assert not isinstance(result, Exception), f"{name} with {n} inputs and {params}: {result}"
            theirs_out = [x for x in flatten(wanted) if isinstance(x, torch.Tensor)]
            assert len(tensors_in(result)) == len(theirs_out), name
            for a, b in zip(tensors_in(result), theirs_out, strict=True):
                assert unlike(a, b) is None, f"{name} with {n} inputs and {params}"
