"""Products of vectors, matrices and batches of matrices.

Note [Matrix products]
Rules pass transposed views to BLAS, which reads them without a copy. If one factor is a matrix and the other a batch, the
batch dimensions are folded into rows: one large product replaces many small ones.
"""

from __future__ import annotations

from math import prod
from operator import index
from typing import Any

from wengert import errors
from wengert.kernels import rows
from wengert.ops.blas import LARGE_FACTOR, batched_product, matrix_product
from wengert.ops.dims import normalize_dim, unrepeated_dims
from wengert.ops.registry import INT_TO_INT64, NONE, alias, bilinear, composite, linear


def _dot(xp: Any, a: Any, b: Any) -> Any:
    """a @ b for vectors and matrices of one dtype."""
    wide = xp.factor(a)
    if wide is not a:
        return xp.asarray(_dot(xp, wide, xp.factor(b))).astype(a.dtype)
    return matrix_product(xp, a, b) if a.ndim == b.ndim == 2 else xp.dot(a, b)


def _batched_matmul(xp: Any, a: Any, b: Any) -> Any:
    """a @ b if a or b has more than two dimensions. See Note [Matrix products]."""
    wide = xp.factor(a, b.ndim > 2)
    if wide is not a:
        return _batched_matmul(xp, wide, xp.factor(b, b.ndim > 2)).astype(a.dtype)
    if b.ndim == 2:
        return matrix_product(xp, _as_rows(a), b).reshape(a.shape[:-1] + b.shape[1:])
    if b.ndim == 1:
        return xp.dot(_as_rows(a), b).reshape(a.shape[:-1])
    return batched_product(xp, a, b)


def _as_rows(x: Any) -> Any:
    """Reshape x, (..., k), to (rows, k). k may be 0."""
    return x.reshape(prod(x.shape[:-1]), x.shape[-1])


def _check_is_tensor(op: str, argument: str, position: int, x: Any) -> None:
    """Raise TypeError for a number."""
    if not hasattr(x, "ndim"):
        raise errors.wrong_argument_type(op, argument, position, type(x))


def _check_bool(x: Any) -> None:
    """Raise RuntimeError for a bool array."""
    if x.dtype.kind == "b":
        raise errors.unsupported_dtype("addmm_impl_cpu_", x.dtype)


def _shapes_error(a: Any, b: Any) -> Exception:
    """Return torch's error for a @ b with shapes that do not fit."""
    if a.ndim > 2 and b.ndim in (1, 2) and a.shape[-1] != b.shape[0]:
        return errors.matmul((prod(a.shape[:-1]), a.shape[-1]), b.shape)
    if a.ndim == b.ndim == 3 and a.shape[0] == b.shape[0]:
        return _batches_error(a.shape, b.shape)
    return errors.matmul(a.shape, b.shape)


def _batches_error(a: Any, b: Any) -> Exception:
    """Error for the shapes of two batches of matrices that bmm cannot multiply."""
    return errors.ShapeError(
        f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[2]}] but got: [{b[0]}, {b[1]}]."
    )


def _dtypes_error(a: Any, b: Any) -> Exception:
    """Return torch's error for a @ b with different dtypes."""
    if a.ndim == b.ndim == 1:
        return errors.dot_dtypes(a.dtype, b.dtype)
    if b.ndim <= 2:
        return errors.matmul_dtypes(a.dtype, b.dtype)
    return errors.UnsupportedDtypeError(
        f"expected scalar type {errors.scalar_name(a.dtype)} but found {errors.scalar_name(b.dtype)}"
    )


# -- matmul ------------------------------------------------------------------------------------------------------------

_NODES = {
    (2, 2): "MmBackward0",
    (2, 1): "MvBackward0",
    (1, 1): "DotBackward0",
    (1, 2): "SqueezeBackward4",
    (2, 3): "CloneBackward0",
}


def _matmul_node(inputs: tuple[Any, ...], params: Any) -> str:
    return _NODES.get((inputs[0].ndim, inputs[1].ndim), "UnsafeViewBackward0")


