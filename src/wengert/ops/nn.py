"""Layers of neural networks: linear, embedding, dropout, normalisation."""

from __future__ import annotations

from math import prod
from typing import Any

from wengert import dtypes, errors
from wengert.backends.selection import backend_of, device_name, others
from wengert.core.watched import differs_above, differs_on_arrays
from wengert.kernels import memory, places, rows
from wengert.ops.add_at import add_at
from wengert.ops.blas import matrix_product
from wengert.ops.dims import normalize_dims
from wengert.ops.indices import are_inside, checked, private_index
from wengert.ops.registry import NONE, composite, general, nondifferentiable
from wengert.ops.row_norms import limit_rows

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}
_FUNCTIONAL: dict[str, Any] = {"method": False, "namespaces": ("nn.functional",)}


# -- linear ------------------------------------------------------------------------------------------------------------


def _linear_node(inputs: tuple[Any, ...], params: Any) -> str:
    dims, has_bias = inputs[0].ndim, len(inputs) > 2 and inputs[2] is not None
    if inputs[1].ndim == 1:
        return {1: "DotBackward0", 2: "MvBackward0"}.get(dims, "UnsafeViewBackward0")
    if dims == 2:
        return "AddmmBackward0" if has_bias else "MmBackward0"
    return "ViewBackward0" if has_bias else "SqueezeBackward4" if dims == 1 else "UnsafeViewBackward0"


@general(own_precision=True, promote=NONE, node=_linear_node, **_FUNCTIONAL)
def linear(xp, x, weight, bias=None):
    """Fully connected layer: x @ weight^T + bias.

    x: (..., n), weight: (m, n), bias: (m) or None, all of one dtype; returns (..., m). If weight is a vector, (n), the
    result is (...). Raises RuntimeError for shapes or dtypes that do not fit.

    Derivative: ct @ weight* in x, ct^T @ x* over all rows in weight, the sum of ct's rows in bias.
    """
    try:
        if x.ndim == 2 and weight.ndim == 2 and x.dtype is weight.dtype and x.dtype.itemsize > 2:
            out = matrix_product(xp, x, weight.T)
        else:
            out = _linear_general(xp, x, weight)
    except ValueError:
        raise errors.matmul(x.shape, weight.T.shape) from None
    return out if bias is None else _add_bias(out, bias)


def _linear_general(xp: Any, x: Any, weight: Any) -> Any:
    if x.dtype != weight.dtype:
        raise errors.matmul_dtypes(x.dtype, weight.dtype)
    if x.ndim == 0 or weight.ndim not in (1, 2):
        raise errors.matmul(x.shape, weight.T.shape)
    wide = xp.factor(x)
    if wide is not x:
        return _linear_general(xp, wide, xp.factor(weight)).astype(x.dtype)
    rows = x.reshape(prod(x.shape[:-1]), x.shape[-1]) if x.ndim > 2 else x
    product = matrix_product(xp, rows, weight.T) if rows.ndim == weight.ndim == 2 else xp.asarray(xp.dot(rows, weight.T))
    return product.reshape(x.shape[:-1] + weight.shape[:-1])


def _add_bias(out: Any, bias: Any) -> Any:
    if bias.dtype is not out.dtype and bias.dtype != out.dtype:
        raise errors.addmm_dtypes(bias.dtype, out.dtype)
    try:
        memory.add_into(out, bias)
    except ValueError:
        raise errors.expand_mismatch(bias.shape, out.shape) from None
    return out


@linear.vjp("x")
def _(F, ct, weight):
    weight = F.conj(weight)
    return F.matmul(ct, weight) if weight.ndim == 2 else F.unsqueeze(ct, dim=-1) * weight


