cimport cython
from wengert.core.node cimport AccumulateGrad, Edge, Node, Saved, TensorMeta, edge_at
from wengert.core.tensor cimport TensorBase, VersionCounter, counter_of, is_differentiable, wrap

cdef class SavedTensor(Saved):
    cdef public object _data
    cdef public VersionCounter _counter
    cdef public long long _version
    cdef public int _role
    cdef public int _position

cdef long watchers
cdef object _pack
cdef object _save_dual
cdef object _guard

cpdef bint is_watched() noexcept
cpdef before_write(TensorBase target)
cpdef Saved save(TensorBase tensor, object array, int role, int position)
cdef Saved save_special(TensorBase tensor, object array, int role, int position)
@cython.locals(saved=SavedTensor, counter=VersionCounter)
cpdef inline SavedTensor save_array(TensorBase tensor, object array, int role, int position)
@cython.locals(counter=VersionCounter)
cpdef object unpack_array(SavedTensor saved, Node node)
@cython.locals(edge=Edge)
cpdef object unpack_tensor(SavedTensor saved, Node node)
@cython.locals(leaf=TensorBase, tensor=TensorBase, accumulator=AccumulateGrad)
cpdef object attach(object array, VersionCounter counter, Node node, int output_nr)
