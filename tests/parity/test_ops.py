"""Every operation and sample against torch: values, dtypes, gradients, second derivatives, node names, special values.

`python tests/parity/test_ops.py [pattern]` prints a table, one line an operation; a test run ends with the lines that
do not say "agrees".
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from op_samples import Data, other_steps  # noqa: E402
from op_samples.cases import CASES, Case, first_cases, flatten, is_public, operation_nodes, tensors_in  # noqa: E402
from op_samples.special import ONLY_DIFFERENTIATED_HERE  # noqa: E402
from parity.known import (  # noqa: E402
    Difference,
    Known,
    indices_alone,
    known_in,
    one_is_not_finite,
    one_is_zero,
    one_not_finite_or_zero,
    sample,
    says,
    torch_is_nan,
    torch_is_not_finite,
    torch_is_zero,
    within,
)
from wengert import dtypes, kernels  # noqa: E402
from wengert.autograd import grad  # noqa: E402
from wengert.core.tensor import TensorBase, wrap  # noqa: E402
from wengert.errors import UnsupportedDtypeError  # noqa: E402
from wengert.ops.registry import OPS, prefix_of  # noqa: E402

# Deliberate differences and their reasons. Aspects are the names of the checks below.
_NORMS = "nn.functional_batch_norm batch_norm"
_ZEROS = "the sign of a zero, and which zero a tie gives, are NumPy's"

# Whether these show depends on the processor, and on what is compiled.
BY_PROCESSOR = frozenset({_ZEROS})

DIFFERENCES: dict[tuple[str, str], Known] = {
    # Values
    **({} if kernels.native else known_in("of two zeros NumPy takes any", "amax amin aminmax fmax fmin", "special zero")),
    **known_in(
        _ZEROS,
        "clamp clamp_max clamp_min cumsum det erfinv matmul maximum minimum nll_loss relu relu6 nn.functional_relu "
        "embedding_bag remainder slogdet tensordot adaptive_avg_pool1d adaptive_avg_pool2d", "special zero",
    ),
    **known_in("of equal elements torch takes any, here it is the first", "topk", "special value", "special gradient",
            "special zero"),
    **known_in("of equal elements torch takes any, here it is the first", "topk kthvalue", "promotion value", only=indices_alone),
    **known_in("the signs of the singular vectors are free", "linalg_svd", "value", "special value", "promotion value"),
    **known_in("the mean of numbers with an infinity is infinite, as in mean(); here torch's is NaN", "var_mean std_mean",
            "special value", only=torch_is_nan),
    **known_in("gelu(inf) is inf; torch's vectorised kernel gives NaN", "gelu", "special value", only=torch_is_nan),
    **known_in("at a pole the limit, infinity or NaN; torch's number is of the size that rounding pi leaves",
            "digamma special_psi polygamma _polygamma_method", "special gradient", only=one_is_not_finite),
    **known_in("at a pole the limit, infinity or NaN; torch's number is of the size that rounding pi leaves",
            "polygamma _polygamma_method", "special value", only=one_is_not_finite),
    **known_in("of NaN it is NaN; torch's kernels give a number", "igamma igammac "
            "special_chebyshev_polynomial_u special_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_u "
            "special_shifted_chebyshev_polynomial_w special_laguerre_polynomial_l special_legendre_polynomial_p",
            "special value", only=one_is_not_finite),
    **known_in("of NaN it is NaN; torch's kernels give a number", "special_i1 special_i1e", "special gradient",
            only=one_is_not_finite),
    **known_in("at infinity the limit, 0; torch gives NaN", "special_zeta", "special value", only=torch_is_nan),
    **known_in("the sign of a matrix that rounding keeps from being singular", "slogdet", "special value", only=torch_is_zero),
    **known_in("of a spectrum with infinities, which numbers of its transform are NaN is the library's choice",
            "fft_irfft fft_hfft", "special value", only=torch_is_not_finite),
    **known_in("the sign of a zero", "fft_irfft fft_hfft", "special zero"),
    **known_in("of matrices that are singular, or not finite, LAPACK's builds give different factors",
            "lu linalg_lu linalg_lu_factor linalg_lu_factor_ex qr linalg_qr", "special value", "special zero",
            "special gradient"),
    **known_in("of matrices that are singular, or not finite, LAPACK's builds give different factors", "linalg_lu_factor",
            "special error", only=says("^raises SingularMatrixError")),
    **known_in("of matrices that are singular, or not finite, LAPACK's builds give different factors", "geqrf",
            "special value", "special zero"),
    **known_in("of matrices that are singular, or not finite, LAPACK's builds give different factors",
            "lu_solve linalg_lu_solve", "special value", only=torch_is_not_finite),
    **known_in("a matrix that is not finite counts as singular or not as LAPACK's build has it; torch's result is not NaN",
            "linalg_inv_ex linalg_solve_ex linalg_cholesky_ex linalg_tensorinv", "special value", only=one_not_finite_or_zero),
    **known_in("a matrix that is not finite counts as singular or not as LAPACK's build has it; torch's result is not NaN",
            "linalg_solve_ex", "special gradient", only=one_is_zero),
    **known_in("a matrix that is not finite counts as singular or not as LAPACK's build has it; torch's result is not NaN",
            "linalg_tensorinv linalg_tensorsolve", "special error", only=says("^does not raise; torch: _LinAlgError")),
    **known_in("of infinities the order of the sums and products decides what is NaN", "trapezoid", "special value",
            only=torch_is_nan),
    **known_in("there is no complex dtype of 32 bits", "view_as_complex", "promotion error",
            only=says("^raises UnsupportedDtypeError")),
    **known_in("float16 is taken too", "linalg_vander", "promotion error", only=says("^does not raise")),
    **known_in("a power of infinity has the gradient NaN, as of cumprod", "linalg_vander", "special gradient",
            only=one_is_not_finite),
    **known_in("the sign of a zero", "lu_unpack", "special zero"),
    **known_in("the signs of the vectors are free", "svd", "value", "special value", "promotion value"),
    **known_in("the signs of the vectors are free", "linalg_eigh", "special value"),
    **known_in("of eigenvalues that are equal but for rounding the gradient is rounding too", "linalg_eigvals",
            "special gradient"),
    **known_in("of infinities NaN or a limit, as the order of the products has it", "orgqr ormqr linalg_matrix_exp "
            "linalg_householder_product", "special value", only=one_is_not_finite),
    **known_in("of infinities NaN or a limit, as the order of the products has it", "ormqr", "special gradient",
            only=one_is_not_finite),
    **known_in("in float16 torch overflows on the way", "linalg_matrix_exp matrix_exp", "promotion value",
            only=sample("float16")),
    **known_in("two dtypes are promoted; torch computes in one of them or refuses", "linalg_solve_triangular",
            "promotion value", only=says("^dtype ")),
    **known_in("the triangle that is looked at has a gradient; torch gives one to the whole factor",
            "cholesky_solve cholesky_inverse", "gradient", "second", "special gradient"),
    **known_in("the diagonal of a complex factor is taken as it is; LAPACK takes its real part",
            "cholesky_inverse", "value", "special value", only=sample("complex")),
    **known_in("a factor with a zero on its diagonal is not looked for; torch refuses it", "cholesky_inverse", "special error",
            only=says("^does not raise; torch: _LinAlgError: .*The diagonal element")),
    **known_in("0 to the power 0 is 1; of complex numbers torch has NaN", "pow float_power", "special value", only=torch_is_nan),
    **known_in("whether a zero of the padding meets an infinite weight, which gives NaN, is up to torch's kernels",
            "conv3d" if kernels.native else "conv3d conv_transpose3d", "special value", only=one_is_not_finite),
    **({} if kernels.native else {
        **known_in("the sign of a zero", "logcumsumexp masked_cumsum", "special zero"),
        **known_in("whether a zero of the padding meets an infinite weight, which gives NaN, is up to torch's kernels",
                "conv3d", "special gradient"),
        **known_in("whether a zero of the padding meets an infinite weight is up to NumPy's matrix product",
                "conv_transpose1d conv_transpose2d", "special value"),
        **known_in("whether a zero of the padding meets an infinite weight is up to NumPy's matrix product",
                "conv1d conv2d convolution conv_tbc", "special gradient"),
    }),
    **known_in("torch adds the mean and the bias up before it looks at the input, which may make a NaN of infinities",
            f"{_NORMS}", "special value", only=torch_is_nan),
    **known_in(_ZEROS,
            f"{_NORMS} nn.functional_instance_norm", "special zero"),
    **known_in("torch lets inputs of weight 0 take part, which makes a NaN of infinities", "interpolate", "special value",
            only=torch_is_nan),
    # Gradients
    **known_in("torch's derivative is right only where abs is positive, as it should be", "polar", "gradient", "second",
            "special gradient"),
    **known_in("torch takes the gradient for 0 where two factors are 0, also when another one is infinite or NaN",
            "prod cumprod", "special gradient", only=one_is_not_finite),
    **known_in("torch divides by alpha in single precision", "celu", "second", "special gradient", only=within(1e-6)),
    **known_in("torch rounds 2**-n to 0 for integer exponents", "ldexp", "gradient", "second", "special gradient", only=torch_is_zero),
    **known_in("the gradient of a singular matrix is the cofactors'; torch gives 0 or NaN", "det", "special gradient",
            only=torch_is_zero),
    **known_in("a singular matrix has no gradient, which raises; torch gives infinities or NaN", "logdet slogdet",
            "special gradient", only=says("^SingularMatrixError")),
    **known_in("a NaN among the scores makes the loss NaN; torch passes over it", "multi_margin_loss multilabel_margin_loss",
            "special value", only=one_is_not_finite),
    **known_in("a NaN among the scores makes the loss NaN; torch passes over it", "multi_margin_loss", "special gradient"),
    **known_in("the largest of differences with a NaN is NaN; torch passes over it", "cdist", "special value",
            "special gradient", only=one_not_finite_or_zero),
    **known_in("the maximum of rows with a NaN is NaN; torch passes over it", "embedding_bag", "special value",
            "special gradient", only=one_not_finite_or_zero),
    **known_in("an infinite probability makes torch's loss NaN", "ctc_loss", "special value", only=torch_is_nan),
    **known_in("that of the formula; torch's is right behind log_softmax only", "ctc_loss", "gradient",
            "special gradient"),
    **known_in("what is replaced has no gradient; torch passes it on", "as_strided_scatter", "gradient", "special gradient",
            only=one_is_zero),
    **known_in("what is replaced has no gradient; torch passes it on", "as_strided_scatter", "second"),
    **known_in("only values that are there share an extremum; torch counts the place itself too", "index_reduce",
            "special gradient"),
    **known_in("of equal elements, and of NaN, torch takes any, here it is the first", "fractional_max_pool3d", "special gradient"),
    # Names of torch's own layer
    **known_in("the mean and the factor have derivatives too", "native_layer_norm", "requires_grad", "node", "special requires_grad"),
    **known_in("the mean of numbers with an infinity is infinite, as in mean(); here torch's is NaN",
            "native_layer_norm native_group_norm", "special value", only=torch_is_nan),
    **known_in("operands are promoted; torch keeps the input's dtype, or refuses", "native_group_norm", "promotion value",
            "promotion error", only=says("^dtype |^does not raise|^raises")),
    **known_in("the sign of a zero", "native_batch_norm", "special zero"),
    **known_in("of matrices that are singular, or not finite, LAPACK's builds give different factors", "nuclear_norm",
            "special gradient"),
    **known_in("integers are refused, as by affine_grid", "affine_grid_generator", "promotion error",
            only=says("^raises .*floating point type")),
    **known_in("NaN is the extremum, and has the gradient alone", "segment_reduce", "special gradient"),
    **known_in("the second result is a copy of A, and its history that of a copy", "triangular_solve", "requires_grad",
            "special requires_grad"),
    **known_in("operands are promoted; torch refuses, or keeps the input's dtype", "rnn_tanh rnn_relu lstm gru_cell lstm_cell "
            "rnn_tanh_cell", "promotion error", only=says("^does not raise|^raises UnsupportedDtypeError")),
    **known_in("operands are promoted; torch keeps the input's dtype", "rnn_tanh_cell rnn_relu_cell torch_hinge_embedding_loss",
            "promotion value", only=says("^dtype ")),
    **known_in("complex weights are differentiated; torch refuses them", "torch_embedding", "error", "special error",
            "promotion error", only=says("^does not raise")),
    **known_in("of infinities the order of the sums and products decides what is NaN", "conv_tbc", "special value",
            only=one_is_not_finite),
    # Under masks
    **known_in("integers become floats; torch cuts the result to integers", "masked_logsumexp",
            "promotion value", only=says("^dtype float32")),
    **known_in("bools become floats; torch refuses them", "masked_var masked_std", "promotion error", only=says("^does not raise")),
    **known_in("what is masked does not count under a negative order either; torch counts it as 0", "masked_norm", "value",
            "gradient", "second", "promotion value", only=torch_is_zero),
    **known_in("what is masked does not count under a negative order either; torch counts it as 0", "masked_norm",
            "special value", "special gradient", only=sample("^3x4,-")),
    **known_in("another step comes last", "masked_median", "node"),
    **known_in("complex numbers are refused", "masked_median", "error", "special error", "promotion error",
            only=says("^raises UnsupportedDtypeError")),
    **known_in("operands are promoted; torch keeps the input's dtype", "masked_logaddexp", "promotion value", only=says("^dtype ")),
    **known_in("the second derivative at -inf is 0, its limit; torch's is NaN", "masked_logaddexp", "second", only=torch_is_nan),
    **known_in("of infinities the order of the sums and products decides what is NaN", "masked_cumprod", "special gradient",
            only=one_is_not_finite),
    # Nodes
    **known_in("the last step of the contraction, which names the node, may be another", "einsum", "node"),
    **known_in("with class probabilities the last step, which names the node, is another", "cross_entropy", "node"),
    **known_in("torch gives samples a node whose gradient is 0; here they have none", "poisson", "requires_grad", "node"),
    **known_in("has a derivative here", " ".join(ONLY_DIFFERENTIATED_HERE), "requires_grad", "node", "special requires_grad"),
    **known_in("in mode r too R has a derivative, and the empty Q no history", "linalg_qr", "requires_grad", "node",
            "special requires_grad"),
    **known_in("made of other operations than in torch; the last one names the node",
            " ".join(other_steps()), "node"),
    **known_in("torch computes it from erf, and multiplies by a number", "special_ndtr", "node"),
    **known_in("made of an operation that has derivatives, which torch's has not", "_standard_gamma_grad", "node"),
    **known_in("of complex numbers torch puts the convolution together from real ones; here it is one node",
            "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d", "node"),
    **known_in("here it is the norm of torch.norm", "pairwise_distance", "node"),
    # Dtypes that one of the two refuses
    **known_in("the margin, a float, promotes integers", "hinge_embedding_loss", "promotion value", "promotion error",
            only=says("^dtype |^does not raise")),
    **known_in("operands are promoted; torch keeps the input's dtype, or refuses", "soft_margin_loss", "promotion value",
            "promotion error", only=says("^dtype |^does not raise")),
    **known_in("operands are promoted; torch keeps the input's dtype, or refuses", "gaussian_nll_loss", "promotion error"),
    **known_in("complex input with weights is refused", "mse_loss", "error", "special error",
            only=says("^raises UnsupportedDtypeError")),
    **known_in("complex weights are differentiated; torch refuses them", "embedding", "error", "special error",
            "promotion error", only=says("^does not raise")),
    **known_in("the parts of a complex std are not looked at; torch refuses it", "normal", "error", only=says("^does not raise")),
    **known_in("a NaN or infinite matrix gives NaN; torch may call it singular", "linalg_inv linalg_solve", "special error",
            only=says("^does not raise; torch: _LinAlgError")),
    **known_in("a fractional factor promotes integers; torch refuses or truncates it", "huber_loss", "promotion value",
            "promotion error", only=says("^dtype |^does not raise")),
}  # fmt: skip

# LAPACK's iterations, in torch's build of it, may not come to an end where a matrix is not finite; and torch reads outside
# its memory where a point of a grid is not, which may end the process.
NO_SPECIAL_VALUES = {"linalg_lstsq", "linalg_pinv", "pinverse", "linalg_matrix_rank", "linalg_cond", "grid_sample",
                     "grid_sampler", "grid_sampler_2d", "grid_sampler_3d"}  # fmt: skip

NO_RULE = "NotImplemented"  # torch's node of an operation that it cannot differentiate; here some have a derivative

SPECIAL_VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, 1.0, 0.0, -2.0]
# torch's own kernels differ in the results of complex operations on an infinite or NaN part.
SPECIAL_COMPLEX_VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1.0, 0.0, -2.0, 1j, -1j, 1 + 1j]


# ----------------------------------------------------------------------------------------------------------------------
# The same call in both libraries
# ----------------------------------------------------------------------------------------------------------------------


def torch_function(op: Any) -> Callable[..., Any] | None:
    """torch's function (or method) of an operation's name."""
    for namespace in op.namespaces:
        home = torch
        for part in filter(None, namespace.split(".")):
            home = getattr(home, part)
        prefix = prefix_of(namespace)
        found = getattr(home, op.name.removeprefix(prefix), None)
        if found is not None:
            return found
    return getattr(torch.Tensor, op.method if isinstance(op.method, str) else op.name, None) if op.method else None


def to_torch(x: Any) -> Any:
    """Arrays and tensors as torch tensors, our dtypes as torch's, everything else as it is."""
    if isinstance(x, TensorBase):
        x = x._array
    if isinstance(x, np.ndarray):
        return torch.from_numpy(x.copy())
    if isinstance(x, dtypes.dtype):
        return getattr(torch, repr(x).split(".")[1])
    if isinstance(x, np.dtype) or (isinstance(x, type) and issubclass(x, np.generic)):
        return to_torch(dtypes.as_dtype(x))
    if isinstance(x, list):
        return [to_torch(y) for y in x]
    if isinstance(x, tuple):
        return tuple(to_torch(y) for y in x)
    return x


