"""scipy.integrate with derivatives. See _frame.py."""

from wengert.scipy._frame import Submodule as _Submodule
from wengert.scipy.integrate import _boundary_value, _initial_value, _quadrature, _samples

_module = _Submodule("integrate", globals())
__getattr__, __dir__ = _module.lookups()

for _function in _samples.FUNCTIONS:
    _module.differentiates()(_function)
for _function in (*_quadrature.FUNCTIONS, *_initial_value.FUNCTIONS, *_boundary_value.FUNCTIONS):
    _module.differentiates(always=True)(_function)
_module.refuse("Use solve_ivp, whose solutions differentiate.", "ode", "complex_ode")
_module.refuse("Add up the terms by wengert.sum.", "nsum")
_module.constant("They make places and weights.", "lebedev_rule", "newton_cotes")
