cimport cython
from wengert.core.accumulate cimport accumulate
from wengert.core.buffers cimport InputBuffer, cotangent_of, set_cotangent
from wengert.core.delivery cimport as_tensor, as_value, dense
from wengert.core.hook_calls cimport call_hooks, call_posthooks, call_prehooks, call_tensor_hooks
from wengert.core.modes cimport current_task, flags, set_current_task, set_flags
from wengert.core.node cimport AccumulateGrad, Edge, Node, NodeHooks, OpNode, count_outputs, meta_at, next_node
from wengert.core.rules cimport add_source, rule_results, run_op
from wengert.core.task cimport GraphTask
from wengert.core.tensor cimport TensorBase, wrap
from wengert.core.untaken cimport deliver_selected, still_untaken

cdef int DUAL
cdef object _array_face
cdef object _tensor_face
cdef object _watch

@cython.locals(task=GraphTask, outer=GraphTask, depth=int, finished=bint, recorded=bint)
cpdef list run_backward(list roots, list cotangents, bint keep_graph, bint create_graph, object inputs, bint accumulate_inputs, bint run_all=*)
cdef GraphTask new_task(bint keep_graph, bint on_tensors)
@cython.locals(root=Edge, i=Py_ssize_t, node=Node)
cpdef start(GraphTask task, list roots, list cotangents)
@cython.locals(plain=bint, node=Node, buffer=InputBuffer)
cdef run(GraphTask task)
@cython.locals(leaf=TensorBase)
cdef bint is_unwatched(AccumulateGrad node) except -1
cpdef evaluate_node(GraphTask task, Node node, InputBuffer buffer)
@cython.locals(variable=TensorBase, hooks=NodeHooks)
cdef evaluate_needed(GraphTask task, Node node, InputBuffer buffer)
@cython.locals(behind=Node, i=Py_ssize_t)
cdef skip(GraphTask task, Node node)
@cython.locals(captures=list, last_use=bint, nr=Py_ssize_t)
cdef capture_results(GraphTask task, Node node, InputBuffer buffer)
@cython.locals(leaf=TensorBase, hooks=NodeHooks, first=bint)
cdef run_leaf(GraphTask task, AccumulateGrad node, InputBuffer buffer)
@cython.locals(hooks=NodeHooks, results=list, places=list, outputs=list, i=Py_ssize_t)
cdef run_observed(GraphTask task, Node node, InputBuffer buffer)
cdef tuple node_results(GraphTask task, Node node, InputBuffer buffer, list outputs)
@cython.locals(task=GraphTask, buffer=InputBuffer, nr=Py_ssize_t)
cpdef list run_single(OpNode node, object cotangents, bint create_graph)
