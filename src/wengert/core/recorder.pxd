cimport cython
from wengert.core.buffers cimport InputBuffer, cotangent_of
from wengert.core.engine cimport evaluate_node, start
from wengert.core.modes cimport flags, set_unobserved
from wengert.core.node cimport AccumulateGrad, Node, count_outputs, next_node, record_position
from wengert.core.rules cimport add_source
from wengert.core.task cimport GraphTask
from wengert.core.tensor cimport TensorBase

cdef extern from "wk_calls.h":
    int wk_watch_calls(object kinds, object tell, object tensor_type) except -1
    void wk_hold_calls(bint held)

cdef class Record:
    cdef public str name
    cdef public int kind
    cdef public long long start
    cdef public long long end
    cdef public unsigned long long thread
    cdef public long long sequence_nr
    cdef public object code
    cdef public int lasti
    cdef public tuple shapes
    cdef public long long nbytes
    cdef public tuple stack
    cdef public long long device_bytes
    cdef public object mark

cdef list _log
cdef bint _wants_shapes
cdef bint _wants_bytes
cdef bint _wants_stacks
cdef object _ranges
cdef object _check
cdef dict _interceptors
cdef object _anomaly
cdef object _streams
cdef object _marks

@cython.locals(began=cython.longlong)
cpdef object observe(str name, tuple inputs, object function, tuple arguments)
cdef object ranged(str name, object function, tuple arguments)
@cython.locals(log=list, record=Record)
cpdef add_range(str name, long long began, long long ended, unsigned long long thread)
@cython.locals(log=list, record=Record, tensor=TensorBase, node=Node)
cdef add_operation(str name, tuple inputs, object result, long long began, long long ended, object mark)
@cython.locals(record=Record)
cdef Record new_record(str name, int kind, long long began, long long ended)
cdef count_bytes(Record record, object x)
@cython.locals(marker=Node)
cdef place(Record record)
cpdef watch_calls(dict kinds, object tell)
cpdef hold_calls(bint held)
cpdef long long begin_range(str name) except -1
@cython.locals(log=list, record=Record)
cpdef object end_range(str name, int kind, long long began)
cpdef run_watched(GraphTask task, list roots, list cotangents)
cpdef measure_and_check(object anomaly, GraphTask task, Node node, InputBuffer buffer)
@cython.locals(node=Node, buffer=InputBuffer)
cpdef evaluate_each(GraphTask task, object evaluate)
@cython.locals(log=list, record=Record)
cpdef measure_node(GraphTask task, Node node, InputBuffer buffer)
cdef object shape_of_cotangent(object ct)
@cython.locals(behind=Node, buffer=InputBuffer)
cdef list places_without_cotangent(GraphTask task, Node node)
