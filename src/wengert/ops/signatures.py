"""The signatures of public functions and methods: texts for the stubs, and inspect.Signature for help() and editors.

The registry has names and defaults, but no types: a type follows from the name of a parameter and its default. The tables
below have the types that do not follow from them. In stubs the names of builtin types begin with an underscore, because a
method `int` would hide the type.
"""

from __future__ import annotations

import inspect
import math
import re
from typing import Any

from wengert import return_types
from wengert.core.op import MISSING, Op, public_name
from wengert.core.watched import as_written

# The options of creation functions.
_OPTIONS = (
    "device: _device | str | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False, "
    "out: Tensor | None = None"
)

_INTS = "_int | Sequence[_int]"
_PARAMETER_TYPES = {
    "alpha": "_Number", "beta": "_Number", "value": "_Operand", "fill_value": "_Number", "eps": "_float",
    "dtype": "_Dtype | None", "device": "_device | str | None", "generator": "Generator | None", "out": "Tensor | None",
    "stride": _INTS, "dilation": _INTS, "kernel_size": _INTS, "output_padding": _INTS, "margin": "_float",
    "output_size": "_int | Sequence[_int | None] | None", "running_mean": "Tensor | None", "running_var": "Tensor | None",
    "momentum": "_float", "norm_type": "_float", "groups": "_int",
    "padding": _INTS, "input2": "Tensor", "x2": "Tensor", "positive": "Tensor", "negative": "Tensor", "b": "Tensor",
    "src": "Tensor", "pad": "Sequence[_int]", "pin_memory": "_bool", "requires_grad": "_bool", "target": "Tensor",
    "correction": "_Number | None", "unbiased": "_bool | None", "ord": "_Number | _str | None",
    "weight": "Tensor", "bias": "Tensor | None", "size_average": "_bool | None", "reduce": "_bool | None",
    "dims": _INTS, "size": _INTS, "sizes": _INTS, "shape": _INTS, "shapes": "Sequence[_int]", "normalized_shape": _INTS,
    "shifts": _INTS, "source": "Tensor", "destination": _INTS, "repeats": f"{_INTS} | Tensor",
    "dim0": "_int", "dim1": "_int", "dim2": "_int", "dimension": "_int", "axis0": "_int", "axis1": "_int",
    "start": "_int", "length": "_int", "chunks": "_int", "step": "_int", "n": "_int", "p": "_float",
    "training": "_bool",
    "split_size": _INTS, "split_sizes": "Sequence[_int]", "split_size_or_sections": _INTS, "k": "_int",
    "indices_or_sections": f"{_INTS} | Tensor", "rounding_mode": 'Literal["trunc", "floor"] | None',
    "mask": "Tensor", "index": "Tensor", "tensors": "Sequence[Tensor]", "equation": "_str",
    "min": "_Operand | None", "max": "_Operand | None", "exponent": "_Operand",
}  # fmt: skip

# Types by (operation, parameter), if the name alone would give another type.
_SPECIAL_TYPES = {
    ("logsumexp", "dim"): _INTS,
    ("tensordot", "dims"): f"{_INTS} | tuple[Sequence[_int], Sequence[_int]] | Sequence[Sequence[_int]] | Tensor",
    ("scatter_", "reduce"): "_str | None",
    ("scatter_", "src"): "_Operand",
    ("scatter_reduce", "reduce"): "_str",
    ("scatter_reduce_", "reduce"): "_str",
    ("index_reduce", "reduce"): "_str",
    ("repeat_interleave", "output_size"): "_int | None",
    ("conv_tbc", "pad"): "_int",
    **{(f"conv{n}d", "padding"): f"{_INTS} | _str" for n in (1, 2, 3)},
    ("movedim", "source"): _INTS,
    ("segment_reduce", "reduce"): "_str",
    ("scatter", "reduce"): "_str | None",
    ("scatter", "src"): "_Operand",
    ("select", "index"): "_int",
    ("select_copy", "index"): "_int",
    ("__getitem__", "index"): "Any",
    ("__setitem__", "index"): "Any",
    ("__setitem__", "value"): "Any",
    ("gesv", "A"): "Tensor",
    ("resize_as_", "the_template"): "Tensor",
    ("map_", "tensor"): "Tensor",
    ("typename", "obj"): "Any",
    ("set_default_tensor_type", "t"): "_str | type",
    ("norm", "p"): "_Number | _str | None",
    ("bernoulli", "p"): "_float | Tensor | None",
    ("local_response_norm", "k"): "_float",
    ("randint", "size"): "Sequence[_int]",
    ("repeat_interleave", "repeats"): f"{_INTS} | Tensor | None",
}

