"""The intermediate form: what values record, and which forwards and rules are found to be one NumPy function."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from wengert.core import trace
from wengert.core.op import Rule
from wengert.ops import program
from wengert.ops.fuse import _ScalarTracer
from wengert.ops.registry import OPS

TRACER = trace.Tracer()
X, Y = TRACER.input("x"), TRACER.input("y")


@pytest.mark.parametrize(
    ("apply", "function", "inputs"),
    [
        (lambda: X * Y, "multiply", (X, Y)), (lambda: 2.0 - X, "subtract", (2.0, X)), (lambda: X**3, "power", (X, 3)),
        (lambda: -X, "negative", (X,)), (lambda: abs(X), "absolute", (X,)), (lambda: ~X, "invert", (X,)),
        (lambda: X <= 1, "less_equal", (X, 1)), (lambda: X & Y, "bitwise_and", (X, Y)), (lambda: np.exp(X), "exp", (X,)),
        (lambda: np.float64(2.0) / X, "divide", (2.0, X)), (lambda: np.where(X, Y, 1.0), "where", (X, Y, 1.0)),
    ],
)  # fmt: skip
def test_operators_and_numpys_functions_record_array_functions(apply, function, inputs):
    value = apply()
    assert value.function == function and value.params == {}
    assert all(a is b or (type(a) is not trace.Value and a == b) for a, b in zip(value.inputs, inputs, strict=True))


def test_every_operator_is_a_numpy_function_of_that_result():
    x, y = np.array([5, 6]), np.array([2, 4])
    for symbol, name in trace._ARRAY_OPERATORS.items():
        operands = (x, y)[: getattr(np, name).nin]
        expected = getattr(operator, f"__{symbol}__")(*operands)
        np.testing.assert_array_equal(getattr(np, name)(*operands), expected)


@pytest.mark.parametrize("ask", [bool, float, int, len, list, lambda x: x.shape, lambda x: x.ndim, lambda x: x.T])
def test_unknown_names_are_refused(ask):
    with pytest.raises(TypeError):
        ask(X)


def test_isinstance_is_noticed():
    x = TRACER.input("x")
    assert not x.is_inspected and isinstance(x, trace.Value) and not x.is_inspected
    assert not isinstance(x, float) and x.is_inspected


FORWARDS = {
    "one function": (lambda xp, x: xp.tanh(x), 1, np.tanh), "an operator": (lambda xp, x, y: x * y, 2, np.multiply),
    "other order": (lambda xp, x, y: xp.subtract(y, x), 2, False), "a setting": (lambda xp, x: xp.sum(x, axis=0), 1, False),
    "two functions": (lambda xp, x: xp.exp(xp.exp(x)), 1, False), "a number": (lambda xp, x: xp.multiply(x, 2.0), 1, False),
    "a look": (lambda xp, x: xp.exp(x) if x.dtype.kind == "f" else x, 1, False), "itself": (lambda xp, x: x, 1, False),
    "a branch": (lambda xp, x: x if x > 0 else -x, 1, False), "one of two": (lambda xp, x, y: xp.exp(x), 2, False),
}  # fmt: skip


@pytest.mark.parametrize("name", FORWARDS)
def test_forwards_that_are_one_function(name):
    forward, n_inputs, expected = FORWARDS[name]
    assert trace.find_kernel(forward, n_inputs) is expected


RULES = {
    "the cotangent": (lambda F, ct, x: ct, (trace.PASS, 0, 0)), "a product": (lambda F, ct, x: ct * F.conj(x), (np.multiply, -1, 4)),
    "reversed": (lambda F, ct, x: x / ct, (np.divide, 4, -1)), "one input": (lambda F, ct, x: -ct, (np.negative, -1, -2)),
    "another array": (lambda F, ct, x: x, (None, 0, 0)), "a number": (lambda F, ct, x: 2.0 * ct, (None, 0, 0)),
    "two functions": (lambda F, ct, x: -ct * x, (None, 0, 0)), "an operation": (lambda F, ct, x: F.exp(ct), (None, 0, 0)),
    "the real part": (lambda F, ct, x: F.real(ct), (None, 0, 0)), "a shape": (lambda F, ct, x: ct if x.shape else x, (None, 0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_rules_that_are_one_function(name):
    rule, expected = RULES[name]
    assert trace.find_rule_kernel(rule, [trace.rule_input(4)]) == expected


def test_equal_values_are_merged_but_not_zeros_of_two_signs():
    outputs = [X * 0.0 + X * 0.0, X * -0.0, X * 0]
    values, (total, negative, integer) = trace.merge_equal(trace.in_order(outputs, [X]), outputs)
    assert total.inputs[0] is total.inputs[1] and len(values) == 4
    assert total.inputs[0] is not negative and total.inputs[0] is not integer


def test_values_are_in_order_and_stop_at_given_values():
    a = X * Y
    b = a + X
    order = [id(value) for value in trace.in_order([b])]
    assert order.index(id(X)) < order.index(id(a)) < order.index(id(b)) and len(order) == 4
    assert trace.in_order([b], [a, X]) == [b]


def test_a_program_prints_as_text():
    _, found = program.trace(lambda x, y: x * y - 2.0)
    assert str(found) == "v0 = mul(x, y)\nv1 = sub(v0, 2.0, alpha=1)\nreturn v1"


def test_a_derivative_is_a_program_of_the_rules():
    ct, x = program._tracer.input("ct"), program._tracer.input("x")
    (slope,) = program.differentiate([OPS["exp"].function(x) * x], [ct], [x])
    assert "exp(x)" in str(program.Program([ct, x], [slope]))
    assert program.differentiate([3.0], [ct], [x]) == [None]


def test_a_rule_is_traced_into_functions_with_a_c_form():
    tracer = _ScalarTracer()
    rule: Rule = OPS["tanh"].rules[0]
    result = rule.function(trace.Operations(tracer), tracer.input("ct"), tracer.input("out"))
    assert [value.function for value in trace.in_order([result])].count("multiply") == 2
