"""NumPy's functions as tensors run them: one module a family. See Note [NumPy's functions on tensors] in array_protocol.py."""

from wengert.array_functions import calculus, creation, elements, joins, linear_algebra, padding, reductions, shapes, writes
from wengert.array_functions.table import FUNCTIONS, METHODS, PLAIN

__all__ = [
    "FUNCTIONS", "METHODS", "PLAIN", "calculus", "creation", "elements", "joins", "linear_algebra", "padding", "reductions",
    "shapes", "writes",
]  # fmt: skip
