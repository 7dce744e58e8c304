"""scipy.interpolate with derivatives. See _frame.py."""

from wengert.scipy._frame import Submodule as _Submodule
from wengert.scipy.interpolate import _b_splines, _fitpack, _fits, _grids, _piecewise, _scattered

_module = _Submodule("interpolate", globals())
__getattr__, __dir__ = _module.lookups()

for _class in (*_piecewise.CLASSES, *_b_splines.CLASSES, *_fitpack.CLASSES, *_grids.CLASSES, *_scattered.CLASSES):
    _module.replaces(_class)
for _function in (*_b_splines.FUNCTIONS, *_fitpack.FUNCTIONS, *_fits.FUNCTIONS, *_grids.FUNCTIONS, *_scattered.FUNCTIONS):
    _module.differentiates()(_function)
_module.constant("The results are places.", "generate_knots")
_module.refuse("Use numpy.polynomial, or KroghInterpolator.", "approximate_taylor_polynomial", "lagrange", "pade")
