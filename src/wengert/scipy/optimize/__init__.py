"""scipy.optimize with derivatives that autograd supplies, and with solutions that differentiate. See _frame.py.

An objective, equation or constraint gets its argument as a tensor. If its result is a tensor, SciPy gets the gradients, Jacobians,
Hessians and products that the method takes and that the call does not give. Results are SciPy's, with NumPy arrays. If the function
depends on tensors that require grad or are dual, as arguments or closed over, the solution is a tensor: it differentiates by
the implicit function theorem. See docs/adr/0044.
"""

from wengert.scipy._frame import Submodule as _Submodule
from wengert.scipy.optimize import _linear, _minima, _older, _roots

_module = _Submodule("optimize", globals())
__getattr__, __dir__ = _module.lookups()

for _function in (*_minima.FUNCTIONS, *_roots.FUNCTIONS, *_older.ALWAYS):
    _module.differentiates(always=True)(_function)
for _function in (*_linear.FUNCTIONS, *_older.FUNCTIONS):
    _module.differentiates()(_function)
_module.refuse("Use minimize.", "line_search")
_module.constant("The result is an assignment.", "linear_sum_assignment")
_module.constant("The results are places around a minimum.", "bracket")
_module.constant("They write text.", "linprog_verbose_callback", "show_options")
