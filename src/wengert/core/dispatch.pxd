cimport cython
from wengert.core.collector cimport aside_list
from wengert.core.forward cimport constant, promote, refuse_complex, run_compiled, run_numpy, run_numpy1, run_numpy2, run_whole, set_kernel
from wengert.core.modes cimport current_task, flags
from wengert.core.node cimport Node, OpNode, TensorMeta, make_meta, next_sequence_nr, note_cut, record_position, set_metas, set_more
from wengert.core.op cimport Op, Plan, SaveEntry
from wengert.core.trace cimport Traced
from wengert.core.saved cimport save
from wengert.core.tensor cimport (
    TensorBase, VersionCounter, ViewInfo, counter_of, gradient_node, is_differentiable, make_volatile, meta_of,
    refresh_view, wrap
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

cdef extern from "wk_collector.h":
    void wk_share_aside(void *aside)
    void wk_set_aside(object x)

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
cdef int IS_VOLATILE
cdef int DUAL
cdef object _call_dual
cdef object _observe

@cython.locals(t=TensorBase)
cpdef note_unrecorded(Op op, long mode, object x)
cpdef observe(str name, tuple inputs, object function, tuple arguments)

@cython.locals(mode=long, needs=int, direct=bint, t=TensorBase, result=TensorBase)
cpdef object call1(Op op, object x)

@cython.locals(mode=long, needs=int, weak=bint, direct=bint, t=TensorBase, u=TensorBase, result=TensorBase)
cpdef object call2(Op op, object x, object y)

@cython.locals(plan=Plan, node=OpNode, meta=TensorMeta, saved=list, entry=SaveEntry)
cdef record_direct(Op op, TensorBase x, TensorBase y, object a, object b, TensorBase out, int needs)
cdef object direct_class(Op op, object a, object b, TensorBase out)

@cython.locals(mode=long, needs=object, arrays=list)
cpdef object call(Op op, tuple inputs, dict params)

@cython.locals(needs=long, bit=long, i=int, plain=bint, t=TensorBase, arrays=list)
cpdef tuple unwrap(Op op, tuple inputs)

@cython.locals(result=TensorBase, outputs=tuple)
cpdef object finish(Op op, object needs, tuple inputs, list arrays, dict params, object out)

@cython.locals(t=TensorBase)
cpdef bint spread_volatile(tuple inputs, tuple outputs) except -1

@cython.locals(plan=Plan, node=OpNode, template=TensorBase, out=TensorBase, nr=int, attached=bint)
cpdef object record(Op op, object needs, tuple inputs, list arrays, dict params, tuple outputs)

cdef object choose_node_class(Op op, tuple inputs, object params)
@cython.locals(n=Py_ssize_t, x=TensorBase, y=TensorBase)
cpdef link(Node node, tuple inputs)

@cython.locals(more=list, nrs=list, some=bint, i=Py_ssize_t, z=TensorBase)
cdef link_more(Node node, tuple inputs)
@cython.locals(t=TensorBase)
cdef bint needs_grad(object x) except -1

@cython.locals(values=list, kind=int, where=int, entry=SaveEntry, i=Py_ssize_t)
cpdef tuple collect(Op op, Plan plan, tuple inputs, list arrays, dict params, tuple outputs)

cpdef object save_input(object x, object array, int position)
cpdef object shape_of(object x, object array)

@cython.locals(counter=VersionCounter, info=ViewInfo, parent=ViewInfo)
cdef tie_view(Op op, object params, int nr, TensorBase source, TensorBase view, bint many, long mode)

@cython.locals(out=TensorBase, mode=long)
cpdef object call_view(Op op, TensorBase x, dict params)

@cython.locals(plan=Plan, node=OpNode, entry=SaveEntry, values=list)
cdef record_view(Op op, TensorBase x, TensorBase out, dict params)

@cython.locals(meta=TensorMeta)
cdef attach(Op op, OpNode node, TensorBase x, TensorBase out)

@cython.locals(out=TensorBase, mode=long, plan=Plan, node=OpNode, meta=TensorMeta)
cpdef object call_read(Op op, TensorBase x, object index)
