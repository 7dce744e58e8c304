"""Every message, word for word, and the exceptions they come with."""

import numpy as np
import pytest

from messages import builders, check, without_row
from wengert import dtypes, errors
from wengert.errors import classes, eras, graph, tensors

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)
MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace operation: "
SET_ANOMALY = (
    "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
AMBIGUOUS = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
    "the view and the inplace either both inside the {} block (if you don't want the inplace to be tracked) or both "
    "outside (if you want the inplace to be tracked)."
)

# The call that builds an exception, the built-in exception that it is, its text.
MESSAGES = [
    # Starting a backward pass
    (lambda: errors.backward_twice(), RuntimeError, FREED),
    (
        lambda: errors.backward_twice("MulBackward0", "train.py:12"),
        RuntimeError,
        FREED + "\nThe freed values are those of MulBackward0, recorded at train.py:12.",
    ),
    (
        lambda: errors.backward_twice("MulBackward0", "train.py:12", "train.py:15, in step"),
        RuntimeError,
        FREED + "\nThe freed values are those of MulBackward0, recorded at train.py:12; the pass at train.py:15, in step freed them.",
    ),
    (
        lambda: errors.no_graph(1),
        RuntimeError,
        "element 1 of tensors does not require grad and does not have a grad_fn",
    ),
    (
        lambda: errors.no_implicit_gradient((2, 3)),
        RuntimeError,
        "grad can be implicitly created only for scalar outputs. The output has shape [2, 3]. "
        "Hint: reduce it, with .sum() for instance, or pass a gradient of that shape.",
    ),
    (
        lambda: errors.no_implicit_complex_gradient(np.dtype("complex64")),
        RuntimeError,
        "grad can be implicitly created only for real scalar outputs but got torch.complex64. "
        "Hint: differentiate a real function of it, such as .abs() or .real, or pass a gradient.",
    ),
    (
        lambda: errors.gradient_shape(0, (4,), (3,)),
        RuntimeError,
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([4]) and output[0] has a shape of "
        "torch.Size([3]).",
    ),
    (
        lambda: errors.gradient_complex(2, "complex64", "torch.float32"),
        RuntimeError,
        "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
        "grad_output[2] has a dtype of torch.complex64 and output[2] has a dtype of torch.float32.",
    ),
    (lambda: errors.gradient_type(str), TypeError, "gradients can be either Tensors or None, but got str"),
    (lambda: errors.gradient_number(1, 2), RuntimeError, "got 1 tensors and 2 gradients"),
    (
        lambda: errors.gradient_named_twice(),
        RuntimeError,
        "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
        "Please only use `grad_tensors`.",
    ),
    (lambda: errors.inputs_empty("grad"), RuntimeError, "`inputs` argument to `grad()` cannot be empty."),
    (lambda: errors.input_type(int), RuntimeError, "all inputs have to be Tensors or GradientEdges, but got int"),
    (
        lambda: errors.input_without_grad(3),
        RuntimeError,
        "One of the differentiated Tensors does not require grad. It is the one at index 3. "
        "Hint: call .requires_grad_() on it before the computation.",
    ),
    (
        lambda: errors.input_unused(0),
        RuntimeError,
        "The differentiated Tensor at index 0 appears to not have been used in the graph. "
        "Set allow_unused=True if this is the desired behavior.",
    ),
    # In-place operations
    (
        lambda: errors.modified_in_place(np.dtype("float32"), (2,), 0, "AddBackward0", 1, 0),
        RuntimeError,
        MODIFIED + "[torch.FloatTensor [2]], which is output 0 of Add, is at version 1; expected version 0 instead. "
        "" + SET_ANOMALY,
    ),
    (
        lambda: errors.modified_in_place(
            np.dtype("float64"), (), 0, None, 3, 1, saved_by="MulBackward0", saved_at="a.py:1", written_at="a.py:2"
        ),
        RuntimeError,
        MODIFIED + "[torch.DoubleTensor []] is at version 3; expected version 1 instead. "
        "" + SET_ANOMALY + "\nIt was saved by MulBackward0 at a.py:1.\nIt was last written at a.py:2.",
    ),
    (
        lambda: errors.modified_in_place("int64", (2, 3), 1, "MaxBackward0", 1, 0, saved_at="a.py:1", anomaly=True),
        RuntimeError,
        MODIFIED + "[torch.LongTensor [2, 3]], which is output 1 of Max, is at version 1; expected version 0 instead. "
        "Hint: the backtrace further above shows the operation that failed to compute its gradient. The variable in "
        "question was changed in there or anywhere later. Good luck!\nIt was saved at a.py:1.",
    ),
    (
        lambda: errors.leaf_inplace(),
        RuntimeError,
        "a leaf Variable that requires grad is being used in an in-place operation.",
    ),
    (
        lambda: errors.leaf_inplace(view=True),
        RuntimeError,
        "a view of a leaf Variable that requires grad is being used in an in-place operation.",
    ),
    (
        lambda: errors.leaf_marked_dirty(),
        RuntimeError,
        "a leaf Variable that requires grad has been used in an in-place operation.",
    ),
    (
        lambda: errors.multi_view_inplace(1, "SplitBackward0"),
        RuntimeError,
        "Output 1 of Split is a view and is being modified inplace. This view is the output of a function that returns "
        "multiple views. Such functions do not allow the output views to be modified inplace. You should replace the "
        "inplace operation by an out-of-place one.",
    ),
    (
        lambda: errors.multi_view_inplace(1, "unbind", indirect=True, of_constant=True),
        RuntimeError,
        "A view was created in no_grad mode and its base or another view of its base has been modified inplace with grad "
        "mode enabled. This view is the output of a function that returns multiple views. Such functions do not allow the "
        "output views to be modified inplace. You should replace the inplace operation by an out-of-place one.\n"
        "The view is output 1 of unbind(), of a tensor that required no gradient then.",
    ),
    (lambda: errors.grad_mode_type(str), TypeError, "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not str"),
    (
        lambda: errors.no_grad_view_inplace(indirect=True),
        RuntimeError,
        "A view was created in no_grad mode and its base or another view of its base has been modified inplace with grad "
        "mode enabled. " + AMBIGUOUS.format("no_grad"),
    ),
    (
        lambda: errors.function_view_inplace(0, "ExpBackward"),
        RuntimeError,
        "Output 0 of Exp is a view and is being modified inplace. This view was created inside a custom Function (or "
        "because an input was returned as-is) and the autograd logic to handle view+inplace would override the custom "
        "backward associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. You "
        "can fix this by cloning the output of the custom Function.",
    ),
    (
        lambda: errors.no_grad_view_inplace(),
        RuntimeError,
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled. "
        "" + AMBIGUOUS.format("no_grad"),
    ),
    (
        lambda: errors.inference_view_inplace(),
        RuntimeError,
        "A view was created in inference mode and is being modified inplace in normal mode. "
        "" + AMBIGUOUS.format("inference_mode"),
    ),
    (lambda: errors.detach_view(), RuntimeError, "Can't detach views in-place. Use detach() instead."),
    (
        lambda: errors.out_requires_grad("add"),
        RuntimeError,
        "add(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
        "requires grad.",
    ),
    (
        lambda: errors.inference_saved(),
        RuntimeError,
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
        "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it "
        "in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.",
    ),
    (
        lambda: errors.inference_inplace(),
        RuntimeError,
        "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a normal "
        "tensor before doing inplace update.",
    ),
    (
        lambda: errors.inference_requires_grad(),
        RuntimeError,
        "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.",
    ),
    (lambda: errors.inference_version(), RuntimeError, "Inference tensors do not track version counter."),
    # requires_grad, hooks, .grad
    (
        lambda: errors.requires_grad_of_non_leaf(False),
        RuntimeError,
        "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
        "subgraph that doesn't require differentiation use var_no_grad = var.detach().",
    ),
    (
        lambda: errors.requires_grad_of_non_leaf(True),
        RuntimeError,
        "you can only change requires_grad flags of leaf variables.",
    ),
    (
        lambda: errors.integer_requires_grad(),
        RuntimeError,
        "Only Tensors of floating point and complex dtype can require gradients",
    ),
    (
        lambda: errors.integer_requires_grad(setter=True, dtype=np.dtype("int64")),
        RuntimeError,
        "only Tensors of floating point and complex dtype can require gradients (got torch.int64). "
        "Hint: convert it, with .to(torch.float32) for instance.",
    ),
    (lambda: errors.requires_grad_type(), RuntimeError, "requires_grad must be a bool"),
    (
        lambda: errors.retain_grad_without_grad(),
        RuntimeError,
        "can't retain_grad on Tensor that has requires_grad=False",
    ),
    (
        lambda: errors.data_dtype(),
        RuntimeError,
        "data set to a tensor that requires gradients must be floating point or complex dtype",
    ),
    (
        lambda: errors.hook_without_grad(),
        RuntimeError,
        "cannot register a hook on a tensor that doesn't require gradient",
    ),
    (lambda: errors.hook_returned(int), TypeError, "expected Variable, but hook returned 'int'"),
    (lambda: errors.hook_returned("int", expected="tuple"), TypeError, "expected tuple, but hook returned 'int'"),
    (lambda: errors.hook_changed_size("<lambda>"), RuntimeError, "hook '<lambda>' has changed the size of value"),
    (
        lambda: errors.hook_changed_size("f", (3,), (2,)),
        RuntimeError,
        "hook 'f' has changed the size of value (was [2] got [3])",
    ),
    (lambda: errors.post_hook_returned(), RuntimeError, "Tensor post accumulate grad hooks should return None."),
    (
        lambda: errors.hook_changed_dtype("f", "float64", "float32"),
        RuntimeError,
        "hook 'f' has changed the type of value (was torch.FloatTensor got torch.DoubleTensor)",
    ),
    (
        lambda: errors.hook_wrong_number(2, 3, "f"),
        RuntimeError,
        "hook 'f' has returned an incorrect number of values (got 3, but expected 2)",
    ),
    (
        lambda: errors.hook_wrong_number(2, 3),
        RuntimeError,
        "hook has returned an incorrect number of values (got 3, but expected 2)",
    ),
    (
        lambda: errors.grad_assigned_shape((3,), (2,)),
        RuntimeError,
        "attempting to assign a gradient of size '[3]' to a tensor of size '[2]'. Please ensure that the gradient and "
        "the tensor are the same size",
    ),
    (
        lambda: errors.grad_assigned_type(int),
        TypeError,
        "assigned grad expected to be a Tensor or None but got grad of type int",
    ),
    (
        lambda: errors.grad_assigned_dtype(np.dtype("float64"), dtypes.float32),
        RuntimeError,
        "attempting to assign a gradient with dtype 'double' to a tensor with grad_dtype 'Float'. The gradient must match "
        "the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a "
        "specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its "
        "gradient may break downstream systems that assume they match.",
    ),
    (
        lambda: errors.grad_dtype_of_non_leaf("set"),
        RuntimeError,
        "grad_dtype can only be set on leaf tensors.",
    ),
    (lambda: errors.grad_dtype_type(int), RuntimeError, "grad_dtype must be a torch.dtype or None, but got int"),
    (
        lambda: errors.grad_dtype_of_existing(np.dtype("int32"), np.dtype("float16")),
        RuntimeError,
        "Cannot set grad_dtype to 'Int' because there is already a gradient with dtype 'c10::Half'. Please clear the "
        "gradient (.grad = None) before changing grad_dtype, or ensure the new grad_dtype matches the existing gradient's "
        "dtype.",
    ),
    (
        lambda: errors.numpy_argument("sum", ["where", "initial"]),
        TypeError,
        "numpy.sum cannot be called with where, initial on a Tensor that requires grad. Hint: call the operation of "
        "wengert, or detach the tensor first.",
    ),
    (lambda: errors.grad_assigned_itself(), RuntimeError, "can't assign Variable as its own grad"),
    # What rules and custom Functions return
    (
        lambda: errors.invalid_gradient_shape("FBackward", 0, (3,), (2,)),
        RuntimeError,
        "Function FBackward returned an invalid gradient at index 0 - got [3] but expected shape compatible with [2]",
    ),
    (
        lambda: errors.cannot_be_saved(object),
        TypeError,
        "save() takes tensors, numbers, strings, None, dtypes, and dicts, lists and tuples of these, but got object. "
        "Hint: pickle.dump keeps objects of other classes.",
    ),
    (
        lambda: errors.not_a_saved_file(),
        ValueError,
        "this is no file that wengert.save has written. Hint: files of torch are pickles; load them with torch, and save "
        "their tensors with numpy.savez.",
    ),
    (
        lambda: errors.invalid_gradient_dtype("FBackward", 1, "complex64", "float32"),
        RuntimeError,
        "Function FBackward returned an invalid gradient at index 1 - got dtype torch.complex64 but expected "
        "torch.float32. Hint: return the real part of the gradient, grad.real.",
    ),
    (
        lambda: errors.gradient_wrong_number("FBackward", 2, 1),
        RuntimeError,
        "function FBackward returned an incorrect number of gradients (expected 2, got 1)",
    ),
    (lambda: errors.gradient_not_a_tensor(int), RuntimeError, "expected Variable or None (got int)"),
    (
        lambda: errors.gradient_unexpected("FBackward", 2),
        RuntimeError,
        "function FBackward returned a gradient different than None at position 2, but the corresponding forward input "
        "was not a Variable",
    ),
    (
        lambda: errors.save_for_backward_type(0, int),
        TypeError,
        "save_for_backward can only save variables, but argument 0 is of type int",
    ),
    (
        lambda: errors.mark_type("mark_dirty", 0, int),
        TypeError,
        "mark_dirty can only accept variables, but argument 0 is of type int",
    ),
    (
        lambda: errors.dirty_not_returned(),
        RuntimeError,
        "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
        "modified inplace must all be outputs of the Function.",
    ),
    (
        lambda: errors.dirty_view_of_many(),
        RuntimeError,
        "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than "
        "one Tensor. This is not supported by the current autograd engine. You should either make sure the input is not a "
        "view (using .clone() for example) or make your Function only return one Tensor (potentially splitting it into two "
        "Functions: one doing the inplace that returns a single Tensor and a second one that does the other operations).",
    ),
    (
        lambda: errors.no_forward(),
        NotImplementedError,
        "You must implement the forward function for custom autograd.Function.",
    ),
    (
        lambda: errors.no_backward(),
        NotImplementedError,
        "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
        "backward mode AD.",
    ),
    (
        lambda: errors.no_vmap(),
        NotImplementedError,
        "To use autograd.Function with vmap, you must either override the vmap staticmethod or set generate_vmap_rule=True.\n"
        "This version of the package calls neither: vmap does not reach custom Functions.",
    ),
    (
        lambda: errors.no_jvp(),
        NotImplementedError,
        "You must implement the jvp function for custom autograd.Function to use it with forward mode AD.",
    ),
    (
        lambda: errors.differentiated_twice(),
        RuntimeError,
        "trying to differentiate twice a function that was marked with @once_differentiable",
    ),
    (
        lambda: errors.missing_jvp("igamma"),
        NotImplementedError,
        "Trying to use forward AD with igamma that does not support it because it has not been implemented yet.",
    ),
    (
        lambda: errors.nan_gradient("SqrtBackward0", 0),
        RuntimeError,
        "Function 'SqrtBackward0' returned nan values in its 0th output.",
    ),
    (
        lambda: errors.nan_gradient("SqrtBackward0", 0, "a.py:3"),
        RuntimeError,
        "Function 'SqrtBackward0' returned nan values in its 0th output. Its forward was called at a.py:3.",
    ),
    # Warnings
    (
        lambda: errors.non_leaf_grad(),
        UserWarning,
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
        "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
        "you access the leaf Tensor instead.",
    ),
    (
        lambda: errors.grad_variables_deprecated(),
        FutureWarning,
        "`grad_variables` is deprecated. Use `grad_tensors` instead.",
    ),
    (
        lambda: errors.only_inputs_deprecated(),
        FutureWarning,
        "only_inputs argument is deprecated (defaults to True; torch ignores it now, this package does what it asks "
        "for). To accumulate gradient for other parts of the graph, please use torch.autograd.backward.",
    ),
    (
        lambda: errors.mark_shared_storage_deprecated(),
        FutureWarning,
        "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. "
        "Hint: needed only where forward shares memory by a way around tensors, such as a NumPy array.",
    ),
    (
        lambda: errors.hook_not_pickled(3),
        UserWarning,
        "backward hook 3 on tensor will not be serialized.  If this is expected, you can decorate the function with "
        "@torch.utils.hooks.unserializable_hook to suppress this warning",
    ),
    (
        lambda: errors.saved_tensors_taken(),
        RuntimeError,
        "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the autograd.Function. "
        "Either access saved_tensors only once, or set clear_saved_tensors_on_access=False.",
    ),
    (
        lambda: errors.create_graph_cycle(),
        UserWarning,
        "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
        "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
        "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
        "the cycle and avoid the leak.",
    ),
    (
        lambda: errors.error_detected("SqrtBackward0", '  File "a.py", line 3\n'),
        UserWarning,
        'Error detected in SqrtBackward0. Traceback of forward call that caused the error:\n  File "a.py", line 3\n',
    ),
    (
        lambda: errors.error_detected("SqrtBackward0", None),
        UserWarning,
        "Error detected in SqrtBackward0. No forward pass information available. Enable detect anomaly during forward "
        "pass for more information.",
    ),
    # Arguments
    (
        lambda: errors.wrong_argument_type("sin", "input", 0, int),
        TypeError,
        "sin(): argument 'input' (position 1) must be Tensor, not int",
    ),
    (
        lambda: errors.wrong_argument_type("cat", "tensors", 0, "int", "tuple of Tensors"),
        TypeError,
        "cat(): argument 'tensors' (position 1) must be tuple of Tensors, not int",
    ),
    (
        lambda: errors.too_many_arguments("sin", 1, 2),
        TypeError,
        "sin() takes 1 positional argument but 2 were given",
    ),
    (
        lambda: errors.too_many_arguments("softmax", 0, 1),
        TypeError,
        "softmax() takes 0 positional arguments but 1 was given",
    ),
    (
        lambda: errors.missing_argument("softmax", "dim"),
        TypeError,
        'softmax() missing 1 required positional arguments: "dim"',
    ),
    (lambda: errors.unexpected_keyword("sin", "x"), TypeError, "sin() got an unexpected keyword argument 'x'"),
    (lambda: errors.multiple_values("sin", "input"), TypeError, "sin() got multiple values for argument 'input'"),
    # Dimensions
    (
        lambda: errors.dim_out_of_range(-3, 2),
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got -3)",
    ),
    (
        lambda: errors.dim_out_of_range(1, 0),
        IndexError,
        "Dimension out of range (expected to be in range of [-1, 0], but got 1)",
    ),
    (
        lambda: errors.moved_dims_number((0, 1), (2,)),
        RuntimeError,
        "movedim: Invalid source or destination dims: source ([0, 1] dims) should contain the same number of dims as "
        "destination ([2] dims)",
    ),
    (lambda: errors.same_diagonal_dims(0, -2), RuntimeError, "diagonal dimensions cannot be identical 0, -2"),
    (
        lambda: errors.line_ends("linspace", 1, 2),
        RuntimeError,
        "linspace only supports 0-dimensional start and end tensors, but got start with 1 dimension(s) and end with 2 "
        "dimension(s).",
    ),
    (
        lambda: errors.empty_reduction("max"),
        RuntimeError,
        "max(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
        "'dim' argument.",
    ),
    (
        lambda: errors.empty_reduction("max", 1),
        IndexError,
        "max(): Expected reduction dim 1 to have non-zero size.",
    ),
    # Shapes
    (
        lambda: errors.broadcast(3, 4, 1),
        RuntimeError,
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
    ),
    (
        lambda: errors.broadcast_shapes((2, 1, 3), (5, 3, 3)),
        RuntimeError,
        "The size of tensor a (2) must match the size of tensor b (5) at non-singleton dimension 0",
    ),
    (
        lambda: errors.inplace_shape((3,), (2, 3)),
        RuntimeError,
        "output with shape [3] doesn't match the broadcast shape [2, 3]",
    ),
    (
        lambda: errors.expand_mismatch((2, 3), (2, 4)),
        RuntimeError,
        "The expanded size of the tensor (4) must match the existing size (3) at non-singleton dimension 1.  Target "
        "sizes: [2, 4].  Tensor sizes: [2, 3]",
    ),
    (
        lambda: errors.expand_mismatch((3,), (-1, 3)),
        RuntimeError,
        "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension 0",
    ),
    (
        lambda: errors.expand_mismatch((2, 3), (3,)),
        RuntimeError,
        "expand([2, 3], size=[3]): the number of sizes provided (1) must be greater or equal to the number of "
        "dimensions in the tensor (2)",
    ),
    (lambda: errors.view_size((4, -1), 6), RuntimeError, "shape '[4, -1]' is invalid for input of size 6"),
    (lambda: errors.view_size((-1, -1), 6), RuntimeError, "only one dimension can be inferred"),
    (lambda: errors.view_size((-2, 3), 6), RuntimeError, "invalid shape dimension -2 at index 0 of shape [-2, 3]"),
    (
        lambda: errors.view_size((-1, 0), 0),
        RuntimeError,
        "cannot reshape tensor of 0 elements into shape [-1, 0] because the unspecified dimension size -1 can be any "
        "value and is ambiguous",
    ),
    (
        lambda: errors.view_stride(),
        RuntimeError,
        "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
        "contiguous subspaces). Use .reshape(...) instead.",
    ),
    (
        lambda: errors.matmul((2, 3), (4, 2)),
        RuntimeError,
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x2)",
    ),
    (lambda: errors.matmul((3,), (2, 3)), RuntimeError, "mat1 and mat2 shapes cannot be multiplied (1x3 and 2x3)"),
    (lambda: errors.matmul((2, 3), (2,)), RuntimeError, "size mismatch, got input (2), mat (2x3), vec (2)"),
    (
        lambda: errors.matmul((3,), (2,)),
        RuntimeError,
        "inconsistent tensor size, expected tensor [3] and src [2] to have the same number of elements, but got 3 and "
        "2 elements respectively",
    ),
    (
        lambda: errors.matmul((), (3,)),
        RuntimeError,
        "both arguments to matmul need to be at least 1D, but they are 0D and 1D",
    ),
    (
        lambda: errors.matmul((5, 2, 3), (4, 3, 2)),
        RuntimeError,
        "The size of tensor a (5) must match the size of tensor b (4) at non-singleton dimension 0",
    ),
    (
        lambda: errors.matmul((5, 2, 3), (5, 4, 3)),
        RuntimeError,
        "mat1 and mat2 shapes cannot be multiplied (5x2x3 and 5x4x3)",
    ),
    # Indices
    (
        lambda: errors.index_out_of_range(-4, 0, 3),
        IndexError,
        "index -4 is out of bounds for dimension 0 with size 3",
    ),
    (
        lambda: errors.index_of_zero_dim(),
        IndexError,
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert a 0-dim tensor to a number",
    ),
    (lambda: errors.too_many_indices(1), IndexError, "too many indices for tensor of dimension 1"),
    (
        lambda: errors.index_shapes((2,), (3,)),
        IndexError,
        "shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]",
    ),
    # Dtypes
    (
        lambda: errors.value_overflow("uint8_t"),
        RuntimeError,
        "value cannot be converted to type uint8_t without overflow",
    ),
    (
        lambda: errors.no_promotion(dtypes.uint16, np.dtype("int64")),
        RuntimeError,
        "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote UInt16 and Long. "
        "Hint: convert one of them first, with .to(torch.int64) for instance.",
    ),
    (
        lambda: errors.unsupported_numpy_dtype(np.object_),
        TypeError,
        "can't convert np.ndarray of type numpy.object_. The only supported types are: float64, float32, float16, "
        "bfloat16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.",
    ),
    (
        lambda: errors.foreign_byte_order(),
        ValueError,
        "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
        "currently not supported. Hint: convert it first, with array.astype(array.dtype.newbyteorder('=')).",
    ),
    (
        lambda: errors.result_dtype(np.dtype("float32"), dtypes.int64),
        RuntimeError,
        "result type Float can't be cast to the desired output type Long",
    ),
    (lambda: errors.unsupported_dtype("pow", "bool"), RuntimeError, "\"pow\" not implemented for 'Bool'"),
    (
        lambda: errors.bool_subtraction(both=True),
        RuntimeError,
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
        "operator instead.",
    ),
    (
        lambda: errors.bool_subtraction(both=False),
        RuntimeError,
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
        "the `~` or `logical_not()` operator instead.",
    ),
    # Conversion
    (
        lambda: errors.numpy_requires_grad(),
        RuntimeError,
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
    ),
    (
        lambda: errors.deepcopy_of_non_leaf(),
        RuntimeError,
        "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
        "Hint: use .detach().clone() for the values, or .clone() for a copy that stays in the graph.",
    ),
    (lambda: errors.not_one_element(2), RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar"),
    (lambda: errors.not_a_number(), ValueError, "only one element tensors can be converted to Python scalars"),
    (
        lambda: errors.not_an_index(),
        TypeError,
        "only integer tensors of a single element can be converted to an index",
    ),
    (
        lambda: errors.ambiguous_bool(2),
        RuntimeError,
        "Boolean value of Tensor with more than one value is ambiguous",
    ),
    (lambda: errors.ambiguous_bool(0), RuntimeError, "Boolean value of Tensor with no values is ambiguous"),
    (lambda: errors.len_of_zero_dim(), TypeError, "len() of a 0-d tensor"),
    (lambda: errors.iteration_over_zero_dim(), TypeError, "iteration over a 0-d tensor"),
    # What torch has given up since
    (lambda: errors.named_twice("new", "old"), TypeError, "only one of new and old can be specified"),
    (lambda: errors.renamed(".old", ".new"), DeprecationWarning, ".old is an old spelling of .new"),
    (
        lambda: errors.volatile_deprecated(),
        DeprecationWarning,
        "volatile is what torch 0.1 to 0.3 had; use `with torch.no_grad():` instead",
    ),
    (
        lambda: errors.volatile_root(0),
        RuntimeError,
        "element 0 of tensors is volatile. Hint: nothing that depends on a volatile tensor is recorded; make its inputs "
        "without volatile=True.",
    ),
    (lambda: errors.volatile_hook(), RuntimeError, "cannot register a hook on a volatile tensor"),
    (
        lambda: errors.volatile_and_requires_grad(),
        RuntimeError,
        "Variable can't be volatile and require_grad at the same time!",
    ),
    (
        lambda: errors.volatile_of_non_leaf(),
        RuntimeError,
        "volatile can only be set on leaf variables. Hint: set it on a detach() of this one.",
    ),
    (
        lambda: errors.reinforce_deprecated(),
        DeprecationWarning,
        "reinforce() is what torch 0.1 to 0.3 had; today the loss is -(log_prob(sample) * reward).sum()",
    ),
    (
        lambda: errors.not_stochastic(),
        RuntimeError,
        "reinforce() can be only called on outputs of stochastic functions. Hint: those are samples of bernoulli, "
        "multinomial and normal whose parameters require grad.",
    ),
    (
        lambda: errors.reward_type(str),
        TypeError,
        "mismatch between reward and output type: got str, but expected a floating tensor or a number",
    ),
    (
        lambda: errors.instance_function_deprecated("Exp"),
        DeprecationWarning,
        "Exp: calling an instance of a Function is what torch 0.1 to 0.3 had; make forward and backward static methods "
        "that take ctx and call Exp.apply(...)",
    ),
    (
        lambda: errors.static_function_called(),
        RuntimeError,
        "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
        "with static forward method. Hint: call .apply(...) of the class, not an instance.",
    ),
    (
        lambda: errors.function_used_twice("Exp"),
        RuntimeError,
        "each Exp can be used once: it holds what its first call has saved. Hint: make a new one for every call, "
        "Exp(...)(input).",
    ),
    (
        lambda: errors.function_argument("Exp", 1, int),
        TypeError,
        "expected a Variable argument, but got int (argument 1 of Exp). Hint: what is no tensor goes to __init__.",
    ),
    (
        lambda: errors.function_result("Exp", int),
        TypeError,
        "Exp.forward: expected a Variable or a tuple of them, but got int",
    ),
    (lambda: errors.not_twice_differentiable("Exp"), RuntimeError, "Exp is not differentiable twice"),
    (
        lambda: errors.zero_dim_index(),
        DeprecationWarning,
        "indexing a tensor of no dimensions with 0 is what torch 0.1 to 0.3 had; use .item()",
    ),
    (
        lambda: errors.missing_feature("torch.optim.SGD", "0.1.0"),
        NotImplementedError,
        "torch.optim.SGD is not part of wengert 0.1.0, which stands in for torch in this process",
    ),
    # Devices
    (
        lambda: errors.threads_type("set_num_threads", float),
        RuntimeError,
        "set_num_threads expects an int, but got float",
    ),
    (lambda: errors.threads_number("set_num_threads"), RuntimeError, "set_num_threads expects a positive integer"),
    (
        lambda: errors.device_index_twice("cuda:0"),
        RuntimeError,
        "type (string) must not include an index because index was passed explicitly: cuda:0",
    ),
]


