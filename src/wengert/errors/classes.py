"""The exceptions. Each docstring gives the cause and code that works."""

__all__ = [
    "AnomalyError",
    "ArgumentError",
    "AttentionShapeError",
    "CheckpointError",
    "ConversionError",
    "DeviceError",
    "DimensionError",
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DtypeError",
    "DualDtypeError",
    "DualLevelError",
    "ElementError",
    "FileFormatError",
    "FunctionError",
    "FunctionNotImplementedError",
    "FunctionTypeError",
    "GradientError",
    "GradientTypeError",
    "GraphError",
    "GraphFreedError",
    "HookError",
    "HookTypeError",
    "InferenceError",
    "InplaceError",
    "IntOverflowError",
    "MissingDerivativeError",
    "MissingFeatureError",
    "MutationBlockError",
    "NoGraphError",
    "NotDifferentiableError",
    "OptionError",
    "OutOfMemoryError",
    "ProfilerError",
    "ProfilerKeyError",
    "PromotionError",
    "RequiresGradError",
    "ScalarConversionError",
    "ShapeError",
    "SingularMatrixError",
    "SpellingError",
    "StrategyError",
    "TensorIndexError",
    "ThreadsError",
    "UnsupportedDtypeError",
    "UnsupportedModeError",
    "UnusedInputError",
    "ValueOverflowError",
    "VersionError",
    "WengertError",
]


class WengertError(Exception):
    """Any error that this package raises on purpose. Never raised as such; for `except` clauses."""


# ----------------------------------------------------------------------------------------------------------------------
# The graph
# ----------------------------------------------------------------------------------------------------------------------


class GraphError(WengertError, RuntimeError):
    """A backward pass was asked for that the recorded graph does not allow."""


class GraphFreedError(GraphError):
    """A backward pass needs values that an earlier one has released.

    Fix: keep them, with retain_graph=True in every pass but the last; or compute the result anew; or add the losses up
    and run one pass.

    >>> import wengert
    >>> x = wengert.ones(2, requires_grad=True)
    >>> y = (x * x).sum()
    >>> y.backward(retain_graph=True)
    >>> y.backward()
    """


class NoGraphError(GraphError):
    """The tensor to differentiate depends on nothing that requires a gradient.

    Fix: set requires_grad=True on the leaf before the computation, and look for a detach(), an item() or a no_grad
    block in between.

    >>> import wengert
    >>> x = wengert.ones(2, requires_grad=True)  # not wengert.ones(2)
    >>> (x * 2).sum().backward()
    """


class UnusedInputError(GraphError):
    """A gradient is asked for with respect to a tensor that the result does not depend on.

    Fix: pass the tensor that the computation used (not a copy or a view of it), or allow_unused=True to get None.

    >>> import wengert
    >>> x, z = wengert.ones(2, requires_grad=True), wengert.ones(2, requires_grad=True)
    >>> wengert.autograd.grad((x * 2).sum(), [z], allow_unused=True)
    (None,)
    """


class VersionError(GraphError):
    """A value that the backward pass needs was overwritten after it was saved.

    Fix: make the write out of place (`y = y + 1`, not `y += 1`), or write to a clone, or write before the value is
    used.

    >>> import wengert
    >>> x = wengert.ones(2, requires_grad=True)
    >>> y = x.exp()  # exp saves its result ...
    >>> y = y + 1  # ... so not y.add_(1)
    >>> y.sum().backward()
    """


class MutationBlockError(GraphError, AssertionError):
    """A value saved inside allow_mutation_on_saved_tensors is needed after the block has ended.

    Fix: run the backward pass inside the block.

    >>> import wengert
    >>> with wengert.autograd.graph.allow_mutation_on_saved_tensors():
    ...     x = wengert.ones(2, requires_grad=True)
    ...     y = (x * x).sum()
    ...     y.backward()
    """


class CheckpointError(GraphError):
    """The part of a program in a checkpoint did something else when a backward pass ran it again.

    Fix: make it depend on its arguments alone; random numbers of the default generator are taken care of.

    >>> import wengert
    >>> from wengert.utils.checkpoint import checkpoint
    >>> x = wengert.ones(2, requires_grad=True)
    >>> checkpoint(lambda t: t.exp(), x, use_reentrant=False).sum().backward()
    """


class InplaceError(GraphError):
    """An in-place operation that cannot be recorded: on a leaf that requires grad, or on a view whose history is fixed.

    Fix: update leaves under no_grad; clone views first, or make the operation out of place.

    >>> import wengert
    >>> w = wengert.ones(2, requires_grad=True)
    >>> with wengert.no_grad():
    ...     _ = w.sub_(0.5)
    """


