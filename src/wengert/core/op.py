"""Op: what the core knows of an operation. Rule: a derivative. Plan: the values that a node saves and the rules that it runs.

An operation's mathematics lives in wengert.ops; the core sees a forward function, rules, and the names they ask for.
"""

from __future__ import annotations

if False:
    import cython
from collections.abc import Callable
from typing import Any

from wengert import _shim as cython
from wengert.core.trace import PASS, find_rule_kernel, rule_input
from wengert.kernels import find_kernel

# Kinds of SaveEntry: what dispatch.collect saves.
SAVE_INPUT = 0
SAVE_OUTPUT = 1
SAVE_SHAPE = 2  # of an input; the array itself is not kept
SAVE_PARAM = 3
SAVE_VARIADIC = 4  # all inputs from the variadic position on, as a tuple
SAVE_VARIADIC_SHAPES = 5
SAVE_NEEDS = 6  # which inputs from the variadic position on need a gradient, as a tuple of bools

MISSING: Any = object()  # the default of a parameter that has none


def public_name(name: str) -> str:
    """An input's name as users write it: x and y are short in formulas, torch's input and other in calls."""
    return "input" if name == "x" else "other" if name == "y" else name


# Second names of parameters, NumPy's above all, which torch takes too: sum(a=x, axis=0, keepdims=True).
SPELLINGS = {"axis": "dim", "keepdims": "keepdim", "a": "input", "x": "input", "x1": "input", "self": "input", "x2": "other"}


def spellings_of(parameters: dict[str, str], aliases: dict[str, str]) -> dict[str, str]:
    """Return the parameter that each accepted keyword stands for.

    parameters: {public name: name in the source}. aliases: {second name: public name}, of this function alone.
    """
    found = {**parameters, **{alias: parameters[name] for alias, name in aliases.items()}}
    for spelling, name in SPELLINGS.items():
        if name in found:
            found.setdefault(spelling, found[name])
    return found


# How a view lies over its array (Op.layout), and how its cotangent goes back. wk_views.h makes both.
RESHAPED = 1
SWAPPED = 2
PERMUTED = 3
TRANSPOSED = 4
UNSQUEEZED = 5
SQUEEZED = 6
EXPANDED = 7
REDUCED = 8  # a sum over dim: no view, but its cotangent goes back as a view


@cython.binding(False)
@cython.cclass
class Rule:
    """A vjp formula: function(F, ct, *values) -> the cotangent of one input, or a tuple of them for several."""

    if not cython.compiled:
        __slots__ = ("flat", "function", "names", "targets", "untaken")

    def __init__(
        self,
        function: Callable[..., Any],
        targets: tuple[int, ...],
        names: tuple[str, ...],
        untaken: Any = None,
        flat: str | bool = False,
    ) -> None:
        self.function = function
        self.targets = targets  # positions of the inputs whose cotangents it returns
        self.names = names  # what it asks for beyond F and ct: the save list
        self.untaken = untaken  # untaken(*values): where the input is not selected; see Note [Untaken]
        self.flat = flat  # the result is piecewise constant in the target, and its graph leads there; see Note [Flat rules]


class JvpRule:
    """A jvp formula: function(F, *values) -> the tangent of the output (a tuple, of several) that some inputs' cause."""

    __slots__ = ("function", "names", "targets")

    def __init__(self, function: Callable[..., Any], targets: tuple[int, ...], names: tuple[str, ...]) -> None:
        self.function = function
        self.targets = targets  # positions of the inputs whose tangents it takes account of
        self.names = names  # what it asks for beyond F, <input>_t for the tangent of an input


@cython.binding(False)
@cython.cclass
class SaveEntry:
    """One thing to keep for a backward pass."""

    if not cython.compiled:
        __slots__ = ("index", "kind", "name")

    def __init__(self, kind: int, index: int, name: str) -> None:
        self.kind = kind  # a SAVE_ constant
        self.index = index  # of the input or output
        self.name = name  # of the parameter


@cython.binding(False)
@cython.cclass
class RuleCall:
    """A rule, and the positions of its arguments among the node's saved values.

    arguments: what is known of the rule's arguments: trace.rule_input for an array, or the value of a parameter. None if one of
    them is something else. For real arrays the rule may be the cotangent itself (passes) or one NumPy function (kernel) of one
    or two arrays. These are the saved values at positions left and right: -1 is the cotangent, and right is -2 if there is one
    array. See trace.py.

    native: the compiled kernel that the rule is for real arrays, or -1. operands: the kernel's operands, as such positions plus 1.
    """

    if not cython.compiled:
        __slots__ = (
            "first",
            "flat",
            "fresh",
            "function",
            "kernel",
            "layout",
            "left",
            "n",
            "native",
            "operands",
            "passes",
            "positions",
            "right",
            "rule",
            "second",
            "target",
            "targets",
            "untaken",
        )

    def __init__(
        self, rule: Rule, positions: tuple[int, ...], arguments: list[Any] | None, compiled: tuple[int, bytes], layout: int
    ) -> None:
        self.rule = rule
        self.function = rule.function
        self.targets = rule.targets
        self.target = rule.targets[0] if len(rule.targets) == 1 else -1
        self.untaken = rule.untaken
        self.flat = rule.flat
        self.positions = positions
        self.n = len(positions)
        self.first = positions[0] if positions else -1
        self.second = positions[1] if len(positions) > 1 else -1
        kernel, self.left, self.right = (None, 0, 0) if arguments is None else find_rule_kernel(rule.function, arguments)
        self.passes = kernel is PASS
        self.kernel = None if self.passes else kernel
        self.native, self.operands = compiled
        self.layout = layout  # of the view through which it leads back; 0: of none
        self.fresh = getattr(rule.function, "makes_new_arrays", False)  # each result is one of its own


