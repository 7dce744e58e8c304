cimport cython
from wengert.core.buffers cimport InputBuffer, cotangent_of, set_cotangent
from wengert.core.delivery cimport as_tensor, as_value
from wengert.core.node cimport Node, NodeHooks, count_outputs
from wengert.core.task cimport GraphTask
from wengert.core.tensor cimport TensorBase, wrap

@cython.locals(tensor=TensorBase)
cpdef call_tensor_hooks(GraphTask task, NodeHooks hooks, InputBuffer buffer)
cpdef call_hooks(GraphTask task, object hooks, object value)
@cython.locals(buffer=InputBuffer)
cpdef bint will_run(GraphTask task, Node node)
@cython.locals(nr=Py_ssize_t)
cpdef call_prehooks(GraphTask task, Node node, InputBuffer buffer, object hooks)
cpdef tuple call_posthooks(object hooks, tuple inputs, tuple outputs)
cdef tuple checked_result(object hook, object result, tuple grads)
cdef check_tensor(object hook, object new, object old)