class RequiresGradError(WengertError, RuntimeError):
    """requires_grad or retain_grad was asked of a tensor that cannot have it: a result, or one of an integer type.

    Fix: use detach() to leave a graph; use a floating type for what is to be differentiated.

    >>> import wengert
    >>> x = wengert.tensor([1.0, 2.0], requires_grad=True)  # not an integer dtype
    >>> (x * 2).detach().requires_grad
    False
    """


class NotDifferentiableError(WengertError, RuntimeError):
    """The path asked for holds an operation that has no derivative there, or was declared differentiable once only."""


class MissingDerivativeError(WengertError, NotImplementedError):
    """The operation has a derivative, but this package lacks the rule."""


class InferenceError(WengertError, RuntimeError):
    """A tensor made in inference mode is used where gradients are recorded.

    Fix: clone it outside inference mode, or use no_grad in place of inference_mode.

    >>> import wengert
    >>> with wengert.inference_mode():
    ...     c = wengert.ones(2)
    >>> x = wengert.ones(2, requires_grad=True)
    >>> (x * c.clone()).sum().backward()
    """


class AnomalyError(WengertError, RuntimeError):
    """Anomaly detection found a value that is not finite. The warning before it shows the forward line."""


class OptionError(WengertError, ValueError):
    """A tool was asked for something that it does not know: a check of anomaly detection, the format of a drawing."""


class StrategyError(OptionError, AssertionError):
    """A derivative of a function was asked for by a strategy that there is not. torch raises an AssertionError."""


class ProfilerError(WengertError, RuntimeError):
    """A profiler was used out of order: entered twice, asked before it had finished.

    >>> import wengert
    >>> with wengert.autograd.profiler.profile() as prof:
    ...     x = wengert.ones(2) + 1
    >>> [event.name for event in prof.function_events]
    ['ones', 'add']
    """


class ProfilerKeyError(WengertError, AttributeError, ValueError):
    """A profiler's table was asked for in a way that it does not know: sorted by an unknown key, in an unknown style."""


# ----------------------------------------------------------------------------------------------------------------------
# Gradients, hooks, custom Functions
# ----------------------------------------------------------------------------------------------------------------------


class GradientError(WengertError, RuntimeError):
    """A gradient has the wrong shape, type or number: passed to backward(), or assigned to .grad.

    Fix: one gradient for each result, of its shape.

    >>> import wengert
    >>> x = wengert.ones(3, requires_grad=True)
    >>> (x * 2).backward(wengert.ones(3))
    """


class GradientTypeError(WengertError, TypeError):
    """Something that is not a tensor was given as a gradient."""


class DualLevelError(WengertError, RuntimeError):
    """A dual level of forward mode is not open, or is open already, where it must be otherwise.

    >>> import wengert
    >>> import wengert.autograd.forward_ad as forward_ad
    >>> with forward_ad.dual_level():
    ...     y = forward_ad.make_dual(wengert.ones(2), wengert.ones(2)) * 3
    ...     print(forward_ad.unpack_dual(y).tangent)
    tensor([3., 3.])
    """


class HookError(WengertError, RuntimeError):
    """A hook cannot be registered here, or returned a value of another shape or dtype than it got."""


class HookTypeError(WengertError, TypeError):
    """A hook returned something that is neither a tensor nor None."""


class FunctionError(WengertError, RuntimeError):
    """A custom Function breaks its contract.

    Fix: forward returns tensors and marks what it wrote to; backward returns one gradient, or None, for each argument
    of forward.

    >>> import wengert
    >>> class Scale(wengert.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x, factor):
    ...         ctx.factor = factor
    ...         return x * factor
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         return grad_output * ctx.factor, None
    >>> x = wengert.ones(2, requires_grad=True)
    >>> Scale.apply(x, 3.0).sum().backward()
    >>> x.grad
    tensor([3., 3.])
    """


class FunctionTypeError(WengertError, TypeError):
    """A method of a custom Function's context got something that is not a tensor."""


class FunctionNotImplementedError(WengertError, NotImplementedError):
    """A custom Function lacks the method that is needed: forward, backward or jvp."""


# ----------------------------------------------------------------------------------------------------------------------
# Tensors
# ----------------------------------------------------------------------------------------------------------------------


class ArgumentError(WengertError, TypeError):
    """An operation was called with an argument of the wrong type, one too many, one too few or one it does not know."""


class IntOverflowError(WengertError, ValueError, OverflowError):
    """An int that 64 bits do not hold, where a size, a dimension or a position is expected."""


