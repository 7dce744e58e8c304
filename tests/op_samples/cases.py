"""The calls of the registry-driven tests: every operation with every one of its samples, in any dtype and layout."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any

import numpy as np
import pytest

from loops import each
from op_samples import Data, Sample, collect
from wengert import manual_seed
from wengert.core.node import OpNode
from wengert.core.tensor import TensorBase, wrap
from wengert.errors import UnsupportedDtypeError
from wengert.ops import load_all
from wengert.ops.registry import OPS, Operation

load_all()  # what runs over OPS means every operation

# Of a pointwise operation without samples of its own: shapes of its inputs, which broadcast.
_UNARY_SHAPES = [((2, 3),), ((),), ((0, 3),)]
_BINARY_SHAPES = [
    ((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 3)), ((2, 3), ()), ((), ()), ((0, 3), (1,)),
]  # fmt: skip
_TERNARY_SHAPES = [((2, 3), (2, 3), (2, 3)), ((2, 1), (3,), ()), ((), (2, 1), (1, 3)), ((), (), ()), ((0, 3), (1,), ())]
_SHAPES = {1: _UNARY_SHAPES, 2: _BINARY_SHAPES, 3: _TERNARY_SHAPES}

# Operations that only rules use, and those only in derivatives above the second: called for themselves.
_PRIVATE_SAMPLES = {
    "_on_diagonal": [Sample((), shape=(3, 3)), Sample((), shape=(2, 3))],
    "_read": [Sample((3, 4), index=(slice(None), 1)), Sample((3, 4), index=(np.array([0, 2, 0]),), repeats=True)],
    "read_cotangent": [
        Sample((3,), shape=(3, 4), index=(slice(None), 1)),
        Sample((3, 4), shape=(3, 4), index=(np.array([0, 2, 0]),), repeats=True),
    ],
    "_share": [
        Sample((2, 1), np.array([[1.0, 2.0, 2.0], [3.0, 1.0, 0.0]]), np.array([[2.0], [3.0]]), dim=1),
        Sample((), np.array([1.0, 2.0, 2.0]), np.array(2.0), dim=None),
    ],
}

LAYOUTS = ("transposed", "sliced", "reversed", "expanded")


class Case:
    """One operation with one sample."""

    def __init__(self, op: Any, sample: Sample, number: int) -> None:
        self.op, self.sample, self.number = op, sample, number
        self.name: str = op.name
        self.is_random = _is_random(op)

    def __repr__(self) -> str:
        return self.id

    @property
    def id(self) -> str:
        """The case's name in pytest. The number distinguishes samples with the same text."""
        text = repr(self.sample)
        return f"{self.name}-{self.number}-{text if len(text) <= 60 else text[:57] + '...'}".replace("\n", " ")

    @property
    def may_be_complex(self) -> bool:
        """Whether neither the sample nor the operation refuses complex numbers. A call may still do so: see takes_complex."""
        return self.sample.complex and getattr(self.op, "complex", True)

    @cached_property
    def takes_complex(self) -> bool:
        """Whether the sample runs in complex128: neither it nor the operation says no, nor does the call itself."""
        if not self.may_be_complex:
            return False
        try:
            self.call(self.tensors(np.complex128))
        except UnsupportedDtypeError:  # of a composite; tests/parity says whether torch refuses too
            return False
        return True

    @property
    def has_distinct(self) -> bool:
        """Whether an input must not have equal elements, which would be a tie, or a matrix without an inverse."""
        return any(d.distinct for d in self.data()) or self.name in _OF_REGULAR_MATRICES

    @property
    def is_about_memory(self) -> bool:
        """Whether the operation's result depends on the memory layout of its input."""
        return self.name.removesuffix("_copy") in {"as_strided", "unflatten", "view", "view_as", "view_as_complex"}

    def data(self) -> Iterator[Data]:
        """The inputs that are made of random numbers."""
        for x in self.sample.inputs:
            yield from (y for y in (x if isinstance(x, list) else [x]) if isinstance(y, Data))

    def values(self, dtype: Any, layout: str = "contiguous", writable: bool = False) -> list[Any]:
        """The inputs, as arrays; the same ones in each call. They are read-only, so that no forward can change them."""
        rng = np.random.default_rng(1000 + self.number)

        def make(x: Any) -> Any:
            if isinstance(x, list):
                return [make(y) for y in x]
            array = lay_out(x.make(rng, dtype), layout) if isinstance(x, Data) else x
            if isinstance(array, np.ndarray) and not writable:
                array = array.view()
                array.setflags(write=False)
            return array

        return [make(x) for x in self.sample.inputs]

    def tensors(self, dtype: Any, layout: str = "contiguous", requires_grad: bool = True) -> list[Any]:
        """The inputs as tensors (numbers and None as they are); those made of Data with grad=True require grad."""
        return self.wrapped(self.values(dtype, layout), requires_grad)

    def wrapped(self, values: list[Any], requires_grad: bool = False) -> list[Any]:
        """Values in the places of the inputs as tensors."""

        def tensor(x: Any, spec: Any) -> Any:
            if isinstance(x, list):
                return [tensor(y, s) for y, s in zip(x, spec, strict=True)]
            if not isinstance(x, np.ndarray):
                return x
            result = wrap(x)
            if requires_grad and isinstance(spec, Data) and spec.grad and x.dtype.kind in "fc":
                result.requires_grad = True
            return result

        return [tensor(x, spec) for x, spec in zip(values, self.sample.inputs, strict=True)]

    @cached_property
    def params(self) -> dict[str, Any]:
        """The keyword arguments, arrays among them as tensors."""
        return {k: wrap(v) if isinstance(v, np.ndarray) else v for k, v in self.sample.params.items()}

    def call(self, inputs: list[Any], function: Callable[..., Any] | None = None) -> Any:
        """The operation of these inputs, or another function in its place. Random ones draw the same each time."""
        return self.bound(function or self.op.function)(*inputs)

    def bound(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """function of the inputs alone."""

        def run(*inputs: Any) -> Any:
            if self.is_random:
                manual_seed(7)
            with warnings.catch_warnings():
                if self.name in _WARNS:
                    warnings.simplefilter("ignore")
                return function(*inputs, **self.params)

        return run


_OF_REGULAR_MATRICES = {
    "det", "inverse", "linalg_det", "linalg_inv", "linalg_slogdet", "linalg_solve", "logdet", "matrix_power", "slogdet",
    "linalg_matrix_power", "linalg_svdvals", "linalg_matrix_norm",
}  # fmt: skip

_RANDOM = {"gumbel_softmax", "svd_lowrank", "pca_lowrank"}

_WARNS = {
    "std", "var", "std_mean", "var_mean",  # of too few elements
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss",  # of shapes that differ
    "softmax", "log_softmax", "softmin",  # without dim
    "meshgrid", "nan_to_num", "dropout1d", "dropout2d", "dropout3d",
}  # fmt: skip


def lay_out(array: np.ndarray, layout: str) -> np.ndarray:
    """An array of the same shape that lies in memory as layout says; but for "expanded" of the same values too."""
    if array.ndim == 0:
        return array
    if layout == "transposed":
        return np.array(array.T, order="C").T
    if layout == "sliced":
        room = np.full([2 * n + 1 for n in array.shape], 99, array.dtype)
        region = room[tuple([slice(1, None, 2)] * array.ndim)]
        region[...] = array
        return region
    if layout == "reversed":
        back = (slice(None, None, -1),) * array.ndim
        return array[back].copy()[back]
    if layout == "expanded" and array.size:
        return np.broadcast_to(array[(slice(0, 1),) * array.ndim], array.shape)
    return array


def flatten(x: Any) -> list[Any]:
    """Return the tensors (or arrays) in an operation's arguments or results, also in nested lists and tuples, in order."""
    if isinstance(x, (list, tuple)):
        return [z for y in x for z in flatten(y)]
    return [x]


def tensors_in(x: Any) -> list[Any]:
    """Return the tensors among the items of `flatten(x)`."""
    return [y for y in flatten(x) if isinstance(y, TensorBase)]


def grad_inputs(inputs: list[Any]) -> list[Any]:
    """The inputs that require grad, in order."""
    return [x for x in tensors_in(inputs) if x.requires_grad]


def operation_nodes(tensors: list[Any]) -> list[OpNode]:
    """Return the nodes of operations in the graph of the tensors."""
    found: dict[Any, None] = {}
    stack = [t.grad_fn for t in tensors if t is not None and t.grad_fn is not None]
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = None
            stack += [following for following, _ in node.next_functions if following is not None]
    return [node for node in found if isinstance(node, OpNode)]


def _is_random(op: Any) -> bool:
    function = op.forward if isinstance(op, Operation) else op.fn
    return function.__globals__["__name__"].endswith((".random", ".samples")) or "dropout" in op.name or op.name in _RANDOM


def is_public(op: Any) -> bool:
    """Whether users can call the operation, as a function or a method."""
    return bool(op.method or op.namespaces)


def needs_no_samples(op: Any) -> bool:
    """Whether the inputs' domain says enough to call a pointwise operation."""
    if not isinstance(op, Operation) or op.kind != "pointwise" or op.required or op.variadic >= 0:
        return False
    return is_public(op) or None not in op.defaults.values()  # a private one may need what its public form fills in


def default_samples(op: Operation) -> list[Sample]:
    """Samples of an operation whose inputs broadcast, from its domain."""
    low, high = op.domain
    return [
        Sample(*[Data(*shape, low=low, high=high) for shape in shapes], complex=op.complex)
        for shapes in _SHAPES[len(op.input_names)]
    ]


def _all_cases() -> list[Case]:
    samples = _PRIVATE_SAMPLES | collect("SAMPLES")
    unknown = sorted(set(samples) - set(OPS))
    if unknown:
        raise LookupError(f"samples of operations that do not exist: {', '.join(unknown)}")
    cases = []
    for name, op in OPS.items():
        found = samples.get(name)
        if found is None and needs_no_samples(op):
            found = default_samples(op)
        cases += [Case(op, sample, number) for number, sample in enumerate(found or [])]
    return cases


CASES = _all_cases()


def cases_where(condition: Callable[[Case], bool]) -> list[Case]:
    """The cases that fulfil a condition."""
    return [case for case in CASES if condition(case)]


def by_operation(condition: Callable[[Case], bool]) -> dict[str, list[Case]]:
    """Operation -> its cases that fulfil a condition; the first has elements in all inputs where there is such a case."""
    found: dict[str, list[Case]] = {}
    for case in cases_where(condition):
        found.setdefault(case.name, []).append(case)
    for cases in found.values():
        cases.sort(key=lambda case: any(0 in d.shape for d in case.data()))
    return found


@contextmanager
def naming(subject: Any) -> Iterator[None]:
    """Add a note to an exception that names the case it happened in, for tests that loop."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"with {subject}")
        raise


def over_samples(condition: Callable[[Case], bool] = lambda case: True, *, quick: int | None = None) -> Callable[..., Any]:
    """Run a test of one case with every sample that fulfils condition: one test item an operation. A failure names its sample.

    quick: number of samples of an operation that `make test` runs. `make test-all` runs the others too. If None, both run all.
    """
    params = []
    for name, cases in by_operation(condition).items():
        params.append(pytest.param(cases[:quick], id=name))
        if cases[len(cases) if quick is None else quick :]:
            params.append(pytest.param(cases[quick:], id=f"{name}-more", marks=pytest.mark.exhaustive))

    def decorate(test: Callable[[Case], None]) -> Callable[..., None]:
        @pytest.mark.parametrize("cases", params)
        def run(cases: list[Case]) -> None:
            each("case", cases)(test)()

        run.__name__, run.__doc__ = test.__name__, test.__doc__
        return run

    return decorate


@cache
def first_cases() -> dict[str, Case]:
    """One case an operation: its first that has elements in all inputs."""
    found: dict[str, Case] = {}
    for case in CASES:
        if case.name not in found or (any(0 in d.shape for d in found[case.name].data())):
            found[case.name] = case
    return found


def over_operations(condition: Callable[[Any], bool] = lambda op: True) -> Callable[..., Any]:
    """Run a test of one operation with every operation that has samples and fulfils condition: one test item for all.

    The test gets the operation and its first case. A failure names the operation."""
    return each(("op", "case"), [(case.op, case) for case in first_cases().values() if condition(case.op)])
