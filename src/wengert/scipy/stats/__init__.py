"""scipy.stats with derivatives. See ../_frame.py.

Distributions differentiate in x, loc, scale and shapes; statistics of samples in the samples.
"""

from wengert.scipy._frame import Submodule as _Submodule
from wengert.scipy.stats import (
    _descriptive,
    _discrete_formulas as _discrete_formulas,
    _integral_formulas as _integral_formulas,
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

for _name in _descriptive.__all__:
    _module.differentiates(_name)(getattr(_descriptive, _name))

_module.constant(
    "The result counts elements, or orders them.",
    "binned_statistic", "cumfreq", "kendalltau", "mode", "percentileofscore", "rankdata", "relfreq", "scoreatpercentile",
    "somersd", "spearmanr", "weightedtau",
)  # fmt: skip
