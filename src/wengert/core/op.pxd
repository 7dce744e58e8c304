cimport cython

cdef class Rule:
    cdef public object function
    cdef public tuple targets
    cdef public tuple names
    cdef public object untaken
    cdef public object flat

cdef class SaveEntry:
    cdef public int kind
    cdef public int index
    cdef public str name

cdef class RuleCall:
    cdef public Rule rule
    cdef public object function
    cdef public tuple targets
    cdef public int target
    cdef public tuple positions
    cdef public int n
    cdef public int first
    cdef public int second
    cdef public bint passes
    cdef public object kernel
    cdef public int left
    cdef public int right
    cdef public int native
    cdef public bytes operands
    cdef public int layout
    cdef public bint fresh
    cdef public object untaken
    cdef public object flat

cdef class Plan:
    cdef public tuple saves
    cdef public tuple calls
    cdef public list constants
    cdef public bint shows_values
    cdef public bint selects
    cdef public long covered

cdef class Op:
    cdef public str name
    cdef public object forward
    cdef public object kernel
    cdef public object check
    cdef public bint refuses_complex
    cdef public bint is_direct
    cdef public bint is_direct_native
    cdef public int native
    cdef public tuple native_params
    cdef public tuple adds_product
    cdef public bint is_copy
    cdef public int promote
    cdef public tuple input_names
    cdef public int variadic
    cdef public tuple param_names
    cdef public dict defaults
    cdef public tuple output_names
    cdef public bint is_view
    cdef public int reflection
    cdef public int layout
    cdef public bint is_read
    cdef public bint walks_memory
    cdef public bint takes_reads
    cdef public bint own_precision
    cdef public int carries
    cdef public tuple rules
    cdef public tuple jvps
    cdef public str kind
    cdef public int added
    cdef public dict plans
    cdef public dict default_plans
    cdef public object recent_meta
    cdef public object node_class
    cdef public dict direct_classes
    cdef public object node_chooser
    cdef public bint node_is_param
    cdef public dict node_classes
    cdef public bint simple
    cdef public str varargs
    cdef public int positional_params
    cdef public dict aliases
    cdef public dict spellings
    cdef public dict input_defaults
    cdef public tuple required
    cdef public dict bound
    cdef dict __dict__

