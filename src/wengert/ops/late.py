"""The names in the late families of operations, by family. A late family is registered when it is first used.

Written by `make generate`: change the sources, not this file. Texts, because those load faster than lists.
"""

# OPERATIONS: as OPS and ALIASES have them. METHODS: of class Tensor. FUNCTIONS: of each namespace.
OPERATIONS = {
    "activation": (
        "_celu _elu _gate _gelu _gelu_tanh _hardshrink _hardsigmoid _hardswish _hardtanh _leaky_relu "
        "_log_sigmoid _mish _prelu _recorded_sigmoid _recorded_tanh _silu _softplus _softshrink _tanhshrink "
        "_threshold celu elu gelu glu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish "
        "nn.functional_relu nn.functional_relu_ prelu relu6 selu silu softplus softshrink softsign tanhshrink "
        "threshold "
    ),
    "attention": "scaled_dot_product_attention",
    "bags": "_bag_maxima _bag_sums _random_mask alpha_dropout embedding_bag feature_alpha_dropout",
    "bessel": (
        "_airy _bessel_i _bessel_j _bessel_k _bessel_y _large_scaled_i _spherical_j special_airy_ai "
        "special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_i0e special_i1 "
        "special_i1e special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 "
        "special_modified_bessel_k1 special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 "
        "special_spherical_bessel_j0 "
    ),
    "beta": "_beta_density _betainc_by_parameters _polygamma_step special_betainc",
    "binary": "arctan2 atan2 copysign gcd heaviside hypot lcm ldexp logaddexp logaddexp2 nextafter xlogy",
    "complex": (
        "_conj _conj_physical _imag _neg_view _real angle complex conj conj_physical imag isreal polar real "
        "resolve_conj resolve_neg view_as_complex view_as_real "
    ),
    "conv": (
        "_col2im _convolution _convolution_transposed _convolution_weight _im2col conv1d conv2d conv3d "
        "conv_transpose1d conv_transpose2d conv_transpose3d convolution nn.functional_fold "
        "nn.functional_unfold "
    ),
    "copies": (
        "alias_copy as_strided_copy detach_copy expand_copy narrow_copy permute_copy select_copy slice_copy "
        "split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy "
        "unsqueeze_copy view_as_complex_copy view_as_real_copy view_copy "
    ),
    "ctc": "_ctc_loss ctc_loss",
    "decomposition": (
        "_eye_like _lu _lu_factor _no_elements _normal_log_density _permutation _qr _solve_triangular "
        "linalg_householder_product linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve linalg_qr "
        "linalg_solve_triangular "
    ),
    "distance": "_cdist _is_nonzero _magnitude_equals _pdist _sign cdist pairwise_distance pdist",
    "eigen": (
        "_eig _eigh _limit _svd _svd_with_vectors linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh "
        "linalg_matrix_exp linalg_svd linalg_svdvals "
    ),
    "einsum": "_contract_pair einsum",
    "factor": (
        "_cholesky _cofactors _constant_eye _identity _second_cofactors _slogdet _solve det inverse "
        "linalg_cholesky linalg_inv linalg_matrix_norm linalg_multi_dot linalg_norm linalg_solve "
        "linalg_vecdot logdet matrix_power slogdet "
    ),
    "fft": (
        "_fft_c2c _fft_c2r _fft_r2c _fit_sizes _weigh_frequencies fft_fft fft_fft2 fft_fftfreq fft_fftn "
        "fft_fftshift fft_hfft fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn fft_ifftshift fft_ihfft "
        "fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftfreq fft_rfftn "
    ),
    "fractional_pool": (
        "fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d "
        "fractional_max_pool3d_with_indices "
    ),
    "gather": "_gather _index_select _nonzero _take argwhere gather index_select nonzero take take_along_dim",
    "grid": "_grid_sample grid_sample grid_sampler",
    "histograms": "histogramdd",
    "index_reduce": "as_strided_scatter fill_diagonal_ index_reduce nonzero_static",
    "inplace_views": "squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_",
    "layer_functions": (
        "conv_tbc feature_dropout torch_adaptive_max_pool1d torch_binary_cross_entropy_with_logits "
        "torch_cosine_embedding_loss torch_ctc_loss torch_dropout torch_dropout_ torch_embedding "
        "torch_hinge_embedding_loss torch_kl_div torch_margin_ranking_loss torch_poisson_nll_loss "
        "torch_triplet_margin_loss "
    ),
    "ldl": "_ldl _ldl_solve linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_solve",
    "least_squares": (
        "_cross _detached_copy _indefinite_minors _lstsq _matrix_rank _pinv _vander _zero_pivots "
        "linalg_cholesky_ex linalg_cond linalg_cross linalg_diagonal linalg_inv_ex linalg_lstsq linalg_matmul "
        "linalg_matrix_rank linalg_pinv linalg_solve_ex linalg_tensorinv linalg_tensorsolve linalg_vander "
    ),
    "linear_loss": "linear_cross_entropy",
    "linear_maps": "_all_pole_filter _full_convolution _linear_map _spline_spread _spline_values _valid_correlation",
    "logic": (
        "__invert__ bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor "
        "isfinite isinf isnan isneginf isposinf logical_and logical_not logical_or logical_xor signbit "
    ),
    "loss": (
        "_bce_with_logits _binary_cross_entropy _cross_entropy _cross_entropy_cotangent _huber_loss _mse_loss "
        "_nll_cotangent _nll_loss _smooth_l1_loss _target_weights binary_cross_entropy "
        "binary_cross_entropy_with_logits cross_entropy huber_loss kl_div l1_loss mse_loss nll_loss "
        "smooth_l1_loss "
    ),
    "low_rank": "lobpcg pca_lowrank svd_lowrank triangular_solve",
    "margin_loss": (
        "_multi_margin_loss _multilabel_margin_loss _multilabel_slopes _soft_margin_loss "
        "cosine_embedding_loss gaussian_nll_loss hinge_embedding_loss margin_ranking_loss multi_margin_loss "
        "multilabel_margin_loss multilabel_soft_margin_loss poisson_nll_loss soft_margin_loss "
        "triplet_margin_loss triplet_margin_with_distance_loss "
    ),
    "masked": (
        "masked_amax masked_amin masked_argmax masked_argmin masked_cumprod masked_cumsum masked_log_softmax "
        "masked_logaddexp masked_logsumexp masked_mean masked_median masked_norm masked_normalize masked_prod "
        "masked_softmax masked_softmin masked_std masked_sum masked_var "
    ),
    "masks": (
        "_masked_fill _masked_scatter _masked_select masked_fill masked_fill_ masked_scatter masked_scatter_ "
        "masked_select "
    ),
    "matrix_equations": "_care _dare _solve_banded _sqrtm _stein _sylvester",
    "matrix_functions": (
        "_geqrf chain_matmul cholesky cholesky_inverse cholesky_solve cross geqrf lu lu_solve lu_unpack "
        "matrix_exp orgqr ormqr pinverse qr svd vander "
    ),
    "moments": (
        "_is_zero _reciprocal_or_zero _std _std_mean _var _var_mean _vector_norm _zeros_of linalg_vector_norm "
        "norm std std_mean var var_mean "
    ),
    "multi_head": "multi_head_attention_forward",
    "native": (
        "affine_grid_generator frobenius_norm grid_sampler_2d grid_sampler_3d native_batch_norm "
        "native_channel_shuffle native_dropout native_group_norm native_layer_norm norm_except_dim "
        "nuclear_norm "
    ),
    "nn": (
        "_dropout_noise _embedding _layer_norm _row_factors _scatter_rows bilinear cosine_similarity dropout "
        "dropout1d dropout2d dropout3d embedding layer_norm linear normalize one_hot rms_norm "
    ),
    "norm": (
        "_rescale _standardize batch_norm group_norm instance_norm local_response_norm "
        "nn.functional_batch_norm nn.functional_instance_norm "
    ),
    "older": "apply_ gesv map_ masked_copy_ potrf set_default_tensor_type typename",
    "pad": "channel_shuffle constant_pad_nd pad pixel_shuffle pixel_unshuffle",
    "polynomials": (
        "_gegenbauer _laguerre special_chebyshev_polynomial_t special_chebyshev_polynomial_u "
        "special_chebyshev_polynomial_v special_chebyshev_polynomial_w special_hermite_polynomial_h "
        "special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p "
        "special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u "
        "special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w "
    ),
    "pool": (
        "_adaptive_max_pool _add_at_places _at_places _avg_pool _avg_pool_cotangent _max_pool _max_unpool "
        "_max_values _resample _resample_flat adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d "
        "adaptive_max_pool1d adaptive_max_pool1d_with_indices adaptive_max_pool2d "
        "adaptive_max_pool2d_with_indices adaptive_max_pool3d adaptive_max_pool3d_with_indices avg_pool1d "
        "avg_pool2d avg_pool3d lp_pool1d lp_pool2d lp_pool3d max_pool1d max_pool1d_with_indices max_pool2d "
        "max_pool2d_with_indices max_pool3d max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d "
    ),
    "probability": (
        "_large_erfcx _normal_hazard _zeta_by_exponent special_entr special_erfcx special_expit "
        "special_gammaln special_log_ndtr special_multigammaln special_ndtr special_ndtri special_psi "
        "special_xlog1py special_zeta "
    ),
    "queries": (
        "detach detach_ dim_order empty_permuted empty_strided get_device is_complex is_conj "
        "is_floating_point is_inference is_neg is_nonzero is_pinned is_same_size is_signed map2_ "
        "new_empty_strided pin_memory record_stream to_dense "
    ),
    "rearrange": (
        "_block_diag _repeat_each block_diag cartesian_prod combinations diag diag_embed diagflat flip fliplr "
        "flipud repeat repeat_interleave roll rot90 tile tril triu "
    ),
    "recurrent": "_lstm_steps gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell",
    "resize": "_affine_grid _resample_bytes affine_grid interpolate upsample upsample_bilinear upsample_nearest",
    "running": "_cummax _cummin cummax cummin cumulative_trapezoid diff gradient logcumsumexp trapezoid trapz",
    "samples": (
        "_dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad binomial cauchy_ exponential_ "
        "geometric_ log_normal_ multinomial poisson "
    ),
    "scan": "_reverse_cumsum _scan cumprod cumsum",
    "scatter": (
        "_index_add _index_copy _index_fill _put _replace _scatter _scatter_add diagonal_scatter index_add "
        "index_add_ index_copy index_copy_ index_fill index_fill_ put put_ scatter scatter_ scatter_add "
        "scatter_add_ select_scatter slice_scatter "
    ),
    "scatter_reduce": "_scatter_combine _scatter_extremum _scatter_reduce scatter_reduce scatter_reduce_",
    "scipy_ufuncs": "_carlson _expn _spherical_bessel _spherical_harmonic _ufunc1 _ufunc2 _ufunc3 _ufunc4",
    "segments": "segment_reduce",
    "short_time": "istft stft",
    "signal_windows": (
        "bartlett_window blackman_window hamming_window hann_window kaiser_window signal.windows_bartlett "
        "signal.windows_blackman signal.windows_cosine signal.windows_exponential signal.windows_gaussian "
        "signal.windows_general_cosine signal.windows_general_hamming signal.windows_hamming "
        "signal.windows_hann signal.windows_kaiser signal.windows_nuttall "
    ),
    "sorting": (
        "_kthvalue _sort _topk argsort bincount bucketize isin kthvalue msort searchsorted sort topk unique "
        "unique_consecutive unravel_index "
    ),
    "special": (
        "_gamma_density _igamma_by_parameter _polygamma _polygamma_method _scaled_igamma _sum_of_polygammas "
        "_trigamma digamma erf erfc erfinv i0 igamma igammac lgamma logit mvlgamma polygamma special_gammainc "
        "special_gammaincc "
    ),
    "statistics": (
        "_frexp _mode corrcoef cov dist frexp hash_tensor histc histogram mode nanmean nanquantile quantile "
        "renorm "
    ),
    "stochastic_activation": "_gumbel_noise _random_slopes gumbel_softmax rrelu",
    "storages": (
        "_typed_storage is_set_to is_shared resize_ resize_as_ set_ share_memory_ storage storage_type "
        "untyped_storage "
    ),
    "trigonometric_transforms": "_hankel_transform _trigonometric_transform",
}
METHODS = {
    "activation": "hardshrink prelu",
    "binary": (
        "arctan2 arctan2_ atan2 atan2_ copysign copysign_ gcd gcd_ heaviside heaviside_ hypot hypot_ lcm lcm_ "
        "ldexp ldexp_ logaddexp logaddexp2 nextafter nextafter_ xlogy xlogy_ "
    ),
    "complex": "angle conj conj_physical conj_physical_ isreal resolve_conj resolve_neg",
    "copies": "narrow_copy",
    "factor": "det inverse logdet matrix_power slogdet",
    "gather": "argwhere gather index_select nonzero take take_along_dim",
    "index_reduce": "as_strided_scatter fill_diagonal_ index_reduce index_reduce_ nonzero_static",
    "inplace_views": "squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_",
    "logic": (
        "__and__ __iand__ __ilshift__ __invert__ __ior__ __irshift__ __ixor__ __lshift__ __or__ __rand__ "
        "__rlshift__ __ror__ __rrshift__ __rshift__ __rxor__ __xor__ bitwise_and bitwise_and_ "
        "bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_ "
        "bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ isfinite isinf isnan isneginf "
        "isposinf logical_and logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor "
        "logical_xor_ signbit "
    ),
    "low_rank": "triangular_solve",
    "masks": "masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select",
    "matrix_functions": (
        "cholesky cholesky_inverse cholesky_solve cross geqrf lu lu_solve matrix_exp orgqr ormqr pinverse qr "
        "svd "
    ),
    "moments": "norm std var",
    "older": "apply_ gesv map_ masked_copy_ potrf",
    "queries": (
        "dim_order get_device is_conj is_neg is_nonzero is_pinned is_same_size map2_ new_empty_strided "
        "pin_memory record_stream to_dense "
    ),
    "rearrange": (
        "diag diag_embed diagflat flip fliplr flipud repeat repeat_interleave roll rot90 tile tril tril_ triu "
        "triu_ "
    ),
    "running": "cummax cummin diff logcumsumexp",
    "samples": "cauchy_ exponential_ geometric_ log_normal_ multinomial",
    "scan": "cumprod cumprod_ cumsum cumsum_",
    "scatter": (
        "diagonal_scatter index_add index_add_ index_copy index_copy_ index_fill index_fill_ put put_ scatter "
        "scatter_ scatter_add scatter_add_ select_scatter slice_scatter "
    ),
    "scatter_reduce": "scatter_reduce scatter_reduce_",
    "short_time": "istft stft",
    "sorting": "argsort bincount kthvalue msort sort topk unique unique_consecutive",
    "special": (
        "digamma digamma_ erf erf_ erfc erfc_ erfinv erfinv_ i0 i0_ igamma igamma_ igammac igammac_ lgamma "
        "lgamma_ logit logit_ mvlgamma mvlgamma_ polygamma polygamma_ "
    ),
    "statistics": "corrcoef cov dist frexp hash_tensor histc histogram mode nanmean nanquantile quantile renorm renorm_",
    "storages": (
        "_typed_storage is_set_to is_shared resize_ resize_as_ set_ share_memory_ storage storage_type "
        "untyped_storage "
    ),
}
FUNCTIONS = {
    "": {
        "activation": "celu celu_ hardshrink prelu selu selu_ threshold threshold_",
        "bags": "alpha_dropout alpha_dropout_ feature_alpha_dropout feature_alpha_dropout_",
        "binary": (
            "arctan2 atan2 copysign gcd gcd_ heaviside hypot lcm lcm_ ldexp ldexp_ logaddexp logaddexp2 nextafter "
            "xlogy xlogy_ "
        ),
        "complex": (
            "angle complex conj conj_physical conj_physical_ imag isreal polar real resolve_conj resolve_neg "
            "view_as_complex view_as_real "
        ),
        "conv": "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution",
        "copies": (
            "alias_copy as_strided_copy detach_copy expand_copy narrow_copy permute_copy select_copy slice_copy "
            "split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy "
            "unsqueeze_copy view_as_complex_copy view_as_real_copy view_copy "
        ),
        "distance": "cdist pairwise_distance pdist",
        "einsum": "einsum",
        "factor": "det inverse logdet matrix_power slogdet",
        "gather": "argwhere gather index_select nonzero take take_along_dim",
        "grid": "grid_sampler",
        "histograms": "histogramdd",
        "index_reduce": "as_strided_scatter index_reduce nonzero_static",
        "layer_functions": (
            "adaptive_max_pool1d binary_cross_entropy_with_logits conv_tbc cosine_embedding_loss ctc_loss dropout "
            "dropout_ embedding feature_dropout hinge_embedding_loss kl_div margin_ranking_loss poisson_nll_loss "
            "triplet_margin_loss "
        ),
        "logic": (
            "bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor isfinite isinf "
            "isnan isneginf isposinf logical_and logical_not logical_or logical_xor signbit "
        ),
        "low_rank": "lobpcg pca_lowrank svd_lowrank triangular_solve",
        "masks": "masked_fill masked_scatter masked_select",
        "matrix_functions": (
            "chain_matmul cholesky cholesky_inverse cholesky_solve cross geqrf lu lu_solve lu_unpack matrix_exp "
            "orgqr ormqr pinverse qr svd vander "
        ),
        "moments": "norm std std_mean var var_mean",
        "native": (
            "affine_grid_generator frobenius_norm grid_sampler_2d grid_sampler_3d native_batch_norm "
            "native_channel_shuffle native_dropout native_group_norm native_layer_norm norm_except_dim "
            "nuclear_norm "
        ),
        "nn": "bilinear cosine_similarity layer_norm rms_norm",
        "norm": "batch_norm group_norm instance_norm",
        "older": "gesv potrf set_default_tensor_type typename",
        "pad": "channel_shuffle constant_pad_nd pixel_shuffle pixel_unshuffle",
        "pool": "adaptive_avg_pool1d avg_pool1d max_pool1d max_pool1d_with_indices max_pool2d max_pool3d",
        "queries": (
            "detach detach_ empty_permuted empty_strided get_device is_complex is_conj is_floating_point "
            "is_inference is_neg is_nonzero is_same_size is_signed "
        ),
        "rearrange": (
            "block_diag cartesian_prod combinations diag diag_embed diagflat flip fliplr flipud repeat_interleave "
            "roll rot90 tile tril triu "
        ),
        "recurrent": "gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell",
        "running": "cummax cummin cumulative_trapezoid diff gradient logcumsumexp trapezoid trapz",
        "samples": "_dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad binomial multinomial poisson",
        "scan": "cumprod cumsum",
        "scatter": (
            "diagonal_scatter index_add index_copy index_fill put scatter scatter_add select_scatter "
            "slice_scatter "
        ),
        "scatter_reduce": "scatter_reduce",
        "segments": "segment_reduce",
        "short_time": "istft stft",
        "signal_windows": "bartlett_window blackman_window hamming_window hann_window kaiser_window",
        "sorting": (
            "argsort bincount bucketize isin kthvalue msort searchsorted sort topk unique unique_consecutive "
            "unravel_index "
        ),
        "special": "digamma erf erf_ erfc erfc_ erfinv i0 i0_ igamma igammac lgamma logit logit_ mvlgamma polygamma",
        "statistics": "corrcoef cov dist frexp hash_tensor histc histogram mode nanmean nanquantile quantile renorm",
        "stochastic_activation": "rrelu rrelu_",
        "storages": "resize_as_",
    },
    "nn.functional": {
        "activation": (
            "celu celu_ elu elu_ gelu glu hardshrink hardsigmoid hardswish hardtanh hardtanh_ leaky_relu "
            "leaky_relu_ logsigmoid mish prelu relu relu6 relu_ selu selu_ silu softplus softshrink softsign "
            "tanhshrink threshold threshold_ "
        ),
        "attention": "scaled_dot_product_attention",
        "bags": "alpha_dropout embedding_bag feature_alpha_dropout",
        "conv": "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d fold unfold",
        "ctc": "ctc_loss",
        "distance": "pairwise_distance pdist",
        "fractional_pool": (
            "fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d "
            "fractional_max_pool3d_with_indices "
        ),
        "grid": "grid_sample",
        "layer_functions": "conv_tbc",
        "linear_loss": "linear_cross_entropy",
        "loss": (
            "binary_cross_entropy binary_cross_entropy_with_logits cross_entropy huber_loss kl_div l1_loss "
            "mse_loss nll_loss smooth_l1_loss "
        ),
        "margin_loss": (
            "cosine_embedding_loss gaussian_nll_loss hinge_embedding_loss margin_ranking_loss multi_margin_loss "
            "multilabel_margin_loss multilabel_soft_margin_loss poisson_nll_loss soft_margin_loss "
            "triplet_margin_loss triplet_margin_with_distance_loss "
        ),
        "multi_head": "multi_head_attention_forward",
        "nn": (
            "bilinear cosine_similarity dropout dropout1d dropout2d dropout3d embedding layer_norm linear "
            "normalize one_hot rms_norm "
        ),
        "norm": "batch_norm group_norm instance_norm local_response_norm",
        "pad": "channel_shuffle pad pixel_shuffle pixel_unshuffle",
        "pool": (
            "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
            "adaptive_max_pool1d_with_indices adaptive_max_pool2d adaptive_max_pool2d_with_indices "
            "adaptive_max_pool3d adaptive_max_pool3d_with_indices avg_pool1d avg_pool2d avg_pool3d lp_pool1d "
            "lp_pool2d lp_pool3d max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d "
            "max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d "
        ),
        "resize": "affine_grid interpolate upsample upsample_bilinear upsample_nearest",
        "stochastic_activation": "gumbel_softmax rrelu rrelu_",
    },
    "linalg": {
        "decomposition": "householder_product lu lu_factor lu_factor_ex lu_solve qr solve_triangular",
        "eigen": "eig eigh eigvals eigvalsh matrix_exp svd svdvals",
        "factor": "cholesky det inv matrix_norm matrix_power multi_dot norm slogdet solve vecdot",
        "ldl": "ldl_factor ldl_factor_ex ldl_solve",
        "least_squares": (
            "cholesky_ex cond cross diagonal inv_ex lstsq matmul matrix_rank pinv solve_ex tensorinv tensorsolve "
            "vander "
        ),
        "moments": "vector_norm",
    },
    "special": {
        "bessel": (
            "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 i0e i1 i1e modified_bessel_i0 modified_bessel_i1 "
            "modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 "
            "spherical_bessel_j0 "
        ),
        "beta": "betainc",
        "binary": "xlogy",
        "polynomials": (
            "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
            "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p "
            "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
            "shifted_chebyshev_polynomial_w "
        ),
        "probability": "entr erfcx expit gammaln log_ndtr multigammaln ndtr ndtri psi xlog1py zeta",
        "special": "digamma erf erfc erfinv gammainc gammaincc i0 logit polygamma",
    },
    "fft": {
        "fft": (
            "fft fft2 fftfreq fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft ihfft2 ihfftn irfft "
            "irfft2 irfftn rfft rfft2 rfftfreq rfftn "
        ),
    },
    "masked": {
        "masked": (
            "amax amin argmax argmin cumprod cumsum log_softmax logaddexp logsumexp mean median norm normalize "
            "prod softmax softmin std sum var "
        ),
    },
    "signal.windows": {
        "signal_windows": (
            "bartlett blackman cosine exponential gaussian general_cosine general_hamming hamming hann kaiser "
            "nuttall "
        ),
    },
}
