"""scipy.sparse with derivatives in the stored values and in the dense side. See _frame.py.

A matrix that is made of tensors is a SparseTensor; one of arrays is SciPy's, which multiplies tensors as well.
"""

from wengert.scipy._frame import Submodule as _Submodule
from wengert.scipy.sparse import _construction, _matrices, linalg as linalg

_module = _Submodule("sparse", globals())
__getattr__, __dir__ = _module.lookups()

for _class in _matrices.CLASSES.values():
    _module.replaces(_class)
for _function in _construction.FUNCTIONS:
    _module.differentiates(always=True)(_function)
SparseTensor = _matrices.SparseTensor
