"""numpy.random for differentiated functions: the same generator and seed. Parameters under differentiation are refused."""

from numpy import random as _random

from wengert.hips.numpy._namespace import namespace

__getattr__, __dir__ = namespace(_random, globals())