def run(function: Callable[..., Any], inputs: list[Any], params: dict[str, Any]) -> Any:
    """The result, or the exception."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*inputs, **params)
    except Exception as error:
        return error


class Pair:
    """One call made in both libraries, on the same arrays."""

    def __init__(self, case: Case, values: list[Any]) -> None:
        self.case = case
        self.ours = case.wrapped(values, requires_grad=True)
        self.theirs = [self._twin(x) for x in self.ours]
        function = torch_function(case.op)
        self.result = run(case.bound(case.op.function), self.ours, {})
        self.wanted = run(function, self.theirs, {k: to_torch(v) for k, v in case.sample.params.items()})

    def _twin(self, x: Any) -> Any:
        if isinstance(x, list):
            return [self._twin(y) for y in x]
        twin = to_torch(x)
        if isinstance(x, TensorBase) and x.requires_grad:
            twin.requires_grad_()
        return twin

    @property
    def failed(self) -> bool:
        return isinstance(self.result, Exception) or isinstance(self.wanted, Exception)

    def errors(self) -> Iterator[str]:
        """Yield a text if only one library raises, or if the errors differ in kind. An operation may do more than torch's."""
        ours, theirs = self.result, self.wanted
        if not isinstance(ours, Exception) and isinstance(theirs, Exception) and self.does_more():
            return
        if isinstance(ours, Exception) and not isinstance(theirs, Exception):
            if isinstance(ours, UnsupportedDtypeError) and any(0 in d.shape for d in self.case.data()):
                return  # torch does not look at the dtypes where there is nothing to compute
            yield f"raises {type(ours).__name__}: {str(ours)[:150]}"
        elif isinstance(theirs, Exception) and not isinstance(ours, Exception):
            yield f"does not raise; torch: {type(theirs).__name__}: {str(theirs)[:150]}"
        elif isinstance(theirs, Exception) and not _same_kind(ours, theirs) and not self.does_more():
            yield f"raises {type(ours).__name__} ({str(ours)[:80]}); torch {type(theirs).__name__} ({str(theirs)[:80]})"

    def does_more(self) -> bool:
        """Whether torch's error says no more than that it has not got this: a kernel for the dtype, mixed dtypes, a
        number in a tensor's place. What says itself that it takes no complex numbers must refuse them.
        """
        made_of = [self.case.op, *[node._op for node in operation_nodes(tensors_in(self.result))]]
        if "omplex" in str(self.wanted) and not all(getattr(op, "complex", True) for op in made_of):
            return False
        return isinstance(self.wanted, NotImplementedError) or bool(_NARROWER.search(str(self.wanted)))

    def outputs(self) -> list[tuple[Any, Any]]:
        """(ours, torch's) for each output that is a tensor."""
        theirs = [x for x in flatten(self.wanted) if isinstance(x, torch.Tensor)]
        ours = tensors_in(self.result)
        return list(zip(ours, theirs, strict=True)) if len(ours) == len(theirs) else []

    def differentiable(self) -> tuple[list[Any], list[Any]]:
        pairs = [(a, b) for a, b in self.outputs() if a.requires_grad and b.requires_grad and node_name(b) != NO_RULE]
        return [a for a, _ in pairs], [b for _, b in pairs]

    def gradients(self, second: bool) -> Iterator[tuple[Any, Any]]:
        """Yield (ours, torch's) gradient for each input. If `second`, of the first gradients times random numbers."""
        ours, theirs = self.differentiable()
        inputs = [x for x in tensors_in(self.ours) if x.requires_grad]
        twins = [x for x in flatten(self.theirs) if isinstance(x, torch.Tensor) and x.requires_grad]
        if not ours or not inputs:
            return
        cotangents = random_like([x._array for x in ours], 3)
        starts, their_starts = [wrap(c) for c in cotangents], [torch.from_numpy(c.copy()) for c in cotangents]
        for c, d in zip(starts, their_starts, strict=True):
            c.requires_grad = second
            d.requires_grad_(second)
        first = grad(ours, inputs, starts, create_graph=second, allow_unused=True)
        try:
            their_first = torch.autograd.grad(theirs, twins, their_starts, create_graph=second, allow_unused=True)
        except RuntimeError:  # of what it has no, or a wrong, derivative
            return
        if not second:
            yield from zip(first, their_first, strict=True)
            return
        pairs = [(a, b) for a, b in zip(first, their_first, strict=True)
                 if a is not None and b is not None and a.requires_grad and b.requires_grad]  # fmt: skip
        if not pairs:
            return
        cotangents = random_like([a._array for a, _ in pairs], 4)
        theirs = [torch.from_numpy(c.copy()) for c in cotangents]
        found = grad([a for a, _ in pairs], inputs + starts, [wrap(c) for c in cotangents], allow_unused=True)
        try:
            wanted = torch.autograd.grad([b for _, b in pairs], twins + their_starts, theirs, allow_unused=True)
        except RuntimeError:
            return
        yield from zip(found, wanted, strict=True)