@bilinear(own_precision=True, promote=NONE, operator="matmul", node=_matmul_node)
def matmul(xp, x, y):
    """Matrix product x @ y of vectors (n), matrices (n, m) and batches (..., n, m), whose batch dimensions broadcast.

    A vector counts as a row on the left and as a column on the right; its dimension is dropped from the result. x, y: of one
    dtype. Raises RuntimeError for shapes that do not fit and for different dtypes, TypeError for a number.

    Derivative: ct @ y^H in x, x^H @ ct in y.

    >>> import wengert
    >>> wengert.tensor([[1.0, 2.0], [3.0, 4.0]]) @ wengert.tensor([1.0, 1.0])
    tensor([3., 7.])
    """
    try:
        if x.dtype is y.dtype and 0 < x.ndim <= 2 and 0 < y.ndim <= 2 and x.dtype.kind in "fc" and x.dtype.itemsize > 2:
            return xp.dot(x, y) if x.size + y.size < LARGE_FACTOR or x.ndim + y.ndim < 4 else matrix_product(xp, x, y)
    except (ValueError, AttributeError):
        pass
    return _matmul_general(xp, x, y)


def _matmul_general(xp: Any, x: Any, y: Any) -> Any:
    """matmul of any operands, with torch's errors."""
    product = rows.matmul(x, y)
    if product is not None:
        return product
    _check_is_tensor("matmul", "input", 0, x)
    _check_is_tensor("matmul", "other", 1, y)
    if x.ndim == 0 or y.ndim == 0 or x.shape[-1] != y.shape[max(y.ndim - 2, 0)]:
        raise _shapes_error(x, y)
    if x.dtype != y.dtype:
        raise _dtypes_error(x, y)
    _check_bool(x)
    if x.ndim <= 2 and y.ndim <= 2:
        return _dot(xp, x, y)
    try:
        return _batched_matmul(xp, x, y)
    except ValueError:
        raise _shapes_error(x, y) from None


def _cotangent_of_left(F: Any, ct: Any, y: Any, x_ndim: int) -> Any:
    """Cotangent of x, given ct, the cotangent of x @ y: of x's shape, or of its broadcast shape."""
    y = F.conj(y)
    if y.ndim == x_ndim == 2:
        return F.matmul(ct, y.T)
    if y.ndim == 1:
        return F.unsqueeze(ct, dim=-1) * y
    if x_ndim == 1:
        return F.matmul(y, ct) if y.ndim == 2 else F.squeeze(F.matmul(y, F.unsqueeze(ct, dim=-1)), dim=-1)
    return F.matmul(ct, F.transpose(y, dim0=-2, dim1=-1))


def _cotangent_of_right(F: Any, ct: Any, x: Any, y_ndim: int) -> Any:
    """Cotangent of y, given ct, the cotangent of x @ y: of y's shape, or of its broadcast shape."""
    x = F.conj(x)
    if x.ndim == y_ndim == 2:
        return F.matmul(x.T, ct)
    if y_ndim == 1:
        if x.ndim == 1:
            return ct * x
        if x.ndim > 2:
            x, ct = F.reshape(x, shape=(prod(x.shape[:-1]), x.shape[-1])), F.reshape(ct, shape=(-1,))
        return F.matmul(ct, x)
    if x.ndim == 1:
        return F.unsqueeze(x, dim=-1) * F.unsqueeze(ct, dim=-2)
    if y_ndim == 2 and x.ndim > 2:
        rows = prod(x.shape[:-1])
        x, ct = F.reshape(x, shape=(rows, x.shape[-1])), F.reshape(ct, shape=(rows, ct.shape[-1]))
    return F.matmul(F.transpose(x, dim0=-2, dim1=-1), ct)


@matmul.vjp("x")
def _(F, ct, y, x_shape):
    if ct.ndim == y.ndim == 2 and not F.is_tensor and y.dtype.kind == "f":  # the most frequent case, with two calls fewer
        return F.matmul(ct, y.T)
    return _cotangent_of_left(F, ct, y, len(x_shape))


