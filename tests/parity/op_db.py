"""torch's operator database, run on both libraries: the calls of its entries, with its samples, value by value.

torch brings a list of its operators with it, each with inputs to test it on. An entry is a small program: a function, maybe
wrapped so that its derivative can be checked (a matrix made hermitian, the phase of eigenvectors taken out). `Twins` runs such
a program on torch and makes every call of it a second time here, on tensors with the same numbers in the same layout.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import torch
from torch.overrides import TorchFunctionMode, resolve_name
from torch.testing._internal.common_methods_invocations import op_db

import wengert
from parity.known import Difference
from parity.op_db_known import BY_PROCESSOR, KNOWN
from wengert.core.tensor import TensorBase, wrap

ENTRIES = {f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name: op for op in op_db}
AUTOGRAD = [name for name, op in ENTRIES.items() if op.supports_autograd]
SETTLED = sorted(key for key, known in KNOWN.items() if known.reason not in BY_PROCESSOR)  # differences that every processor shows

# Aspects of the numbers that derivatives are taken of: these decide whether an entry agrees. Those of other dtypes start with
# the dtype, "int64 value"; those of other forms are "method", "in-place" and "out".
DECISIVE = ("value", "requires_grad", "gradient", "second", "error")
RANDOM = "random"
MOST_SAMPLES = 300  # of an entry in one dtype
NO_OUT = "no out="
VALUES_ONLY = ("int64", "bool", "float32", "complex64", "uint8", "float16", "bfloat16")


class Missing(Exception):
    """wengert has nothing under this name."""


class Finding(NamedTuple):
    """A difference: its aspect, the call, and its description (a Difference, if numbers differ)."""

    aspect: str
    where: str
    text: str


# ----------------------------------------------------------------------------------------------------------------------
# Names
# ----------------------------------------------------------------------------------------------------------------------


def find(path: str) -> Any:
    """wengert's object of a dotted name of torch's, without the "torch."; raises Missing."""
    found: Any = wengert
    for part in path.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise Missing(path)
    return found


def torchs(path: str) -> Any:
    """torch's object of a dotted name, or None."""
    found: Any = torch
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def provided(op: Any) -> bool:
    """Whether wengert has the entry's name, as a function, as a method, or as one in place."""
    for name in (op.name, f"Tensor.{op.name}", f"Tensor.{op.name}_"):
        if torchs(name) is None:
            continue
        try:
            find(name)
        except Missing:
            continue
        return True
    try:  # an entry may have another name than the function that it is about
        counterpart(op.op)
    except (Missing, AttributeError):
        return False
    return True


def counterpart(function: Callable[..., Any]) -> Callable[..., Any]:
    """wengert's function for one of torch's, found by name; raises Missing."""
    if getattr(function, "__name__", "") == "__get__":
        attribute = function.__self__.__name__  # type: ignore[attr-defined]
        return lambda tensor: getattr(tensor, attribute)
    if function is torch.mm:
        return wengert.mm  # resolve_name says spmm
    path = resolve_name(function) or f"{getattr(function, '__module__', None) or 'torch'}.{getattr(function, '__name__', function)}"
    return find(path.removeprefix("torch.").removeprefix("functional."))


# ----------------------------------------------------------------------------------------------------------------------
# The same tensors in both libraries
# ----------------------------------------------------------------------------------------------------------------------


def flat_extent(tensor: torch.Tensor) -> torch.Tensor:
    """The memory that a tensor walks over, as one row that starts at its first element."""
    if tensor.numel() == 0:
        return tensor.new_empty(0)
    length = 1 + sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride()))
    return tensor.as_strided((length,), (1,))


def plain_copy(tensor: torch.Tensor) -> torch.Tensor:
    """A leaf with the same numbers in a layout with the same strides, without lazy conjugation or negation."""
    source = tensor.detach().resolve_conj().resolve_neg()
    row = flat_extent(source).clone()
    copy = row.new_empty(source.shape) if source.numel() == 0 else row.as_strided(source.shape, source.stride())
    return copy.requires_grad_(tensor.requires_grad)


