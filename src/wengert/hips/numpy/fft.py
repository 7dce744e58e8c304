"""numpy.fft for differentiated functions."""

from numpy import fft as _fft

from wengert.hips.numpy._namespace import namespace

__getattr__, __dir__ = namespace(_fft, globals())