@matmul.vjp("y")
def _(F, ct, x, y_shape):
    if ct.ndim == x.ndim == 2 and not F.is_tensor and x.dtype.kind == "f":
        return F.matmul(x.T, ct)
    return _cotangent_of_right(F, ct, x, len(y_shape))


# -- products for fixed numbers of dimensions --------------------------------------------------------------------------


@bilinear(own_precision=True, promote=NONE)
def mm(xp, x, mat2):
    """Product of two matrices. x: (n, k), mat2: (k, m), of one dtype; returns (n, m).

    Raises RuntimeError for other dimensions, shapes that do not fit and different dtypes.

    Derivative: ct @ mat2^H in x, x^H @ ct in mat2."""
    _check_is_tensor("mm", "mat2", 1, mat2)
    if x.ndim != 2 or mat2.ndim != 2:
        raise errors.ShapeError(f"{'self' if x.ndim != 2 else 'mat2'} must be a matrix")
    return matmul.forward(xp, x, mat2)


@mm.vjp("x")
def _(F, ct, mat2):
    return _cotangent_of_left(F, ct, mat2, 2)


@mm.vjp("mat2")
def _(F, ct, x):
    return _cotangent_of_right(F, ct, x, 2)


@bilinear(own_precision=True, promote=NONE)
def mv(xp, x, vec):
    """Product of a matrix and a vector. x: (n, k), vec: (k), of one dtype; returns (n).

    Raises RuntimeError for other dimensions, shapes that do not fit and different dtypes.

    Derivative: outer(ct, conj(vec)) in x, x^H @ ct in vec."""
    _check_is_tensor("mv", "vec", 1, vec)
    if x.ndim != 2 or vec.ndim != 1:
        raise errors.ShapeError(f"vector + matrix @ vector expected, got 1, {x.ndim}, {vec.ndim}")
    if x.dtype != vec.dtype:
        raise errors.UnsupportedDtypeError(
            f"addmv input tensors must have the same dtype, but got {errors.scalar_name(vec.dtype)}, "
            f"{errors.scalar_name(x.dtype)}, and {errors.scalar_name(vec.dtype)}"
        )
    return matmul.forward(xp, x, vec)


@mv.vjp("x")
def _(F, ct, vec):
    return _cotangent_of_left(F, ct, vec, 2)


@mv.vjp("vec")
def _(F, ct, x):
    return _cotangent_of_right(F, ct, x, 1)


def _check_vectors(op: str, x: Any, tensor: Any) -> None:
    """Raise torch's error unless x and tensor are vectors of one dtype."""
    _check_is_tensor(op, "tensor", 1, tensor)
    if x.ndim != 1 or tensor.ndim != 1:
        raise errors.ShapeError(f"1D tensors expected, but got {x.ndim}D and {tensor.ndim}D tensors")
    if x.dtype != tensor.dtype:
        raise _dtypes_error(x, tensor)


@bilinear(own_precision=True, promote=NONE)
def dot(xp, x, tensor):
    """Sum of the products of two vectors' elements. x, tensor: (n), of one dtype; returns a 0-d tensor.

    Raises RuntimeError for other dimensions, different sizes and different dtypes.

    Derivative: conj(tensor) in x, conj(x) in tensor."""
    _check_vectors("dot", x, tensor)
    return matmul.forward(xp, x, tensor)


@dot.vjp("x")
def _(F, ct, tensor):
    return ct * F.conj(tensor)


@dot.vjp("tensor")
def _(F, ct, x):
    return ct * F.conj(x)


@bilinear(own_precision=True, promote=NONE)
def vdot(xp, x, other):
    """`dot` of conj(x) with other. x, other: (n), of one dtype; returns a 0-d tensor.

    Derivative: conj(ct) * other in x, ct * x in other."""
    _check_vectors("vdot", x, other)
    return matmul.forward(xp, x.conj(), other)


@vdot.vjp("x")
def _(F, ct, other):
    return F.conj(ct) * other


