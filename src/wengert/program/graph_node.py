"""A compiled function as one node of an eager graph. Its backward pass is compiled, too, so it has derivatives of any order.

The node saves the tensors that the function was given and those that it reaches, and nothing else: the backward pass computes the
forward values again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.autograd import grad
from wengert.autograd.function import Function
from wengert.core.modes import grad_enabled, set_recording
from wengert.utils._pytree import tree_leaves


class CompiledFunction(Function):
    """The node of a compiled function."""

    @staticmethod
    def forward(ctx: Any, call: GraphCall, run: Any, given: Sequence[Any], *tensors: Any) -> Any:
        """Return the new tensors among the leaves of the function's result. run(inputs) makes them, without a history."""
        ctx.call = call
        ctx.given = given
        ctx.save_for_backward(*tensors)
        results = run(list(tensors[: call.n_inputs]))
        if call.needs_grad is not None:
            ctx.mark_non_differentiable(*[x for x, needs in zip(results, call.needs_grad, strict=True) if not needs])
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """Return the gradients in the tensors."""
        return None, None, None, *ctx.call.gradients(ctx.saved_tensors, ctx.given, cotangents, ctx.needs_input_grad[3:])


class GraphCall:
    """A function of tensors and numbers with a derivative in the tensors and in those that it reaches, its parameters.

    call(inputs, given) computes the result by operations that are recorded. given: numbers. reached: parameters. compiled: compiles
    functions. is_new: for each leaf of the result, whether it is a new tensor; None: all of them are. needs_grad: for each new
    tensor, whether it requires grad; None: all of them do."""

    def __init__(
        self, call: Callable[[list[Any], Sequence[Any]], Any], n_inputs: int, reached: Sequence[Any],
        compiled: Callable[[Callable[..., Any]], Any], is_new: list[bool] | None = None, needs_grad: list[bool] | None = None,
    ) -> None:  # fmt: skip
        self.call = call
        self.is_new = is_new
        self.n_inputs = n_inputs
        self.reached = reached
        self.needs_grad = needs_grad
        self._compiled = compiled
        self._derivatives: dict[tuple[bool, ...], Derivative] = {}

    def apply(self, inputs: list[Any], given: Sequence[Any], run: Callable[[list[Any]], list[Any]]) -> Any:
        """Return the new tensors of the result, with a history. run(inputs) returns them without."""
        return CompiledFunction.apply(self, run, given, *inputs, *self.reached)

    def gradients(
        self, tensors: Sequence[Any], given: Sequence[Any], cotangents: Sequence[Any], needs: Sequence[bool]
    ) -> list[Any]:
        """Return the gradients in those tensors that need one, None for the others. With a history if gradients are recorded."""
        wanted = tuple([bool(x) for x in needs])
        derivative = self._derivatives.get(wanted)
        if derivative is None:
            derivative = self._derivatives[wanted] = Derivative(self, wanted, self._compiled)
        inputs = list(tensors[: self.n_inputs])
        run = derivative.record if grad_enabled() else derivative.compiled
        found = run(inputs, list(cotangents), given)
        parts = iter(found)
        return [next(parts) if x else None for x in wanted]


class Derivative:
    """The gradients of a function in some of its inputs and parameters, as a function of inputs, cotangents and numbers."""

    def __init__(self, call: GraphCall, wanted: tuple[bool, ...], compiled: Callable[[Callable[..., Any]], Any]) -> None:
        function, n_inputs, reached, is_new = call.call, call.n_inputs, call.reached, call.is_new
        self.is_none: list[bool] = []  # of the gradients that the last run has returned

        def derive(inputs: list[Any], cotangents: list[Any], given: Sequence[Any], create_graph: bool) -> list[Any]:
            with set_recording(True):
                leaves = tree_leaves(function(inputs, given))
                results = _new_tensors(leaves, is_new)
                pairs = [(x, ct) for x, ct in zip(results, cotangents, strict=True) if x.requires_grad]
                variables = [x for x, needed in zip([*inputs, *reached], wanted, strict=True) if needed]
                outputs = [x for x, _ in pairs]
                found = grad(outputs, variables, [ct for _, ct in pairs], create_graph=create_graph, allow_unused=True)
            numbers = [x for x in leaves if isinstance(x, (int, float, complex))]  # a number that is dropped cannot be recorded
            return [*found, *numbers]

        def backward(inputs: list[Any], cotangents: list[Any], given: Sequence[Any]) -> list[Any]:
            return derive(_leaves(inputs), [ct.detach() for ct in cotangents], given, False)

        def run(both: list[Any], given: Sequence[Any]) -> list[Any]:
            found = self.compiled(both[:n_inputs], both[n_inputs:], given)[: sum(wanted)]
            self.is_none = [x is None for x in found]
            return [x for x in found if x is not None]

        def call_again(both: list[Any], given: Sequence[Any]) -> list[Any]:
            return derive(both[:n_inputs], both[n_inputs:], given, True)[: sum(wanted)]

        self.compiled = compiled(backward)
        self._reached = reached
        self._parts = run, call_again, compiled
        self._again: GraphCall | None = None

    def record(self, inputs: list[Any], cotangents: list[Any], given: Sequence[Any]) -> list[Any]:
        """Return the gradients with a history, which is one node, too."""
        run, call, compiled = self._parts
        if self._again is None:
            self._again = GraphCall(call, len(inputs) + len(cotangents), self._reached, compiled)
        found = iter(self._again.apply([*inputs, *cotangents], given, lambda both: run(both, given)))
        return [None if is_none else next(found) for is_none in self.is_none]


def _new_tensors(leaves: list[Any], is_new: list[bool] | None) -> list[Any]:
    """Return the new tensors among the leaves of a result. is_new: see GraphCall."""
    if is_new is None:
        return [x for x in leaves if x is not None]
    return [x for x, new in zip(leaves, is_new, strict=True) if new]


def _leaves(tensors: list[Any]) -> list[Any]:
    """Return tensors with the same memory, and without their history."""
    return [x.detach().requires_grad_() if x.requires_grad else x for x in tensors]