@linear.vjp("weight")
@differs_above(2)
def _(F, ct, x, weight_shape):
    x = F.conj(x)
    if x.ndim > 2:
        rows = prod(x.shape[:-1])  # -1 is ambiguous for sizes of 0
        x = F.reshape(x, shape=(rows, x.shape[-1]))
        ct = F.reshape(ct, shape=(rows, *weight_shape[:-1]))
    if len(weight_shape) == 1:
        return F.matmul(ct, x) if x.ndim == 2 else ct * x
    if x.ndim == 1:
        return F.unsqueeze(ct, dim=-1) * x
    return F.matmul(F.transpose(ct, dim0=0, dim1=1), x)


@linear.vjp("bias")
def _(F, ct):
    return ct


@linear.jvp("x", "weight")
def _(F, x_t, weight_t, x, weight):
    along_x = None if x_t is None else F.linear(x_t, weight)
    if weight_t is None:
        return along_x
    along_weight = F.linear(x, weight_t)
    return along_weight if along_x is None else along_x + along_weight


@linear.jvp("bias")
def _(F, bias_t):
    return bias_t


@composite(namespaces=("", "nn.functional"))
def bilinear(F, input1, input2, weight, bias=None):
    """Bilinear form of two rows with each of k matrices: input1 @ weight[i] @ input2 + bias[i].

    input1: (..., n), input2: (..., m), weight: (k, n, m), bias: (k) or None; returns (..., k).

    Derivative: in each factor the sum of the products of ct with the other two factors."""
    k, n, m = weight.shape
    rows = F.matmul(input1, F.reshape(F.permute(weight, dims=(1, 0, 2)), shape=(n, k * m)))
    rows = F.reshape(rows, shape=(*input1.shape[:-1], k, m))
    out = F.reshape(F.matmul(rows, F.unsqueeze(input2, dim=-1)), shape=(*input1.shape[:-1], k))
    return out if bias is None else out + bias


# -- embedding ---------------------------------------------------------------------------------------------------------