@vdot.vjp("other")
def _(F, ct, x):
    return ct * x


@bilinear(own_precision=True, promote=NONE)
def bmm(xp, x, mat2):
    """Products of two batches of matrices. x: (b, n, k), mat2: (b, k, m), of one dtype; returns (b, n, m).

    Raises RuntimeError for other dimensions, shapes that do not fit and different dtypes.

    Derivative: ct @ mat2^H in x, x^H @ ct in mat2."""
    _check_is_tensor("bmm", "mat2", 1, mat2)
    if x.ndim != 3 or mat2.ndim != 3:
        raise errors.ShapeError(f"{'batch1' if x.ndim != 3 else 'batch2'} must be a 3D tensor")
    if x.shape[0] != mat2.shape[0] or x.shape[2] != mat2.shape[1]:
        raise _batches_error(x.shape, mat2.shape)
    return matmul.forward(xp, x, mat2)


@bmm.vjp("x")
def _(F, ct, mat2):
    return _cotangent_of_left(F, ct, mat2, 3)


@bmm.vjp("mat2")
def _(F, ct, x):
    return _cotangent_of_right(F, ct, x, 3)


# -- products with something added -------------------------------------------------------------------------------------


def _add_scaled(xp: Any, added: Any, beta: Any, product: Any, alpha: Any) -> Any:
    """beta * added + alpha * product, in the memory of product. If beta is 0, added is not read; it may be NaN."""
    if product.dtype.kind in "iu":
        beta, alpha = int(beta), int(alpha)
    elif product.dtype.kind == "b":
        beta, alpha = bool(beta), bool(alpha)
    if added.dtype != product.dtype:
        raise errors.addmm_dtypes(added.dtype, product.dtype)
    if alpha != 1:
        product *= alpha
    if beta == 0:
        return product
    try:
        product += added if beta == 1 else beta * added
    except ValueError:
        raise errors.expand_mismatch(added.shape, product.shape) from None
    return product


@bilinear(own_precision=True, promote=NONE, inplace=True, added="x")
def addmm(xp, x, mat1, mat2, *, beta=1, alpha=1):
    """beta * x + alpha * (mat1 @ mat2).

    mat1: (n, k), mat2: (k, m); x broadcasts to the result, (n, m). All of one dtype. If beta is 0, x is not read. Raises
    RuntimeError for shapes and dtypes that do not fit.

    Derivative: beta ct in x, alpha ct @ mat2^H in mat1, alpha mat1^H @ ct in mat2."""
    if mat1.ndim != 2 or mat2.ndim != 2:
        raise errors.ShapeError(f"{'mat1' if mat1.ndim != 2 else 'mat2'} must be a matrix")
    return _add_scaled(xp, x, beta, xp.asarray(matmul.forward(xp, mat1, mat2)), alpha)


@bilinear(own_precision=True, promote=NONE, inplace=True, added="x")
def addmv(xp, x, mat, vec, *, beta=1, alpha=1):
    """beta * x + alpha * (mat @ vec). mat: (n, k), vec: (k); x broadcasts to the result, (n). All of one dtype.

    Derivative: beta ct in x, alpha outer(ct, conj(vec)) in mat, alpha mat^H @ ct in vec."""
    if mat.ndim != 2 or vec.ndim != 1 or x.ndim > 1:
        raise errors.ShapeError(f"vector + matrix @ vector expected, got {x.ndim}, {mat.ndim}, {vec.ndim}")
    return _add_scaled(xp, x, beta, xp.asarray(matmul.forward(xp, mat, vec)), alpha)


@bilinear(own_precision=True, promote=NONE, inplace=True, added="x")
def baddbmm(xp, x, batch1, batch2, *, beta=1, alpha=1):
    """beta * x + alpha * (batch1 @ batch2).

    batch1: (b, n, k), batch2: (b, k, m); x broadcasts to the result, (b, n, m). All of one dtype.

    Derivative: beta ct in x, alpha ct @ batch2^H in batch1, alpha batch1^H @ ct in batch2."""
    return _add_scaled(xp, x, beta, bmm.forward(xp, batch1, batch2), alpha)


