cimport cython
from wengert.core.buffers cimport InputBuffer
from wengert.core.collector cimport count_attachment, wk_forget, wk_link, wk_may_cycle, wk_set_attribute
from wengert.core.op cimport Op, Plan

cdef extern from "wk_frame.h":
    object wk_find_code(dict files, str package, int *lasti)
    object wk_reference(object x)

cdef dict _internal_files
cdef str _package
cdef long long _counter
cdef object _keep_stack
cdef object _find_streams
cdef frozenset _OWN_FIELDS

cdef class TensorMeta:
    cdef readonly tuple shape
    cdef readonly object dtype
    cdef readonly str place
    cdef readonly object streams

cdef class Edge:
    cdef readonly Node node
    cdef readonly int input_nr

cdef class NodeHooks:
    cdef public dict tensor
    cdef public dict retained
    cdef public object pre
    cdef public object post
    cdef public dict metadata

cdef class Node:
    cdef wk_link _link
    cdef bint _attached
    cdef public int _n_edges
    cdef public Node _next0
    cdef public Node _next1
    cdef public int _nr0
    cdef public int _nr1
    cdef public tuple _more
    cdef public TensorMeta _meta
    cdef public tuple _metas
    cdef public long long _seq
    cdef public InputBuffer _buffer
    cdef public NodeHooks _hooks
    cdef public object _code
    cdef public int _lasti
    cdef object __weakref__

    cpdef NodeHooks _ensure_hooks(self)
    cpdef _release(self, object position)

cdef class Saved:
    pass

cpdef bint holds_arrays(object values)

cdef class OpNode(Node):
    cdef public Op _op
    cdef public Plan _plan
    cdef public object _extra
    cdef public tuple _saved

cdef class AccumulateGrad(Node):
    cdef public object _variable

cpdef TensorMeta meta_at(Node node, Py_ssize_t output_nr)
cpdef Py_ssize_t count_outputs(Node node) except -1
cpdef set_metas(Node node, tuple metas)
cpdef release_op(OpNode node, object position)
cdef tuple plain_values(tuple values)
cdef bint is_plain(object value) except -1
cpdef long long next_sequence_nr() noexcept
cpdef record_position(Node node, int skip=*)
@cython.locals(meta=TensorMeta)
cpdef TensorMeta make_meta(object array, object dtype)
@cython.locals(edge=Edge)
cpdef Edge make_edge(Node node, int input_nr)
@cython.locals(behind=Node)
cpdef Node next_node(Node node, Py_ssize_t position)
@cython.locals(nrs=tuple)
cpdef int next_nr(Node node, Py_ssize_t position) except -1
@cython.locals(node_there=Node)
cpdef Edge edge_at(Node node, Py_ssize_t position)
@cython.locals(first=Edge, second=Edge)
cpdef set_edges(Node node, tuple edges)
cpdef set_more(Node node, list nodes, tuple nrs)
@cython.locals(lasti=int)
cpdef tuple find_position()
@cython.locals(node=Node, lasti=int)
cpdef note_cut(str kind, object tensor)
@cython.locals(node=Node, behind=Node, queue=list, leaves=list, i=Py_ssize_t, position=Py_ssize_t)
cdef list leaves_behind(Node first)
