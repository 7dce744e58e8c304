"""Contracts of every operation besides its values: docs, saved values, names, forms, errors, memory."""

from __future__ import annotations

import inspect
import re
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert
from loops import each
from op_samples.cases import (
    CASES,
    Case,
    cases_where,
    first_cases,
    flatten,
    grad_inputs,
    is_public,
    operation_nodes,
    over_operations,
    tensors_in,
)
from wengert.autograd import grad
from wengert.core.legacy import StochasticNode
from wengert.core.saved import SavedTensor
from wengert.core.tensor import wrap
from wengert.ops.registry import ALIASES, OPS, Composite, Operation, Plain, _public_function, general, methods, prefix_of

FIRST = first_cases()
METHODS = methods()


def result_and_gradients(
    case: Case, inputs: list[Any], function: Callable[..., Any] | None = None
) -> tuple[list[Any], list[Any]]:
    """Return (arrays of the results, arrays of the gradients of their sum)."""
    outputs = tensors_in(case.call(inputs, function))
    for out in outputs:
        if isinstance(out.grad_fn, StochasticNode):
            out.grad_fn._reinforce(1.0)  # what reinforce() does besides warning
    differentiable = [out for out in outputs if out.requires_grad]
    starts = [wrap(np.ones_like(out._array)) for out in differentiable]
    found = grad(differentiable, grad_inputs(inputs), starts, allow_unused=True) if differentiable else ()
    return [out._array for out in outputs], [None if g is None else g._array for g in found]