@bilinear(own_precision=True, promote=NONE, inplace=True, added="x")
def addbmm(xp, x, batch1, batch2, *, beta=1, alpha=1):
    """beta * x + alpha * (the sum of batch1 @ batch2 over the batch).

    batch1: (b, n, k), batch2: (b, k, m); x broadcasts to the result, (n, m). All of one dtype.

    Derivative: beta ct in x, alpha ct @ batch2^H in batch1, alpha batch1^H @ ct in batch2."""
    return _add_scaled(xp, x, beta, xp.add.reduce(bmm.forward(xp, batch1, batch2), axis=0, dtype=x.dtype), alpha)


@bilinear(inplace=True, added="x")
def addr(xp, x, vec1, vec2, *, beta=1, alpha=1):
    """beta * x + alpha * outer(vec1, vec2). vec1: (n), vec2: (m); x broadcasts to the result, (n, m).

    Derivative: beta ct in x, alpha ct @ conj(vec2) in vec1, alpha conj(vec1) @ ct in vec2."""
    if vec1.ndim != 1 or vec2.ndim != 1:
        raise errors.ShapeError(f"1D tensors expected, but got {vec1.ndim}D and {vec2.ndim}D tensors")
    if x.dtype.kind in "biu":
        for name, factor in (("beta", beta), ("alpha", alpha)):
            if isinstance(factor, float):
                raise errors.UnsupportedDtypeError(
                    f"For integral input tensors, argument {name} must not be a floating point number."
                )
    return _add_scaled(xp, x, beta, xp.multiply.outer(vec1, vec2), alpha)


def _times_factor(ct: Any, factor: Any, F: Any) -> Any:
    """ct * conj(factor)."""
    return ct if factor == 1 else ct * F.conj(factor)


for _op in (addmm, addmv, baddbmm, addbmm, addr):

    @_op.vjp("x")
    def _(F, ct, beta):
        return _times_factor(ct, beta, F)


@addmm.vjp("mat1")
def _(F, ct, mat2, alpha):
    return _times_factor(_cotangent_of_left(F, ct, mat2, 2), alpha, F)


@addmm.vjp("mat2")
def _(F, ct, mat1, alpha):
    return _times_factor(_cotangent_of_right(F, ct, mat1, 2), alpha, F)


@addmv.vjp("mat")
def _(F, ct, vec, alpha):
    return _times_factor(_cotangent_of_left(F, ct, vec, 2), alpha, F)


@addmv.vjp("vec")
def _(F, ct, mat, alpha):
    return _times_factor(_cotangent_of_right(F, ct, mat, 1), alpha, F)


@baddbmm.vjp("batch1")
def _(F, ct, batch2, alpha):
    return _times_factor(_cotangent_of_left(F, ct, batch2, 3), alpha, F)


@baddbmm.vjp("batch2")
def _(F, ct, batch1, alpha):
    return _times_factor(_cotangent_of_right(F, ct, batch1, 3), alpha, F)


@addbmm.vjp("batch1")
def _(F, ct, batch2, alpha):
    return _times_factor(_cotangent_of_left(F, ct, batch2, 3), alpha, F)


@addbmm.vjp("batch2")
def _(F, ct, batch1, alpha):
    return _times_factor(F.matmul(F.transpose(F.conj(batch1), dim0=1, dim1=2), ct), alpha, F)


@addr.vjp("vec1")
def _(F, ct, vec2, alpha):
    return _times_factor(F.matmul(ct, F.conj(vec2)), alpha, F)


@addr.vjp("vec2")
def _(F, ct, vec1, alpha):
    return _times_factor(F.matmul(F.conj(vec1), ct), alpha, F)


# -- outer, inner and general products ---------------------------------------------------------------------------------