class SpellingError(WengertError, TypeError, ValueError, RuntimeError):
    """An argument was given twice: under its old name and under its new one. Each built-in was raised in some version.

    Fix: leave the old name out.

    >>> import wengert
    >>> x = wengert.ones(1, requires_grad=True)
    >>> (x * x).backward(retain_graph=True)  # not retain_variables=True as well
    """


class ShapeError(WengertError, RuntimeError):
    """Shapes do not fit each other or the operation.

    Fix: print the shapes. Sizes must match from the last dimension on; a size of 1 stretches.

    >>> import wengert
    >>> (wengert.ones(3, 1) + wengert.ones(4)).shape  # not ones(3) + ones(4)
    torch.Size([3, 4])
    """


class SingularMatrixError(WengertError, RuntimeError):
    """A matrix cannot be inverted or factorised: it is singular, or not positive definite. torch calls it LinAlgError.

    Fix: check what it was made from; a multiple of the identity added to it makes it regular.

    >>> import wengert
    >>> a = wengert.zeros(2, 2)
    >>> wengert.linalg.inv(a + 0.5 * wengert.eye(2))
    tensor([[2., 0.],
            [0., 2.]])
    """


class AttentionShapeError(ShapeError, AssertionError):
    """Arguments of multi-head attention do not fit each other. torch raises an AssertionError."""


class DimensionError(WengertError, IndexError):
    """There is no such dimension. A tensor of n dimensions has -n to n - 1."""


class TensorIndexError(WengertError, IndexError):
    """There is no such element, or the index is of a type that cannot index."""


class ElementError(WengertError, ValueError):
    """Several elements, or none, stand where one number is wanted; or elements are in a foreign byte order."""


class FileFormatError(WengertError, ValueError, RuntimeError):
    """The file was not written by wengert.save, or by a later version of it.

    Cause: a file of torch.save, which is a pickle. Fix: load it with torch, and save its tensors as NumPy arrays.
    """


class DtypeError(WengertError, TypeError):
    """This is not a dtype, or not one that is possible here."""


class PromotionError(WengertError, RuntimeError):
    """These dtypes do not combine, or the result cannot be written to where it should go.

    Fix: convert one operand, or make the operation out of place.

    >>> import wengert
    >>> n = wengert.tensor([1, 2])
    >>> n / 2  # not n.div_(2)
    tensor([0.5000, 1.0000])
    """


class DualDtypeError(DtypeError, ValueError):
    """A dual tensor of integers or bools. torch raises a ValueError."""


class UnsupportedDtypeError(WengertError, NotImplementedError):
    """The operation has no meaning for this dtype (the mean of integers, the difference of bools)."""


class UnsupportedModeError(WengertError, NotImplementedError):
    """A mode, or a number of dimensions, that an operation has not got: the message says which there are."""


class ValueOverflowError(WengertError, RuntimeError, OverflowError):
    """A number does not fit the dtype that it is to be stored in."""


class ConversionError(WengertError, RuntimeError):
    """The tensor cannot become a NumPy array, a Python number or a copy.

    Fix: detach() first what requires grad; reduce to one element for a number.

    >>> import wengert
    >>> wengert.ones(2, requires_grad=True).detach().numpy()
    array([1., 1.], dtype=float32)
    """


class ScalarConversionError(ConversionError, ValueError):
    """int(), float() or complex() of a tensor that has not exactly one element. item() raises RuntimeError, as in torch.

    Fix: reduce to one element, as with sum(), or take one.
    """


class MissingFeatureError(WengertError, AttributeError, NotImplementedError):
    """A program written for torch uses something of torch that this package does not have."""


class DistError(WengertError, RuntimeError):
    """A call of torch.distributed has arguments that cannot be."""


class DistBackendError(DistError):
    """Ranks make different calls, one makes none, or one has ended. All ranks of the group raise it.

    Fix: see to it that all ranks make the same calls in the same order; the message says what each rank does.
    """


class DistNetworkError(DistError):
    """A rank cannot connect to rank 0. Fix: let the machines reach each other by TCP."""


class DeviceError(WengertError, RuntimeError):
    """There is no such device, or tensors are on different ones."""


class OutOfMemoryError(WengertError, RuntimeError):
    """The memory of a GPU does not hold a new array.

    Fix: free tensors, take smaller batches, or give the pool's memory back by wengert.cuda.empty_cache().
    """


class ThreadsError(WengertError, RuntimeError):
    """A number of threads that cannot be: `set_num_threads(0)`. Give an int from 1 on."""