_TENSORS = "tuple[Tensor, ...]"
_RESULTS = {
    "__setitem__": "None", "allclose": "_bool", "numel": "_int", "unravel_index": _TENSORS,
    "equal": "_bool", "broadcast_shapes": "Size",
    "broadcast_tensors": _TENSORS, "split": _TENSORS,
    "split_with_sizes": _TENSORS, "chunk": _TENSORS, "unsafe_split": _TENSORS, "unsafe_split_with_sizes": _TENSORS,
    "unsafe_chunk": _TENSORS, "tensor_split": _TENSORS, "hsplit": _TENSORS, "vsplit": _TENSORS, "dsplit": _TENSORS,
    "lu": _TENSORS, "gradient": _TENSORS, "split_copy": _TENSORS, "split_with_sizes_copy": _TENSORS, "unbind_copy": _TENSORS,
    "gesv": "tuple[Tensor, Tensor]", "is_same_size": "_bool", "typename": "_str", "set_default_tensor_type": "None",
    "var_mean": "tuple[Tensor, Tensor]", "std_mean": "tuple[Tensor, Tensor]", "meshgrid": _TENSORS,
    **dict.fromkeys(["native_layer_norm", "native_group_norm", "native_batch_norm", "svd_lowrank", "pca_lowrank"],
                    "tuple[Tensor, Tensor, Tensor]"),
    **dict.fromkeys(
        ["native_dropout", "lobpcg", "rnn_tanh", "rnn_relu", "gru", "lstm_cell"], "tuple[Tensor, Tensor]"
    ),
    "lstm": "tuple[Tensor, Tensor, Tensor]", "torch_adaptive_max_pool1d": "tuple[Tensor, Tensor]",
    "fractional_max_pool2d": "Any", "fractional_max_pool3d": "Any", "multi_head_attention_forward": "tuple[Tensor, Any]",
    **{f"fractional_max_pool{dims}d_with_indices": "tuple[Tensor, Tensor]" for dims in (2, 3)},
    **{f"{op}{dims}d_with_indices": "tuple[Tensor, Tensor]" for op in ("max_pool", "adaptive_max_pool") for dims in (1, 2, 3)},
    **{f"{op}{dims}d": "Any" for op in ("max_pool", "adaptive_max_pool") for dims in (1, 2, 3)},  # with return_indices two
}  # fmt: skip

