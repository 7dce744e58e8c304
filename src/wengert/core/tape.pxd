cimport cython
from wengert.core.buffers cimport InputBuffer
from wengert.core.engine cimport evaluate_node
from wengert.core.node cimport AccumulateGrad, Node, OpNode, find_position
from wengert.core.op cimport Op, Plan
from wengert.core.recorder cimport hold_calls
from wengert.core.saved cimport SavedTensor
from wengert.core.task cimport GraphTask
from wengert.core.tensor cimport TensorBase, VersionCounter

cpdef object root_of(object array)

cdef class Tape:
    cdef public list _storages
    cdef public list _instructions
    cdef public object _new_value_class
    cdef public object _new_storage_class
    cdef public object _new_instruction
    cdef public object refusal
    cdef public int depth
    cdef public dict _by_root
    cdef public list _alive
    cdef public dict _versions
    cdef public dict _known
    cdef public dict _values
    cdef public dict _lines
    cdef public tuple _rules_began
    cdef public long long _first_node
    cdef public bint has_numbers
    cdef public bint exact

    cpdef refuse(self, str reason)
    cpdef str _line(self)
    cpdef object _new_storage(self, str kind, object key, object whole)
    cpdef object value_of(self, object array)
    cpdef object _keep(self, object array, object storage, object offset, object shape, object strides, object dtype)
    cdef object _place_of(self, object array, object low, object high)
    cpdef constant(self, object array)
    cpdef object computed(self, object array)
    cpdef object _new_value(self, object array)
    cpdef bint _is_traced(self, object array) except -1
    cpdef bint _is_known(self, object array) except -1
    @cython.locals(tensor=TensorBase)
    cpdef object operand(self, object x)
    @cython.locals(counter=VersionCounter)
    cpdef _check_version(self, TensorBase x)
    @cython.locals(counter=VersionCounter)
    cpdef _versions_of(self, TensorBase x)
    cpdef add(
        self, str kind, str name, object inputs, object outputs, object params=*, object op=*, object function=*,
        bint keeps_numbers=*
    )
    cpdef object _intercept(self, object function, tuple arguments)
    @cython.locals(op=Op)
    cdef object _run_recorded(self, object function, tuple arguments)
    cdef tuple _call_of(self, str name, Op op, tuple arguments)
    @cython.locals(node=OpNode, s=SavedTensor, found=list)
    cdef tuple _with_casts(self, object source, tuple operands)

@cython.locals(own=OpNode)
cpdef bint has_only_rules(Node node, InputBuffer buffer) except -1
