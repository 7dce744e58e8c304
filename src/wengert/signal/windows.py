"""Windows, under torch.signal.windows' names."""

from wengert.ops import functions as _functions

globals().update(_functions("signal.windows"))