@cython.final
@cython.no_gc  # in no cycle: its operation's plans refer to it, and it to rules
@cython.binding(False)
@cython.cclass
class Plan:
    """For one set of inputs that need gradients: what to save, and which rules to run on which of the saved values.

    constants: values that follow the saved ones: the parameters, in the plan of calls that leave them at their defaults.
    """

    if not cython.compiled:
        __slots__ = ("calls", "constants", "covered", "saves", "selects", "shows_values")

    def __init__(self, saves: tuple[SaveEntry, ...], calls: tuple[RuleCall, ...], constants: list[Any]) -> None:
        self.saves = saves
        self.calls = calls
        self.constants = constants
        # Whether numbers are among what is saved, which users may look at after the arrays are gone.
        self.shows_values = any(entry.kind in (SAVE_PARAM, SAVE_SHAPE) for entry in saves)
        self.selects = any(call.untaken is not None for call in calls)
        self.covered = 0  # the inputs that some rule gives a cotangent, as bits
        for call in calls:
            for target in call.targets:
                self.covered |= 1 << target

    def saves_input(self, position: int) -> bool:
        """Whether the array of this input is kept."""
        return any(e.kind in (SAVE_INPUT, SAVE_VARIADIC) and e.index == position for e in self.saves)


@cython.binding(False)
@cython.cclass
class Op:
    """An operation as dispatch and engine see it. wengert.ops.registry makes these; see there for the fields."""

    def __init__(self, name: str, forward: Callable[..., Any]) -> None:
        self.name = name
        self.forward = forward  # forward(xp, *arrays, **params) -> array or tuple of arrays
        self.kernel: Any = None  # what trace.find_kernel finds, at the first call
        self.check: Any = None  # check(arrays) raises torch's error for dtypes that the operation refuses
        self.refuses_complex = False
        self.is_direct = False  # one output, no view, one node class: with default parameters dispatch runs it the short way
        self.is_direct_native = False  # the same where its compiled kernel took the inputs: then these tell one node class
        self.native = -1  # the compiled kernel of the forward, found with kernel; -1 where there is none
        self.native_params: tuple[str, ...] = ()  # the parameters that it takes as operands, after the inputs
        # (parameter, sign, role, adder), or None. In place, such an operation adds sign * parameter * second input to its first
        # input. If there is a role, the kernel of that role makes one array of the second and third input before. adder: the
        # role of the kernel that computes x + product * factor.
        self.adds_product: tuple[str, int, str, str] | None = None
        self.is_copy = False  # in place, it writes its second input over its first and does nothing else
        self.promote = 0  # a promotion kind of wengert.dtypes
        self.input_names: tuple[str, ...] = ()
        self.variadic = -1  # position from which any number of inputs follows, or -1
        self.param_names: tuple[str, ...] = ()
        self.defaults: dict[str, Any] = {}
        self.output_names: tuple[str, ...] | None = None  # None: one output; (): their number is the forward's affair
        self.is_view = False
        self.reflection = 0  # of a view: what it makes of a conjugate or a negation; a constant of mirrors.py
        self.layout = 0  # see RESHAPED
        self.is_read = False  # a view whose forward is x[index]: dispatch runs it, and rules.py its rule, themselves
        self.takes_reads = False  # its rule takes a ReadCotangent, in an ordinary pass
        self.own_precision = False  # bfloat16 is computed in as it is; else in float32
        self.walks_memory = False  # a view whose forward reads the memory around x's elements
        self.carries = 0  # what becomes of untaken places of its cotangent: a constant of untaken.py
        self.rules: tuple[Rule, ...] = ()
        self.jvps: tuple[JvpRule, ...] = ()  # for inputs whose tangents jvp.py cannot, or not as well, derive
        self.kind = "general"  # what is known of the operation; see jvp.py
        self.added = -1  # of a bilinear one, the position of an input that is added to the product of the others
        self.plans: dict[Any, Plan] = {}
        self.default_plans: dict[Any, Plan] = {}  # for calls with the inputs alone
        self.recent_meta: Any = None  # the TensorMeta of a result, for the next of the same shape and dtype
        self.node_class: Any = None  # there once a plan is
        self.direct_classes: dict[int, Any] = {}  # ndim of the result -> node class, for functions of whole arrays with a chooser
        self.node_chooser: Any = None  # (inputs, params) -> node class, where the name depends on the call
        self.node_is_param = False  # the name is the parameter "node" itself, and node_classes remembers its class
        self.node_classes: dict[str, type] = {}
        # The call as users write it; see binding.bind.
        self.simple = True  # a call with the inputs alone, by position, needs no binding
        self.varargs: str | None = None  # the parameter that may be spread: view(2, 3) for view((2, 3))
        self.positional_params = 0  # how many parameters may be given by position
        self.aliases: dict[str, str] = {}  # further names of inputs and parameters; see spellings_of
        self.spellings: dict[str, str] | None = None  # what spellings_of returns, at the first call that asks
        self.input_defaults: dict[str, Any] = {}
        self.required: tuple[str, ...] = ()  # parameters without a default
        self.bound: dict[Any, dict[str, Any]] = {}  # parameters by the ints that were given for them: see binding.bind

    def spelled(self, keyword: str) -> str:
        """The input or parameter that a keyword stands for; the keyword itself if there is none."""
        if self.spellings is None:
            inputs = {public_name(name): name for name in self.input_names}
            self.spellings = spellings_of({**inputs, **{name: name for name in self.param_names}}, self.aliases)
        return self.spellings.get(keyword, keyword)

    def input_at(self, position: int) -> str:
        """The name of the input at a position; all from the variadic one on share a name."""
        return self.input_names[position if self.variadic < 0 else min(position, self.variadic)]

    def plan(self, needs: int, defaults: bool = False) -> Plan:
        """The plan for the inputs whose bits are set in needs; those from the variadic position on share one bit.

        defaults: for calls that leave all parameters at their defaults, which then need not be saved.
        """
        plans = self.default_plans if defaults else self.plans
        plan = plans.get(needs)
        if plan is None:
            plan = plans[needs] = self._make_plan(needs, defaults)
        return plan

    def find_node_class(self) -> Any:
        """Return the class of the operation's nodes if it does not depend on the call."""
        return self.node_class

    def _make_plan(self, needs: int, defaults: bool) -> Plan:
        rules = [rule for rule in self.rules if any(needs >> target & 1 for target in rule.targets)]
        keys = list(dict.fromkeys([self._what_to_save(name) for rule in rules for name in rule.names]))
        constants = [self.defaults[where] for kind, where in keys if kind == SAVE_PARAM] if defaults else []
        if defaults:
            keys.sort(key=lambda key: key[0] == SAVE_PARAM)
        arguments: list[Any] = []
        for i, (kind, where) in enumerate(keys):
            if kind in (SAVE_INPUT, SAVE_OUTPUT):
                arguments.append(rule_input(i))
            else:
                arguments.append(self.defaults[where] if defaults and kind == SAVE_PARAM else None)
        calls: list[RuleCall] = []
        for rule in rules:
            positions = tuple([keys.index(self._what_to_save(name)) for name in rule.names])
            known = all(keys[i][0] in (SAVE_INPUT, SAVE_OUTPUT) or (defaults and keys[i][0] == SAVE_PARAM) for i in positions)
            compiled = self._compiled_rule(rule, positions, defaults)
            calls.append(RuleCall(rule, positions, [arguments[i] for i in positions] if known else None, compiled, self.layout))
        entries = [SaveEntry(k, -1, where) if k == SAVE_PARAM else SaveEntry(k, where, "") for k, where in keys]
        return Plan(tuple(entries[: len(entries) - len(constants)]), tuple(calls), constants)

    def _compiled_rule(self, rule: Rule, positions: tuple[int, ...], defaults: bool) -> tuple[int, bytes]:
        """The compiled kernel of a rule, and its operands for RuleCall."""
        if len(rule.targets) != 1:
            return -1, b""
        found = find_kernel(f"{self.name}.{self.input_names[rule.targets[0]]}", defaults)
        if found is None:
            return -1, b""
        kernel, names = found
        return kernel, bytes([0 if name == "ct" else positions[rule.names.index(name)] + 1 for name in names])

    def _what_to_save(self, name: str) -> tuple[int, Any]:
        """Return (kind, where) of the value that a name in a rule's parameter list stands for. The registry has checked it."""
        if name == "needs":
            return SAVE_NEEDS, self.variadic
        if name in self.input_names:
            position = self.input_names.index(name)
            return (SAVE_VARIADIC if position == self.variadic else SAVE_INPUT), position
        if name == "out":
            return SAVE_OUTPUT, 0
        if self.output_names and name in self.output_names:
            return SAVE_OUTPUT, self.output_names.index(name)
        if name.endswith("_shape") and name[:-6] in self.input_names:
            position = self.input_names.index(name[:-6])
            return (SAVE_VARIADIC_SHAPES if position == self.variadic else SAVE_SHAPE), position
        return SAVE_PARAM, name
