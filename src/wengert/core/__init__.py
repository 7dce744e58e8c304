"""The core: tensors and the graph. Compiled if a C compiler was found.

The core names no operation but the few with which it adds, fits and writes cotangents and tangents: some of F, such as
sum_to_size and cast, and the methods clone, copy_, zero_ and to of tensors. trace.py also has a table of Python's operators
and NumPy's functions that they stand for. Everything else that the core knows of an operation is in the fields of Op, which the
operation's declaration sets. tests/architecture/test_core_names.py lists the names.

Note [Functions handed down]
A module imports only modules below itself, and imports have no cycle. A few modules still have to call functions of modules
above. Each keeps such a function in a variable of its own, and has a setter that the module above calls. This costs a call
nothing: in the compiled core the variable is a C variable. All setters are listed here: the setter, the module that calls
it, the functions that it gets, and when they are called. tests/architecture/test_handed_down.py holds the list complete.

Set when the module above is imported:

    core.tensor.set_tensor_class   | tensor           | Tensor                      | an operation returns a tensor
    core.tensor.set_view_refresher | core.views       | regenerate                  | a view is used after its base was written
    core.tensor.set_mirror_renewer | core.mirrors    | renew                       | a conjugate view is read
    core.override.set_plain_class  | tensor           | Tensor                      | an argument is looked at while overriding
    core.override.set_override_handlers | ops.interception | _begin, _name_of       | overriding begins; a call is refused by all
    core.subclass.set_alias        | tensor           | alias, Tensor               | a tensor becomes one of a subclass
    numpy.holding.set_array_class  | numpy.arrays     | ndarray                     | a function of wengert.numpy returns an array
    core.reading.set_readers       | tensor           | _select, __getitem__        | x[i] for an int, x[index] for anything else
    core.engine.set_faces          | ops.faces        | array_face, tensor_face     | a rule runs, on arrays or on tensors
    core.forward.set_device_kernels | ops.faces       | _load_device_kernels        | an operation or a rule runs on a device
    backends.selection.set_array_faces | ops.faces  | array_face, DeviceOps       | a rule runs on a device
    core.forward.set_explainers    | ops.registry     | _load_explainers            | a call fails
    core.views.set_stride_finder   | ops.strided      | _find_stride                | a view of a base reshaped in place is replayed
    core.saved.set_packer          | core.saved_hooks | pack_new                    | a tensor is saved while hooks are set
    core.saved.set_write_guard     | core.mutation    | guard_write                 | a tensor is written while hooks are set
    core.saved.set_dual_saver      | core.dual        | save_dual                   | a tensor with a tangent is saved
    core.dispatch.set_dual_call    | core.dual        | call_dual                   | an operation runs inside a dual level
    core.views.set_dual_writers    | core.dual        | write_dual, become_view_dual | a tensor is written inside a dual level
    core.dispatch.set_observer     | core.recorder    | observe                     | an operation runs while it is observed

Set while something is on, and reset to None:

    core.engine.set_watch          | core.recorder    | run_watched                 | a pass runs in a profiler or in anomaly mode
    core.node.set_stream_finder    | core.streams     | current_streams             | a node is made, once streams are in use
    core.dispatch.set_meta_sharing | core.streams     | False                       | the same
    core.recorder.set_streams      | core.streams     | StreamPass                  | a pass runs, once streams are in use
    core.node.set_stack_keeper     | core.anomaly     | keep_stack                  | a node is recorded in anomaly mode
    core.recorder.set_anomaly      | core.anomaly     | passes, check_operation     | a pass or an operation runs in anomaly mode
    core.recorder.set_ranges       | autograd.profiler | ranges | a range begins or ends in emit_nvtx or emit_itt
    core.watched.set_number_observer | program.recording | take_number | item() is called while a function is recorded
    core.untaken.set_places_observer | program.recording | see_places | untaken places are found while a function is recorded
    core.recorder.set_program_recorder | program.recording | intercept, run_pass | something runs while a function is recorded
    core.recorder.set_interceptor  | utils.selective_checkpoint | run | an operation runs in a selective checkpoint
"""
