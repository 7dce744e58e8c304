"""The types of wengert.nn.functional.

Written by `make generate`: change the sources, not this file.
"""

# ruff: noqa

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str, type as _type
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from wengert import return_types as return_types
from wengert.devices import device as _device
from wengert.dtypes import dtype as _dtype
from wengert.generator import Generator as Generator
from wengert.sizes import Size as Size
from wengert.tensor import Tensor as Tensor

_Number: TypeAlias = _bool | _int | _float | _complex
_Operand: TypeAlias = Tensor | np.ndarray[Any, Any] | np.generic | _Number
_Dtype: TypeAlias = _dtype | np.dtype[Any] | _type[Any] | str

def sigmoid(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Logistic sigmoid, 1 / (1 + exp(-x)), accurate for all x."""
def tanh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Hyperbolic tangent of x."""
@overload
def softmax(input: Tensor, dim: _int | Sequence[_int] | None = None, _stacklevel: _int = 3, dtype: _Dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """Softmax exp(x) / sum(exp(x)) over one dimension."""
@overload
def softmax(input: Tensor, *, axis: _int | Sequence[_int] | None, _stacklevel: _int = 3, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def log_softmax(input: Tensor, dim: _int | Sequence[_int] | None = None, _stacklevel: _int = 3, dtype: _Dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of softmax over one dimension, accurate where the softmax is close to 0 or 1. Arguments: as `softmax`."""
@overload
def log_softmax(input: Tensor, *, axis: _int | Sequence[_int] | None, _stacklevel: _int = 3, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def softmin(input: Tensor, dim: _int | Sequence[_int] | None = None, dtype: _Dtype | None = None, *, out: Any = None) -> Tensor:
    """softmax(-input) over one dimension. Arguments: as `softmax`."""
@overload
def softmin(input: Tensor, *, axis: _int | Sequence[_int] | None, dtype: _Dtype | None = None, out: Any = None) -> Tensor: ...
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """Fully connected layer: x @ weight^T + bias."""
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Any = None) -> Tensor:
    """Bilinear form of two rows with each of k matrices: input1 @ weight[i] @ input2 + bias[i]."""
def embedding(input: Tensor, weight: Tensor, padding_idx: Any = None, max_norm: Any = None, norm_type: _float = 2.0, scale_grad_by_freq: _bool = False, sparse: _bool = False, *, out: Any = None) -> Tensor:
    """Look up rows of weight: weight[input]."""
def one_hot(tensor: Tensor, num_classes: _int = -1, *, out: Tensor | None = None) -> Tensor:
    """One-hot encoding along a new last dimension: 1 at the element's value, 0 elsewhere."""
def dropout(input: Tensor, p: _float = 0.5, training: _bool = True, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """Set each element to 0 with probability p and divide the others by 1 - p; return input itself if not training."""
def dropout1d(input: Tensor, p: _float = 0.5, training: _bool = True, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """Set whole channels to 0 with probability p and divide the others by 1 - p; see `dropout`."""
def dropout2d(input: Tensor, p: _float = 0.5, training: _bool = True, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """Set whole channels to 0 with probability p and divide the others by 1 - p; see `dropout`."""
def dropout3d(input: Tensor, p: _float = 0.5, training: _bool = True, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """Set whole channels to 0 with probability p and divide the others by 1 - p; see `dropout`."""
def normalize(input: Tensor, p: _float = 2.0, dim: _int = 1, eps: _float = 1e-12, *, out: Any = None) -> Tensor:
    """Divide input by its p-norm over dim, or by eps where the norm is smaller."""
def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-08, *, out: Any = None) -> Tensor:
    """Cosine of the angle between x1 and x2 along dim: sum(x1 * x2) / (max(|x1|, eps) * max(|x2|, eps))."""
def layer_norm(input: Tensor, normalized_shape: _int | Sequence[_int], weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-05, cudnn_enable: _bool = True, *, out: Any = None) -> Tensor:
    """Layer normalisation: (input - mean) / sqrt(variance + eps) * weight + bias over the last dimensions."""
def rms_norm(input: Tensor, normalized_shape: _int | Sequence[_int], weight: Tensor | None = None, eps: _float | None = None, *, out: Any = None) -> Tensor:
    """Root mean square normalisation: input / sqrt(mean(input**2) + eps) * weight over the last dimensions."""
def leaky_relu(input: Tensor, negative_slope: _float = 0.01, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """input where input > 0, negative_slope * input elsewhere. input: any shape, floating."""
def elu(input: Tensor, alpha: _Number = 1.0, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """input where input > 0, alpha * (exp(input) - 1) elsewhere. input: any shape, floating."""
def relu(input: Tensor, inplace: _bool = False) -> Tensor:
    """input where input > 0, else 0. input: any shape, any real dtype but bool. inplace: write the result into input."""
def relu_(input: Tensor) -> Tensor:
    """In-place form of relu. Derivative: 1 where input is positive or NaN, else 0."""
def selu(input: Tensor, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """1.0507 * `elu`(input, alpha=1.6733). These constants keep activations normalised. input: any shape, floating."""
def celu(input: Tensor, alpha: _Number = 1.0, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """input where input > 0, alpha * (exp(input / alpha) - 1) elsewhere. input: any shape, floating."""
def prelu(input: Tensor, weight: Tensor, *, out: Any = None) -> Tensor:
    """input where input > 0, weight * input elsewhere. input: any shape, floating."""
def hardtanh(input: Tensor, min_val: _float = -1.0, max_val: _float = 1.0, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """input clipped to [min_val, max_val]. input: any shape, any real dtype. Raises ValueError if min_val > max_val."""
def relu6(input: Tensor, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """input clipped to [0, 6]. input: any shape, any real dtype."""
def threshold(input: Tensor, threshold: Any, value: _Operand, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """input where input > threshold, value elsewhere. input: any shape, any real dtype."""
def gelu(input: Tensor, approximate: _str = 'none', *, out: Any = None) -> Tensor:
    """input * Phi(input), where Phi is the standard normal distribution function. input: any shape, floating."""
def silu(input: Tensor, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """input * sigmoid(input). input: any shape, floating or complex."""
def mish(input: Tensor, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """input * tanh(log(1 + exp(input))). input: any shape, floating."""
def softplus(input: Tensor, beta: _Number = 1.0, threshold: _float = 20.0, *, out: Any = None) -> Tensor:
    """log(1 + exp(beta * input)) / beta, or input where beta * input > threshold. input: any shape, floating."""
def logsigmoid(input: Tensor, *, out: Any = None) -> Tensor:
    """log(sigmoid(input)), accurate also for large |input|. input: any shape, floating."""
def softsign(input: Tensor, *, out: Any = None) -> Tensor:
    """input / (1 + |input|). input: any shape, floating."""
def tanhshrink(input: Tensor, *, out: Any = None) -> Tensor:
    """input - tanh(input). input: any shape, floating."""
@overload
def glu(input: Tensor, dim: _int = -1, *, out: Tensor | None = None) -> Tensor:
    """first * sigmoid(second), where first and second are the two halves of x along dim."""
@overload
def glu(input: Tensor, *, axis: _int, out: Tensor | None = None) -> Tensor: ...
def hardswish(input: Tensor, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """input * relu6(input + 3) / 6. input: any shape, floating."""
def hardsigmoid(input: Tensor, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """relu6(input + 3) / 6. input: any shape, floating."""
def softshrink(input: Tensor, lambd: _float = 0.5, *, out: Any = None) -> Tensor:
    """sign(input) * max(|input| - lambd, 0). input: any shape, floating. Raises RuntimeError if lambd < 0."""
def hardshrink(input: Tensor, lambd: _float = 0.5, *, out: Any = None) -> Tensor:
    """input where |input| > lambd, else 0. input: any shape, floating."""
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor | None, pad: _int = 0, *, out: Any = None) -> Tensor:
    """conv1d of input, (length, batch, channels), with weight, (width, channels, outputs). Derivative: as in conv1d."""
def mse_loss(input: Tensor, target: Tensor, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', weight: Tensor | None = None, *, out: Any = None) -> Tensor:
    """Squared error: (input - target)**2. input, target: floating, shapes that broadcast; different shapes give a warning."""
def l1_loss(input: Tensor, target: Tensor, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', weight: Tensor | None = None, *, out: Any = None) -> Tensor:
    """Absolute error: |input - target|. input, target: floating or complex, shapes that broadcast."""
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', beta: _Number = 1.0, *, out: Any = None) -> Tensor:
    """(input - target)**2 / (2 * beta) where |input - target| < beta, else |input - target| - beta / 2."""
def huber_loss(input: Tensor, target: Tensor, reduction: _str = 'mean', delta: _float = 1.0, weight: Tensor | None = None, *, out: Any = None) -> Tensor:
    """(input - target)**2 / 2 where |input - target| <= delta, else delta * (|input - target| - delta / 2)."""
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', *, out: Any = None) -> Tensor:
    """-(target * log(input) + (1 - target) * log(1 - input)), with logarithms of at least -100."""
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', pos_weight: Any = None, *, out: Any = None) -> Tensor:
    """`binary_cross_entropy` of sigmoid(input), accurate also for large |input|."""
def kl_div(input: Tensor, target: Tensor, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', log_target: _bool = False, *, out: Any = None) -> Tensor:
    """Kullback-Leibler divergence: target * (log(target) - input), where input is a log-probability."""
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: _bool | None = None, ignore_index: _int = -100, reduce: _bool | None = None, reduction: _str = 'mean', *, out: Any = None) -> Tensor:
    """Negative log-likelihood: -input[i, target[i]] for each item i."""
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: _bool | None = None, ignore_index: _int = -100, reduce: _bool | None = None, reduction: _str = 'mean', label_smoothing: _float = 0.0, *, out: Any = None) -> Tensor:
    """`nll_loss` of log_softmax(input): the usual loss of a classifier."""
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] | _str = 0, dilation: _int | Sequence[_int] = 1, groups: _int = 1, *, out: Any = None) -> Tensor:
    """Convolution (cross-correlation): sums over windows of input times weight, plus bias."""
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] | _str = 0, dilation: _int | Sequence[_int] = 1, groups: _int = 1, *, out: Any = None) -> Tensor:
    """Convolution (cross-correlation): sums over windows of input times weight, plus bias."""
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] | _str = 0, dilation: _int | Sequence[_int] = 1, groups: _int = 1, *, out: Any = None) -> Tensor:
    """Convolution (cross-correlation): sums over windows of input times weight, plus bias."""
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] = 0, output_padding: _int | Sequence[_int] = 0, groups: _int = 1, dilation: _int | Sequence[_int] = 1, *, out: Any = None) -> Tensor:
    """Transposed convolution, the adjoint of conv1d in its input, plus bias."""
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] = 0, output_padding: _int | Sequence[_int] = 0, groups: _int = 1, dilation: _int | Sequence[_int] = 1, *, out: Any = None) -> Tensor:
    """Transposed convolution, the adjoint of conv2d in its input, plus bias."""
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] = 0, output_padding: _int | Sequence[_int] = 0, groups: _int = 1, dilation: _int | Sequence[_int] = 1, *, out: Any = None) -> Tensor:
    """Transposed convolution, the adjoint of conv3d in its input, plus bias."""
def unfold(input: Tensor, kernel_size: _int | Sequence[_int], dilation: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] = 0, stride: _int | Sequence[_int] = 1, *, out: Any = None) -> Tensor:
    """All windows of an image as columns: (n, c * taps, windows)."""
def fold(input: Tensor, output_size: _int | Sequence[_int | None] | None, kernel_size: _int | Sequence[_int], dilation: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] = 0, stride: _int | Sequence[_int] = 1, *, out: Any = None) -> Tensor:
    """Add the columns that `unfold` gives back into an image: each element is the sum of its column entries."""
def avg_pool1d(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, *, out: Any = None) -> Tensor:
    """Average pooling: the mean of each window."""
def max_pool1d(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, return_indices: _bool = False, *, out: Any = None) -> Any:
    """Max pooling: the maximum of each window."""
def max_pool1d_with_indices(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, return_indices: _bool = False, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Return (maxima, indices): `max_pool1d` with return_indices=True."""
def max_pool2d(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, return_indices: _bool = False, *, out: Any = None) -> Any:
    """Max pooling: the maximum of each window."""
def max_pool2d_with_indices(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, return_indices: _bool = False, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Return (maxima, indices): `max_pool2d` with return_indices=True."""
def max_pool3d(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, return_indices: _bool = False, *, out: Any = None) -> Any:
    """Max pooling: the maximum of each window."""
def max_pool3d_with_indices(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, return_indices: _bool = False, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Return (maxima, indices): `max_pool3d` with return_indices=True."""
def avg_pool2d(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: Any = None, *, out: Any = None) -> Tensor:
    """Average pooling: the mean of each window."""
def avg_pool3d(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: Any = None, *, out: Any = None) -> Tensor:
    """Average pooling: the mean of each window."""
def adaptive_avg_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None, *, out: Any = None) -> Tensor:
    """Adaptive pooling: the mean of each of output_size regions that cover the input."""
def adaptive_max_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False, *, out: Any = None) -> Any:
    """Adaptive pooling: the maximum of each of output_size regions that cover the input."""
def adaptive_max_pool1d_with_indices(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Return (maxima, indices): `adaptive_max_pool1d` with return_indices=True."""
def adaptive_avg_pool2d(input: Tensor, output_size: _int | Sequence[_int | None] | None, *, out: Any = None) -> Tensor:
    """Adaptive pooling: the mean of each of output_size regions that cover the input."""
def adaptive_max_pool2d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False, *, out: Any = None) -> Any:
    """Adaptive pooling: the maximum of each of output_size regions that cover the input."""
def adaptive_max_pool2d_with_indices(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Return (maxima, indices): `adaptive_max_pool2d` with return_indices=True."""
def adaptive_avg_pool3d(input: Tensor, output_size: _int | Sequence[_int | None] | None, *, out: Any = None) -> Tensor:
    """Adaptive pooling: the mean of each of output_size regions that cover the input."""
def adaptive_max_pool3d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False, *, out: Any = None) -> Any:
    """Adaptive pooling: the maximum of each of output_size regions that cover the input."""
def adaptive_max_pool3d_with_indices(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Return (maxima, indices): `adaptive_max_pool3d` with return_indices=True."""
def lp_pool1d(input: Tensor, norm_type: _float, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, ceil_mode: _bool = False, *, out: Any = None) -> Tensor:
    """Power-average pooling: the norm (sum of x**norm_type)**(1 / norm_type) of each window."""
def max_unpool1d(input: Tensor, indices: Any, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, output_size: _int | Sequence[_int | None] | None = None, *, out: Any = None) -> Tensor:
    """Partial inverse of max_pool1d: images of zeros with the elements of input at indices."""
def lp_pool2d(input: Tensor, norm_type: _float, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, ceil_mode: _bool = False, *, out: Any = None) -> Tensor:
    """Power-average pooling: the norm (sum of x**norm_type)**(1 / norm_type) of each window."""
def max_unpool2d(input: Tensor, indices: Any, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, output_size: _int | Sequence[_int | None] | None = None, *, out: Any = None) -> Tensor:
    """Partial inverse of max_pool2d: images of zeros with the elements of input at indices."""
def lp_pool3d(input: Tensor, norm_type: _float, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, ceil_mode: _bool = False, *, out: Any = None) -> Tensor:
    """Power-average pooling: the norm (sum of x**norm_type)**(1 / norm_type) of each window."""
def max_unpool3d(input: Tensor, indices: Any, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, output_size: _int | Sequence[_int | None] | None = None, *, out: Any = None) -> Tensor:
    """Partial inverse of max_pool3d: images of zeros with the elements of input at indices."""
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None, training: _bool = False, momentum: _float = 0.1, eps: _float = 1e-05, *, out: Any = None) -> Tensor:
    """Batch normalisation: (input - mean) / sqrt(variance + eps) * weight + bias for each channel."""
def group_norm(input: Tensor, num_groups: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-05, cudnn_enabled: _bool = True, *, out: Any = None) -> Tensor:
    """Group normalisation: (input - mean) / sqrt(variance + eps) * weight + bias, over each group of channels of an item."""
def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: _bool = True, momentum: _float = 0.1, eps: _float = 1e-05, *, out: Any = None) -> Tensor:
    """Instance normalisation: (input - mean) / sqrt(variance + eps) * weight + bias, over each channel of each item."""
def local_response_norm(input: Tensor, size: _int | Sequence[_int], alpha: _Number = 0.0001, beta: _Number = 0.75, k: _float = 1.0, *, out: Any = None) -> Tensor:
    """Local response normalisation: input / (k + alpha * mean of squares over `size` neighbouring channels)**beta."""
def pad(input: Tensor, pad: Sequence[_int], mode: _str = 'constant', value: _Operand | None = None, *, out: Any = None) -> Tensor:
    """Pad the last dimensions of input."""
def pixel_shuffle(input: Tensor, upscale_factor: Any, *, out: Tensor | None = None) -> Tensor:
    """Rearrange (..., c * r * r, h, w) to (..., c, h * r, w * r), where r is upscale_factor."""
def pixel_unshuffle(input: Tensor, downscale_factor: Any, *, out: Tensor | None = None) -> Tensor:
    """Rearrange (..., c, h * r, w * r) to (..., c * r * r, h, w), where r is downscale_factor: inverse of `pixel_shuffle`."""
def channel_shuffle(input: Tensor, groups: _int, *, out: Tensor | None = None) -> Tensor:
    """Interleave the groups of channels of x: the first channel of each group, then the second of each, and so on."""
def interpolate(input: Tensor, size: _int | Sequence[_int] | None = None, scale_factor: Any = None, mode: _str = 'nearest', align_corners: Any = None, recompute_scale_factor: Any = None, antialias: _bool = False, *, out: Any = None) -> Tensor:
    """Resample the spatial dimensions of input to another size."""
def upsample(input: Tensor, size: _int | Sequence[_int] | None = None, scale_factor: Any = None, mode: _str = 'nearest', align_corners: Any = None, *, out: Any = None) -> Tensor:
    """Older name of interpolate(). Derivative: as interpolate."""
def upsample_nearest(input: Tensor, size: _int | Sequence[_int] | None = None, scale_factor: Any = None, *, out: Any = None) -> Tensor:
    """Older name of interpolate() with mode="nearest". Derivative: as interpolate."""
def upsample_bilinear(input: Tensor, size: _int | Sequence[_int] | None = None, scale_factor: Any = None, *, out: Any = None) -> Tensor:
    """Older name of interpolate() with mode="bilinear" and align_corners=True. Derivative: as interpolate."""
def affine_grid(theta: Tensor, size: _int | Sequence[_int], align_corners: Any = None, *, out: Any = None) -> Tensor:
    """Sampling points for `grid_sample` of images that are transformed by affine matrices theta."""
def grid_sample(input: Tensor, grid: Any, mode: _str = 'bilinear', padding_mode: _str = 'zeros', align_corners: Any = None, *, out: Any = None) -> Tensor:
    """Interpolate input at the points of grid; returns (n, c, *points) for a grid (n, *points, dims)."""
def scaled_dot_product_attention(query: Tensor, key: Any, value: _Operand, attn_mask: Any = None, dropout_p: _float = 0.0, is_causal: _bool = False, scale: Any = None, enable_gqa: _bool = False, *, out: Any = None) -> Tensor:
    """softmax(query @ key^T * scale + attn_mask) @ value. Returns (..., rows, m)."""
def pairwise_distance(x1: Tensor, x2: Tensor, p: _float = 2.0, eps: _float = 1e-06, keepdim: _bool = False, *, out: Any = None) -> Tensor:
    """p-norm of x1 - x2 + eps over the last dimension. x1, x2: floating, shapes that broadcast."""
def pdist(input: Tensor, p: _float = 2.0, *, out: Any = None) -> Tensor:
    """p-norms of the differences between all pairs of rows of input, (n, m), as a vector."""
def embedding_bag(input: Tensor, weight: Tensor, offsets: Any = None, max_norm: Any = None, norm_type: _float = 2, scale_grad_by_freq: _bool = False, mode: _str = 'mean', sparse: _bool = False, per_sample_weights: Any = None, include_last_offset: _bool = False, padding_idx: Any = None, *, out: Any = None) -> Tensor:
    """Sum, mean or maximum of the rows of weight, (n, m), that each bag of input names: (bags, m)."""
def alpha_dropout(input: Tensor, p: _float = 0.5, training: _bool = False, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """Set each element with probability p to the limit of `selu` at minus infinity, then scale and shift all elements."""
def feature_alpha_dropout(input: Tensor, p: _float = 0.5, training: _bool = False, inplace: _bool = False, *, out: Any = None) -> Tensor:
    """`alpha_dropout` of whole channels. input: (n, channels, ...)."""
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: _bool = True, full: _bool = False, size_average: _bool | None = None, eps: _float = 1e-08, reduce: _bool | None = None, reduction: _str = 'mean', *, out: Any = None) -> Tensor:
    """Negative log likelihood of the counts target under Poisson rates exp(input), or input if log_input is False."""
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Any, full: _bool = False, eps: _float = 1e-06, reduction: _str = 'mean', *, out: Any = None) -> Tensor:
    """Negative log likelihood of target under normal distributions with mean input and variance var."""
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: _float = 1.0, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', *, out: Any = None) -> Tensor:
    """Loss of distances: input where target is 1 (a like pair), max(0, margin - input) where target is -1 (an unlike pair)."""
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', *, out: Any = None) -> Tensor:
    """Ranking loss max(0, -target * (input1 - input2) + margin)."""
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', *, out: Any = None) -> Tensor:
    """Cosine loss of pairs of rows: 1 - cos where target is 1, max(0, cos - margin) where target is -1."""
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: _float = 1.0, p: _float = 2, eps: _float = 1e-06, swap: _bool = False, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', *, out: Any = None) -> Tensor:
    """Triplet loss max(0, margin + |anchor - positive| - |anchor - negative|)."""
def triplet_margin_with_distance_loss(anchor: Tensor, positive: Tensor, negative: Tensor, *, distance_function: Any = None, margin: _float = 1.0, swap: _bool = False, reduction: _str = 'mean', out: Any = None) -> Tensor:
    """`triplet_margin_loss` with a distance function of two tensors."""
def soft_margin_loss(input: Tensor, target: Tensor, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', *, out: Any = None) -> Tensor:
    """Logistic loss log(1 + exp(-target * input)), computed without overflow."""
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', *, out: Any = None) -> Tensor:
    """Mean over classes of the binary cross entropies of scores input with labels target."""
def multi_margin_loss(input: Tensor, target: Tensor, p: _float = 1, margin: _float = 1.0, weight: Tensor | None = None, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', *, out: Any = None) -> Tensor:
    """Multi-class hinge loss: the sum over classes j != target of max(0, margin - input[target] + input[j])**p / classes."""
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: _bool | None = None, reduce: _bool | None = None, reduction: _str = 'mean', *, out: Any = None) -> Tensor:
    """Multi-label hinge loss: the sum of max(0, 1 - input[label] + input[other]) / classes over labels and other classes."""
def ctc_loss(log_probs: Tensor, targets: Any, input_lengths: Any, target_lengths: Any, blank: _int = 0, reduction: _str = 'mean', zero_infinity: _bool = False, *, out: Any = None) -> Tensor:
    """Connectionist temporal classification loss: -log of the probability of targets, over all alignments with the steps."""
def rrelu(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False, inplace: _bool = False, *, generator: Generator | None = None, out: Any = None) -> Tensor:
    """Randomised leaky ReLU: input where input > 0, else input times a slope."""
def gumbel_softmax(logits: Tensor, tau: _int = 1, hard: _bool = False, eps: _float = 1e-10, dim: _int = -1, *, out: Any = None) -> Tensor:
    """Differentiable sample of classes: softmax((logits + noise) / tau) over dim, with noise from the Gumbel distribution."""
def fractional_max_pool2d_with_indices(input: Tensor, kernel_size: _int | Sequence[_int], output_size: _int | Sequence[_int | None] | None = None, output_ratio: Any = None, return_indices: _bool = False, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Largest element of windows at random positions that cover the input evenly."""
def fractional_max_pool2d(input: Tensor, kernel_size: _int | Sequence[_int], output_size: _int | Sequence[_int | None] | None = None, output_ratio: Any = None, return_indices: _bool = False, *, out: Any = None) -> Any:
    """Largest element of windows at random positions that cover the input evenly."""
def fractional_max_pool3d_with_indices(input: Tensor, kernel_size: _int | Sequence[_int], output_size: _int | Sequence[_int | None] | None = None, output_ratio: Any = None, return_indices: _bool = False, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Largest element of windows at random positions that cover the input evenly."""
def fractional_max_pool3d(input: Tensor, kernel_size: _int | Sequence[_int], output_size: _int | Sequence[_int | None] | None = None, output_ratio: Any = None, return_indices: _bool = False, *, out: Any = None) -> Any:
    """Largest element of windows at random positions that cover the input evenly."""
def multi_head_attention_forward(query: Tensor, key: Any, value: _Operand, embed_dim_to_check: Any, num_heads: Any, in_proj_weight: Any, in_proj_bias: Any, bias_k: Any, bias_v: Any, add_zero_attn: Any, dropout_p: Any, out_proj_weight: Any, out_proj_bias: Any, training: _bool = True, key_padding_mask: Any = None, need_weights: _bool = True, attn_mask: Any = None, use_separate_proj_weight: _bool = False, q_proj_weight: Any = None, k_proj_weight: Any = None, v_proj_weight: Any = None, static_k: Any = None, static_v: Any = None, average_attn_weights: _bool = True, is_causal: _bool = False, *, out: Any = None) -> tuple[Tensor, Any]:
    """Project query, key and value, attend in num_heads parts of the features, and project the result."""
def linear_cross_entropy(input: Tensor, linear_weight: Any, target: Tensor, *, linear_bias: Any = None, weight: Tensor | None = None, reduction: _str = 'mean', ignore_index: Any = None, label_smoothing: _float = 0.0, options: Any = None, out: Any = None) -> Tensor:
    """cross_entropy(linear(input, linear_weight, linear_bias), target): the last layer of a classifier and its loss."""
def celu_(input: Tensor, alpha: _Number = 1.0) -> Tensor: ...
def elu_(input: Tensor, alpha: _Number = 1.0) -> Tensor: ...
def hardtanh_(input: Tensor, min_val: _float = -1.0, max_val: _float = 1.0) -> Tensor: ...
def leaky_relu_(input: Tensor, negative_slope: _float = 0.01) -> Tensor: ...
def rrelu_(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False, *, generator: Generator | None = None) -> Tensor: ...
def selu_(input: Tensor) -> Tensor: ...
def threshold_(input: Tensor, threshold: Any, value: _Operand) -> Tensor: ...
