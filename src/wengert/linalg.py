"""Linear algebra, under torch.linalg's names."""

from wengert.ops import functions as _functions

globals().update(_functions("linalg"))