@composite(namespaces=("nn.functional",))
def embedding(F, input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Look up rows of weight: weight[input].

    input: integers of any shape, weight: (n, m); returns input's shape + (m,). padding_idx: a row that gets no gradient.
    max_norm, norm_type: rows with a larger norm_type-norm than max_norm are scaled down to it first, in place.
    scale_grad_by_freq: divide each row's gradient by the number of its uses. sparse: accepted, but gradients are dense.
    Raises IndexError for a row that does not exist.

    Derivative: in each row of weight the sum of ct over the uses of the row."""
    if max_norm is not None:
        limit_rows(weight, input, max_norm, norm_type)
    if padding_idx is not None:
        n = weight.shape[0]
        if not -n <= padding_idx < n:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= n
    return F._embedding(input, weight, padding_idx=padding_idx, scale_grad_by_freq=scale_grad_by_freq)


@general(promote=NONE, node="EmbeddingBackward0", complex=False, **_PRIVATE)
def _embedding(xp, x, weight, *, padding_idx, scale_grad_by_freq):
    """weight[x]. padding_idx: 0 <= padding_idx < n, or None."""
    if x.dtype.kind not in "iu":
        raise errors.UnsupportedDtypeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{errors.tensor_type(x.dtype, device_name(x))} instead (while checking arguments for embedding)"
        )
    found = places.take_along(weight, x.reshape(-1), 0, False) if weight.ndim == 2 else None
    if found is not None:
        return found.reshape(*x.shape, weight.shape[1])
    if not are_inside(x, 0, weight.shape[0]):
        raise errors.TensorIndexError("index out of range in self")
    return xp.take(weight, x, axis=0)


@_embedding.vjp("weight")
def _(F, ct, x, weight_shape, padding_idx, scale_grad_by_freq):
    if padding_idx is not None or scale_grad_by_freq:
        ct = ct * F._row_factors(x, ct, padding_idx=padding_idx, by_frequency=scale_grad_by_freq)
    return F._scatter_rows(ct, x, rows=weight_shape[0])


@nondifferentiable(promote=NONE, **_PRIVATE)
def _row_factors(xp, x, ct, *, padding_idx, by_frequency):
    """Factor of the cotangent of each looked-up row: 0 for the padding row, 1 / n for a row used n times."""
    factors = xp.ones(x.shape, ct.dtype)
    if by_frequency and x.size:
        x = private_index(x)
        factors /= xp.bincount(x.reshape(-1))[x]
    if padding_idx is not None:
        factors[x == padding_idx] = 0
    return factors[..., None]


@general(promote=NONE, **_PRIVATE)
def _scatter_rows(xp, x, index, *, rows):
    """Zeros of shape (rows, m) with the rows of x, (..., m), added at index, (...)."""
    flat = x.reshape(index.size, x.shape[-1])
    out = memory.new_zeros((rows, x.shape[-1]), x.dtype, x)
    if index.size and not places.write_along(places.ADD, out, index.reshape(-1), flat, 0, False):
        # Sorting the indices and adding up each run of equal ones is many times faster than adding row by row.
        if type(out) in others:
            add_at(out, index.reshape(-1), flat, True)
            return out
        order = xp.argsort(index.reshape(-1), kind="stable")
        target = index.reshape(-1)[order]
        starts = xp.flatnonzero(xp.concatenate(([True], target[1:] != target[:-1])))
        out[target[starts]] = xp.add.reduceat(flat[order], starts, axis=0)
    return out


@_scatter_rows.vjp("x")
def _(F, ct, index):
    return F._embedding(index, ct, padding_idx=None, scale_grad_by_freq=False)


@nondifferentiable(promote=NONE, complex=False, **_FUNCTIONAL)
def one_hot(xp, tensor, *, num_classes=-1):
    """One-hot encoding along a new last dimension: 1 at the element's value, 0 elsewhere.

    tensor: int64, any shape, 0 <= value < num_classes; returns int64. num_classes: size of the new dimension; -1 means
    the largest value + 1. Raises RuntimeError for a value out of range."""
    if tensor.dtype != xp.int64:
        raise errors.UnsupportedDtypeError("one_hot is only applicable to index tensor of type LongTensor.")
    if tensor.size == 0 and num_classes <= 0:
        raise errors.ShapeError("Can not infer total number of classes from empty tensor.")
    if tensor.size and tensor.min() < 0:
        raise errors.ShapeError("Class values must be non-negative.")
    highest = int(tensor.max()) if tensor.size else -1
    if num_classes == -1:
        num_classes = highest + 1
    if highest >= num_classes:
        raise errors.ShapeError("Class values must be smaller than num_classes.")
    return (tensor[..., None] == xp.arange(num_classes)).astype(xp.int64)


# -- dropout -----------------------------------------------------------------------------------------------------------


@nondifferentiable(**_PRIVATE)
def _dropout_noise(xp, x, *, p, independent_dims=None):
    """Draw noise: 0 with probability p, else 1 / (1 - p).

    independent_dims: number of leading dimensions with independent draws; the noise is constant along the others. None: all."""
    from wengert.generator import generator_of

    shape = x.shape if independent_dims is None else x.shape[:independent_dims] + (1,) * (x.ndim - independent_dims)
    if p == 1:
        return xp.zeros(shape, x.dtype)
    drawn = generator_of(None, device_name(x)).uniform_like(x if independent_dims is None else xp.empty(shape))
    return xp.asarray(drawn < 1 - p) * x.dtype.type(1 / (1 - p))


def _apply_dropout(F: Any, input: Any, p: float, training: bool, inplace: bool, independent_dims: int | None = None) -> Any:
    if not 0 <= p <= 1:
        raise errors.ElementError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return checked("dropout", input)
    noise = F._dropout_noise(input, p=p, independent_dims=independent_dims)
    return input.mul_(noise) if inplace else input * noise


@composite(namespaces=("nn.functional",))
def dropout(F, input, p=0.5, training=True, inplace=False):
    """Set each element to 0 with probability p and divide the others by 1 - p; return input itself if not training.

    input: any shape, floating or complex. inplace: write into input and return it. Raises ValueError unless 0 <= p <= 1.

    Derivative: the factor of the element, 0 or 1 / (1 - p)."""
    return _apply_dropout(F, input, p, training, inplace)


def _channel_dropout(op: str, ndims: tuple[int, int]) -> Any:
    def channel_dropout(F, input, p=0.5, training=True, inplace=False):
        unbatched, batched = ndims
        return _apply_dropout(F, input, p, training, inplace, 2 if input.ndim >= batched or input.ndim < unbatched else 1)

    channel_dropout.__doc__ = f"""Set whole channels to 0 with probability p and divide the others by 1 - p; see `dropout`.

    input: (n, channels, ...), or (channels, ...) with {ndims[0]} dimensions.

    Derivative: the factor of the channel, 0 or 1 / (1 - p)."""
    channel_dropout.__name__ = channel_dropout.__qualname__ = op
    return composite(name=op, namespaces=("nn.functional",))(channel_dropout)


dropout1d = _channel_dropout("dropout1d", (2, 3))
dropout2d = _channel_dropout("dropout2d", (3, 4))
dropout3d = _channel_dropout("dropout3d", (4, 5))


# -- normalisation -----------------------------------------------------------------------------------------------------


@composite(namespaces=("nn.functional",))
def normalize(F, input, p=2.0, dim=1, eps=1e-12):
    """Divide input by its p-norm over dim, or by eps where the norm is smaller.

    input: any shape, floating or complex. Derivative: that of the quotient; where the norm is below eps, the divisor is
    constant."""
    length = F.clamp(F.norm(input, p, dim, True), min=eps, max=None)
    return input / length


@composite(namespaces=("", "nn.functional"))
def cosine_similarity(F, x1, x2, dim=1, eps=1e-8):
    """Cosine of the angle between x1 and x2 along dim: sum(x1 * x2) / (max(|x1|, eps) * max(|x2|, eps)).

    x1, x2: floating, shapes that broadcast. Derivative: that of the quotient; a length below eps counts as constant."""
    dtype = dtypes.promote_types(x1.dtype, x2.dtype)
    if not dtype.is_floating_point:
        raise errors.UnsupportedDtypeError(
            f"expected common dtype to be floating point, yet common dtype is {errors.scalar_name(dtype)}"
        )
    x1, x2 = (x if x.dtype == dtype else F.cast(x, dtype.dtype) for x in (x1, x2))
    if x1.shape != x2.shape:
        x1, x2 = F.broadcast_tensors(x1, x2)
    first = x1 / F.clamp(F.norm(x1, 2, dim, True), min=eps, max=None)
    second = x2 / F.clamp(F.norm(x2, 2, dim, True), min=eps, max=None)
    return F.sum(first * second, dim=dim)


@composite(namespaces=("", "nn.functional"))
def layer_norm(F, input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    """Layer normalisation: (input - mean) / sqrt(variance + eps) * weight + bias over the last dimensions.

    input: floating. normalized_shape: the sizes of the last dimensions, an int or a sequence. weight, bias: of that shape,
    or None. The variance is the biased one. Raises RuntimeError for shapes that do not fit.

    Derivative: in input r (g - mean(g) - h mean(g h)), with g = ct * weight, r = 1 / sqrt(variance + eps) and
    h = (input - mean) * r; in weight the sum of ct * h, in bias the sum of ct."""
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not shape or tuple(input.shape[-len(shape) :]) != shape:
        raise errors.layer_norm_input(shape, input.shape)
    for name, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and tuple(tensor.shape) != shape:
            raise errors.layer_norm_parameter(name, tensor.shape, shape)
    return F._layer_norm(input, weight, bias, dims=len(shape), eps=eps)[0]


@general(outputs=("out", "mean", "rstd"), node="NativeLayerNormBackward0", complex=False, **_PRIVATE)
def _layer_norm(xp, x, weight=None, bias=None, *, dims, eps):
    """Return (layer_norm over the last dims, mean, 1 / sqrt(variance + eps)). Mean and rstd keep the reduced dimensions."""
    if x.dtype.kind not in "fV":
        raise errors.unsupported_dtype("LayerNormKernelImpl", x.dtype)
    axis = tuple(range(x.ndim - dims, x.ndim))
    n = max(prod(x.shape[x.ndim - dims :]), 1)
    found = rows.standardize(x, weight, bias, n, eps)
    if found is not None:
        over = (*x.shape[: x.ndim - dims], *(1,) * dims)
        return found[0], found[1].reshape(over), found[2].reshape(over)
    wide = x.astype(xp.float32) if x.dtype.itemsize == 2 else x
    mean = xp.add.reduce(wide, axis=axis, keepdims=True) / n
    out = wide - mean
    rstd = 1 / xp.sqrt(xp.add.reduce(out * out, axis=axis, keepdims=True) / n + eps)
    out *= rstd
    if weight is not None:
        out *= weight
    if bias is not None:
        out += bias
    return out.astype(x.dtype, copy=False), xp.asarray(mean, x.dtype), xp.asarray(rstd, x.dtype)


@_layer_norm.vjp("x", "weight", "bias")
@differs_on_arrays
def _(F, ct, x, weight, mean, rstd, dims):
    xp = backend_of(ct)
    if not F.is_tensor and ct[1] is None and ct[2] is None:
        needs = 5 if weight is None else 7
        found = rows.standardize_cotangent(xp.ascontiguousarray(ct[0]), x, mean, rstd, weight, needs)
        if found is not None:
            shape = x.shape[x.ndim - dims :]
            return found[0], None if weight is None else found[1].reshape(shape), found[2].reshape(shape)
    of_weight = None if ct[0] is None or weight is None else ct[0] * ((x - mean) * rstd)
    return _layer_norm_cotangent(F, ct, x, weight, mean, rstd, dims), of_weight, ct[0]


def _layer_norm_cotangent(F: Any, ct: Any, x: Any, weight: Any, mean: Any, rstd: Any, dims: int) -> Any:
    over = tuple(range(x.ndim - dims, x.ndim))
    n = max(prod(x.shape[x.ndim - dims :]), 1)
    h = (x - mean) * rstd
    result = None
    if ct[0] is not None:
        g = ct[0] if weight is None else ct[0] * weight
        of_mean, of_h = F.sum(g, dim=over, keepdim=True) / n, F.sum(g * h, dim=over, keepdim=True) / n
        result = (g - of_mean - h * of_h) * rstd
    # mean and rstd are outputs so that this rule, which reads them, is differentiable again.
    if ct[1] is not None:
        result = F.expand(ct[1] / n, shape=x.shape) if result is None else result + ct[1] / n
    if ct[2] is not None:
        part = h * (ct[2] * rstd * rstd / -n)
        result = part if result is None else result + part
    return result


@composite(namespaces=("", "nn.functional"))
def rms_norm(F, input, normalized_shape, weight=None, eps=None):
    """Root mean square normalisation: input / sqrt(mean(input**2) + eps) * weight over the last dimensions.

    normalized_shape, weight: as in `layer_norm`. eps: the epsilon of the dtype if None.

    Derivative: that of the formula."""
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not shape or tuple(input.shape[-len(shape) :]) != shape:
        raise errors.layer_norm_input(shape, input.shape)
    if weight is not None and tuple(weight.shape) != shape:
        raise errors.layer_norm_parameter("weight", weight.shape, shape)
    dtype = dtypes.as_numpy_dtype(input.dtype)
    if dtype.itemsize == 2:  # squares of 16-bit numbers overflow
        input = F.cast(input, dtypes.float32.dtype)
        weight = None if weight is None else F.cast(weight, dtypes.float32.dtype)
    eps = dtypes.finfo(input.dtype).eps if eps is None else eps
    squares = F.mean(input * input, dim=normalize_dims(tuple(range(-len(shape), 0)), input.ndim), keepdim=True)
    out = input * F.rsqrt(squares + eps)
    out = out if weight is None else out * weight
    return F.cast(out, dtype) if dtype.itemsize == 2 else out
