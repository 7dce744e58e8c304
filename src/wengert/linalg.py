"""Linear algebra, under torch.linalg's names."""

from wengert.errors import SingularMatrixError as LinAlgError  # noqa: F401
from wengert.ops import namespace_members as _namespace_members

__getattr__, __dir__ = _namespace_members(__name__, "linalg")
