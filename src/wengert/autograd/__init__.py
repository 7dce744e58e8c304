"""Automatic differentiation: backward, grad, the grad modes, Function, gradcheck and submodules."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any

from wengert import errors
from wengert._forks import import_late
from wengert.autograd.grad_mode import (
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from wengert.backends.selection import backend_of
from wengert.core import passes
from wengert.core.engine import run_backward
from wengert.core.passes import GradientEdge, as_gradient_list, as_tuple, input_edges, is_graph_wanted, start_of_pass
from wengert.core.saved_names import SavedTensorHandle as SavedTensor
from wengert.core.spellings import accepts_old_names
from wengert.core.stacks import user_level
from wengert.core.tensor import wrap
from wengert.ops.interception import overridable

if TYPE_CHECKING:
    from wengert.autograd import (
        anomaly_mode as anomaly_mode,
        forward_ad as forward_ad,
        function as function,
        functional as functional,
        grad_mode as grad_mode,
        graph as graph,
        profiler as profiler,
        variable as variable,
    )
    from wengert.autograd.anomaly_mode import (
        detect_anomaly as detect_anomaly,
        is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled,
        is_anomaly_enabled as is_anomaly_enabled,
        set_detect_anomaly as set_detect_anomaly,
    )
    from wengert.autograd.explanation import explain as explain
    from wengert.autograd.function import Function
    from wengert.autograd.gradcheck import gradcheck, gradgradcheck
    from wengert.autograd.variable import Variable
    from wengert.tensor import Tensor

__all__ = [
    "Function", "SavedTensor", "Variable", "backward", "enable_grad", "enforce_grad_layout_policy", "grad",
    "gradcheck", "gradgradcheck", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled",
    "is_multithreading_enabled", "no_grad", "set_grad_enabled", "set_multithreading_enabled",
]  # fmt: skip


backward = overridable(accepts_old_names(variables="tensors", retain_variables="retain_graph")(passes.backward))


@overridable
@accepts_old_names(grad_variables="grad_outputs", retain_variables="retain_graph")
def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool | None = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """Return the gradients of the sum of outputs in inputs, as a tuple, without changing any .grad.

    outputs, inputs: a tensor or GradientEdge, or a sequence of them. grad_outputs: cotangents of the outputs, as in
    backward. retain_graph, create_graph: as in backward. only_inputs: False also accumulates into .grad of all other
    leaves. allow_unused: return None for an input that the outputs do not depend on, instead of raising RuntimeError.
    materialize_grads: return zeros for it. is_grads_batched: grad_outputs have one more dimension in front; one pass runs
    for each entry, and the results have that dimension too.

    >>> import wengert
    >>> x = wengert.tensor([1.0, 2.0], requires_grad=True)
    >>> wengert.autograd.grad((x ** 3).sum(), x)
    (tensor([ 3., 12.]),)
    """
    if is_grads_batched:
        from wengert.autograd.batched import grad_of_batch

        keep = bool(create_graph if retain_graph is None else retain_graph)

        def run(cotangents: list[Any], is_last: bool) -> tuple[Any, ...]:
            found: tuple[Any, ...] = grad(
                outputs, inputs, cotangents, keep or not is_last, create_graph, True, allow_unused, False, materialize_grads
            )
            return found

        return grad_of_batch(as_tuple(outputs), inputs, as_gradient_list(grad_outputs, outputs), run)
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if allow_unused is None:
        allow_unused = materialize_grads
    inputs = as_tuple(inputs)
    if len(inputs) == 0:
        raise errors.GraphError("`inputs` argument to `grad()` cannot be empty.")
    targets = input_edges(inputs)
    gradients = as_gradient_list(grad_outputs, outputs)
    create_graph = is_graph_wanted(create_graph, gradients)
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated (defaults to True; torch ignores it now, this package does what it asks "
            "for). To accumulate gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=user_level(),
        )
    roots, cotangents = start_of_pass(as_tuple(outputs), gradients)
    keep = create_graph if retain_graph is None else retain_graph
    results: Any = run_backward(roots, cotangents, bool(keep), bool(create_graph), targets, False, not only_inputs)
    for i, result in enumerate(results):
        if result is None and (materialize_grads or not allow_unused):
            results[i] = _zeros_for_unused(inputs[i], i, materialize_grads)
    return tuple(results)


def _zeros_for_unused(x: Any, i: int, wanted: bool) -> Any:
    """Return zeros for x, the i-th input, on which no output depends. Raise an error if zeros are not wanted."""
    if not wanted:
        raise errors.UnusedInputError(
            f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set allow_unused=True if "
            "this is the desired behavior."
        )
    if isinstance(x, GradientEdge):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    return wrap(backend_of(x._array).zeros_like(x._array))


_LAZY = {  # names that are loaded when first used, and the modules of this package that define them
    "profiler": "", "profiler_util": "", "anomaly_mode": "", "explanation": "", "forward_ad": "", "functional": "",
    "detect_anomaly": "anomaly_mode", "set_detect_anomaly": "anomaly_mode", "is_anomaly_enabled": "anomaly_mode",
    "is_anomaly_check_nan_enabled": "anomaly_mode", "explain": "explanation", "NestedIOFunction": "function",
    "gradcheck": "gradcheck", "gradgradcheck": "gradcheck", "graph": "", "function": "", "Function": "function", "variable": "",
    "Variable": "variable",
}  # fmt: skip


if not TYPE_CHECKING:  # a checker would take any name

    def __getattr__(name: str) -> Any:
        home = _LAZY.get(name)
        if home is None:
            raise errors.no_such_name(__name__, name)
        if not home:
            return import_late(f"{__name__}.{name}")
        found = globals()[name] = getattr(import_late(f"{__name__}.{home}"), name)
        return found


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAZY, "forward_ad", "functional", "grad_mode", "graph", "profiler"})


class _Package(ModuleType):
    """Class of this module. Importing the module gradcheck sets the attribute gradcheck to the function, not the module."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value.gradcheck if name == "gradcheck" and isinstance(value, ModuleType) else value)


sys.modules[__name__].__class__ = _Package
