"""torch.nn: the operations of neural networks, in nn.functional."""

from wengert.nn import functional as functional
