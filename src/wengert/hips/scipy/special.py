"""scipy.special for differentiated functions."""

from wengert.hips.scipy._doors import namespace as _namespace
from wengert.scipy import special as _special

__getattr__, __dir__ = _namespace(_special, globals())
