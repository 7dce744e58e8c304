"""NumPy's namespace for arrays with a history: `import wengert.numpy as np` in place of `import numpy as np`.

Functions have NumPy's names, arguments, defaults, promotion and errors. They return ndarray, which has NumPy's methods and holds a
tensor: wengert.asarray(x) returns it, and asarray(tensor) here holds one. So one graph runs through both kinds. The namespace
follows the Array API of 2024.12. See docs/en/numpy.md.

>>> import wengert.numpy as np
>>> x = np.linspace(0.0, 1.0, 3).requires_grad_()
>>> np.std(x).backward()
>>> x.grad
array([-0.40824829,  0.        ,  0.40824829])
"""

from __future__ import annotations

from typing import Any

import numpy as _theirs

from wengert._forks import import_late as _import_late
from wengert.numpy import creation as _creation, standard as _standard
from wengert.numpy.arrays import ndarray as _ndarray
from wengert.numpy.functions import frompyfunc as _frompyfunc, public as _public, ufunc as _ufunc, vectorize as _vectorize
from wengert.numpy.indexing import flatiter as _flatiter

_MODULES = ("fft", "linalg", "polynomial", "random", "special", "testing")
_OURS = {name: getattr(module, name) for module in (_creation, _standard) for name in module.__all__}
_OURS |= {"flatiter": _flatiter, "frompyfunc": _frompyfunc, "ndarray": _ndarray, "ufunc": _ufunc, "vectorize": _vectorize}
__array_api_version__ = "2024.12"
__all__ = [name for name in dir(_theirs) if not name.startswith("_") and name != "test"]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _import_late(f"wengert.numpy.{name}")
    found = _OURS[name] if name in _OURS else _public(_theirs, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
