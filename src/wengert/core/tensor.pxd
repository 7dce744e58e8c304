cimport cython
from wengert.core.collector cimport (
    WK_TENSOR, count_attachment, spared_lists, wk_forget, wk_is_own_attribute, wk_link, wk_may_cycle, wk_set_attribute, wk_share_spared, wk_spare
)
from wengert.core.modes cimport flags
from wengert.core.node cimport AccumulateGrad, Edge, Node, TensorMeta, make_edge, make_meta, next_sequence_nr

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1
    bint is_inexact(object x)

cdef extern from "wk_buffer.h":
    void wk_offer_buffer(object type)

cdef extern from "wk_frame.h":
    object wk_new_instance(object base, object cls)
    object wk_dereference(object reference)

cdef class VersionCounter:
    cdef public long long value
    cdef public object code
    cdef public object mirrors
    cdef public int lasti

cdef class ViewInfo:
    cdef public TensorBase base
    cdef public ViewInfo before
    cdef public object op
    cdef public object params
    cdef public object physical
    cdef public int relation
    cdef public int output_nr
    cdef public long long version
    cdef public int creation
    cdef wk_link _link

cdef class TensorBase:
    cdef wk_link _link
    cdef bint _attached
    cdef public object _array
    cdef public bint _requires_grad
    cdef public int _flags
    cdef public int _output_nr
    cdef public Node _grad_fn
    cdef public object _grad
    cdef public VersionCounter _counter
    cdef public TensorMeta _meta
    cdef public ViewInfo _view
    cdef public object _accumulator
    cdef public object _leaf_hooks
    cdef public object _post_hooks
    cdef dict __dict__
    cdef object __weakref__

cdef long INFERENCE
cdef int _volatile

cdef object _tensor_class
cdef object _refresh_view
cdef object _renew_mirror

@cython.locals(tensor=TensorBase)
cpdef object wrap(object array)
cpdef attach(TensorBase tensor)
cpdef bint is_differentiable(object array) except -1
cpdef VersionCounter counter_of(TensorBase tensor)
cpdef TensorMeta meta_of(TensorBase tensor)
cpdef bint is_outdated(TensorBase tensor, ViewInfo view) except -1
@cython.locals(view=ViewInfo)
cpdef refresh_view(TensorBase tensor)
@cython.locals(view=ViewInfo)
cpdef refresh_history(TensorBase tensor)
@cython.locals(node=Node)
cpdef Edge gradient_edge(TensorBase tensor)
cpdef Node gradient_node(TensorBase tensor)
cpdef make_volatile(TensorBase tensor)
@cython.locals(node=AccumulateGrad)
cpdef AccumulateGrad accumulator_of(TensorBase tensor)
@cython.locals(node=AccumulateGrad)
cdef AccumulateGrad new_accumulator(TensorBase tensor)