def assert_same(first: Any, second: Any) -> None:
    for a, b in zip(first, second, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_array_equal(a, b)


# -- documentation -------------------------------------------------------------------------------------------


def test_every_operation_has_a_docstring():
    assert [name for name, op in OPS.items() if not (op.doc and op.doc.strip())] == []


@over_operations(is_public)
def test_docstring_gives_the_derivative_of_a_differentiable_operation(op, case):
    differentiable = any(out.requires_grad for out in tensors_in(case.call(case.tensors(np.float64))))
    if differentiable and op.kind != "creation":
        refers = re.search(r"[Dd]erivative|[Aa]nother name|NumPy's name|[Ii]n-place form", op.doc)
        assert refers, "differentiable, but the docstring has no `Derivative:`"


@over_operations(lambda op: op.kind == "nondifferentiable")
def test_result_of_a_nondifferentiable_operation_requires_no_grad(op, case):
    assert not op.rules
    for case in (c for c in CASES if c.name == op.name):
        assert not any(out.requires_grad for out in tensors_in(case.call(case.tensors(np.float64))))


@over_operations(lambda op: isinstance(op, Operation) and op.kind != "nondifferentiable")
def test_operations_of_other_kinds_have_rules(op, case):
    assert op.rules or op.name in ("_view_dtype",)


# -- what a node keeps ---------------------------------------------------------------------------------------


def test_plans_save_only_values_that_rules_ask_for():
    for op in (op for op in OPS.values() if isinstance(op, Operation)):
        for needs in range(1, 1 << len(op.input_names)):
            plan = op.plan(needs)
            asked = {name for call in plan.calls for name in call.rule.names}
            assert len(plan.saves) == len(asked), op.name
            assert all(any(needs >> t & 1 for t in call.targets) for call in plan.calls), op.name
            assert {i for call in plan.calls for i in call.positions} == set(range(len(plan.saves))), op.name


def test_inputs_from_the_variadic_position_on_share_a_plan():
    op = OPS["_stack"]
    for n in (1, 2, 70):
        op.plans.clear()
        result = wengert.stack([wengert.ones(2, requires_grad=i in (0, n - 1)) for i in range(n)])
        assert list(op.plans) == [1] and len(result.grad_fn.next_functions) == n


@over_operations(lambda op: isinstance(op, Operation) and bool(op.rules))
def test_nodes_hold_as_many_values_as_their_plan_names(op, case):
    for node in operation_nodes(tensors_in(case.call(case.tensors(np.float64)))):
        assert len(node._saved or []) == len(node._plan.saves)


@over_operations(
    lambda op: isinstance(op, Operation) and bool(op.rules) and not op.is_view and op.variadic < 0
)
def test_inputs_that_no_rule_asks_for_are_freed(op, case):
    inputs = [x * 1 if x.requires_grad else x for x in tensors_in(case.tensors(np.float64))]
    if len(inputs) != len(case.sample.inputs) or any(x._array.ndim == 0 for x in inputs):
        return
    references = {name: weakref.ref(x._array) for name, x in zip(op.input_names, inputs, strict=False)}
    needs = [x.requires_grad for x in inputs]
    asked = {n for r in op.rules if any(needs[t] for t in r.targets if t < len(needs)) for n in r.names}
    result = case.call(inputs)
    del inputs
    for name, reference in references.items():
        if name not in asked and needs[op.input_names.index(name)]:
            assert reference() is None, f"{name} is kept alive, though no rule asks for it"
    assert result is not None


def test_saved_arrays_are_the_tensors_own():
    x = wengert.ones(3, requires_grad=True)
    y = x.exp()
    saved = y.grad_fn._saved
    assert len(saved) == 1 and isinstance(saved[0], SavedTensor) and saved[0]._data is y._array


# -- registration --------------------------------------------------------------------------------------------


def scale(xp, x, y, *, factor=2.0):
    """x * factor."""
    return x * factor


def test_a_rule_that_asks_for_an_unknown_name_is_refused_with_the_names_it_may_ask_for():
    op = Operation(scale, "general", {})
    with pytest.raises(TypeError) as error:

        @op.vjp("x")
        def _(F, ct, result):
            return ct

    for word in ("scale", "'result'", "x", "x_shape", "y_shape", "out", "factor"):
        assert word in str(error.value)
    assert "needs" not in str(error.value), "only variadic operations have it"


def test_a_rule_for_an_unknown_input_is_refused_with_the_inputs_there_are():
    op = Operation(scale, "general", {})
    with pytest.raises(TypeError, match=r"scale\.vjp: 'z' is no input; the inputs are x, y"):
        op.vjp("z")(lambda F, ct: ct)


def test_outputs_are_asked_for_by_their_names():
    op = Operation(lambda xp, x: (x, x), "general", {"outputs": ("values", "indices"), "name": "two"})
    op.vjp("x")(lambda F, ct, indices: ct)
    with pytest.raises(TypeError, match="unknown name 'out'"):
        op.vjp("x")(lambda F, ct, out: ct)


@pytest.mark.parametrize("make", [
    lambda settings: Operation(scale, "general", settings), lambda settings: Composite(lambda F, x: x, settings),
    lambda settings: Plain(lambda x: x, "plain", settings),
], ids=["operation", "composite", "plain"])  # fmt: skip
def test_unknown_settings_are_refused_by_name(make):
    with pytest.raises(TypeError, match=r"unknown settings \['inplase'\]"):
        make({"inplase": True})


def test_registering_fills_in_both_faces_and_the_table():
    from wengert.ops.faces import array_face, tensor_face

    @general(name="_tried_out")
    def _(xp, x):
        """2 * x."""
        return 2 * x

    try:
        assert OPS["_tried_out"].function(wengert.ones(1)).item() == 2.0
        assert array_face._tried_out(np.ones(1))[0] == 2.0 and tensor_face._tried_out is OPS["_tried_out"].function
    finally:
        del OPS["_tried_out"], array_face._tried_out, tensor_face._tried_out


# -- names of nodes ------------------------------------------------------------------------------------------


@over_operations(lambda op: isinstance(op, Operation) and bool(op.rules))
def test_node_name_and_repr(op, case):
    out = next((t for t in tensors_in(case.call(case.tensors(np.float64))) if t.requires_grad), None)
    if out is None:
        return  # of complex numbers only: its sample is fixed
    cls = type(out.grad_fn)
    assert out.grad_fn.name() == cls.__name__ and cls.__module__ == "builtins"
    assert repr(out.grad_fn).startswith(f"<{cls.__name__} object at 0x")


# -- function, method, in-place form -------------------------------------------------------------------------


def method_of(op: Any) -> str | None:
    return None if not op.method else op.method if isinstance(op.method, str) else op.name


def as_function_of_tensors(case: Case, method: str) -> Callable[..., Any]:
    return lambda first, *rest, **params: getattr(first, method)(*rest, **params)


@each("case", cases_where(lambda c: bool(method_of(c.op)) and c.op.kind != "creation"))
def test_function_and_method_agree(case):
    inputs = case.tensors(np.float64)
    if not isinstance(inputs[0], wengert.Tensor):
        return
    by_function = result_and_gradients(case, inputs)
    by_method = result_and_gradients(case, inputs, as_function_of_tensors(case, method_of(case.op)))
    for first, second in zip(by_function, by_method, strict=True):
        assert_same(first, second)


def inplace_name(op: Any) -> str | None:
    """The method that writes the operation's result into its first input: declared by it, or a function of its own."""
    if isinstance(op, Operation) and op.inplace:
        return op.inplace if isinstance(op.inplace, str) else op.name + "_"
    return op.name + "_" if op.name + "_" in METHODS and not Case(op, None, 0).is_random else None


def test_declared_methods_are_methods_of_tensor_and_aliases_public():
    assert [name for name in METHODS if not hasattr(wengert.Tensor, name)] == []
    assert [op.name for op in OPS.values() if inplace_name(op) and inplace_name(op) not in METHODS] == []
    for name, op in ALIASES.items():
        for namespace in op.namespaces:
            home: Any = wengert
            for part in filter(None, namespace.split(".")):
                home = getattr(home, part)
            assert getattr(home, name) is _public_function(op)


# Their in-place forms write nothing, and may change the shape.
VIEWS_IN_PLACE = {"t", "transpose", "swapaxes", "swapdims", "unsqueeze", "squeeze", "as_strided"}


@each("case", cases_where(lambda c: bool(inplace_name(c.op))))
def test_inplace_form_agrees(case):
    """The form writes into a copy of the first input: same result, same gradient, and the version grows by one."""
    name = inplace_name(case.op)
    inputs = case.tensors(np.float64)
    plain = tensors_in(case.call(inputs))[0]
    if not isinstance(inputs[0], wengert.Tensor):
        return
    written: list[Any] = []

    def inplace(first: Any, *rest: Any, **params: Any) -> Any:
        copy = first.clone()
        result = getattr(copy, name)(*rest, **params)
        assert result is copy and copy._version == 1
        written.append(copy)
        return result

    if plain.shape != inputs[0].shape and case.op.name not in VIEWS_IN_PLACE:
        with pytest.raises(RuntimeError, match=r"output with shape .* doesn't match the broadcast shape|expand\("):
            case.call(inputs, inplace)
    elif plain.dtype != inputs[0].dtype and plain.dtype is not wengert.bool:
        with pytest.raises(RuntimeError, match="can't be cast"):
            case.call(inputs, inplace)
    else:
        result, gradients = result_and_gradients(case, inputs)
        in_place, in_place_gradients = result_and_gradients(case, inputs, inplace)
        assert_same([r.astype(in_place[0].dtype) for r in result], in_place)
        if gradients:
            assert_same(gradients, in_place_gradients)
        else:  # a comparison, say: its in-place form writes into floats, which depend on nothing
            assert all(g is None or not g.any() for g in in_place_gradients)


# -- wrong arguments -----------------------------------------------------------------------------------------

def is_called(op: Any) -> bool:
    return is_public(op) and not op.name.startswith("_")


def says(op: Any) -> str:
    """A pattern that finds the operation's name in a message, also the private one that carries it out."""
    method = method_of(op)
    names = {op.name, op.name.strip("_"), *([method] if method else [])}
    names |= {op.name.removeprefix(prefix_of(namespace)) for namespace in op.namespaces}  # nn.functional.unfold says unfold()
    return "|".join(re.escape(name) for name in names)


@over_operations(is_called)
def test_unexpected_keyword_is_a_type_error_that_names_the_operation(op, case):
    with pytest.raises(TypeError, match=says(op)) as error:
        op.function(*case.tensors(np.float64), **case.params, nonsense=1)
    assert "nonsense" in str(error.value)


def takes_any_number(op: Any) -> bool:
    if isinstance(op, Operation):
        return op.varargs is not None
    return any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(op.fn, follow_wrapped=False).parameters.values())


