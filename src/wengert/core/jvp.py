"""Output tangents of one operation: by its own jvp rules, by its kind, or from its vjp rules.

Note [Derived tangents]
If an operation has no jvp rule for an input, its kind says how the input's tangent t gives an output tangent:
    view        the same view of t
    linear      the operation itself, of the tangents. Inputs without a tangent are 0
    bilinear    the product rule: for each input, the operation of its tangent and the other inputs; the results are summed.
                An input that is added to the product (a bias) is 0 there, and its own tangent goes the general way
    pointwise   the vjp rule of each input, with t as the cotangent: a real elementwise factor is its own transpose
    general     all other kinds, and complex pointwise operations, whose factors are conjugated. A vjp is linear in its
                cotangent, ct -> J' ct, so the derivative of <J' ct, t> with respect to ct is J t
The general way runs the rules twice. It is right for every operation that can be differentiated twice.
"""

from __future__ import annotations

from typing import Any

from wengert.backends.selection import backend_of, elsewhere, is_array, others, run_in
from wengert.core import engine
from wengert.core.dispatch import call, unwrap
from wengert.core.modes import NO_GRAD, flags, set_flags
from wengert.core.op import Op, Rule
from wengert.core.tensor import TensorBase, gradient_edge, is_differentiable, wrap


def output_tangents(
    op: Op, inputs: tuple[Any, ...], tangents: list[Any], params: dict[str, Any] | None, outputs: tuple[Any, ...]
) -> list[Any]:
    """Return the tangent of each output: a tensor, or None. tangents: of the inputs, each a tensor or None."""
    if not op.rules and not op.jvps:
        return [None] * len(outputs)
    application = Application(op, inputs, tangents, params, outputs)
    if others and (place := elsewhere(outputs[0]._array)) is not None:
        return run_in(place, application.tangents_out)
    return application.tangents_out()


def directional_derivative(result: TensorBase, inputs: list[Any], tangents: list[Any]) -> Any:
    """Return the derivative of a recorded result along tangents of inputs that it was computed from, or None if it does not depend
    on them. The derivative is recorded. inputs: tensors, or edges. See Note [Derived tangents], the general way."""
    cotangent = wrap(_zeros_like(result._array))
    cotangent._requires_grad = True
    edges: list[Any] = [gradient_edge(x) if isinstance(x, TensorBase) else x for x in inputs]
    parts: Any = engine.run_backward([gradient_edge(result)], [cotangent], True, True, edges, False)  # type: ignore[list-item]
    found = [(part, t) for part, t in zip(parts, tangents, strict=True) if part is not None and part.requires_grad]
    if not found:
        return None
    roots: Any = [gradient_edge(part) for part, _ in found]
    target: Any = gradient_edge(cotangent)
    derivative: Any = engine.run_backward(roots, [t for _, t in found], True, True, [target], False)
    return derivative[0]