_AT_LEAST = ["(tensor: Tensor) -> Tensor", f"(first: Tensor, second: Tensor, *others: Tensor) -> {_TENSORS}"]
_EXTREME = ["({input}) -> Tensor", "({input}, dim: _int, keepdim: _bool = False{out}) -> return_types.{name}"]
_SPREAD = (
    "({input}, dim: " + _INTS + " | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, "
    "correction: _Number | None = None"
)
# Parameter lists of operations whose sources sort out torch's overloads. {out} and {also_out} stand for out= of a function.
_OVERLOADS = {
    "max": [*_EXTREME, "({input}, other: Tensor{out}) -> Tensor"],
    "min": [*_EXTREME, "({input}, other: Tensor{out}) -> Tensor"],
    "var": [_SPREAD + "{also_out}) -> Tensor"],
    "std": [_SPREAD + "{also_out}) -> Tensor"],
    "var_mean": [_SPREAD + "{also_out}) -> tuple[Tensor, Tensor]"],
    "std_mean": [_SPREAD + "{also_out}) -> tuple[Tensor, Tensor]"],
    "norm": [
        "({input}, p: _Number | _str | None = 'fro', dim: " + _INTS + " | None = None, keepdim: _bool = False, "
        "dtype: _Dtype | None = None{out}) -> Tensor"
    ],
    "normal": [
        "(mean: Tensor | _float = 0.0, std: Tensor | _float = 1.0, size: " + _INTS + " | None = None, *, "
        "generator: Generator | None = None, dtype: _Dtype | None = None, " + _OPTIONS + ") -> Tensor"
    ],
    "tile": ["({input}, dims: Sequence[_int]) -> Tensor", "({input}, *dims: _int) -> Tensor"],
    "uniform_": ["(self, from_: _float = 0.0, /, to: _float = 1.0, *, generator: Generator | None = None) -> Tensor"],
    "random_": [
        "(self, from_: _int, /, to: _int | None = None, *, generator: Generator | None = None) -> Tensor",
        "(self, to: _int | None = None, *, generator: Generator | None = None) -> Tensor",
    ],
    "median": _EXTREME,
    "nanmedian": _EXTREME,
    "atleast_1d": _AT_LEAST,
    "atleast_2d": _AT_LEAST,
    "atleast_3d": _AT_LEAST,
    "einsum": [
        "(equation: _str, *operands: Tensor | Sequence[Tensor]{also_out}) -> Tensor",
        "(operand: Tensor, *operands_and_dims: Any{also_out}) -> Tensor",
    ],
    "nonzero": [
        "({input}, *, as_tuple: Literal[False] = False) -> Tensor",
        f"({{input}}, *, as_tuple: Literal[True]) -> {_TENSORS}",
    ],
    "unique": [
        "({input}, sorted: _bool = True, *, dim: _int | None = None) -> Tensor",
        "({input}, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, "
        "dim: _int | None = None) -> Any",
    ],
    "unique_consecutive": [
        "({input}, *, dim: _int | None = None) -> Tensor",
        "({input}, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any",
    ],
    "where": [
        f"(condition: Tensor) -> {_TENSORS}",
        "(condition: Tensor, input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor",
    ],
}



# One parameter list for all overloads of an operation, if its source has none that says it.
_EXTREME_OF_ALL = "(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: Any = None) -> Any"
_EXTREME_OR_PAIRS = _EXTREME_OF_ALL.replace("_int | None", "_int | Tensor | None").replace("*,", "*, other: Tensor | None = None,")
_SIGNATURES = {
    "max": _EXTREME_OR_PAIRS,
    "min": _EXTREME_OR_PAIRS,
    "median": _EXTREME_OF_ALL,
    "nanmedian": _EXTREME_OF_ALL,
    "einsum": "(equation: _str | Tensor, *operands: Any, out: Any = None) -> Tensor",
    "tile": "(input: Tensor, *dims: _int | Sequence[_int]) -> Tensor",
    "random_": "(self, from_: _int = 0, /, to: _int | None = None, *, generator: Generator | None = None) -> Tensor",
}


def parameter_type(op: str, name: str, default: Any) -> str:
    """Type of a parameter that is no input."""
    found = _SPECIAL_TYPES.get((op, name), _PARAMETER_TYPES.get(name))
    if found is None and name in ("dim", "axis"):
        found = _INTS if default is None or default == () else "_int"
    if found is None:
        found = "Any" if default is None or default is MISSING else f"_{type(default).__name__}"
    return found if default is not None or found == "Any" or "None" in found else f"{found} | None"


