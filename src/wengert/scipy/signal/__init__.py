"""scipy.signal with derivatives. See ../_frame.py.

Signals and the coefficients of filters differentiate, and designs of IIR filters in their frequencies. Searches for peaks do not.
"""

from wengert.scipy._frame import Submodule as _Submodule
from wengert.scipy.signal import _convolutions, _designs, _filters, _short_time, _spectra, windows as windows

_module = _Submodule("signal", globals())
__getattr__, __dir__ = _module.lookups()

for _part in (_convolutions, _filters, _short_time, _spectra):
    for _name in _part.__all__:
        _module.differentiates(_name)(getattr(_part, _name))
for _function in _designs.FUNCTIONS:
    _module.differentiates()(_function)
