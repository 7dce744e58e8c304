"""Special functions, under torch.special's names."""

from wengert.ops import functions as _functions

globals().update(_functions("special"))