def result_type(op: Any) -> str:
    """Type of the result of an operation."""
    if op.name in _RESULTS:
        return _RESULTS[op.name]
    if op.name in return_types.__all__:
        return f"return_types.{op.name}"
    outputs = op.output_names if isinstance(op, Op) else None
    if outputs is None:
        return "Tensor"
    return f"tuple[{', '.join(['Tensor'] * len(outputs))}]" if outputs else _TENSORS


def _parameter(name: str, kind: str, default: Any) -> str:
    if default is MISSING:
        return f"{name}: {kind}"
    shown = repr(default) if isinstance(default, (int, float, str, type(None))) else "..."
    return f"{name}: {kind} = {shown}"


def _input_type(op: Any, position: int) -> str:
    if position == op.variadic:
        return "Sequence[Tensor]"
    kind = "_Operand" if op.kind == "pointwise" or op.operator else "Tensor"
    return f"{kind} | None" if op.input_names[position] in op.input_defaults else kind


def _operation_signatures(op: Any, method: bool) -> list[str]:
    """Parameter lists of a registered operation. A parameter that may be spread, as in x.permute(1, 0), makes a second one."""
    inputs = ["self"] if method else []
    for i, name in enumerate(op.input_names):
        if not (method and i == 0):
            default = op.input_defaults.get(name, MISSING)
            inputs.append(_parameter(op.public_input_name(name), _input_type(op, i), default))
    positional: list[str] = []
    keyword: list[str] = []
    for i, name in enumerate(op.param_names):
        text = _parameter(name, parameter_type(op.name, name, op.defaults[name]), op.defaults[name])
        after_default = bool(op.input_defaults) and op.defaults[name] is MISSING  # Python refuses it by position
        (positional if i < op.positional_params and not after_default else keyword).append(text)
    if not method and op.kind != "view":
        kind = "Tensor" if op.output_names is None else _TENSORS
        keyword.append(f"out: {kind} | None = None")
    rest = ["*", *keyword] if keyword else []
    signatures = [", ".join(inputs + positional + rest)]
    if op.varargs is not None:
        signatures.append(", ".join([*inputs, f"*{op.varargs}: _int", *keyword]))
    return signatures


def _function_signature(op: Any, method: bool, inplace: bool = False) -> str:
    """Parameter list of a composite or plain function, as it stands in the source. inplace: of its in-place form."""
    parameters = list(inspect.signature(as_written(op.fn), follow_wrapped=False).parameters.values())
    if op.kind == "composite":
        parameters = parameters[1:]  # F
    texts: list[str] = []
    for i, p in enumerate(parameters):
        is_input = i == 0 and p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty
        is_input = is_input and (op.kind != "creation" or p.name in ("input", "self"))
        default = MISSING if p.default is p.empty else p.default
        if (p.name.startswith("_") and default is not MISSING) or (inplace and p.name == "inplace"):
            continue  # torch has parameters with an underscore for its own use
        if p.kind is p.KEYWORD_ONLY and not any(t.startswith("*") for t in texts):
            texts.append("*")
        if method and is_input:
            texts.append("self")
        elif p.kind is p.VAR_KEYWORD and op.kind == "creation":
            texts.append(_OPTIONS)
        elif p.kind is p.VAR_KEYWORD:
            texts.append(f"**{p.name}: Any")
        elif p.kind is p.VAR_POSITIONAL:
            kind = "Tensor" if p.name == "tensors" else parameter_type(op.name, p.name, MISSING)
            texts.append(f"*{p.name}: {kind}")
        elif is_input and p.name != "tensors":
            texts.append(f"{'input' if p.name == 'self' else p.name}: Tensor")
        else:
            texts.append(_parameter(p.name, _free_type(op, p.name, default), default))
    if (op.kind == "composite" or getattr(op, "out", False)) and not (method or inplace) and not texts[-1].startswith("**"):
        texts += ["out: Any = None"] if any(t.startswith("*") for t in texts) else ["*", "out: Any = None"]
    return ", ".join(texts)


