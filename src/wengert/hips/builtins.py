"""Containers and questions about types in differentiated functions.

A container under differentiation is an ordinary tuple, list or dict that holds boxes. So tuple, list and dict are Python's.
isinstance and type speak of the value of a box.
"""

import builtins
from builtins import dict as dict, list as list, tuple as tuple
from typing import Any

from wengert.hips.boxes import value_of


def isinstance(x: Any, types: Any) -> bool:
    """Whether x, or the value of the box x, is of one of the types."""
    return builtins.isinstance(x, types) or builtins.isinstance(value_of(x), types)


def type(x: Any) -> Any:
    """Return the type of x, or of the value of the box x."""
    return builtins.type(value_of(x))
