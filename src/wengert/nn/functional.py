"""Operations of neural networks, under torch.nn.functional's names."""

from wengert.ops import namespace_members as _namespace_members

__getattr__, __dir__ = _namespace_members(__name__, "nn.functional")
