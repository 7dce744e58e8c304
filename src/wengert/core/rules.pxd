cimport cython
from wengert.core.buffers cimport InputBuffer, cotangent_of
from wengert.core.delivery cimport deliver_from, deliver_new, deliver_parts, deliver_result
from wengert.core.node cimport Edge, Node, OpNode, Saved, TensorMeta, count_outputs, edge_at, meta_at, release_op
from wengert.core.op cimport Op, Plan, RuleCall
from wengert.core.saved cimport SavedTensor, attach, unpack_array, unpack_tensor
from wengert.core.task cimport GraphTask
from wengert.core.untaken cimport deliver_selected, places_behind

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1
    bint is_ndarray(object x)
    bint is_real(object x)
    bint is_spare(object x)

cdef extern from "wk_views.h":
    object wk_view_back(int layout, object ct, list values)

cdef extern from "wk_native.h":
    int wk_init_native() except -1
    object wk_apply_rule(int kernel, bytes operands, object ct, list values, bint over)

@cython.locals(real=bint, left=Py_ssize_t, op=Op, plan=Plan, values=list, call=RuleCall)
cpdef run_op(GraphTask task, OpNode node, InputBuffer buffer)
@cython.locals(n=int)
cdef object apply_rule(GraphTask task, OpNode node, RuleCall call, object ct, list values, bint real)
@cython.locals(edge=Edge, meta=TensorMeta)
cdef object keep_in_graph(GraphTask task, OpNode node, RuleCall call, object result)
cdef deliver_several(GraphTask task, OpNode node, RuleCall call, object results)
cpdef tuple rule_results(GraphTask task, OpNode node, InputBuffer buffer)
@cython.locals(plan=Plan, values=list, call=RuleCall, i=Py_ssize_t)
cdef run_selecting(GraphTask task, OpNode node, InputBuffer buffer)
@cython.locals(op=Op, plan=Plan, results=list, places=list, real=bint, call=RuleCall, j=Py_ssize_t)
cdef tuple results_for(GraphTask task, OpNode node, object ct, list values, object untaken)
@cython.locals(values=list, s=SavedTensor)
cdef list saved_values(GraphTask task, OpNode node)
cdef tuple unpack_all(GraphTask task, OpNode node, tuple saved)
cdef unpack_one(GraphTask task, OpNode node, object value)
cdef unpack_packed(GraphTask task, OpNode node, object packed)
@cython.locals(nr=Py_ssize_t)
cdef output_cotangents(OpNode node, InputBuffer buffer)
cpdef object expand_reduced(object ct, object shape, object dim, object keepdim)
cpdef add_source(object error, Node node)
