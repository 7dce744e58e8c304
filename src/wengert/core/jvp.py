"""The derivative of one operation along tangents: by its own rules, by its kind, or from its vjp rules.

Note [Derived tangents]
What an operation's block does not say, its kind does:
    view        the same view of the tangent
    linear      the operation itself, of the tangents, with zeros for inputs without one
    bilinear    the product rule: the operation of one input's tangent and the other inputs, summed; an input that is
                added to the product (a bias) left out, for which the last way is taken
    pointwise   the vjp rule of each input, given its tangent for a cotangent: an elementwise factor is its own transpose
and where it is none of these, or complex, where factors are conjugated:
    general     a vjp is linear in its cotangent, ct -> J' ct, so the derivative of <J' ct, t> with respect to ct is J t
That last way costs two runs of the rules and is right for everything that can be differentiated twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import engine
from wengert.core.dispatch import call, unwrap
from wengert.core.modes import NO_GRAD, flags, set_flags
from wengert.core.op import Op, Rule
from wengert.core.tensor import TensorBase, gradient_edge, is_differentiable, wrap


def output_tangents(
    op: Op, inputs: tuple[Any, ...], tangents: list[Any], params: dict[str, Any] | None, outputs: tuple[Any, ...]
) -> list[Any]:
    """The tangent of each output (tensors), None where it has none. tangents: of the inputs, None for those without."""
    if not op.rules and not op.jvps:
        return [None] * len(outputs)
    return Application(op, inputs, tangents, params, outputs).tangents_out()


class Application:
    """One call of an operation, of which the derivative is asked for: what its rules may name."""

    def __init__(
        self, op: Op, inputs: tuple[Any, ...], tangents: list[Any], params: dict[str, Any] | None, outputs: tuple[Any, ...]
    ) -> None:
        self.op = op
        self.params = op.defaults if params is None else params
        self.outputs = outputs
        arrays, _ = unwrap(op, inputs)
        self.primals = [_as_promoted(x, array) for x, array in zip(inputs, arrays, strict=True)]
        self.tangents = [
            None if t is None else _as_promoted(t, array) for t, array in zip(tangents, arrays, strict=True)
        ]

    def tangents_out(self) -> list[Any]:
        """See output_tangents."""
        found = self.sum_of_rules() if self.op.jvps else [None] * len(self.outputs)
        rest = [i for i, t in enumerate(self.tangents) if t is not None and self.has_vjp(i) and not self.has_jvp(i)]
        if rest:
            found = [_plus(a, b) for a, b in zip(found, self.derived(rest), strict=True)]
        return [None if t is None else _fit(t, out) for t, out in zip(found, self.outputs, strict=True)]

    def target(self, position: int) -> int:
        """The number that rules have for the input at a position: all from the variadic one on share one."""
        variadic = self.op.variadic
        return position if variadic < 0 else min(position, variadic)

    def has_jvp(self, position: int) -> bool:
        """Whether a jvp rule covers the input."""
        return any(self.target(position) in rule.targets for rule in self.op.jvps)

    def has_vjp(self, position: int) -> bool:
        """Whether a vjp rule does: if not, the operation is constant in it."""
        return any(self.target(position) in rule.targets for rule in self.op.rules)

    # -- the operation's own rules ---------------------------------------------------------------------------------

    def sum_of_rules(self) -> list[Any]:
        """What the jvp rules give, summed."""
        total: list[Any] = [None] * len(self.outputs)
        for rule in self.op.jvps:
            if any(t is not None and self.target(i) in rule.targets for i, t in enumerate(self.tangents)):
                result = rule.function(engine.tensor_face(), *[self.value(name) for name in rule.names])
                parts = (result,) if self.op.output_names is None else result
                total = [_plus(a, b) for a, b in zip(total, parts, strict=True)]
        return total

    def value(self, name: str) -> Any:
        """What a name in a rule's parameter list stands for."""
        op = self.op
        if name in op.param_names:
            return self.params[name]
        if name == "needs":
            return tuple([t is not None for t in self.tangents[op.variadic :]])
        if name == "out" and op.output_names is None:
            return self.outputs[0]
        if op.output_names and name in op.output_names:
            return self.outputs[op.output_names.index(name)]
        if name in op.input_names:
            return self.of_input(name, self.primals)
        if name.endswith("_t"):
            return self.of_input(name[:-2], self.tangents)
        return self.of_input(name.removesuffix("_shape"), [getattr(x, "shape", ()) for x in self.primals])

    def of_input(self, name: str, values: list[Any]) -> Any:
        """One of the values, which belong to the inputs; for a variadic input, all of its."""
        position = self.op.input_names.index(name)
        return tuple(values[position:]) if position == self.op.variadic else values[position]

    # -- derived -----------------------------------------------------------------------------------------------------

    def derived(self, positions: list[int]) -> list[Any]:
        """The outputs' tangents that the tangents of these inputs cause. See Note [Derived tangents]."""
        kind = getattr(self.op, "kind", None)
        if kind == "view":
            return self.as_outputs(self.view_of_tangent())
        if kind == "linear":
            return self.as_outputs(call(self.op, tuple(self.with_zeros(positions)), self.params))
        if kind == "bilinear":
            return self.product_rule(positions)
        if kind == "pointwise" and self.op.output_names is None and all(map(_is_real, (*self.primals, *self.outputs))):
            return self.by_factors(positions)
        return self.transposed(positions)

    def as_outputs(self, result: Any) -> list[Any]:
        """What a call of the operation returned, as a list."""
        return [result] if self.op.output_names is None else list(result)

    def view_of_tangent(self) -> Any:
        """The view that the operation gives of the tangent."""
        tangent: Any = self.tangents[0]
        if self.op.walks_memory and tangent._array.strides != self.primals[0]._array.strides:
            memory: Any = wrap(np.empty_like(self.primals[0]._array, tangent._array.dtype))
            tangent = memory.copy_(tangent)
        return call(self.op, (tangent,), self.params)

    def with_zeros(self, positions: list[int]) -> list[Any]:
        """The operation's inputs with tangents in the place of those that it is linear in."""
        inputs: list[Any] = []
        for i, (x, t) in enumerate(zip(self.primals, self.tangents, strict=True)):
            if i in positions:
                inputs.append(t)
            elif not self.has_vjp(i):
                inputs.append(x)
            else:
                inputs.append(_zero_of(x))
        return inputs

    def product_rule(self, positions: list[int]) -> list[Any]:
        """The operation of each tangent and the other inputs, summed."""
        added = self.op.added
        total: list[Any] = self.transposed([added]) if added in positions else [None] * len(self.outputs)
        for i in positions:
            if i != added:
                inputs = [*self.primals]
                inputs[i] = self.tangents[i]
                if added >= 0:
                    inputs[added] = _zero_of(inputs[added])
                parts = self.as_outputs(call(self.op, tuple(inputs), self.params))
                total = [_plus(a, b) for a, b in zip(total, parts, strict=True)]
        return total

    def by_factors(self, positions: list[int]) -> list[Any]:
        """The vjp rules of an elementwise operation on real numbers, of tangents."""
        F = engine.tensor_face()
        total = None
        shape = self.outputs[0].shape
        for i in positions:
            rule = self.vjp_rule(i)
            tangent: Any = self.tangents[i]
            if tangent.shape != shape:
                tangent = F.expand(tangent, shape)
            result = rule.function(F, tangent, *[self.value(name) for name in rule.names])
            total = _plus(total, result if len(rule.targets) == 1 else result[rule.targets.index(i)])
        return [total]

    def vjp_rule(self, position: int) -> Rule:
        """The rule for an input."""
        return next(rule for rule in self.op.rules if self.target(position) in rule.targets)

    def transposed(self, positions: list[int]) -> list[Any]:
        """The transpose of the vjp. See Note [Derived tangents]."""
        before = flags()
        recording = not before & NO_GRAD and any(
            isinstance(x, TensorBase) and x.requires_grad for x in (*self.primals, *self.tangents)
        )
        try:
            set_flags(before & ~NO_GRAD)
            cotangents = [_probe(out) for out in self.outputs]
            results = self.vjps(cotangents, positions)
            if not results:
                return [None] * len(self.outputs)
            roots: Any = [gradient_edge(r) for _, r in results]
            seeds = [self.tangents[i] for i, _ in results]
            targets: Any = [gradient_edge(ct) for ct in cotangents if ct is not None]
            set_flags(before)
            found = iter(engine.run_backward(roots, seeds, True, recording, targets, False) or ())
        finally:
            set_flags(before)
        return [None if ct is None else next(found) for ct in cotangents]

    def vjps(self, cotangents: list[Any], positions: list[int]) -> list[tuple[int, Any]]:
        """(position, cotangent of that input) for the inputs at positions, by their rules."""
        ct = cotangents[0] if self.op.output_names is None else tuple(cotangents)
        found = []
        for rule in self.op.rules:
            mine = [i for i in positions if self.target(i) in rule.targets]
            if not mine:
                continue
            result = rule.function(engine.tensor_face(), ct, *[self.value(name) for name in rule.names])
            for i in mine:
                target = self.target(i)
                part = result
                if part is not None and len(rule.targets) > 1:
                    part = part[rule.targets.index(target)]
                if part is not None and target == self.op.variadic:
                    part = part[i - target]
                if isinstance(part, TensorBase) and part.requires_grad:
                    found.append((i, _fit_input(part, self.primals[i])))
        return found