@composite(method=True)
def outer(F, input, vec2):
    """Outer product: result[i, j] = input[i] * vec2[j]. input: (n), vec2: (m), of any dtypes; returns (n, m).

    Derivative: ct @ conj(vec2) in input, conj(input) @ ct in vec2."""
    for argument, vector in (("self", input), ("vec2", vec2)):
        if vector.ndim != 1:
            raise errors.ShapeError(f"outer: Expected 1-D argument {argument}, but got {vector.ndim}-D")
    return F.unsqueeze(input, dim=-1) * vec2


alias("ger", outer)


@composite(method=True)
def inner(F, input, other):
    """Sums of products over the last dimensions: input (*a, k) and other (*b, k) give (*a, *b).

    If input or other is 0-d, the result is input * other. Raises RuntimeError for different sizes k and different dtypes.

    Derivative: as in `tensordot`."""
    if input.ndim == 0 or other.ndim == 0:
        return input * other
    if input.dtype != other.dtype:
        raise errors.UnsupportedDtypeError("both inputs should have same dtype")
    if input.shape[-1] != other.shape[-1]:
        raise errors.ShapeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(input.shape)} and "
            f"{list(other.shape)}"
        )
    if input.ndim == other.ndim == 1:
        return F.reshape(F.dot(input, other), shape=())
    return F.tensordot(input, other, dims=((-1,), (-1,)))


@composite()
def tensordot(F, a, b, dims=2):
    """Sums of products over pairs of dimensions of a and b.

    dims: a list of dims of a and a list of dims of b; or an int n, the last n dims of a and the first n dims of b. The result
    has the other dimensions of a, then those of b. A size of 1 broadcasts within a pair; RuntimeError for other different
    sizes, and for different dtypes.

    Derivative: in a the tensordot of ct and conj(b) over the other dimensions of b; in b the tensordot of conj(a) and ct over
    the other dimensions of a."""
    pairs = _tensordot_dims(a, b, dims)
    if a.dtype != b.dtype:
        raise errors.UnsupportedDtypeError("both inputs should have same dtype")
    first, second = unrepeated_dims(pairs[0], a.ndim), unrepeated_dims(pairs[1], b.ndim)
    for d, e in zip(first, second, strict=True):
        if a.shape[d] != b.shape[e]:  # one of the two sizes is 1 and broadcasts
            if a.shape[d] == 1:
                b = F.sum(b, dim=e, keepdim=True, dtype=b.dtype)
            else:
                a = F.sum(a, dim=d, keepdim=True, dtype=a.dtype)
    rest_a = [d for d in range(a.ndim) if d not in first]
    rest_b = [d for d in range(b.ndim) if d not in second]
    inner_size = prod([a.shape[d] for d in first])
    shape_a, shape_b = tuple([a.shape[d] for d in rest_a]), tuple([b.shape[d] for d in rest_b])
    left = F.reshape(F.permute(a, dims=(*rest_a, *first)), shape=(prod(shape_a), inner_size))
    right = F.reshape(F.permute(b, dims=(*second, *rest_b)), shape=(inner_size, prod(shape_b)))
    return F.reshape(F.mm(left, right), shape=shape_a + shape_b)


def _dims_error(dims: Any) -> Exception:
    return errors.ShapeError(
        "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two lists, but got "
        f"dims={dims}"
    )


def _tensordot_dims(a: Any, b: Any, dims: Any) -> tuple[list[int], list[int]]:
    """Return the two lists of dims. Raises RuntimeError unless each pair has equal sizes or a size of 1."""
    if isinstance(dims, (tuple, list)) or (hasattr(dims, "ndim") and dims.ndim == 2):
        if len(dims) != 2:
            raise _dims_error(dims)
        first, second = ([int(d) for d in ([side] if isinstance(side, int) else side)] for side in dims)
    else:
        try:
            n = index(dims)
        except TypeError:
            raise _dims_error(dims) from None
        if n < 0 or n > min(a.ndim, b.ndim):
            bound = ">= 0" if n < 0 else "< ndim_a or ndim_b"
            raise errors.ShapeError(f"tensordot expects dims {bound}, but got dims={n}")
        first, second = list(range(-n, 0)), list(range(n))
    if len(first) != len(second):
        raise errors.ShapeError("both dimension lists should have same length")
    for d, e in zip(first, second, strict=True):
        size, other = a.shape[normalize_dim(d, a.ndim)], b.shape[normalize_dim(e, b.ndim)]
        if size != other and 1 not in (size, other):
            raise errors.ShapeError(
                f"contracted dimensions need to match, but first has size {size} in dim {d} and second has size {other} in "
                f"dim {e}"
            )
    return first, second


