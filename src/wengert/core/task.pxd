cimport cython
from wengert.core.buffers cimport InputBuffer, ReadCotangent
from wengert.core.modes cimport quiet_enter, quiet_exit
from wengert.core.node cimport AccumulateGrad, Edge, Node, TensorMeta, meta_at

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1
    bint is_ndarray(object x)
    object as_array(object x)

cdef class GraphTask:
    cdef public bint keep_graph
    cdef public bint create_graph
    cdef public object face
    cdef public dict displaced
    cdef public list stack
    cdef public list heap
    cdef public long long order
    cdef public list first_grads
    cdef public bint sum_owned
    cdef public bint quiet
    cdef public list results

    @cython.locals(buffer=InputBuffer)
    cdef InputBuffer find_buffer(self, Node node)
    @cython.locals(buffer=InputBuffer)
    cdef InputBuffer buffer_of(self, Node node)
    @cython.locals(buffer=InputBuffer)
    cdef InputBuffer new_buffer(self, Node node)
    cdef attach(self, Node node, InputBuffer buffer)
    @cython.locals(buffer=InputBuffer)
    cdef InputBuffer take_buffer(self, Node node)
    @cython.locals(last=Node)
    cdef push(self, Node node)
    @cython.locals(last=Node)
    cdef Node pop(self)
    @cython.locals(stack=list, node=Node, edge=Edge, root=Edge, buffer=InputBuffer)
    cdef compute_dependencies(self, list roots)
    @cython.locals(stack=list, node=Node, edge=Edge, root=Edge, opened=bint)
    cdef mark_needed(self, list roots, list targets)
    @cython.locals(edge=Edge, buffer=InputBuffer)
    cdef bint has_needed_input(self, Node node) except -1
    @cython.locals(edge=Edge, buffer=InputBuffer)
    cdef capture(self, list edges)
    @cython.locals(edge=Edge, buffer=InputBuffer)
    cdef stop_at(self, list edges)
    @cython.locals(node=Node, buffer=InputBuffer)
    cdef arrive(self, Edge edge, object value, bint owned)
    @cython.locals(buffer=InputBuffer, nr=Py_ssize_t)
    cdef add(self, Edge edge, object value, bint owned)
    @cython.locals(buffer=InputBuffer)
    cdef add_read(self, Edge edge, object ct, tuple index)
    @cython.locals(read=ReadCotangent, meta=TensorMeta)
    cdef object sum_of(self, object held, bint held_owned, object value, bint owned, Edge edge)
    cdef begin_quiet(self)
    cdef end_quiet(self)
    @cython.locals(stack=list, node=Node, edge=Edge, buffer=InputBuffer, root=Edge)
    cdef clear(self, list roots)
