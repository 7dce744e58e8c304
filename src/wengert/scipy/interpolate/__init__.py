"""scipy.interpolate with derivatives. See _frame.py."""

from wengert.scipy._frame import Submodule as _Submodule
from wengert.scipy.interpolate import _b_splines, _fits, _grids, _piecewise, _scattered

_module = _Submodule("interpolate", globals())
__getattr__, __dir__ = _module.lookups()

for _class in (*_piecewise.CLASSES, *_b_splines.CLASSES, *_grids.CLASSES, *_scattered.CLASSES):
    _module.replaces(_class)
for _function in (*_b_splines.FUNCTIONS, *_fits.FUNCTIONS, *_grids.FUNCTIONS, *_scattered.FUNCTIONS):
    _module.differentiates()(_function)
_module.refuse("Use make_lsq_spline or make_smoothing_spline.", "make_splrep", "make_splprep", "splprep", "UnivariateSpline")