class Application:
    """One call of an operation, with all that its rules may ask for."""

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
        derived = [i for i, t in enumerate(self.tangents) if t is not None and self.has_vjp(i) and not self.has_jvp(i)]
        if derived:
            found = [_add(a, b) for a, b in zip(found, self.derive(derived), strict=True)]
        return [None if t is None else _fit_to_output(t, out) for t, out in zip(found, self.outputs, strict=True)]

    def target(self, position: int) -> int:
        """Return the number of an input in Rule.targets. All inputs from the variadic position on share one."""
        variadic = self.op.variadic
        return position if variadic < 0 else min(position, variadic)

    def has_jvp(self, position: int) -> bool:
        """Whether a jvp rule covers the input at a position."""
        return any(self.target(position) in rule.targets for rule in self.op.jvps)

    def has_vjp(self, position: int) -> bool:
        """Whether a vjp rule covers the input at a position. If not, the operation is constant in this input."""
        return any(self.target(position) in rule.targets for rule in self.op.rules)

    # -- the operation's own rules ---------------------------------------------------------------------------------

    def sum_of_rules(self) -> list[Any]:
        """Return the sum of the output tangents that the jvp rules give."""
        total: list[Any] = [None] * len(self.outputs)
        for rule in self.op.jvps:
            if any(t is not None and self.target(i) in rule.targets for i, t in enumerate(self.tangents)):
                result = rule.function(engine.tensor_face(), *[self.value(name) for name in rule.names])
                parts = (result,) if self.op.output_names is None else result
                total = [_add(a, b) for a, b in zip(total, parts, strict=True)]
        return total

    def value(self, name: str) -> Any:
        """Return the value of a name in a rule's parameter list."""
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
            return self.select_input(name, self.primals)
        if name.endswith("_t"):
            return self.select_input(name[:-2], self.tangents)
        return self.select_input(name.removesuffix("_shape"), [getattr(x, "shape", ()) for x in self.primals])

    def select_input(self, name: str, values: list[Any]) -> Any:
        """Return the entry of values, one an input, for the input of this name. A variadic input has a tuple of entries."""
        position = self.op.input_names.index(name)
        return tuple(values[position:]) if position == self.op.variadic else values[position]

    # -- derived -----------------------------------------------------------------------------------------------------

    def derive(self, positions: list[int]) -> list[Any]:
        """Return the output tangents caused by the tangents of the inputs at these positions. See Note [Derived tangents]."""
        kind = getattr(self.op, "kind", None)
        if kind == "view":
            return self.as_outputs(self.view_of_tangent())
        if kind == "linear":
            return self.as_outputs(call(self.op, tuple(self.with_zeros(positions)), self.params))
        if kind == "bilinear":
            return self.product_rule(positions)
        if kind == "pointwise" and self.op.output_names is None and all(map(_is_real, (*self.primals, *self.outputs))):
            return self.by_factors(positions)
        return self.by_transposing(positions)

    def as_outputs(self, result: Any) -> list[Any]:
        """Return the result of a call of the operation as a list of outputs."""
        return [result] if self.op.output_names is None else list(result)

    def view_of_tangent(self) -> Any:
        """Return the operation's view of the tangent."""
        tangent: Any = self.tangents[0]
        if self.op.walks_memory and tangent._array.strides != self.primals[0]._array.strides:
            memory: Any = wrap(backend_of(tangent._array).empty_like(self.primals[0]._array, tangent._array.dtype))
            tangent = memory.copy_(tangent)
        return call(self.op, (tangent,), self.params)

    def with_zeros(self, positions: list[int]) -> list[Any]:
        """Return the operation's inputs, with tangents or zeros in place of the inputs in which it is linear."""
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
        """Return the sum, over the positions, of the operation of that input's tangent and the other inputs."""
        added = self.op.added
        total: list[Any] = self.by_transposing([added]) if added in positions else [None] * len(self.outputs)
        for i in positions:
            if i != added:
                inputs = [*self.primals]
                inputs[i] = self.tangents[i]
                if added >= 0:
                    inputs[added] = _zero_of(inputs[added])
                parts = self.as_outputs(call(self.op, tuple(inputs), self.params))
                total = [_add(a, b) for a, b in zip(total, parts, strict=True)]
        return total

    def by_factors(self, positions: list[int]) -> list[Any]:
        """Return the sum of the vjp rules of a real elementwise operation, with tangents as cotangents."""
        F = engine.tensor_face()
        total = None
        shape = self.outputs[0].shape
        for i in positions:
            rule = self.vjp_rule(i)
            tangent: Any = self.tangents[i]
            if tangent.shape != shape:
                tangent = F.expand(tangent, shape)
            result = rule.function(F, tangent, *[self.value(name) for name in rule.names])
            total = _add(total, result if len(rule.targets) == 1 else result[rule.targets.index(i)])
        return [total]

    def vjp_rule(self, position: int) -> Rule:
        """Return the vjp rule for the input at a position."""
        return next(rule for rule in self.op.rules if self.target(position) in rule.targets)

    def by_transposing(self, positions: list[int]) -> list[Any]:
        """Return the output tangents by transposing the vjp. See Note [Derived tangents]."""
        before = flags()
        recording = not before & NO_GRAD and any(
            isinstance(x, TensorBase) and x.requires_grad for x in (*self.primals, *self.tangents)
        )
        try:
            set_flags(before & ~NO_GRAD)
            cotangents = [_new_cotangent(out) for out in self.outputs]
            results = self.input_cotangents(cotangents, positions)
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

    def input_cotangents(self, cotangents: list[Any], positions: list[int]) -> list[tuple[int, Any]]:
        """Return (position, cotangent of the input at that position) for each of these inputs that has a cotangent."""
        ct = cotangents[0] if self.op.output_names is None else tuple(cotangents)
        found = []
        for rule in self.op.rules:
            covered = [i for i in positions if self.target(i) in rule.targets]
            if not covered:
                continue
            result = rule.function(engine.tensor_face(), ct, *[self.value(name) for name in rule.names])
            for i in covered:
                target = self.target(i)
                part = result
                if part is not None and len(rule.targets) > 1:
                    part = part[rule.targets.index(target)]
                if part is not None and target == self.op.variadic:
                    part = part[i - target]
                if isinstance(part, TensorBase) and part.requires_grad:
                    found.append((i, _fit_to_input(part, self.primals[i])))
        return found