@over_operations(lambda op: is_called(op) and not takes_any_number(op))
def test_too_many_arguments_are_a_type_error_that_names_the_operation(op, case):
    with pytest.raises(TypeError, match=says(op)):
        op.function(*case.tensors(np.float64), *[None] * 15)


@over_operations(lambda op: is_called(op) and FIRST[op.name].sample.inputs)
def test_something_that_is_no_tensor_is_a_type_error_that_names_the_operation(op, case):
    inputs = case.tensors(np.float64)
    inputs[0] = [object()] if isinstance(inputs[0], list) else object()
    with pytest.raises(TypeError, match=says(op)):
        op.function(*inputs, **case.params)


@over_operations(
    lambda op: is_called(op) and FIRST[op.name].sample.inputs and not takes_any_number(op) and op.name != "normal"
)
def test_no_arguments_are_a_type_error_that_names_the_operation(op, case):
    with pytest.raises(TypeError, match=says(op)):
        op.function()


DIM_NAMES = ("dim", "dims", "dim0", "dim1", "start_dim", "end_dim", "axis0", "axis1", "dimension")
NO_DIMS = {"tile", "tensordot"}  # their dims are counts


def argument_names(op: Any) -> list[str]:
    """Return the names of the arguments that a call may give by position or keyword, in order."""
    if isinstance(op, Operation):
        return [op.public_input_name(name) for name in op.input_names] + list(op.param_names)
    names = list(inspect.signature(op.fn, follow_wrapped=False).parameters)
    return names[1:] if op.kind == "composite" else names