@linear(promote=INT_TO_INT64)
def trace(xp, x):
    """Sum of the diagonal of a matrix. x: (n, m), else RuntimeError; returns a 0-d tensor.

    Derivative: 1 on the diagonal, 0 elsewhere."""
    if x.ndim != 2:
        raise errors.ShapeError(f"trace: expected a matrix, but got tensor with dim {x.ndim}")
    return xp.trace(x, dtype=x.dtype)


@trace.vjp("x")
def _(F, ct, x_shape):
    return F._on_diagonal(ct, shape=x_shape)


@linear(method=False, namespaces=())
def _on_diagonal(xp, x, *, shape):
    """Matrix of the given shape with the 0-d x on its diagonal and 0 elsewhere."""
    out = xp.zeros(shape, x.dtype)
    places = xp.arange(min(shape))
    out[places, places] = x
    return out


@_on_diagonal.vjp("x")
def _(F, ct):
    return F.trace(ct)


@composite(method=True)
def kron(F, input, other):
    """Kronecker product: each element of input is replaced by the element times other. Sizes multiply.

    A 0-d tensor promotes the dtype as one with dimensions.

    Derivative: in element i of input the sum of ct * conj(other) over block i. In element j of other the sum of
    ct * conj(input) over the elements j of all blocks."""
    if input.dtype != other.dtype and input.ndim != other.ndim:
        input, other = (F.reshape(t, shape=(1,)) if t.ndim == 0 else t for t in (input, other))
    return F._kron(input, other)


@bilinear(node="UnsafeViewBackward0", method=False, namespaces=())
def _kron(xp, x, y):
    """kron of tensors that promote as in arithmetic.

    Derivative: in element i of x the sum of ct * conj(y) over block i. In element j of y the sum of ct * conj(x) over the
    elements j of all blocks."""
    a, b = _interleave_shapes(x.shape, y.shape)
    product = x.reshape(a) * y.reshape(b)
    return product.reshape([m * n for m, n in zip(product.shape[::2], product.shape[1::2], strict=True)])


def _interleave_shapes(x_shape: tuple[int, ...], y_shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return shapes for x and y such that, in a product, the even dimensions come from x and the odd ones from y."""
    ndim = max(len(x_shape), len(y_shape))
    a, b = (1,) * (ndim - len(x_shape)) + tuple(x_shape), (1,) * (ndim - len(y_shape)) + tuple(y_shape)
    return tuple([n for size in a for n in (size, 1)]), tuple([n for size in b for n in (1, size)])


def _as_blocks(F: Any, ct: Any, a: tuple[int, ...], b: tuple[int, ...]) -> Any:
    """Reshape ct to the broadcast shape of the interleaved shapes a and b."""
    return F.reshape(ct, shape=tuple([m * n for m, n in zip(a, b, strict=True)]))


@_kron.vjp("x")
def _(F, ct, x_shape, y):
    a, b = _interleave_shapes(x_shape, y.shape)
    product = _as_blocks(F, ct, a, b) * F.conj(F.reshape(y, shape=b))
    return F.reshape(F.sum(product, dim=tuple(range(1, len(a), 2))) if a else product, shape=x_shape)


@_kron.vjp("y")
def _(F, ct, x, y_shape):
    a, b = _interleave_shapes(x.shape, y_shape)
    product = _as_blocks(F, ct, a, b) * F.conj(F.reshape(x, shape=a))
    return F.reshape(F.sum(product, dim=tuple(range(0, len(a), 2))) if a else product, shape=y_shape)