def _free_type(op: Any, name: str, default: Any) -> str:
    """Type of an argument of a composite or plain function. Such a function does not tell inputs from parameters."""
    if default is MISSING and (op.name, name) not in _SPECIAL_TYPES and name not in (*_PARAMETER_TYPES, "dim"):
        return "_Operand" if name == "other" else "Any"
    return parameter_type(op.name, name, default)


def heads(name: str, op: Any, method: bool) -> list[str]:
    """Parameter lists and result types of an operation under one of its public names, one for each overload."""
    if op.name in _OVERLOADS:
        first = "self" if method else "input: Tensor"
        out, also_out = ("", "") if method else (", *, out: Any = None", ", out: Any = None")
        return [text.format(input=first, name=op.name, out=out, also_out=also_out) for text in _OVERLOADS[op.name]]
    found = _operation_signatures(op, method) if isinstance(op, Op) else [_function_signature(op, method)]
    return [f"({signature}) -> {result_type(op)}" for signature in [*found, *_numpy_spelling(found[0])]]


def _numpy_spelling(signature: str) -> list[str]:
    """The parameter list with NumPy's axis= and keepdims= for dim= and keepdim=, if it has dim=. They are given by name."""
    first, comma, rest = signature.partition(", ")
    if not re.match(r"dim\b", rest) or "*" in first:
        return []
    rest = re.sub(r"^dim: ([^=,]*(\[[^\]]*\])?[^=,]*?)( = [^,]*)?(?=,|$)", r"axis: \1", rest)
    return [f"{first}{comma}*, {rest.replace('*, ', '').replace('keepdim:', 'keepdims:')}"]


def inplace_head(op: Any) -> str:
    """Parameter list and result type of the in-place form of a function that has inplace=."""
    return f"({_function_signature(op, method=False, inplace=True)}) -> Tensor"


def signature_of(op: Any) -> inspect.Signature:
    """Signature of the function of an operation: that of its stub. An operation with overloads has one for all of them.

    Its defaults are the real ones, also where the stub has `...`. Annotations are texts.
    """
    overloads = [_parsed(head) for head in heads(op.name, op, method=False)]
    if op.name in _SIGNATURES:
        overloads.insert(0, _parsed(_SIGNATURES[op.name]))
    elif len(_OVERLOADS.get(op.name, ())) > 1:
        own = _operation_signatures(op, False)[0] if isinstance(op, Op) else _function_signature(op, False)
        overloads.insert(0, _parsed(f"({own}) -> Any"))
    if isinstance(op, Op):
        real: dict[str, Any] = {public_name(name): value for name, value in op.input_defaults.items()} | op.defaults
    else:
        real = {name: p.default for name, p in inspect.signature(as_written(op.fn), follow_wrapped=False).parameters.items()}
    found = overloads[0].parameters.values()
    parameters = [p.replace(default=real.get(p.name, p.default)) if p.default is not p.empty else p for p in found]
    results = list(dict.fromkeys(str(overload.return_annotation) for overload in overloads))
    return inspect.Signature(parameters, return_annotation=" | ".join(r for r in results if r != "Any" or len(results) == 1))


def _parsed(head: str) -> inspect.Signature:
    """Return the signature that a text such as "(x: Tensor, dim: _int = 0) -> Tensor" says. Its annotations are texts."""
    scope: dict[str, Any] = {"inf": math.inf, "nan": math.nan}
    exec(f"def function{head}: ...", scope)  # this module's `annotations` holds for it too
    found = inspect.signature(scope["function"])
    parameters = [p.replace(annotation=_shown(p.annotation)) for p in found.parameters.values()]
    return found.replace(parameters=parameters, return_annotation=_shown(found.return_annotation))


def _shown(annotation: Any) -> Any:
    """Text of a type as users write it: `int`, not the `_int` of the stubs."""
    return re.sub(r"\b_(?=[a-zA-Z])", "", annotation) if isinstance(annotation, str) else annotation