def to_array(tensor: torch.Tensor) -> np.ndarray:
    """A dense tensor's numbers as an array of its own, with the same strides."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype == torch.bfloat16:
        import ml_dtypes

        return to_array(tensor.view(torch.int16)).view(ml_dtypes.bfloat16)
    row = flat_extent(tensor).clone().numpy()
    if tensor.numel() == 0:
        return np.empty(tensor.shape, row.dtype)
    return np.lib.stride_tricks.as_strided(row, tensor.shape, [step * row.itemsize for step in tensor.stride()])


def to_ours(tensor: torch.Tensor) -> Any:
    if tensor.layout != torch.strided:
        raise Missing(f"layout {tensor.layout}")
    if tensor.dtype in (torch.complex32,) or "float8" in str(tensor.dtype):
        raise Missing(f"dtype {tensor.dtype}")
    twin = wrap(to_array(tensor))
    return twin.requires_grad_() if tensor.requires_grad else twin


def map_leaves(x: Any, change: Callable[[Any], Any]) -> Any:
    """Apply `change` to each leaf of nested lists, tuples and dicts."""
    if isinstance(x, torch.Size):
        return tuple(x)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*[map_leaves(y, change) for y in x])
    if isinstance(x, list | tuple):
        return type(x)([map_leaves(y, change) for y in x]) if type(x) in (list, tuple) else tuple([map_leaves(y, change) for y in x])
    if isinstance(x, dict):
        return {k: map_leaves(v, change) for k, v in x.items()}
    if isinstance(x, slice):
        return slice(*[map_leaves(y, change) for y in (x.start, x.stop, x.step)])
    return change(x)


def leaves(x: Any) -> list[Any]:
    found: list[Any] = []
    map_leaves(x, found.append)
    return found


class Twins(TorchFunctionMode):
    """While active, each call on torch's tensors is repeated on their twins."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs: dict[int, tuple[torch.Tensor, Any]] = {}
        self.differing: list[str] = []  # of results that are no tensors

    def add(self, tensor: torch.Tensor, twin: Any) -> None:
        self.pairs[id(tensor)] = (tensor, twin)

    def twin(self, x: Any) -> Any:
        """Return our counterpart of a value of torch's."""
        if isinstance(x, torch.Tensor):
            if id(x) not in self.pairs:
                self.add(x, to_ours(x))
            return self.pairs[id(x)][1]
        if isinstance(x, torch.dtype):
            try:
                return find(str(x).removeprefix("torch."))
            except Missing:
                raise Missing(str(x)) from None
        if isinstance(x, torch.device):
            return str(x)
        if isinstance(x, torch.memory_format | torch.layout):
            return None
        if isinstance(x, torch.Generator):
            return wengert.Generator()
        if isinstance(x, torch.nn.PairwiseDistance):
            return wengert.nn.functional.pairwise_distance
        return x

    def twins(self, x: Any) -> Any:
        return map_leaves(x, self.twin)

    def bind(self, result: Any, ours: Any) -> None:
        """Remember our counterpart of each of torch's results."""
        if isinstance(result, torch.Tensor):
            if not isinstance(ours, TensorBase):
                raise TypeError(f"returns {type(ours).__name__}, torch a tensor")
            self.add(result, ours)
        elif isinstance(result, list | tuple):
            if not isinstance(ours, list | tuple) or len(ours) != len(result):
                raise TypeError(f"returns {type(ours).__name__} of {len(ours) if hasattr(ours, '__len__') else '-'}, torch {type(result).__name__} of {len(result)}")
            for a, b in zip(result, ours):
                self.bind(a, b)
        elif isinstance(result, bool | int | float | complex):
            same = isinstance(ours, bool | int | float | complex) and (type(ours) is type(result)) and np.isclose(result, ours, equal_nan=True)
            if not same:
                self.differing.append(f"{ours!r}, torch {result!r}")

    def call(self, function: Callable[..., Any], ours: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """torch's result of a call that is made in both libraries."""
        twin_args, twin_kwargs = self.twins(args), self.twins(kwargs)
        with torch._C.DisableTorchFunction():
            result = function(*args, **kwargs)
        try:
            self.bind(result, ours(*twin_args, **twin_kwargs))
        except Missing:
            raise
        except Exception as error:
            raise Raised(error) from error
        return result

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not any(isinstance(x, torch.Tensor) for x in leaves((args, kwargs))) and function.__name__ in ("__get__", "__set__"):
            return function(*args, **(kwargs or {}))
        name = getattr(function, "__name__", "")
        if name == "_set_grad_enabled":
            return function(*args)
        if name == "__get__" and function.__self__.__name__ not in ("T", "H", "mT", "mH", "real", "imag", "data", "grad"):
            return function(*args, **(kwargs or {}))
        if name in ("dim", "size", "is_complex", "is_floating_point", "stride", "numel", "__len__", "__iter__"):
            result = function(*args, **(kwargs or {}))
            if not any(isinstance(x, torch.Tensor) for x in leaves(result) if not hasattr(x, "__next__")):
                return result
        return self.call(function, counterpart(function), args, kwargs or {})


class Raised(Exception):
    """wengert refuses a call that torch takes."""

    def __init__(self, error: Exception) -> None:
        text = str(error).split("\n")[0][:150]
        super().__init__(f"raises {type(error).__name__}: {text}")


# ----------------------------------------------------------------------------------------------------------------------
# One sample
# ----------------------------------------------------------------------------------------------------------------------


def entry_function(op: Any, function: Callable[..., Any], twins: Twins) -> Callable[..., Any]:
    """The entry's function; called in both libraries as one call where it has a name, else step by step."""
    path = None
    if function is torchs(op.name):
        path = op.name
    elif function is torchs(f"Tensor.{op.name}"):
        path = f"Tensor.{op.name}"
    if path is None:
        return function
    ours = find(path)
    return lambda *args, **kwargs: twins.call(function, ours, args, kwargs)


def run_sample(op: Any, sample: Any, variant: Callable[..., Any] | None = None) -> tuple[Twins, list[torch.Tensor], Any, Any]:
    """The twins after the entry's program has run, its inputs that need gradients, its result, and the result for derivatives."""
    twins = Twins()
    copies: dict[int, torch.Tensor] = {}
    inputs: list[torch.Tensor] = []

    def copied(x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        if id(x) not in copies:
            copies[id(x)] = x.detach() if x.layout != torch.strided else plain_copy(x)
            if copies[id(x)].requires_grad:
                inputs.append(copies[id(x)])
            twins.twin(copies[id(x)])
        return copies[id(x)]

    args = map_leaves((sample.input, *sample.args), copied)
    kwargs = map_leaves(sample.kwargs, copied)
    function = entry_function(op, op.op, twins) if variant is None else variant
    with twins:
        if op.name.startswith("masked."):  # whose wrapper knows torch's functions only; what it hides agrees
            result = function(*args, **kwargs)
        else:
            result = op.gradcheck_wrapper(function, *args, **kwargs)
        processed = sample.output_process_fn_grad(result)
    return twins, inputs, result, processed


def random_like(tensor: torch.Tensor, seed: int) -> torch.Tensor:
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1, 1, tuple(tensor.shape))
    if tensor.is_complex():
        values = values + 1j * rng.uniform(-1, 1, tuple(tensor.shape))
    return torch.from_numpy(np.asarray(values)).to(tensor.dtype)


TOLERANCE = 1e-9  # of float64 and complex128, relative to the largest number of the tensor

# Entries that need more, and why.
TOLERANCES = {
    "linalg.householder_product": (1e-7, "products of reflectors that are far from orthogonal grow to 1e5 and cancel"),
}

# Entries whose results have a freedom (signs, phases) that torch's own derivative checks take out: compared is what is left.
GAUGE = {"linalg.eig", "linalg.eigh", "linalg.svd", "svd", "svd_lowrank", "pca_lowrank"}

_TOLERANCES = {
    torch.float32: 1e-4, torch.complex64: 1e-4, torch.float16: 5e-3, torch.bfloat16: 4e-2,
}  # fmt: skip


def unlike(ours: Any, theirs: torch.Tensor | None, tolerance: float = TOLERANCE) -> str | None:
    """Describe the difference of two tensors beyond rounding, or None. For float64 the tolerance is 1e-9 of the largest number."""
    if ours is None or theirs is None:
        known = theirs if ours is None else ours
        largest = 0.0 if known is None or known.numel() == 0 else float(abs(known.detach()).max())
        return None if largest < 1e-12 else "None, torch a gradient" if ours is None else "a gradient, torch None"
    if theirs.layout != torch.strided:
        theirs = theirs.to_dense()
    wanted = to_array(theirs)
    array = ours._array
    if array.dtype != wanted.dtype:
        return f"dtype {array.dtype}, torch {wanted.dtype}"
    if array.shape != wanted.shape:
        return f"shape {array.shape}, torch {wanted.shape}"
    if array.dtype.kind in "biu":
        different = array != wanted
    else:
        wide = np.complex128 if array.dtype.kind == "c" else np.float64
        a, b = array.astype(wide), wanted.astype(wide)
        finite = abs(b[np.isfinite(b)])
        limit = max(tolerance, _TOLERANCES.get(theirs.dtype, 0))
        scale = max(1.0, float(finite.max()) if finite.size else 0.0)
        different = ~np.isclose(a, b, rtol=limit, atol=limit * scale, equal_nan=True)
        if array.dtype.kind == "c":  # what becomes of an infinite or NaN part differs between torch's own kernels
            different &= np.isfinite(a) | np.isfinite(b)
    if different.any():
        return Difference.of(array, wanted, different)
    return None


def tensors(x: Any) -> list[torch.Tensor]:
    return [y for y in leaves(x) if isinstance(y, torch.Tensor)]


class Comparison:
    """Results of one sample in both libraries, and their differences."""

    def __init__(self, op: Any, sample: Any, tolerance: float, variant: Callable[..., Any] | None = None) -> None:
        # Results are no better than the least precise of the numbers that went in.
        given = [x.dtype for x in tensors((sample.input, sample.args, sample.kwargs))]
        self.tolerance = max(tolerance, *[_TOLERANCES.get(d, 0.0) for d in given], 0.0)
        self.twins, self.inputs, self.result, self.processed = run_sample(op, sample, variant)

    def ours(self, tensor: torch.Tensor) -> Any:
        return self.twins.pairs[id(tensor)][1]

    def values(self, gauge: bool, random: bool) -> Iterator[tuple[str, str]]:
        for text in self.twins.differing:
            yield "value", text
        for tensor in tensors(self.processed if gauge else self.result):
            ours = self.ours(tensor)
            if random:
                text = None
                if tuple(ours.shape) != tuple(tensor.shape):
                    text = f"shape {tuple(ours.shape)}, torch {tuple(tensor.shape)}"
                elif repr(ours.dtype).split(".")[-1] != str(tensor.dtype).split(".")[-1]:
                    text = f"dtype {ours.dtype}, torch {tensor.dtype}"
            else:
                text = unlike(ours, tensor, self.tolerance)
            if text:
                yield "value", text
            if ours.requires_grad != tensor.requires_grad:
                yield "requires_grad", f"{ours.requires_grad}, torch {tensor.requires_grad}"

    def gradients(self, second: bool) -> Iterator[tuple[str, str]]:
        outputs = [t for t in tensors(self.processed) if t.requires_grad]
        pairs = [(self.ours(t), t) for t in outputs if self.ours(t).requires_grad]
        if not pairs or not self.inputs:
            return
        cotangents = [random_like(t, i).requires_grad_(second) for i, (_, t) in enumerate(pairs)]
        starts = [wrap(to_array(c)).requires_grad_(second) for c in cotangents]
        inputs = [self.ours(t) for t in self.inputs]
        try:
            wanted = torch.autograd.grad(
                [t for _, t in pairs], self.inputs, cotangents, retain_graph=True, create_graph=second, allow_unused=True
            )
        except RuntimeError:
            return  # torch has no derivative, or none of this input
        found = wengert.autograd.grad(
            [o for o, _ in pairs], inputs, starts, retain_graph=True, create_graph=second, allow_unused=True
        )
        if not second:
            yield from self.compare("gradient", found, wanted)
            return
        again = [(a, b) for a, b in zip(found, wanted) if a is not None and b is not None and b.requires_grad]
        if not again:
            return
        if not all(a.requires_grad for a, _ in again):
            yield "second", "the gradient has no history"
            again = [(a, b) for a, b in again if a.requires_grad]
            if not again:
                return
        cotangents_2 = [random_like(b, 7 + i) for i, (_, b) in enumerate(again)]
        starts_2 = [wrap(to_array(c)) for c in cotangents_2]
        try:
            wanted = torch.autograd.grad([b for _, b in again], [*self.inputs, *cotangents], cotangents_2, allow_unused=True)
        except RuntimeError:
            return
        found = wengert.autograd.grad([a for a, _ in again], [*inputs, *starts], starts_2, allow_unused=True)
        yield from self.compare("second", found, wanted)

    def compare(self, aspect: str, found: Any, wanted: Any) -> Iterator[tuple[str, str]]:
        for a, b in zip(found, wanted):
            text = unlike(a, b, self.tolerance)
            if text:
                yield aspect, text


# ----------------------------------------------------------------------------------------------------------------------
# One entry
# ----------------------------------------------------------------------------------------------------------------------


def dtypes_of(op: Any) -> tuple[list[torch.dtype], list[torch.dtype]]:
    """Return the dtypes whose derivatives are compared, and the dtypes whose values alone are compared."""
    supported = op.supported_dtypes("cpu")
    backward = op.supported_backward_dtypes("cpu") if op.supports_autograd else set()
    chosen = [d for d in (torch.float64, torch.complex128) if d in backward]
    if op.supports_autograd and torch.float64 not in chosen and torch.float32 in backward:
        chosen.append(torch.float32)
    rest = [getattr(torch, name) for name in VALUES_ONLY]
    if not chosen:
        rest = [torch.float64, torch.complex128, *rest]
    return chosen, [d for d in rest if d in supported and d not in chosen]


def samples_of(op: Any, dtype: torch.dtype, requires_grad: bool, limit: int | None) -> Iterator[tuple[int, Any]]:
    """The entry's samples, numbered; at most limit of them, spread over the first few, as making them takes time too."""
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002, which some of torch's samples are drawn with
    whole = op.reference_inputs_func is not None and limit is None
    found = drawn(op.reference_inputs if whole else op.sample_inputs, dtype, requires_grad, MOST_SAMPLES if limit is None else 6 * limit)
    if whole and not found:
        found = drawn(op.sample_inputs, dtype, requires_grad, MOST_SAMPLES)
    numbers = range(len(found)) if limit is None or len(found) <= limit else [i * len(found) // limit for i in range(limit)]
    for i in numbers:
        yield i, found[i]


def drawn(samples: Callable[..., Any], dtype: torch.dtype, requires_grad: bool, most: int) -> list[Any]:
    """The first samples that torch makes, up to one that it fails to make."""
    made = iter(samples("cpu", dtype, requires_grad=requires_grad))
    found: list[Any] = []
    try:
        found.extend(islice(made, most))
    except ValueError as error:
        if "`requires_grad=True` is not supported for boolean and integral dtypes" not in str(error):
            raise  # else it is one of three inputs, of which some are always integers
    if hasattr(made, "close"):
        made.close()
    return found


def is_random(op: Any, sample: Any) -> bool:
    """Whether two calls of torch's give different numbers. (Some entries seed the generator: not here.)"""
    if op.name.startswith("nn.functional.fractional_max_pool") and "_random_samples" not in sample.kwargs:
        return True  # the windows are drawn; the results may happen to be the same
    if op.name in ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"):
        return True  # so may what lies in memory
    results = []
    for seed in range(2):
        torch.default_generator.manual_seed(seed)
        with torch.no_grad(), mock.patch("torch.manual_seed"):
            results.append(tensors(op.op(*copies_of((sample.input, *sample.args)), **copies_of(sample.kwargs))))
    return any(unlike(wrap(to_array(a)), b) for a, b in zip(*results) if a.shape == b.shape and a.layout == torch.strided)


def smoothness(sample: Any) -> float:
    """The number of elements of the largest tensor; infinite where one is not finite. Derivatives at NaN and infinities
    are compared in test_ops, and would take long for large ones."""
    found = [x for x in tensors((sample.input, sample.args, sample.kwargs)) if x.layout == torch.strided]
    inexact = [x for x in found if x.dtype.is_floating_point or x.dtype.is_complex]
    return max([x.numel() for x in found], default=0) if all(bool(x.isfinite().all()) for x in inexact) else float("inf")


def describe(sample: Any) -> str:
    def short(x: Any) -> Any:
        return f"{str(x.dtype)[6:]}{list(x.shape)}" if isinstance(x, torch.Tensor) else x

    args = ", ".join(str(map_leaves(a, short)) for a in (sample.input, *sample.args))
    return args + "".join(f", {k}={map_leaves(v, short)}" for k, v in sample.kwargs.items())


def guarded(compare: Callable[[], Iterator[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    """Yield the findings of a comparison. An exception of ours is a finding as well."""
    try:
        yield from compare()
    except Missing as error:
        yield "missing", str(error)
    except Raised as error:
        yield "error", str(error)
    except Exception as error:
        yield "error", f"{type(error).__name__}: {str(error)[:200]}"


def sample_findings(op: Any, name: str, sample: Any, derivatives: bool, second: bool) -> Iterator[tuple[str, str]]:
    """(aspect, difference) of one sample."""
    try:
        random = is_random(op, sample)
    except Exception:
        return  # torch refuses its own sample
    if random:
        yield RANDOM, ""

    def compare() -> Iterator[tuple[str, str]]:
        comparison = Comparison(op, sample, TOLERANCES.get(name, (TOLERANCE,))[0])
        yield from comparison.values(name in GAUGE, random)
        if derivatives and not random:
            yield from comparison.gradients(second=False)
            if second:
                yield from comparison.gradients(second=True)

    yield from guarded(compare)


def findings(name: str, limit: int | None = None) -> Iterator[Finding]:
    """Every difference of an entry. limit: at most so many samples a dtype."""
    op = ENTRIES[name]
    if not provided(op):
        yield Finding("missing", "", op.name)
        return
    differentiated, rest = dtypes_of(op)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in differentiated:
            for i, sample in samples_of(op, dtype, True, limit):
                size = smoothness(sample)
                second = op.supports_gradgrad and size <= 1000 and i < (100 if limit is None else 3)
                for aspect, text in sample_findings(op, name, sample, size <= 20000, second):
                    yield Finding(aspect, f"{i}: {describe(sample)}", text)
        for dtype in rest:
            for i, sample in samples_of(op, dtype, False, None if limit is None else 1):
                for aspect, text in sample_findings(op, name, sample, False, False):
                    yield Finding(f"{str(dtype)[6:]} {aspect}", f"{i}: {describe(sample)}", text)
        yield from form_findings(op, name, limit)


# ----------------------------------------------------------------------------------------------------------------------
# The other forms of an entry: method, in-place, out=
# ----------------------------------------------------------------------------------------------------------------------


def forms(op: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """(name, function) of the entry's other forms, in torch's words."""
    if op.method_variant is not None:
        yield "method", op.method_variant
    if op.inplace_variant is not None:
        inplace = op.inplace_variant
        yield "in-place", lambda x, *args, **kwargs: inplace(x.clone(), *args, **kwargs)
    if op.supports_out and op.op is torchs(op.name):

        def out(*args: Any, **kwargs: Any) -> Any:
            with torch._C.DisableTorchFunction():
                result = op.op(*args, **kwargs)
                place = map_leaves(result, torch.empty_like) if isinstance(result, torch.Tensor) else tuple(map(torch.empty_like, result))
            return op.op(*args, out=place, **kwargs)

        yield "out", out


def form_findings(op: Any, name: str, limit: int | None) -> Iterator[Finding]:
    """Differences of the other forms, in values, for the first samples that torch takes in them."""
    dtype = next((d for d in (torch.float64, torch.float32, torch.int64, torch.bool) if d in op.supported_dtypes("cpu")), None)
    if dtype is None:
        return
    for form, function in forms(op):
        for i, sample in samples_of(op, dtype, False, 2 if limit is None else 1):
            try:
                map_leaves(function(*copies_of((sample.input, *sample.args)), **copies_of(sample.kwargs)), lambda x: x)
                random = is_random(op, sample)
            except Exception:
                continue  # torch has not got this form for the sample
            for _, text in guarded(partial(_compare_form, op, sample, function, name in GAUGE, random)):
                if form == "out" and "unexpected keyword argument 'out'" in text:
                    yield Finding(NO_OUT, "", "")
                    break
                yield Finding(form, f"{i}: {describe(sample)}", text)


def _compare_form(op: Any, sample: Any, function: Callable[..., Any], gauge: bool, random: bool) -> Iterator[tuple[str, str]]:
    return Comparison(op, sample, TOLERANCE, function).values(gauge, random)


def copies_of(x: Any) -> Any:
    return map_leaves(x, lambda y: plain_copy(y) if isinstance(y, torch.Tensor) and y.layout == torch.strided else y)


# ----------------------------------------------------------------------------------------------------------------------
# Verdicts
# ----------------------------------------------------------------------------------------------------------------------


class Verdict(NamedTuple):
    """Result for an entry.

    word: "missing", "differs", "random" or "agrees". known: the reason for each known difference, by aspect. unexplained:
    all other differences.
    """

    word: str
    known: dict[str, str]
    unexplained: list[str]
    has_out: bool


def verdict(name: str, limit: int | None = None) -> Verdict:
    known: dict[str, str] = {}
    unexplained: dict[str, Finding] = {}
    seen: set[str] = set()
    for finding in findings(name, limit):
        aspect = finding.aspect
        seen.add(aspect)
        if aspect == NO_OUT or aspect.endswith(("missing", RANDOM)):
            continue
        reason = KNOWN.get((name, aspect))
        if reason is not None and reason.excuses(finding.where, finding.text):
            known[aspect] = reason.reason
        else:
            unexplained.setdefault(aspect, finding)
    decisive = any(aspect in seen for aspect in DECISIVE)
    random = RANDOM in seen
    if not ENTRIES[name].supports_autograd:  # there are values only
        decisive = any(aspect.endswith((" value", " error")) for aspect in seen)
        random = any(aspect.endswith(RANDOM) for aspect in seen)
    word = "missing" if "missing" in seen else "differs" if decisive else "random" if random else "agrees"
    texts = [f"{f.aspect}: {f.where}: {f.text}" for f in unexplained.values()]
    return Verdict(word, known, texts, NO_OUT not in seen)
