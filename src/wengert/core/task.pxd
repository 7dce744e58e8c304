cimport cython
from wengert.core.buffers cimport InputBuffer, ReadCotangent
from wengert.core.modes cimport quiet_enter, quiet_exit
from wengert.core.node cimport AccumulateGrad, Edge, Node, OpNode, TensorMeta, meta_at, next_node
from wengert.core.op cimport Op

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1
    bint is_ndarray(object x)
    bint add_element(object x, object index, object value) except -1
    object as_array(object x)

cdef extern from "wk_native.h":
    int wk_init_native() except -1
    object wk_sum(object x, object y)
    bint wk_add_into(object x, object y) except -1

cdef class GraphTask:
    cdef public bint keep_graph
    cdef public object position
    cdef public bint create_graph
    cdef public bint detaches
    cdef public list to_release
    cdef public object face
    cdef public dict displaced
    cdef public list stack
    cdef public list heap
    cdef public long long order
    cdef public list first_grads
    cdef public bint partial
    cdef public int depth
    cdef public bint sum_owned
    cdef public bint quiet
    cdef public list results
    cdef public object check
    cdef public list callbacks
    cdef object __weakref__

    @cython.locals(buffer=InputBuffer)
    cdef InputBuffer find_buffer(self, Node node)
    @cython.locals(buffer=InputBuffer)
    cdef InputBuffer buffer_of(self, Node node)
    @cython.locals(buffer=InputBuffer)
    cdef InputBuffer new_buffer(self, Node node)
    @cython.locals(buffer=InputBuffer)
    cdef InputBuffer take_buffer(self, Node node)
    @cython.locals(last=Node)
    cdef push(self, Node node)
    @cython.locals(last=Node)
    cdef Node pop(self)
    @cython.locals(stack=list, node=Node, behind=Node, root=Edge, i=Py_ssize_t)
    cdef count_edges(self, list roots)
    cdef compute_dependencies(self, list roots)
    @cython.locals(buffer=InputBuffer)
    cdef count_edge(self, Node node, list stack)
    @cython.locals(stack=list, node=Node, behind=Node, edge=Edge, root=Edge, opened=bint, i=Py_ssize_t)
    cdef mark_needed(self, list roots, list targets)
    @cython.locals(behind=Node, buffer=InputBuffer, i=Py_ssize_t)
    cdef bint has_needed_input(self, Node node) except -1
    @cython.locals(edge=Edge, buffer=InputBuffer)
    cdef capture(self, list edges)
    @cython.locals(edge=Edge, buffer=InputBuffer)
    cdef stop_at(self, list edges)
    @cython.locals(buffer=InputBuffer)
    cdef arrive(self, Node node, int nr, object value, bint owned)
    @cython.locals(buffer=InputBuffer)
    cdef add(self, Node node, int nr, object value, bint owned)
    @cython.locals(op_node=OpNode, op=Op)
    cdef bint takes_read(self, Node node, InputBuffer buffer) except -1
    cpdef settle(self, Node node, InputBuffer buffer)
    @cython.locals(buffer=InputBuffer)
    cdef add_read(self, Node node, int nr, object ct, object index)
    @cython.locals(read=ReadCotangent)
    cdef object sum_of(self, object held, bint held_owned, object value, bint owned, TensorMeta meta)
    cdef object sum_here(self, object held, bint held_owned, object value, bint owned, TensorMeta meta)
    cdef begin_quiet(self)
    cdef end_quiet(self)
    @cython.locals(stack=list, node=Node, behind=Node, buffer=InputBuffer, root=Edge, i=Py_ssize_t)
    cdef clear(self, list roots)