@pytest.mark.parametrize(("build", "builtin", "text"), MESSAGES, ids=lambda x: x[:30] if isinstance(x, str) else "")
def test_message(build, builtin, text):
    check(build, builtin, text)


def test_every_message_is_pinned():
    assert not without_row(MESSAGES, eras, graph, tensors)
    for module in (eras, graph, tensors):
        assert all(getattr(errors, name) is function for name, function in builders(module).items())


def test_every_exception_is_exported():
    assert set(classes.__all__) == {name for name, value in vars(classes).items() if isinstance(value, type)}


@pytest.mark.parametrize("name", classes.__all__)
def test_exceptions_are_public_and_documented(name):
    exception = getattr(errors, name)
    assert issubclass(exception, errors.WengertError)
    assert exception.__module__ == "wengert.errors"
    assert exception.__doc__
    # Each is also a built-in exception that user code catches today.
    if exception is not errors.WengertError:
        assert issubclass(exception, (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError))


@pytest.mark.parametrize(
    ("shapes", "sizes", "dim"),
    [
        (((2, 3), (3, 4)), (3, 4), 1),
        (((5, 2, 3), (3, 4)), (3, 4), 2),
        (((2, 3), (5, 3, 3)), (2, 3), 1),
        (((2, 0), (2, 3)), (0, 3), 1),
        (((1,), (3,), (4,)), (3, 4), 0),
    ],
)
def test_broadcast_shapes_finds_the_last_dimension_that_differs(shapes, sizes, dim):
    assert str(errors.broadcast_shapes(*shapes)) == str(errors.broadcast(*sizes, dim))


def test_messages_about_possible_shapes_are_a_mistake():
    with pytest.raises(AssertionError):
        errors.broadcast_shapes((2, 3), (1, 3))
    with pytest.raises(AssertionError):
        errors.expand_mismatch((1, 3), (2, -1))


@pytest.mark.parametrize(
    ("node", "operation"),
    [("AddBackward0", "Add"), ("SplitBackward1", "Split"), ("MyExpBackward", "MyExp"), ("CopySlices", "CopySlices")],
)
def test_operation_name(node, operation):
    assert errors.operation_name(node) == operation


def test_names_of_dtypes_of_all_kinds():
    for d in dtypes.DTYPES:
        assert errors.dtype_name(d) == errors.dtype_name(d.dtype) == errors.dtype_name(d.name) == repr(d)
        assert errors.tensor_type(d.dtype) == dtypes.legacy_type_name(d)
