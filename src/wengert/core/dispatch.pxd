cimport cython
from wengert.core.collector cimport WK_NODE, WK_VIEW, spared_lists, wk_share_spared, wk_spare
from wengert.core.forward cimport constant, promote, refuse_complex, run_compiled, run_numpy, run_numpy1, run_numpy2, run_whole, set_kernel
from wengert.core.modes cimport current_task, flags
from wengert.core.node cimport OpNode, TensorMeta, make_meta, next_sequence_nr, note_cut, record_position, set_metas, set_more
from wengert.core.op cimport Op, Plan, SaveEntry
from wengert.core.override cimport has_override, override_foreign
from wengert.core.trace cimport Traced
from wengert.core.saved cimport save
from wengert.core.tensor cimport (
    TensorBase, VersionCounter, ViewInfo, counter_of, gradient_node, is_differentiable, make_volatile, meta_of,
    refresh_history, refresh_view, wrap
)

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1
    bint is_ndarray(object x)
    object as_array(object x)
    bint is_inexact(object x)
    bint has_meta(object x, tuple shape, object dtype)
    bint same_inexact(object x, object y)
    object row_of(object x, object index)

cdef extern from "wk_views.h":
    object wk_make_view(int layout, object x, object params)

cdef extern from "wk_native.h":
    int wk_init_native() except -1
    object wk_apply1(int kernel, object x)
    object wk_apply2(int kernel, object x, object y)
    bint wk_is_whole(int kernel)

cdef extern from "wk_frame.h":
    object wk_new_instance(object base, object cls)

cdef int NONE
cdef long OBSERVED
cdef int BLOCK
cdef int UNRECORDED_IN
cdef int IS_INFERENCE
cdef int IS_VOLATILE
cdef long INFERENCE
cdef long NO_GRAD
cdef long DUAL
cdef long AUTOCAST
cdef long UNUSUAL
cdef object _call_dual
cdef object _observe
cdef bint _share_metas

@cython.locals(t=TensorBase)
cpdef note_unrecorded(Op op, long mode, object x)
cdef object call_unusual(long mode, Op op, tuple inputs, dict params, object function, tuple arguments)
cpdef observe(str name, tuple inputs, object function, tuple arguments)

@cython.locals(mode=long, needs=int, direct=bint, t=TensorBase, result=TensorBase)
cpdef object call1(Op op, object x)

@cython.locals(mode=long, needs=int, weak=bint, direct=bint, t=TensorBase, u=TensorBase, result=TensorBase)
cpdef object call2(Op op, object x, object y)

@cython.locals(plan=Plan, node=OpNode, template=TensorBase)
cdef record_node(
    Op op, long needs, TensorBase x, TensorBase y, object a, object b, object params, TensorBase out, tuple inputs, list arrays,
    tuple outputs
)
cdef object choose_node_class(Op op, object inputs, object a, object b, object params, TensorBase out)
@cython.locals(meta=TensorMeta)
cdef TensorMeta share_meta(Op op, TensorBase template, TensorBase out)
@cython.locals(metas=list, attached=bint, out=TensorBase, nr=int)
cdef bint attach_outputs(Op op, OpNode node, TensorBase template, tuple outputs) except -1
@cython.locals(more=list, nrs=list, some=bint, i=Py_ssize_t, position=long, z=TensorBase)
cdef link_more(OpNode node, Op op, Plan plan, tuple inputs)
@cython.locals(t=TensorBase)
cdef bint needs_grad(object x) except -1
@cython.locals(values=list, kind=int, where=int, entry=SaveEntry, each=int, i=Py_ssize_t, o=TensorBase)
cdef tuple collect(
    Plan plan, TensorBase x, TensorBase y, object a, object b, object params, TensorBase out, tuple inputs, list arrays,
    tuple outputs
)
cdef object save_input(object x, object array, int position, int kind)
cdef object save_tensor(TensorBase x, object array, int position, int kind)
cdef object save_constant(object array, int kind)

@cython.locals(mode=long, needs=long, arrays=list)
cpdef object call(Op op, tuple inputs, object params)

@cython.locals(needs=long, bit=long, i=int, plain=bint, t=TensorBase, arrays=list)
cpdef tuple unwrap(Op op, tuple inputs)

@cython.locals(outputs=tuple)
cpdef object finish(Op op, long needs, tuple inputs, list arrays, object params, object out)

@cython.locals(t=TensorBase)
cpdef bint propagate_volatile(tuple inputs, tuple outputs) except -1

@cython.locals(x=TensorBase, y=TensorBase, first=TensorBase, several=tuple)
cpdef object record(Op op, long needs, tuple inputs, list arrays, object params, tuple outputs)

@cython.locals(view=TensorBase, counter=VersionCounter, info=ViewInfo, parent=ViewInfo)
cdef TensorBase make_view(Op op, object params, int nr, TensorBase source, object array, long mode)

@cython.locals(out=TensorBase, mode=long)
cpdef object call_view(Op op, TensorBase x, object params)

@cython.locals(mode=long)
cpdef object call_read(Op op, TensorBase x, object index)
