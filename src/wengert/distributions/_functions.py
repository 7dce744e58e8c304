"""Operations, under the names that torch has for them."""

from wengert.ops import namespace_members as _namespace_members

__getattr__, __dir__ = _namespace_members(__name__, "")
