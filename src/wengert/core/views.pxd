cimport cython
from wengert.core.dispatch cimport observe, record, unwrap
from wengert.core.modes cimport flags, quiet_enter, quiet_exit
from wengert.core.op cimport Op
from wengert.core.saved cimport attach, before_write, is_watched
from wengert.core.tensor cimport TensorBase, VersionCounter, ViewInfo, counter_of, refresh_history, refresh_view, wrap

cdef int DUAL
cdef object _write_dual
cdef object _become_view_dual
cdef long OBSERVED

cpdef check_write(TensorBase target, bint gradient_written=*)
@cython.locals(counter=VersionCounter)
cpdef bump(TensorBase target)
@cython.locals(target=TensorBase, arrays=list, recording=bint, watched=bint, carrier=TensorBase)
cpdef TensorBase call_inplace(Op op, tuple inputs, object params)
cdef object kernel_into(Op op, dict params, list arrays, TensorBase target)
cdef object run_forward(Op op, list arrays, dict params, TensorBase target)
cdef write_result(object kernel, list arrays, TensorBase target, object out)
cpdef write_array(TensorBase target, object value)