_NARROWER = re.compile("|".join([
    "expected (scalar type|dtype)", "did not match", "same dtype", "same data type", "different dtypes", "Found dtype",
    "not support dtype", "does not support automatic diff", "promoting not supported", "must be tuple of ints, not int",
    "(bool|Bool|Boolean|Integral) inputs not supported", "must be Tensor, not (float|int)",
    "MKL FFT error",  # of nothing
    r"got \((float|int), Tensor", r"got \(Tensor, (float|int)",
]))  # fmt: skip
_KINDS = (IndexError, TypeError, ValueError, RuntimeError)  # NotImplementedError is a RuntimeError


def _same_kind(ours: Exception, theirs: Exception) -> bool:
    """Whether an except clause written for torch's error catches ours."""
    kind = next((k for k in _KINDS if isinstance(theirs, k)), Exception)
    return isinstance(ours, kind)


def random_like(arrays: list[np.ndarray], seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    found = []
    for a in arrays:
        values = rng.uniform(-1, 1, a.shape)
        found.append(np.asarray(values + 1j * rng.uniform(-1, 1, a.shape) if a.dtype.kind == "c" else values, a.dtype))
    return found


# ----------------------------------------------------------------------------------------------------------------------
# What is compared
# ----------------------------------------------------------------------------------------------------------------------


_TOLERANCES = {"float16": 4e-3, "float32": 2e-4, "complex64": 2e-4}


def unlike(ours: Any, theirs: Any, finite_only: bool = False, tolerance: float = 0.0) -> str | None:
    """Describe the difference of two tensors, or None. If finite_only, only elements that are finite in torch count."""
    if ours is None or theirs is None:
        # torch says None (no gradient) in places where zeros are meant, and the other way round.
        known = theirs if ours is None else ours
        zeros = known is None or float(abs(known).max() if known.numel() else 0) < 1e-12
        return None if zeros else "None, torch a gradient" if ours is None else "a gradient, torch None"
    array, wanted = ours._array, theirs.detach().numpy(force=True)
    if array.dtype != wanted.dtype:
        return f"dtype {array.dtype}, torch {wanted.dtype}"
    if array.shape != wanted.shape:
        return f"shape {array.shape}, torch {wanted.shape}"
    tolerance = max(tolerance, _TOLERANCES.get(array.dtype.name, 1e-8))
    close = np.isclose(array, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)
    if array.dtype.kind == "c":
        close |= ~np.isfinite(array) & ~np.isfinite(wanted)  # see SPECIAL_COMPLEX_VALUES
    if finite_only:
        close |= ~np.isfinite(wanted)
    return None if close.all() else Difference.of(array, wanted, ~close)


def zero_signs_differ(ours: Any, theirs: Any) -> bool:
    """Whether a zero of the one is -0.0 where it is 0.0 in the other."""
    array, wanted = ours._array, theirs.detach().numpy(force=True)
    if array.dtype.kind != "f" or array.shape != wanted.shape:
        return False
    return bool((np.signbit(array) != np.signbit(wanted))[(array == 0) & (wanted == 0)].any())


def special_values(case: Case, dtype: Any, layout: int) -> list[Any]:
    """The case's inputs with NaN, infinities, both zeros and equal numbers in place of random ones."""
    values = case.values(dtype)
    n = 0

    def fill(array: Any, spec: Any) -> Any:
        nonlocal n
        if isinstance(array, list):
            return [fill(a, s) for a, s in zip(array, spec, strict=True)]
        if not isinstance(spec, Data):
            return array
        n += 1
        # Inputs run through the values at speeds that differ, so that pairs of them meet.
        places = np.arange(array.size) * (1, 5, 7)[n % 3] + layout * n
        found = SPECIAL_COMPLEX_VALUES if np.dtype(dtype).kind == "c" else SPECIAL_VALUES
        return np.asarray(np.take(found, places % len(found)).reshape(array.shape), dtype)

    return [fill(a, s) for a, s in zip(values, case.sample.inputs, strict=True)]


MIXED = [
    ("float32", "float64"), ("int64", "float32"), ("bool", "int64"), ("uint8", "int8"), ("float64", "complex64"),
    ("int64", "int64"), ("bool", "bool"), ("uint8", "bool"), ("float16", "float32"), ("complex64", "float64"),
]  # fmt: skip


def mixed_values(case: Case, combination: tuple[str, str]) -> list[Any]:
    """The case's inputs in two dtypes, in turn."""
    position = 0

    def cast(array: Any, spec: Any) -> Any:
        nonlocal position
        if isinstance(array, list):
            return [cast(a, s) for a, s in zip(array, spec, strict=True)]
        if not isinstance(spec, Data):
            return array
        dtype = np.dtype(combination[position % 2])
        position += 1
        return np.asarray(np.abs(array) * 2 + 1 if dtype.kind in "biu" else array, dtype)

    return [cast(a, s) for a, s in zip(case.values(np.float64), case.sample.inputs, strict=True)]


def compare_values(pair: Pair, tolerance: float = 0.0) -> Iterator[tuple[str, str]]:
    """(aspect, difference) of the results of one call."""
    yield from (("error", e) for e in pair.errors())
    if pair.failed:
        return
    if not pair.outputs() and (tensors_in(pair.result) or isinstance(pair.wanted, torch.Tensor)):
        yield "value", f"returns {type(pair.result).__name__}, torch {type(pair.wanted).__name__}"
    for ours, theirs in pair.outputs():
        difference = None if pair.case.is_random else unlike(ours, theirs, tolerance=tolerance)
        if difference is not None:
            yield "value", difference
        if ours.requires_grad != theirs.requires_grad and node_name(theirs) != NO_RULE:
            yield "requires_grad", f"{ours.requires_grad}, torch {theirs.requires_grad}"


def compare_special(pair: Pair) -> Iterator[tuple[str, str]]:
    """Compare at NaN, infinities and zeros. If torch's gradient is not finite, ours may be anything."""
    yield from compare_values(pair)
    yield from compare_gradients(pair, second=False, finite_only=True)
    if not pair.failed and any(zero_signs_differ(a, b) for a, b in pair.outputs()):
        yield "zero", "zeros of the other sign"


def compare_gradients(pair: Pair, second: bool, finite_only: bool = False) -> Iterator[tuple[str, str]]:
    is_complex = any(x.is_complex() for x in tensors_in(pair.ours))
    if pair.failed or pair.case.is_random or (is_complex and not pair.case.takes_complex):
        return
    aspect = "second" if second else "gradient"
    try:
        for ours, theirs in pair.gradients(second):
            difference = unlike(ours, theirs, finite_only)
            if difference is not None:
                yield aspect, difference
    except Exception as error:
        yield aspect, f"{type(error).__name__}: {str(error)[:200]}"


def node_name(tensor: Any) -> str:
    return "no node" if tensor.grad_fn is None else type(tensor.grad_fn).__name__


def compare_nodes(pair: Pair) -> Iterator[tuple[str, str]]:
    if not pair.failed:
        for ours, theirs in pair.outputs():
            if node_name(ours) != node_name(theirs) != NO_RULE:
                yield "node", f"{node_name(ours)}, torch {node_name(theirs)}"


def differences(op: Any) -> Iterator[tuple[str, str, str]]:
    """(aspect, sample and dtypes, how) of every difference between an operation and torch's."""
    for case in (c for c in CASES if c.name == op.name):
        for aspect, where, text in case_differences(case):
            yield aspect, f"{case.sample!r} {where}", text


def case_differences(case: Case) -> Iterator[tuple[str, str, str]]:
    has_data = any(True for _ in case.data())
    for dtype in ("float64", "float32", "complex128") if has_data else ("float64",):
        for aspect, text in ordinary_differences(case, dtype):
            yield aspect, dtype, text
    if not has_data or case.is_random:
        return
    for dtype in ("float32", "float64", "complex64") if case.name not in NO_SPECIAL_VALUES else ():
        for layout in range(3):
            for aspect, text in compare_special(Pair(case, special_values(case, dtype, layout))):
                yield f"special {aspect}", f"{dtype}, layout {layout}", text
    if case.number < 4:
        for combination in MIXED:
            tolerance = max(_TOLERANCES.get(name, 0.0) for name in combination)
            for aspect, text in compare_values(Pair(case, mixed_values(case, combination)), tolerance):
                if aspect != "requires_grad":
                    yield f"promotion {aspect}", " with ".join(combination), text


def ordinary_differences(case: Case, dtype: str) -> Iterator[tuple[str, str]]:
    pair = Pair(case, case.values(dtype))
    yield from compare_values(pair)
    yield from compare_nodes(pair)
    yield from compare_gradients(pair, second=False)
    if dtype != "float32":
        yield from compare_gradients(Pair(case, case.values(dtype)), second=True)


# ----------------------------------------------------------------------------------------------------------------------
# The tests and the table
# ----------------------------------------------------------------------------------------------------------------------

COMPARED = [op for op in OPS.values() if is_public(op) and op.kind != "creation" and not op.beyond_torch
            and any(c.name == op.name for c in CASES)]  # fmt: skip


def sort_out(found: Iterator[tuple[str, str, str]], op: Any) -> tuple[list[str], list[str]]:
    """(unexplained differences, the first of each aspect with their number; reasons of the known ones)."""
    unexplained: dict[str, list[str]] = {}
    reasons: dict[str, None] = {}
    for aspect, where, text in found:
        known = DIFFERENCES.get((op.name, aspect))
        if known is not None and known.excuses(where, text):
            reasons[known.reason] = None
        else:
            unexplained.setdefault(aspect, []).append(f"{where}: {text}")
    return [f"{aspect} (1 of {len(found)}): {found[0]}" for aspect, found in unexplained.items()], list(reasons)


@pytest.mark.slow
@pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in COMPARED])
def test_first_sample_agrees_with_torch(op):
    case = first_cases()[op.name]
    found = [(aspect, f"{case.sample!r} float64", text) for aspect, text in ordinary_differences(case, "float64")]
    unexplained, _ = sort_out(found, op)
    assert not unexplained, "differs from torch:\n  " + "\n  ".join(unexplained)