@over_operations(lambda op: is_public(op) and op.kind != "creation" and op.name not in NO_DIMS)
def test_dim_out_of_range_is_torchs_index_error(op, case):
    for place, name in enumerate(argument_names(op)):
        if name not in DIM_NAMES:
            continue
        chosen = [c for c in CASES if c.name == op.name and name in c.sample.params and any(d.shape for d in c.data())]
        case = (chosen or [case])[0]
        inputs, params = case.tensors(np.float64), dict(case.params)
        if place < len(inputs):
            inputs[place] = 17
        else:
            given = params.get(name)
            params[name] = (17, *given[1:]) if isinstance(given, (tuple, list)) and given else 17
        text = r"Dimension out of range \(expected to be in range of \[-\d+, \d+\], but got 17\)"
        with pytest.raises(IndexError, match=text):
            op.function(*inputs, **params)


# -- memory --------------------------------------------------------------------------------------------------


# Their name says so, in torch too.
SHARE_WITHOUT_BEING_VIEWS = {"unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes"}


@each("case", cases_where(lambda c: c.op.kind != "creation" and any(True for _ in c.data())))
def test_only_views_share_memory_with_their_input(case):
    inputs = case.tensors(np.float64)
    sources = tensors_in(inputs)
    for out in tensors_in(case.call(inputs)):
        sharing = [x for x in sources if np.shares_memory(x._array, out._array)]
        if isinstance(case.op, Operation) and not case.op.is_view:
            assert not sharing, f"{case.name} is no view, yet its result shares memory with its input"
            assert not out._is_view()
        for x in sharing:
            known = out is x or (out._is_view() and out._base is x) or case.name in SHARE_WITHOUT_BEING_VIEWS
            assert known, "shares memory, but is not known as a view"


@each("case", cases_where(lambda c: isinstance(c.op, Operation) and c.op.is_view))
def test_views_share_memory_and_know_their_base(case):
    inputs = case.tensors(np.float64, requires_grad=False)
    base = inputs[0]
    for out in tensors_in(case.call(inputs)):
        if out._array.size:
            assert out.data_ptr() == base.data_ptr() or np.shares_memory(out._array, base._array)
            assert out._is_view() and out._base is base
            writable = wrap(base._array.copy())
            again = tensors_in(case.call([writable, *inputs[1:]]))
            before = writable._version
            for view in again:
                if view._array.flags.writeable and not any(s == 0 for s in view._array.strides):
                    view.zero_()
            assert all(view._version == writable._version for view in again)
            assert before <= writable._version


def writes_its_input(case: Case) -> bool:
    return case.name.endswith("_") or case.name in ("__setitem__", "_div_inplace")


@each("case", cases_where(lambda c: c.op.kind != "creation" and bool(c.sample.inputs) and not writes_its_input(c)))
def test_inputs_are_left_as_they_were(case):
    """Inputs are read-only, so a write would raise; the tensors around them must stay as they are too."""
    inputs = case.tensors(np.float64)
    before = [(x, x._array, x._array.copy(), x.grad_fn, x.requires_grad, x._version) for x in tensors_in(inputs)]
    case.call(inputs)
    for x, array, values, grad_fn, requires_grad, version in before:
        assert x._array is array and (x.grad_fn, x.requires_grad, x._version) == (grad_fn, requires_grad, version)
        np.testing.assert_array_equal(array, values)


# -- out= ----------------------------------------------------------------------------------------------------


@over_operations(
    lambda op: isinstance(op, Operation) and is_public(op) and not op.is_view and op.output_names is None
    and not FIRST[op.name].is_random
)
def test_out_is_written_resized_and_returned(op, case):
    inputs = case.tensors(np.float64, requires_grad=False)
    wanted = case.call(inputs)
    for shape in (wanted.shape, (0,)):
        out = wrap(np.zeros(shape, wanted._array.dtype))
        assert op.function(*inputs, **case.params, out=out) is out
        np.testing.assert_array_equal(out._array, wanted._array)
    if op.rules and any(x.requires_grad for x in tensors_in(case.tensors(np.float64))):
        with pytest.raises(RuntimeError, match=r"don't support automatic differentiation"):
            op.function(*case.tensors(np.float64), **case.params, out=wrap(np.zeros(wanted.shape)))


@over_operations(
    lambda op: is_public(op) and (isinstance(op, Composite) or getattr(op, "out", False)) and not FIRST[op.name].is_random
)
def test_out_of_composite_operations(op, case):
    inputs = case.tensors(np.float64, requires_grad=False)
    wanted = case.call(inputs)
    outs = tuple([wrap(np.zeros(0, x._array.dtype)) for x in flatten(wanted) if isinstance(x, wengert.Tensor)])
    if len(outs) != len(flatten(wanted)):
        return  # not all of its results are tensors
    out = outs[0] if isinstance(wanted, wengert.Tensor) else outs
    assert op.function(*inputs, **case.params, out=out) is out
    assert_same([x._array for x in outs], [x._array for x in tensors_in(wanted)])


def test_flatten_helper_sees_every_tensor():
    """Of this file's own helper: nested results are not skipped."""
    assert flatten([1, (2, [3])]) == [1, 2, 3]
