"""Which operations cast their inputs under autocast, and to what, on the CPU and on GPUs: torch's choice, found by running it.

Operations that are made of others are listed if torch casts the inputs of the whole. The others are cast in their parts.
"""

from __future__ import annotations

LOWER = 1  # to the dtype of autocast: products, which gain most, and need the least precision
FLOAT32 = 2  # to float32: sums of many terms, factorisations, losses
WIDEST = 3  # to float32 if an input is of float32: operations that refuse inputs of two dtypes
NONE = 4  # to nothing: operations that are made of products here, and are not in torch
REFUSED = 5  # an error: an operation whose inputs of 16 bits would be too near to 0 or 1

_LOWER = """
    addbmm addmm baddbmm bmm conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d
    conv_transpose3d einsum linalg_matmul linalg_vecdot linear lstm matmul mm prelu rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell
    scaled_dot_product_attention
"""
_FLOAT32 = """
    adaptive_avg_pool3d adaptive_max_pool3d adaptive_max_pool3d_with_indices avg_pool3d binary_cross_entropy
    binary_cross_entropy_with_logits cdist cholesky cholesky_inverse cholesky_solve cosine_embedding_loss cross_entropy ctc_loss
    fft_fft fft_fft2 fft_fftn fft_hfft fft_ifft fft_ifft2 fft_ifftn fft_ihfft fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2
    fft_rfftn geqrf grid_sample grid_sampler grid_sampler_2d grid_sampler_3d hinge_embedding_loss huber_loss inverse kl_div l1_loss
    linalg_cholesky linalg_cholesky_ex linalg_cond linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_householder_product
    linalg_inv linalg_inv_ex linalg_lstsq linalg_matrix_rank linalg_qr linalg_solve linalg_svd linalg_svdvals linalg_tensorinv
    linalg_tensorsolve linear_cross_entropy local_response_norm lp_pool3d lu lu_solve margin_ranking_loss max_pool3d max_unpool1d
    max_unpool2d max_unpool3d mse_loss multi_margin_loss multilabel_margin_loss nanquantile nll_loss orgqr ormqr pinverse
    poisson_nll_loss polar prod qr quantile smooth_l1_loss soft_margin_loss stft svd torch_binary_cross_entropy_with_logits trace
    triangular_solve triplet_margin_loss view_as_complex
"""
_WIDEST = "cat index_copy stack"
_NONE = "bilinear linalg_lu_solve"

_GPU_LOWER = """
    addbmm addmm addmv addr baddbmm bmm chain_matmul conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d
    conv_transpose3d convolution einsum gru gru_cell linalg_matmul linalg_multi_dot linalg_vecdot linear lstm lstm_cell matmul mm mv
    prelu rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell scaled_dot_product_attention
"""
_GPU_FLOAT32 = """
    acos asin binary_cross_entropy_with_logits cdist cosh cosine_embedding_loss cosine_similarity cross_entropy cumprod cumsum dist
    erfinv exp expm1 group_norm hinge_embedding_loss huber_loss interpolate kl_div l1_loss layer_norm linalg_matrix_norm
    linalg_vector_norm log log10 log1p log2 log_softmax logsumexp margin_ranking_loss mse_loss multi_margin_loss
    multilabel_margin_loss native_layer_norm nll_loss norm normalize nuclear_norm pdist poisson_nll_loss pow prod reciprocal renorm
    rms_norm rsqrt sinh smooth_l1_loss soft_margin_loss softmax softmin softplus square sum sum_to_size tan
    torch_binary_cross_entropy_with_logits triplet_margin_loss upsample upsample_bilinear upsample_nearest
"""
_GPU_WIDEST = "addcdiv addcmul atan2 bilinear cat cross dot grid_sample grid_sampler index_put scatter_add stack tensordot"
_GPU_NONE = "masked_log_softmax vander"


def _table(*names: str) -> dict[str, int]:
    return {name: kind for kind, text in enumerate(names, 1) for name in text.split()}


CASTS: dict[str, dict[str, int]] = {  # by type of device
    "cpu": _table(_LOWER, _FLOAT32, _WIDEST, _NONE),
    "cuda": _table(_GPU_LOWER, _GPU_FLOAT32, _GPU_WIDEST, _GPU_NONE, "binary_cross_entropy"),
}
CASTING = frozenset(CASTS["cpu"]) | frozenset(CASTS["cuda"])  # the operations that cast on any device
