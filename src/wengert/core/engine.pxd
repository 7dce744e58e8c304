cimport cython
from wengert.core.accumulate cimport accumulate
from wengert.core.modes cimport flags, quiet_enter, quiet_exit, set_flags
from wengert.core.node cimport AccumulateGrad, Edge, Node, NodeHooks, OpNode, TensorMeta, count_outputs, meta_at, release_op
from wengert.core.op cimport Op, Plan, RuleCall
from wengert.core.saved cimport SavedTensor, unpack_array, unpack_tensor
from wengert.core.tensor cimport TensorBase, wrap

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1
    bint is_ndarray(object x)
    object as_array(object x)
    bint has_meta(object x, tuple shape, object dtype)
    bint is_complex(object x)
    bint owns_data(object x)

cdef object _array_face
cdef object _tensor_face
cdef list NOTHING

cdef class InputBuffer:
    cdef public GraphTask task
    cdef public Py_ssize_t dependencies
    cdef public bint needed
    cdef public object cotangent
    cdef public bint owned
    cdef public dict others
    cdef public list captures

cdef class ReadCotangent:
    cdef public object value
    cdef public tuple shape
    cdef public object index
    cdef public bint repeats

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
    cdef InputBuffer buffer_of(self, Node node)
    @cython.locals(buffer=InputBuffer)
    cdef InputBuffer new_buffer(self, Node node)
    @cython.locals(last=Node)
    cdef push(self, Node node)
    @cython.locals(last=Node)
    cdef Node pop(self)
    @cython.locals(stack=list, node=Node, edge=Edge, buffer=InputBuffer)
    cdef compute_dependencies(self, list roots)
    @cython.locals(stack=list, node=Node, edge=Edge, root=Edge, opened=bint, buffer=InputBuffer)
    cdef mark_needed(self, list roots, list targets)
    @cython.locals(edge=Edge, buffer=InputBuffer)
    cdef bint has_needed_input(self, Node node) except -1
    @cython.locals(edge=Edge, buffer=InputBuffer)
    cdef capture(self, list edges)
    @cython.locals(edge=Edge, buffer=InputBuffer)
    cdef stop_at(self, list edges)
    @cython.locals(buffer=InputBuffer, nr=Py_ssize_t)
    cdef add(self, Edge edge, object value, bint owned)
    @cython.locals(buffer=InputBuffer)
    cdef add_read(self, Edge edge, object ct, tuple index)
    @cython.locals(read=ReadCotangent, meta=TensorMeta)
    cdef object sum_of(self, object held, bint held_owned, object value, bint owned, Edge edge)
    @cython.locals(node=Node, buffer=InputBuffer)
    cdef arrive(self, Edge edge, object value, bint owned)
    cdef end_quiet(self)
    @cython.locals(plain=bint, node=Node, buffer=InputBuffer)
    cdef run(self)
    @cython.locals(stack=list, node=Node, edge=Edge, buffer=InputBuffer)
    cdef clear(self, list roots)

@cython.locals(leaf=AccumulateGrad, variable=TensorBase)
cdef evaluate_node(GraphTask task, Node node, InputBuffer buffer)
cdef skip(GraphTask task, Node node)
@cython.locals(edges=tuple, real=bint, op=Op, values=list, call=RuleCall, target=int, e=Edge)
cpdef run_op(GraphTask task, OpNode node, InputBuffer buffer)
@cython.locals(values=list, s=SavedTensor)
cdef list saved_values(GraphTask task, OpNode node)
@cython.locals(nr=Py_ssize_t)
cdef output_cotangents(GraphTask task, OpNode node, InputBuffer buffer)
cdef cotangent_of(InputBuffer buffer, Py_ssize_t nr)
cdef set_cotangent(InputBuffer buffer, Py_ssize_t nr, object value)
@cython.locals(e=Edge)
cdef deliver_parts(GraphTask task, Node node, object targets, object results)
@cython.locals(meta=TensorMeta, owned=bint)
cdef deliver_result(GraphTask task, Node node, Edge edge, Py_ssize_t position, object result, object ct, object values)
cdef fit_array(GraphTask task, Node node, Py_ssize_t position, object value, TensorMeta meta)
@cython.locals(tensor=TensorBase)
cdef fit_tensor(GraphTask task, Node node, Py_ssize_t position, object value, TensorMeta meta)
cpdef conj_of(object x)
cdef as_tensor(object value)
@cython.locals(t=TensorBase)
cdef as_value(GraphTask task, object tensor)
@cython.locals(hooks=NodeHooks, tensor=TensorBase)
cdef run_tensor_hooks(GraphTask task, Node node, InputBuffer buffer)
@cython.locals(first=bint, e=Edge)
cdef run_other(GraphTask task, Node node, InputBuffer buffer)
@cython.locals(op=Op, plan=Plan, values=list, rule=RuleCall)
cpdef list op_results(GraphTask task, OpNode node, InputBuffer buffer)
@cython.locals(edge=Edge, meta=TensorMeta)
cdef dense(GraphTask task, Node node, Py_ssize_t position, object value)
cdef run_hooks(GraphTask task, object hooks, object value)
cdef list custom_results(GraphTask task, Node node, list outputs)
@cython.locals(nr=Py_ssize_t)
cdef run_prehooks(GraphTask task, Node node, InputBuffer buffer, object hooks)
cdef tuple run_posthooks(GraphTask task, Node node, tuple inputs, tuple outputs)
@cython.locals(ours=bint)
cdef capture_results(GraphTask task, Node node, InputBuffer buffer)
@cython.locals(task=GraphTask, buffer=InputBuffer, results=list)
cpdef list run_single(OpNode node, object cotangent, bint create_graph)
@cython.locals(task=GraphTask, finished=bint, root=Edge, buffer=InputBuffer, i=Py_ssize_t, node=Node)
cpdef list run_backward(list roots, list cotangents, bint keep_graph, bint create_graph, list inputs, bint accumulate_inputs, bint run_all=*)
