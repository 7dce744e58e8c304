"""Entries of torch's operator database that differ here: the differences, and the reason for each.

An entry that agrees must not be listed.
"""

from __future__ import annotations

from parity.known import (
    Known,
    anywhere,
    indices_alone,
    known_in,
    one_is_zero,
    sample,
    says,
    torch_is_nan,
    torch_is_not_finite,
    torch_is_zero,
    within,
    zero_or_within,
)

_TIES = "of equal elements torch takes any, here it is the first"
_SINGLE = "torch computes with a constant in single precision"
_ROUNDS = "torch rounds between its steps"
_LEFT = "torch leaves a part of out as it was"
_OVERFLOW = "torch overflows on the way in half precision"
_FINITE = "finite here, or infinite as it is, where torch has NaN"
_BRANCH = "at 0 that of the branch whose first derivative is taken; torch's is 0"
_FAR = "torch's in single precision loses digits far below 0"
_POWER = "0 to the power 0 is 1; of complex numbers torch has NaN"

KNOWN: dict[tuple[str, str], Known] = {
    **known_in(_SINGLE, "nn.functional.hardsigmoid nn.functional.celu", "gradient", only=within(1e-6)),
    **known_in(f"{_SINGLE}; {_BRANCH}", "nn.functional.celu", "second", only=zero_or_within(1e-6)),
    **known_in("0, as that of the first derivative; torch's is NaN", "linalg.norm.subgradients_at_zero", "second", only=torch_is_nan),
    **known_in("the input has no gradient where it is written over; torch gives it one there", "as_strided_scatter", "gradient",
            only=one_is_zero),
    **known_in("the input has no gradient where it is written over; torch gives it one there", "as_strided_scatter", "second",
            only=anywhere),
    **known_in("differentiable twice here", "nn.functional.linear_cross_entropy.chunked", "second", only=says("a gradient, torch None")),
    **known_in(_FINITE, "atan2 copysign hypot i0 logaddexp nn.functional.mish pow float_power sinc __rpow__ linalg.norm special.i1 "
            "masked.mean masked.softmax masked.log_softmax masked.softmin masked.logaddexp masked.logsumexp", "second",
            only=torch_is_nan),
    **known_in(_FINITE, "hypot special.i1", "gradient", only=torch_is_nan),
    **known_in(_POWER, "pow float_power __rpow__", "value", "complex64 value", only=torch_is_nan),
    **known_in(_BRANCH, "nn.functional.elu nn.functional.selu", "second", only=torch_is_zero),
    **known_in("at 0 that of the branch whose first derivative is taken; torch's is that of the other", "nn.functional.prelu", "second",
            only=sample(r"float64\[256\], weight=float64\[\]")),
    **known_in("torch's derivative is 0 in a radius of 0, and has the other sign in a negative one", "polar", "gradient", "second",
            only=sample(r"float64\[(256|100)\], float64\[\1\]")),
    **known_in("torch's loses its digits far below 0", "special.log_ndtr", "gradient", "second", only=anywhere),
    **known_in("torch's trigamma and Hurwitz zeta functions are good to eight digits",
            "polygamma.polygamma_n_0 special.polygamma.special_polygamma_n_0", "gradient", "second", only=within(1e-6)),
    **known_in("where the factors have a zero there is no second derivative here", "index_reduce.prod scatter_reduce.prod", "error",
            only=says("Double backward")),
    **known_in("of a step function the gradient's gradient is none; torch gives zeros", "grid_sampler_2d", "second",
            only=says("the gradient has no history")),
    **known_in("samples have no gradient without a reward; torch gives zeros", "bernoulli", "error",
            only=says("differentiating stochastic functions requires")),
    **known_in("mean and deviation have derivatives here", "native_layer_norm", "requires_grad", only=says("True, torch False")),
    # In other dtypes, and of other forms
    **known_in(_TIES, "topk kthvalue", "int64 value", only=indices_alone),
    **known_in(_TIES, "topk kthvalue sort", "uint8 value", only=indices_alone),
    **known_in(_TIES, "sort argsort", "bool value", "float16 value", "bfloat16 value", only=indices_alone),
    **known_in(_TIES, "argsort", "uint8 value", only=indices_alone),
    **known_in("torch's kernel is good to eight digits; here it is SciPy's", "special.bessel_j0 special.bessel_j1 "
            "special.bessel_y0 special.bessel_y1", "float64 value", "out", only=within(1e-6)),
    **known_in("torch's kernel is good to six digits around -2; here it is SciPy's", "special.airy_ai", "float64 value", "out",
            only=within(1e-5)),
    **known_in(_FAR, "special.airy_ai", "float32 value", "int64 value", only=within(1e-2)),
    **known_in("at infinity the limit, 0; torch gives NaN", "special.zeta", "float64 value", "float32 value", only=torch_is_nan),
    **known_in("at infinity the limit, 0; torch gives NaN",
            "polygamma.polygamma_n_1 polygamma.polygamma_n_2 polygamma.polygamma_n_3 polygamma.polygamma_n_4", "value",
            "float32 value", "bfloat16 value", only=torch_is_nan),
    **known_in("torch overflows for a large beta", "signal.windows.kaiser", "float64 value", "float32 value", only=torch_is_not_finite),
    **known_in(_OVERFLOW, "matrix_exp nn.functional.soft_margin_loss", "float16 value", only=torch_is_not_finite),
    **known_in(_OVERFLOW, "matrix_exp", "bfloat16 value", only=torch_is_nan),
    **known_in(_ROUNDS, "nn.functional.scaled_dot_product_attention nn.functional.grid_sample grid_sampler_2d histc", "float16 value",
            only=anywhere),
    **known_in(_ROUNDS, "nn.functional.grid_sample grid_sampler_2d histc", "bfloat16 value", only=anywhere),
    **known_in("a tensor of that size is given back as it is; torch sums it to int64", "sum_to_size", "bool value", "uint8 value",
            only=says("^dtype .*, torch int64$")),
    **known_in("a number that the dtype has not got is refused; torch wraps it round", "scalar_tensor", "uint8 error", only=sample("-")),
    **known_in(_LEFT, "fft.ihfft2 fft.ihfftn", "out", only=anywhere),
    **known_in("integers become floats, as in logsumexp", "masked.logsumexp", "int64 value", "uint8 value",
            only=says("^dtype float32, torch u?int")),
    **known_in("of half precision the statistics are in single precision", "native_batch_norm native_group_norm", "float16 value",
            "bfloat16 value", only=says("^dtype float32, torch b?float16")),
    **known_in("an in-place result does not make its tensor larger", "addbmm", "in-place",
            only=says(r"output with shape \[1\] doesn't match the b")),
}  # fmt: skip

