"""The families of operations, and how the late ones are registered. `late`, which is generated, lists their names.

`import wengert` registers FAMILIES. Each of LATE_FAMILIES is registered when a program first asks for something in it.
Registering a family means importing its module. Modules of families import the registry, so they are imported by name.
"""

from __future__ import annotations

from functools import cache

from wengert._forks import import_late
from wengert.ops import late

FAMILIES = (
    "arithmetic", "pointwise", "trigonometry", "piecewise", "choice", "compare", "reduce", "extrema", "softmax", "shape", "expand",
    "strided", "index", "join", "linalg", "create", "random",
)  # fmt: skip
LATE_FAMILIES = (
    "nn", "activation", "binary", "complex", "logic", "special", "scan", "moments", "inplace_views", "rearrange",
    "gather", "scatter", "scatter_reduce", "masks", "sorting", "older", "copies", "index_reduce", "short_time",
    "signal_windows", "native", "segments", "low_rank", "queries", "recurrent", "layer_functions", "einsum", "factor",
    "matrix_functions", "running", "statistics", "histograms", "masked", "fft", "loss", "conv", "pool", "norm", "pad",
    "resize", "grid", "attention", "distance", "bags", "samples", "margin_loss", "ctc", "stochastic_activation",
    "fractional_pool", "multi_head", "linear_loss", "eigen", "decomposition", "least_squares", "ldl", "bessel",
    "polynomials", "probability", "beta", "storages", "linear_maps", "scipy_ufuncs", "matrix_equations", "trigonometric_transforms",
)  # fmt: skip

# The in-place forms that are functions too, by namespace: those that torch has. Programs ask hasattr(torch, name + "_").
_INPLACE = {
    "": """
        abs_ acos_ acosh_ addmv_ alpha_dropout_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ as_strided_ asin_ asinh_ atan_
        atanh_ ceil_ celu_ clamp_ clamp_max_ clamp_min_ clip_ conj_physical_ cos_ cosh_ deg2rad_ dropout_ erf_ erfc_ exp2_ exp_
        expm1_ feature_alpha_dropout_ fill_ fix_ floor_ frac_ gcd_ i0_ index_put_ lcm_ ldexp_ log10_ log1p_ log2_ log_ logit_
        nan_to_num_ neg_ negative_ rad2deg_ reciprocal_ relu_ resize_as_ round_ rrelu_ rsqrt_ selu_ sigmoid_ sin_ sinc_ sinh_
        sqrt_ square_ tan_ tanh_ threshold_ trunc_ xlogy_ zero_
    """,
    "nn.functional": "celu_ elu_ hardtanh_ leaky_relu_ relu_ rrelu_ selu_ threshold_",
}
INPLACE_FUNCTIONS = {namespace: frozenset(names.split()) for namespace, names in _INPLACE.items()}


def register(family: str) -> None:
    """Register the operations of a family, if they are not registered yet."""
    import_late(f"wengert.ops.{family}")


def register_family_of(operation: str) -> bool:
    """Register the late family that holds an operation. Returns False if no late family does."""
    family = _families_of_operations().get(operation)
    if family is not None:
        register(family)
    return family is not None


@cache
def _families_of_operations() -> dict[str, str]:
    """Return the late family of each operation, by the operation's name."""
    return {name: family for family, names in late.OPERATIONS.items() for name in names.split()}


@cache
def late_functions(namespace: str) -> dict[str, str]:
    """Return the late family of each public function in a namespace, by the function's name."""
    return {name: family for family, names in late.FUNCTIONS[namespace].items() for name in names.split()}
