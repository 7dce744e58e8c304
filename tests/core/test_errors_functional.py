"""The messages about derivatives of functions, word for word."""

import pytest

from messages import check, without_row
from wengert.errors import functional

# The call that builds an exception, the built-in exception that it is, its text.
MESSAGES = [
    (
        lambda: functional.not_tensors("inputs", "vjp", float, None),
        TypeError,
        "The inputs given to vjp must be either a Tensor or a tuple of Tensors but the given inputs has type <class "
        "'float'>.",
    ),
    (
        lambda: functional.not_tensors("outputs", "jvp", list, 1),
        TypeError,
        "The outputs given to jvp must be either a Tensor or a tuple of Tensors but the value at index 1 has type "
        "<class 'list'>.",
    ),
    (
        lambda: functional.vector_length(1, 2),
        RuntimeError,
        "The given v should contain a single Tensor.",
    ),
    (
        lambda: functional.vector_length(2, 1),
        RuntimeError,
        "v is a tuple of invalid length: should be 2 but got 1.",
    ),
    (
        lambda: functional.vector_size(None, (2,), (3,)),
        RuntimeError,
        "v has invalid size: should be (2,) but got (3,).",
    ),
    (
        lambda: functional.vector_size(1, (2,), (3,)),
        RuntimeError,
        "Entry 1 in v has invalid size: should be (2,) but got (3,).",
    ),
    (
        lambda: functional.vector_missing(True),
        RuntimeError,
        "The vector v can only be None if the user-provided function returns a single Tensor with a single element.",
    ),
    (
        lambda: functional.vector_missing(False),
        RuntimeError,
        "The vector v can only be None if the input to the user-provided function is a single Tensor with a single "
        "element.",
    ),
    (
        lambda: functional.not_one_tensor("hvp"),
        RuntimeError,
        "The function given to hvp should return a single Tensor",
    ),
    (
        lambda: functional.not_one_number("hvp"),
        RuntimeError,
        "The Tensor returned by the function given to hvp should contain a single element",
    ),
    (
        lambda: functional.strict_output(0),
        RuntimeError,
        "Output 0 of the user-provided function does not require gradients. The outputs must be computed in a "
        "differentiable manner from the input when running in strict mode.",
    ),
    (
        lambda: functional.strict_input(1),
        RuntimeError,
        "The output of the user-provided function is independent of input 1. This is not allowed in strict mode.",
    ),
    (
        lambda: functional.strict_input(1, 0),
        RuntimeError,
        "Output 0 of the user-provided function is independent of input 1. This is not allowed in strict mode.",
    ),
    (
        lambda: functional.strict_jacobian(0),
        RuntimeError,
        "The jacobian of the user-provided function is independent of input 0. This is not allowed in strict mode "
        "when create_graph=True.",
    ),
    (
        lambda: functional.strict_hessian(0),
        RuntimeError,
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input 0 "
        "is independent of the input. This is not allowed in strict mode. You should ensure that your function is "
        "twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear "
        "function for example).",
    ),
    (
        lambda: functional.strict_and_vectorized(),
        RuntimeError,
        "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please "
        "either set `strict=False` or `vectorize=False`.",
    ),
    (
        lambda: functional.strategy(True),
        AssertionError,
        'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
        'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".',
    ),
    (
        lambda: functional.strategy(False),
        AssertionError,
        'Expected strategy to be either "forward-mode" or "reverse-mode".',
    ),
    (
        lambda: functional.forward_strategy_unvectorized(),
        NotImplementedError,
        "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`.",
    ),
    (
        lambda: functional.forward_strategy_strict(),
        RuntimeError,
        'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together '
        '(yet). Please either set `strict=False` or `strategy="reverse-mode"`.',
    ),
    (
        lambda: functional.batched_gradient_shape(0, "torch.Size([3])", "torch.Size([2])"),
        RuntimeError,
        "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
        "The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
        "mismatch was detected: grad_output[0] has a shape of torch.Size([3]) and output[0] has a shape of "
        "torch.Size([2]). If you only want some tensors in `grad_output` to be considered batched, consider using "
        "vmap.",
    ),
    (
        lambda: functional.batch_sizes([3, 4]),
        ValueError,
        "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes [3, 4] for the mapped "
        "dimension",
    ),
    (
        lambda: functional.batch_missing(),
        ValueError,
        "is_grads_batched=True needs a grad_output, with a batch dimension in front, for every output",
    ),
    (
        lambda: functional.argnums_type(float),
        RuntimeError,
        "argnums must be int or Tuple[int, ...], got: <class 'float'>",
    ),
    (
        lambda: functional.argnums_empty(),
        RuntimeError,
        "argnums must be non-empty",
    ),
    (
        lambda: functional.argnums_repeated((0, 0)),
        RuntimeError,
        "argnums elements must be unique, got (0, 0)",
    ),
    (
        lambda: functional.argnum_range(1, 1),
        RuntimeError,
        "Got argnum=1, but only 1 positional inputs",
    ),
    (
        lambda: functional.not_a_tensor(float),
        ValueError,
        "Thing passed to transform API must be Tensor, got <class 'float'>",
    ),
    (
        lambda: functional.no_aux("jvp(f, primals, tangents)"),
        RuntimeError,
        "jvp(f, primals, tangents): output of function f should be a tuple: (output, aux) if has_aux is True",
    ),
    (
        lambda: functional.gradient_of_no_tensor(float),
        RuntimeError,
        "grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got <class 'float'>",
    ),
    (
        lambda: functional.gradient_of_no_scalar(1),
        RuntimeError,
        "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with 1 dims. Maybe you "
        "wanted to use the vjp or jacrev APIs instead?",
    ),
    (
        lambda: functional.only_tensors("vjp(f, *primals): expected f(*primals)", float),
        RuntimeError,
        "vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type <class 'float'>",
    ),
    (
        lambda: functional.primals_not_tuple(),
        RuntimeError,
        "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals).",
    ),
    (
        lambda: functional.primals_without_tensor(),
        RuntimeError,
        "jvp(f, primals, tangents): Expected primals to contain at least one Tensor.",
    ),
    (
        lambda: functional.primals_with_others("primals", float),
        RuntimeError,
        "jvp(f, primals, tangents): Expected primals to only contain Tensors, got <class 'float'>",
    ),
    (
        lambda: functional.tangents_form("TreeSpec(tuple, None, [*])", "*"),
        RuntimeError,
        "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, if "
        "primals is a tuple of 3 tensors, tangents also must be. Got primals with structure TreeSpec(tuple, None, "
        "[*]) and tangents with structure *",
    ),
    (
        lambda: functional.strict_tangent(),
        RuntimeError,
        "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed "
        "with strict=True.",
    ),
    (
        lambda: functional.cotangents_form("*", "(*, *)"),
        RuntimeError,
        "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
        "cotangents: *, primal output: (*, *)",
    ),
    (
        lambda: functional.chunk_size("jacrev"),
        ValueError,
        "jacrev: `chunk_size` should be greater than 0.",
    ),
    (
        lambda: functional.linear_form("A", "B"),
        RuntimeError,
        "Expected the tangents A to have the same argspec as the primals B",
    ),
    (
        lambda: functional.linear_tangent(0, "shape", "A", "B"),
        RuntimeError,
        "tangent:0 with shape A in flattened pytree doesn't match the shape B of the corresponding primal.",
    ),
    (
        lambda: functional.randomness("foo"),
        RuntimeError,
        "Only allowed values for randomness are 'error', 'different', or 'same'. Got foo",
    ),
    (
        lambda: functional.vmap_random(),
        RuntimeError,
        "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
        "randomness flags on vmap or perform the randomness operation out of vmap",
    ),
    (
        lambda: functional.vmap_chunk_size(0),
        ValueError,
        "vmap: chunk_size should be None or greater than 0. (got 0)",
    ),
    (
        lambda: functional.vmap_no_inputs("f"),
        ValueError,
        "vmap(f)(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function "
        "with no inputs. The latter is unsupported.",
    ),
    (
        lambda: functional.vmap_in_dims_type("f", "a"),
        ValueError,
        "vmap(f, in_dims=a, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple matching "
        "the structure of inputs, got: <class 'str'>.",
    ),
    (
        lambda: functional.vmap_in_dims_form("f", (0, 0), "A", "B"),
        ValueError,
        "vmap(f, in_dims=(0, 0), ...)(<inputs>): in_dims is not compatible with the structure of `inputs`. in_dims "
        "has structure A but inputs has structure B.",
    ),
    (
        lambda: functional.vmap_in_dim_of_other("f", 0, 0, float),
        ValueError,
        "vmap(f, in_dims=0, ...)(<inputs>): Got in_dim=0 for an input but the input is of type <class 'float'>. We "
        "cannot vmap over non-Tensor arguments, please use None as the respective in_dim",
    ),
    (
        lambda: functional.vmap_in_dim_range("f", 2, 2, 2),
        ValueError,
        "vmap(f, in_dims=2, ...)(<inputs>): Got in_dim=2 for some input, but that input is a Tensor of "
        "dimensionality 2 so expected in_dim to satisfy -2 <= in_dim < 2.",
    ),
    (
        lambda: functional.vmap_output("f", float),
        ValueError,
        "vmap(f, ...): `f` must only return Tensors, got type <class 'float'>. Did you mean to set out_dims= to None "
        "for output?",
    ),
    (
        lambda: functional.vmap_out_dims_form("f", (0,), "A", "B"),
        ValueError,
        "vmap(f, ..., out_dims=(0,))(<inputs>): out_dims is not compatible with the structure of `outputs`. out_dims "
        "has structure A but outputs has structure B.",
    ),
    (
        lambda: functional.vmap_out_dim_range(3, 2),
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 3)",
    ),
]


@pytest.mark.parametrize(("build", "builtin", "text"), MESSAGES, ids=lambda x: x[:30] if isinstance(x, str) else "")
def test_message(build, builtin, text):
    check(build, builtin, text)


def test_every_message_is_pinned():
    assert not without_row(MESSAGES, functional)
