"""scipy.signal with derivatives. See ../_frame.py.

Signals, the coefficients of filters and linear systems differentiate, and designs of filters in their frequencies. Orders, windows
that have no parameters, and places of peaks do not.
"""

from wengert.scipy._frame import Submodule as _Submodule
from wengert.scipy.signal import (
    _convolutions,
    _designs,
    _filters,
    _fir,
    _fractions,
    _objects,
    _responses,
    _short_time,
    _spectra,
    _systems,
    _waves,
    windows as windows,
)

_module = _Submodule("signal", globals())
__getattr__, __dir__ = _module.lookups()

for _part in (_convolutions, _filters, _fir, _fractions, _responses, _short_time, _spectra, _systems, _waves):
    for _name in _part.__all__:
        _module.differentiates(_name)(getattr(_part, _name))
for _function in _designs.FUNCTIONS:
    _module.differentiates()(_function)
_module.replaces(_short_time.ShortTimeFFT)
for _name in _objects.__all__:
    _module.replaces(getattr(_objects, _name))
for _name in _objects.FUNCTIONS:
    globals()[_name] = _objects.taking_objects(globals()[_name])

_module.constant(
    "The result is a place, a size, a choice or a table of numbers.", "argrelextrema", "argrelmax", "argrelmin", "besselap",
    "buttap", "check_COLA", "check_NOLA", "choose_conv_method", "closest_STFT_dual_window", "correlation_lags", "find_peaks_cwt",
    "findfreqs", "max_len_seq", "unit_impulse",
)  # fmt: skip
_module.constant("The result is 1 or -1, or the derivative is 0.", "square")
_module.refuse("Choose the order, and call iirfilter, butter, cheby1, cheby2 or ellip with it.", "iirdesign", "buttord", "cheb1ord",
               "cheb2ord", "ellipord")  # fmt: skip
_module.refuse("Use firls or firwin2.", "remez", "firwin_2d")
_module.refuse("Use cspline1d or cspline2d.", "spline_filter")
