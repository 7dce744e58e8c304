"""Reductions and normalisations under a mask, under torch.masked's names."""

from wengert.ops import functions as _functions

globals().update(_functions("masked"))
