"""numpy.linalg for differentiated functions."""

from numpy import linalg as _linalg

from wengert.hips.numpy._namespace import namespace

__getattr__, __dir__ = namespace(_linalg, globals())
