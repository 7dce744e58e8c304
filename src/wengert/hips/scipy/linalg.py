"""scipy.linalg for differentiated functions."""

from wengert.hips.scipy._doors import namespace as _namespace
from wengert.scipy import linalg as _linalg

__getattr__, __dir__ = _namespace(_linalg, globals())