@pytest.mark.exhaustive
@pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in COMPARED])
def test_operation_agrees_with_torch(op, record_property):
    unexplained, reasons = sort_out(differences(op), op)
    for reason in reasons:
        record_property("differs from torch", f"{op.name}: {reason}")
    assert not unexplained, "differs from torch:\n  " + "\n  ".join(unexplained)


SETTLED = sorted(key for key, known in DIFFERENCES.items() if known.reason not in BY_PROCESSOR)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sorted({name for name, _ in SETTLED}))
def test_known_differences_are_still_there(name):
    """A reason for something that agrees by now is out of date."""
    left = {aspect for op, aspect in SETTLED if op == name}
    for aspect, where, text in differences(OPS[name]):
        if aspect in left and DIFFERENCES[name, aspect].excuses(where, text):
            left.remove(aspect)
        if not left:
            break
    assert not left, f"agrees with torch by now: {sorted(left)}"


def test_methods_and_functions_have_torchs_names():
    """And those that say that torch has nothing of their name are right."""
    for op in filter(is_public, OPS.values()):
        assert (torch_function(op) is None) == bool(op.beyond_torch), op.name


def main() -> None:
    """Prints the table."""
    pattern = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
    agree = 0
    for op in (op for op in COMPARED if pattern.search(op.name)):
        unexplained, reasons = sort_out(differences(op), op)
        agree += not unexplained
        verdict = "DIFFERS" if unexplained else "differs" if reasons else "agrees"
        print(f"{op.name:32} {verdict:8} {'; '.join(reasons)}")
        for text in unexplained:
            print(f"    {text}")
    print(f"{agree} operations agree with torch or differ for a reason given")


if __name__ == "__main__":
    main()
