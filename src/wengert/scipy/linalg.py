"""scipy.linalg with derivatives. See _frame.py."""

from wengert.scipy._frame import Submodule as _Submodule

_module = _Submodule("linalg", globals())
__getattr__, __dir__ = _module.lookups()
