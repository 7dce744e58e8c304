"""Builds the exceptions about derivatives of functions: autograd.functional, func, batched gradients. Loaded when used."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import (
    ArgumentError,
    DimensionError,
    ElementError,
    GradientError,
    NotDifferentiableError,
    StrategyError,
    UnsupportedModeError,
)

# -- autograd.functional -----------------------------------------------------------------------------------------------


def not_tensors(what: str, name: str, kind: type, index: int | None) -> ArgumentError:
    found = f"given {what}" if index is None else f"value at index {index}"
    return ArgumentError(
        f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the {found} has type {kind}."
    )


def vector_length(expected: int, found: int) -> GradientError:
    if expected == 1:
        return GradientError("The given v should contain a single Tensor.")
    return GradientError(f"v is a tuple of invalid length: should be {expected} but got {found}.")


def vector_size(index: int | None, expected: Sequence[int], found: Sequence[int]) -> GradientError:
    which = "v" if index is None else f"Entry {index} in v"
    return GradientError(f"{which} has invalid size: should be {expected} but got {found}.")


def vector_missing(of_output: bool) -> GradientError:
    where = "the user-provided function returns" if of_output else "the input to the user-provided function is"
    return GradientError(f"The vector v can only be None if {where} a single Tensor with a single element.")


def not_one_tensor(name: str) -> GradientError:
    return GradientError(f"The function given to {name} should return a single Tensor")


def not_one_number(name: str) -> GradientError:
    return GradientError(f"The Tensor returned by the function given to {name} should contain a single element")


def strict_output(index: int) -> NotDifferentiableError:
    return NotDifferentiableError(
        f"Output {index} of the user-provided function does not require gradients. The outputs must be computed in a "
        "differentiable manner from the input when running in strict mode."
    )


def strict_input(index: int, output: int | None = None) -> NotDifferentiableError:
    which = "The output" if output is None else f"Output {output}"
    return NotDifferentiableError(
        f"{which} of the user-provided function is independent of input {index}. This is not allowed in strict mode."
    )


def strict_jacobian(index: int) -> NotDifferentiableError:
    return NotDifferentiableError(
        f"The jacobian of the user-provided function is independent of input {index}. This is not allowed in strict mode "
        "when create_graph=True."
    )


def strict_hessian(index: int) -> NotDifferentiableError:
    return NotDifferentiableError(
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input "
        f"{index} is independent of the input. This is not allowed in strict mode. You should ensure that your function is "
        "twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for "
        "example)."
    )


def strict_and_vectorized() -> GradientError:
    return GradientError(
        "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please either "
        "set `strict=False` or `vectorize=False`."
    )


def strategy(of_jacobian: bool) -> StrategyError:
    hint = (
        ' Hint: If your function has more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, '
        'prefer to use "reverse-mode".'
    )
    return StrategyError(
        'Expected strategy to be either "forward-mode" or "reverse-mode".' + (hint if of_jacobian else "")
    )


def forward_strategy_unvectorized() -> UnsupportedModeError:
    return UnsupportedModeError(
        "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`."
    )


def forward_strategy_strict() -> GradientError:
    return GradientError(
        'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together (yet). '
        'Please either set `strict=False` or `strategy="reverse-mode"`.'
    )


# -- batched gradients -------------------------------------------------------------------------------------------------


def batched_gradient_shape(index: int, found: str, expected: str) -> GradientError:
    return GradientError(
        "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The sizes "
        "of the remaining dimensions are expected to match the shape of corresponding output, but a mismatch was detected: "
        f"grad_output[{index}] has a shape of {found} and output[{index}] has a shape of {expected}. If you only want some "
        "tensors in `grad_output` to be considered batched, consider using vmap."
    )


def batch_sizes(sizes: Sequence[int]) -> ElementError:
    return ElementError(
        "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
        f"{list(sizes)} for the mapped dimension"
    )


def batch_missing() -> ElementError:
    return ElementError("is_grads_batched=True needs a grad_output, with a batch dimension in front, for every output")


# -- func --------------------------------------------------------------------------------------------------------------


def argnums_type(kind: type) -> GradientError:
    return GradientError(f"argnums must be int or Tuple[int, ...], got: {kind}")


def argnums_empty() -> GradientError:
    return GradientError("argnums must be non-empty")


def argnums_repeated(argnums: Sequence[int]) -> GradientError:
    return GradientError(f"argnums elements must be unique, got {argnums}")


def argnum_range(argnum: int, n: int) -> GradientError:
    return GradientError(f"Got argnum={argnum}, but only {n} positional inputs")


def not_a_tensor(kind: type) -> ElementError:
    return ElementError(f"Thing passed to transform API must be Tensor, got {kind}")


def no_aux(call: str) -> GradientError:
    return GradientError(f"{call}: output of function f should be a tuple: (output, aux) if has_aux is True")


def gradient_of_no_tensor(kind: type) -> GradientError:
    return GradientError(f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {kind}")


def gradient_of_no_scalar(dims: int) -> GradientError:
    return GradientError(
        f"grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with {dims} dims. Maybe you "
        "wanted to use the vjp or jacrev APIs instead?"
    )


def only_tensors(call: str, kind: type) -> GradientError:
    return GradientError(f"{call} to return only tensors, got unsupported type {kind}")


def primals_not_tuple() -> GradientError:
    return GradientError(
        "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
    )


def primals_without_tensor() -> GradientError:
    return GradientError("jvp(f, primals, tangents): Expected primals to contain at least one Tensor.")


def primals_with_others(what: str, kind: type) -> GradientError:
    return GradientError(f"jvp(f, primals, tangents): Expected {what} to only contain Tensors, got {kind}")


def tangents_form(primals: object, tangents: object) -> GradientError:
    return GradientError(
        "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, if primals "
        f"is a tuple of 3 tensors, tangents also must be. Got primals with structure {primals} and tangents with structure "
        f"{tangents}"
    )


def strict_tangent() -> NotDifferentiableError:
    return NotDifferentiableError(
        "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed with "
        "strict=True."
    )


def cotangents_form(cotangents: str, output: str) -> GradientError:
    return GradientError(
        "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
        f"cotangents: {cotangents}, primal output: {output}"
    )


def chunk_size(name: str) -> ElementError:
    return ElementError(f"{name}: `chunk_size` should be greater than 0.")


def linear_form(tangents: object, primals: object) -> GradientError:
    return GradientError(f"Expected the tangents {tangents} to have the same argspec as the primals {primals}")


def linear_tangent(index: int, what: str, found: object, expected: object) -> GradientError:
    return GradientError(
        f"tangent:{index} with {what} {found} in flattened pytree doesn't match the {what} {expected} of the corresponding "
        "primal."
    )


# -- vmap --------------------------------------------------------------------------------------------------------------


def randomness(found: object) -> GradientError:
    return GradientError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {found}")


def vmap_random() -> GradientError:
    return GradientError(
        "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
        "randomness flags on vmap or perform the randomness operation out of vmap"
    )


def vmap_chunk_size(found: object) -> ElementError:
    return ElementError(f"vmap: chunk_size should be None or greater than 0. (got {found})")


def vmap_no_inputs(name: str) -> ElementError:
    return ElementError(
        f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function "
        "with no inputs. The latter is unsupported."
    )


def vmap_in_dims_type(name: str, in_dims: object) -> ElementError:
    return ElementError(
        f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple "
        f"matching the structure of inputs, got: {type(in_dims)}."
    )


def vmap_in_dims_form(name: str, in_dims: object, form: object, inputs: object) -> ElementError:
    return ElementError(
        f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of `inputs`. in_dims "
        f"has structure {form} but inputs has structure {inputs}."
    )


def vmap_in_dim_of_other(name: str, in_dims: object, dim: int, kind: type) -> ElementError:
    return ElementError(
        f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an input but the input is of type {kind}. We "
        "cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
    )


def vmap_in_dim_range(name: str, in_dims: object, dim: int, ndim: int) -> ElementError:
    return ElementError(
        f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for some input, but that input is a Tensor of "
        f"dimensionality {ndim} so expected in_dim to satisfy -{ndim} <= in_dim < {ndim}."
    )


def vmap_output(name: str, kind: type) -> ElementError:
    return ElementError(
        f"vmap({name}, ...): `{name}` must only return Tensors, got type {kind}. Did you mean to set out_dims= to None for "
        "output?"
    )


def vmap_out_dims_form(name: str, out_dims: object, form: object, outputs: object) -> ElementError:
    return ElementError(
        f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`. "
        f"out_dims has structure {form} but outputs has structure {outputs}."
    )


def vmap_out_dim_range(dim: int, ndim: int) -> DimensionError:
    return DimensionError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
