"""scipy.sparse with derivatives in the stored values and in the dense side. See _frame.py.

A matrix that is made of tensors is a SparseTensor; one of arrays is SciPy's, which multiplies tensors as well.
"""

from wengert.scipy._frame import Submodule as _Submodule
from wengert.scipy.sparse import _construction, _matrices, csgraph as csgraph, linalg as linalg

_module = _Submodule("sparse", globals())
__getattr__, __dir__ = _module.lookups()

for _class in _matrices.CLASSES.values():
    _module.replaces(_class)
for _function in _construction.FUNCTIONS:
    _module.differentiates(always=True)(_function)
for _function in _construction.KINDS:
    globals()[_function.__name__] = _function
SparseTensor = _matrices.SparseTensor
_module.constant("The result is a condition.", *[_function.__name__ for _function in _construction.KINDS])
_module.constant("They take arrays of indices and files.", "get_index_dtype", "load_npz", "safely_cast_index_arrays")
_module.refuse("Save the dictionary of values and places with wengert.save.", "save_npz")
_module.refuse("Sparse matrices have two dimensions here: use T.", "expand_dims", "permute_dims", "swapaxes")
