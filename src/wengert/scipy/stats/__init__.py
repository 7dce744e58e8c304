"""scipy.stats with derivatives. See ../_frame.py.

Distributions differentiate in x, loc, scale and shapes; statistics of samples in the samples.
"""

from wengert.scipy._frame import Submodule as _Submodule
from wengert.scipy.stats import (
    _descriptive,
    _discrete_formulas as _discrete_formulas,
    _hypothesis_tests,
    _integral_formulas as _integral_formulas,
    _samples,
    _stable as _stable,
)
from wengert.scipy.stats._distributions import (
    Continuous as _Continuous,
    Discrete as _Discrete,
    PoissonBinomial as _PoissonBinomial,
)
from wengert.scipy.stats._multivariate import MULTIVARIATE as _MULTIVARIATE, gaussian_kde as gaussian_kde

_module = _Submodule("stats", globals())
__getattr__, __dir__ = _module.lookups()

for _name in _module.scipy.__all__:
    _theirs = getattr(_module.scipy, _name)
    if isinstance(_theirs, _module.scipy.rv_continuous):
        globals()[_name] = _Continuous(_theirs)
    elif isinstance(_theirs, _module.scipy.rv_discrete):
        globals()[_name] = _PoissonBinomial(_theirs) if _name == "poisson_binom" else _Discrete(_theirs)
globals().update(_MULTIVARIATE)

for _part in (_descriptive, _hypothesis_tests, _samples):
    for _name in _part.__all__:
        _module.differentiates(_name)(getattr(_part, _name))

_RANKS = """
    anderson_ksamp ansari barnard_exact binomtest boschloo_exact brunnermunzel bws_test chatterjeexi cramervonmises_2samp
    cumfreq fisher_exact fligner friedmanchisquare kendalltau kruskal ks_2samp logrank mannwhitneyu mood page_trend_test
    percentileofscore poisson_means_test quantile_test rankdata ranksums relfreq somersd spearmanr spearmanrho tiecorrect
    weightedtau wilcoxon
"""
_module.constant("The result counts elements, or orders them.", *_RANKS.split(), "median_test")
_module.constant("They take sizes, and draw.", "ortho_group", "special_ortho_group", "uniform_direction", "unitary_group")
_RANDOM_VARIABLES = ("abs", "exp", "log", "make_distribution", "order_statistic", "truncate")
_module.refuse("Use the distributions in lower case, such as norm.", *_RANDOM_VARIABLES)
_module.refuse(
    "It calls functions with arrays: differentiate the statistic.",
    "bootstrap", "monte_carlo_test", "permutation_test", "goodness_of_fit", "sobol_indices", "power",
)  # fmt: skip
_module.refuse("Use the distribution's method fit.", "fit", "mvsdist", "bayes_mvs")
_module.refuse("Use boxcox_llf and yeojohnson_llf.", "boxcox_normplot", "yeojohnson_normplot", "ppcc_max", "ppcc_plot")
_module.refuse("It draws random numbers.", "random_correlation", "random_table")
_module.refuse("The p-value is a series that is not differentiated: write the statistic.", "anderson", "cramervonmises", "dunnett")
_module.refuse("Use sort: the quantiles of the result are the sorted sample.", "ecdf")
