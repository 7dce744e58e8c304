"""Operations that run on NumPy wherever their inputs lie, with the reason of each.

Their inputs are copied into main memory and their results back, which waits for the device. Their derivatives run on the
device, except for those operations in them that are listed here too.
"""

from __future__ import annotations

_REASONS = {
    "It calls a function of LAPACK or scipy.linalg for each matrix.": """
        _solve_triangular _lu_factor _permutation _geqrf _lu _lstsq _zero_pivots _indefinite_minors _ldl _ldl_solve
        _normal_log_density linalg_matrix_exp _sylvester _stein _sqrtm _solve_banded _care _dare
    """,
    "It calls functions of scipy.special that CuPy lacks, or for part of the elements.": """
        _airy special_airy_ai _scaled_igamma _beta_density _igamma_by_parameter _gamma_density _betainc_by_parameters
        _ufunc1 _ufunc2 _ufunc3 _ufunc4 _carlson _expn _spherical_bessel _spherical_harmonic
    """,
    "It needs a running extremum, or a ufunc method that CuPy lacks.": """
        _cummax _cummin logcumsumexp _mode _bag_maxima _multilabel_margin_loss _multilabel_slopes hash_tensor _scatter_combine
    """,
    "It calls scipy.signal, scipy.ndimage or scipy.fft, with options that CuPy lacks.": """
        _linear_map _full_convolution _valid_correlation _all_pole_filter _spline_values _spline_spread
        _trigonometric_transform _hankel_transform
    """,
}
HOST_OPERATIONS: dict[str, str] = {name: reason for reason, names in _REASONS.items() for name in names.split()}