_SPARSE = "there are no sparse tensors"
_INTERNAL = "a step of torch's own kernels and compilers, which programs do not call; what it is a step of is here"
_GPU = "a kernel of CUDA's, or one that writes kernels for it"

# Entries that are left out on purpose.
ABSENT: dict[str, str] = {
    **dict.fromkeys(("sparse.mm.reduce", "sparse.sampled_addmm", "to_sparse"), _SPARSE),
    **dict.fromkeys(("_softmax_backward_data", "_native_batch_norm_legit", "_batch_norm_with_update", "_upsample_bilinear2d_aa",
                     "max_pool2d_with_indices_backward", "torch.ops.aten._safe_softmax.default",
                     "torch.ops.aten._flash_attention_forward", "torch.ops.aten._efficient_attention_forward", "slice",
                     "_unsafe_masked_index", "_unsafe_masked_index_put_accumulate", "_chunk_cat",
                     "native_dropout_backward"), _INTERNAL),
    "chalf": "NumPy has no complex numbers in half precision",
    **dict.fromkeys(("jiterator_unary", "jiterator_binary", "jiterator_4inputs_with_extra_args",
                     "jiterator_binary_return_by_ref", "jiterator_2inputs_2outputs", "torch._scaled_mm",
                     "torch._scaled_mm_v2"), _GPU),
}  # fmt: skip

# Whether these show depends on the processor, with another one's instructions torch or NumPy rounds otherwise, and on what
# was in memory.
BY_PROCESSOR = frozenset({_LEFT, _ROUNDS, _FAR})
