"""The operations of neural networks, under torch.nn.functional's names."""

from wengert.ops import functions as _functions

globals().update(_functions("nn.functional"))
