"""scipy.optimize with derivatives that autograd supplies, and with solutions that differentiate. See _frame.py.

An objective, equation or constraint gets its argument as a tensor. If its result is a tensor, SciPy gets the gradients, Jacobians,
Hessians and products that the method takes and that the call does not give. Results are SciPy's, with NumPy arrays. If the function
depends on tensors that require grad or are dual, as arguments or closed over, the solution is a tensor: it differentiates by
the implicit function theorem. See docs/adr/0044.
"""

from wengert.scipy._frame import Submodule as _Submodule
from wengert.scipy.optimize import _linear, _minima, _roots

_module = _Submodule("optimize", globals())
__getattr__, __dir__ = _module.lookups()

for _function in (*_minima.FUNCTIONS, *_roots.FUNCTIONS):
    _module.differentiates(always=True)(_function)
for _function in _linear.FUNCTIONS:
    _module.differentiates()(_function)
_module.refuse("Use minimize.", "fmin_cobyla", "fmin_l_bfgs_b", "fmin_slsqp", "fmin_tnc")
_module.refuse("Use least_squares.", "leastsq")
_module.refuse("Use root.", "anderson", "broyden1", "broyden2", "diagbroyden", "excitingmixing", "linearmixing", "newton_krylov")
_module.refuse("Use linprog.", "milp")
_module.constant("The result is an assignment.", "linear_sum_assignment", "quadratic_assignment")
