cimport cython
from wengert.core.buffers cimport ReadCotangent
from wengert.core.modes cimport quiet_enter, quiet_exit
from wengert.core.node cimport Node, TensorMeta, meta_at, next_node, next_nr
from wengert.core.task cimport GraphTask
from wengert.core.tensor cimport TensorBase, wrap

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1
    object as_array(object x)
    bint has_meta(object x, tuple shape, object dtype)
    bint owns_data(object x)

cdef extern from "wk_native.h":
    int wk_init_native() except -1
    object wk_sum_to(object x, tuple shape)

@cython.locals(j=Py_ssize_t)
cpdef deliver_parts(GraphTask task, Node node, tuple targets, object results)
@cython.locals(j=Py_ssize_t)
cpdef deliver_from(GraphTask task, Node node, Py_ssize_t first, object results)
@cython.locals(behind=Node, nr=int, meta=TensorMeta, owned=bint)
cpdef deliver_result(GraphTask task, Node node, Py_ssize_t position, object result, object ct, object values)
@cython.locals(behind=Node, nr=int, meta=TensorMeta)
cpdef deliver_new(GraphTask task, Node node, Py_ssize_t position, object result)
cdef bint owns_memory(object x) except -1
cdef bint is_device_array(object x, TensorMeta meta) except -1
cdef bint is_among(object x, object values) except -1
cdef fit_array(GraphTask task, Node node, Py_ssize_t position, object value, TensorMeta meta)
@cython.locals(tensor=TensorBase)
cdef fit_tensor(GraphTask task, Node node, Py_ssize_t position, object value, TensorMeta meta)
cdef bint expandable(tuple shape, tuple desired) except -1
@cython.locals(behind=Node, meta=TensorMeta)
cpdef dense(GraphTask task, Node node, Py_ssize_t position, object value)
cpdef as_tensor(object value)
@cython.locals(t=TensorBase)
cpdef as_value(GraphTask task, object tensor)
