"""logsumexp, which SciPy had in scipy.misc once."""

from wengert.hips.scipy.special import logsumexp as logsumexp