def _as_promoted(x: Any, array: Any) -> Any:
    """Return a tensor input in the dtype in which the operation computes; any other input as its forward gets it (array)."""
    if not isinstance(x, TensorBase):
        return array
    return x if array is None or x._array.dtype == array.dtype else engine.tensor_face().cast(x, array.dtype)


def _zero_of(x: Any) -> Any:
    """Return zeros like x: a tensor, an array, a number or None."""
    if isinstance(x, TensorBase):
        return wrap(backend_of(x._array).zeros_like(x._array))
    if is_array(x):
        return backend_of(x).zeros_like(x)
    return None if x is None else type(x)(0)  # not x * 0: x may be infinite


def _zeros_like(array: Any) -> Any:
    """Return zeros of the shape and dtype of an array, in row-major order, where the array lies."""
    return backend_of(array).zeros(array.shape, array.dtype)


def _is_real(x: Any) -> bool:
    value = x._array if isinstance(x, TensorBase) else x
    return value.dtype.kind != "c" if is_array(value) else not isinstance(value, complex)


def _new_cotangent(out: Any) -> Any:
    """Return a cotangent of an output, with respect to which J' ct is differentiated. It is linear in ct, so any value will do."""
    if not is_differentiable(out._array):
        return None
    cotangent: TensorBase = wrap(_zeros_like(out._array))
    cotangent._requires_grad = True
    return cotangent


def _add(a: Any, b: Any) -> Any:
    """Return a + b, where None is zero."""
    return b if a is None else a if b is None else a + b


def _fit_to_output(tangent: Any, out: Any) -> Any:
    """Return a tangent in its output's shape and dtype; None if the output is not differentiable."""
    if not is_differentiable(out._array):
        return None
    F = engine.tensor_face()
    if not isinstance(tangent, TensorBase):
        tangent = F.tensor(tangent, out._array.dtype)
    if tangent._array.shape != out._array.shape:
        tangent = F.expand(tangent, out._array.shape)
    return tangent if tangent._array.dtype == out._array.dtype else F.cast(tangent, out._array.dtype)


def _fit_to_input(cotangent: Any, primal: Any) -> Any:
    """Return a cotangent in its input's shape and dtype, as the engine does."""
    F = engine.tensor_face()
    if cotangent._array.shape != primal._array.shape:
        cotangent = F.sum_to_size(cotangent, primal._array.shape)
    return cotangent if cotangent._array.dtype == primal._array.dtype else F.cast(cotangent, primal._array.dtype)
