cimport cython
from wengert.core.buffers cimport InputBuffer, ReadCotangent, dense_of
from wengert.core.delivery cimport deliver_result
from wengert.core.node cimport Node, OpNode, TensorMeta, meta_at, next_node, next_nr
from wengert.core.op cimport Op, Plan, RuleCall
from wengert.core.task cimport GraphTask
from wengert.core.tensor cimport TensorBase

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1
    object as_array(object x)
    bint has_shape(object x, tuple shape)
    bint may_have_nan(object x)

cdef object _observer

cpdef set_places_observer(object function)
cpdef object _both(object x, object y)
cpdef object _either(object x, object y)

cdef class Places:
    cdef object function
    cdef tuple arguments
    cdef object known

    @cython.locals(stack=list, places=Places, unknown=list, arguments=list)
    cpdef object find(self)

@cython.locals(found=Places)
cdef Places later(object function, tuple arguments, Py_ssize_t size)
@cython.locals(op=Op, shape=tuple, j=Py_ssize_t)
cpdef list places_behind(GraphTask task, OpNode node, RuleCall call, object edges, list results, object ct, list values, object untaken)
@cython.locals(j=Py_ssize_t)
cdef set_zero(GraphTask task, list results, tuple shape, Places places)
@cython.locals(meta=TensorMeta)
cdef object fit_places(Node node, Py_ssize_t edge, object result, Places places, tuple shape)
@cython.locals(j=Py_ssize_t)
cdef list move(OpNode node, RuleCall call, object edges, object ct, list arguments, Places untaken)
@cython.locals(op=Op, plan=Plan, shape=tuple)
cdef bint carries(Node behind) except -1
cdef bint is_known(Places places)
@cython.locals(places=Places)
cdef object known_of(object x)
cdef bint carried_on(OpNode node, object edges) except -1
cdef TensorMeta meta_behind(Node node, Py_ssize_t edge)
cdef tuple shape_behind(Node node, object edges)
@cython.locals(behind=Node, buffer=InputBuffer, first=bint)
cpdef deliver_selected(GraphTask task, Node node, Py_ssize_t position, object result, object ct, object values, object places)
cpdef list still_untaken(list places, list results)
cdef bint is_of(object x, tuple shape) except -1
@cython.locals(tensor=TensorBase)
cdef object raw(object x)