def _as_promoted(x: Any, array: Any) -> Any:
    """An input in the dtype that the operation computes in; what is no tensor as its forward gets it."""
    if not isinstance(x, TensorBase):
        return array
    return x if array is None or x._array.dtype == array.dtype else engine.tensor_face().cast(x, array.dtype)


def _zero_of(x: Any) -> Any:
    """An input of value zero, like x: a tensor, an array, a number or None."""
    if isinstance(x, TensorBase):
        return wrap(np.zeros_like(x._array))
    if isinstance(x, np.ndarray):
        return np.zeros_like(x)
    return None if x is None else type(x)(0)  # not x * 0: x may be infinite


def _is_real(x: Any) -> bool:
    return not np.iscomplexobj(x._array if isinstance(x, TensorBase) else x)


def _probe(out: Any) -> Any:
    """A cotangent of an output, to differentiate with respect to; of what value does not matter."""
    if not is_differentiable(out._array):
        return None
    cotangent: TensorBase = wrap(np.zeros(out._array.shape, out._array.dtype))
    cotangent._requires_grad = True
    return cotangent


def _plus(a: Any, b: Any) -> Any:
    """a + b, None standing for zero."""
    return b if a is None else a if b is None else a + b


def _fit(tangent: Any, out: Any) -> Any:
    """A tangent in its output's shape and dtype; None where that cannot have one."""
    if not is_differentiable(out._array):
        return None
    F = engine.tensor_face()
    if not isinstance(tangent, TensorBase):
        tangent = F.tensor(tangent, out._array.dtype)
    if tangent._array.shape != out._array.shape:
        tangent = F.expand(tangent, out._array.shape)
    return tangent if tangent._array.dtype == out._array.dtype else F.cast(tangent, out._array.dtype)


def _fit_input(cotangent: Any, primal: Any) -> Any:
    """A cotangent in its input's shape and dtype, as the engine makes it."""
    F = engine.tensor_face()
    if cotangent._array.shape != primal._array.shape:
        cotangent = F.sum_to_size(cotangent, primal._array.shape)
    return cotangent if cotangent._array.dtype == primal._array.dtype else F.cast(cotangent, primal._array.dtype)
