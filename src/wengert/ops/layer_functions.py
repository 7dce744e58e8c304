"""Functions that torch has both as torch.<name> and in torch.nn.functional, here in the form of torch.<name>.

These take reductions as numbers: 0 none (the default), 1 mean, 2 sum. Some arguments with defaults in nn.functional have no
default here.
"""

from __future__ import annotations

from wengert import errors
from wengert.ops.registry import composite

_REDUCTIONS = ("none", "mean", "sum")


def _reduction_name(number: int) -> str:
    """Return the name of a reduction. Raises ValueError unless the number is 0, 1 or 2."""
    if number not in (0, 1, 2):
        raise errors.ElementError(f"reduction has to be 0 (none), 1 (mean) or 2 (sum), but got {number}")
    return _REDUCTIONS[number]


@composite(name="torch_dropout")
def dropout(F, input, p, train):
    """nn.functional.dropout. Derivative: the factor of each element, 0 or 1 / (1 - p) if train, else 1."""
    return F.dropout(input, p, train)


@composite(name="torch_dropout_")
def dropout_(F, input, p, train):
    """In-place form of dropout. Derivative: as in dropout."""
    return F.dropout(input, p, train, True)


@composite()
def feature_dropout(F, input, p, train):
    """nn.functional.dropout of whole channels, (n, channels, ...). An input with fewer than 3 dimensions drops elements.

    Derivative: the factor of each element, 0 or 1 / (1 - p) if train, else 1."""
    return F.dropout2d(input, p, train) if input.ndim > 2 else F.dropout(input, p, train)


@composite(name="torch_embedding")
def embedding(F, weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """nn.functional.embedding with weight first. A negative padding_idx means None. Derivative: as in nn.functional.embedding."""
    return F.embedding(
        indices, weight, None if padding_idx < 0 else padding_idx, None, 2.0, scale_grad_by_freq, sparse
    )


@composite(name="torch_kl_div")
def kl_div(F, input, target, reduction=0, *, log_target=False):
    """nn.functional.kl_div with reduction as a number. Derivative: as in nn.functional.kl_div."""
    return F.kl_div(input, target, reduction=_reduction_name(reduction), log_target=log_target)


@composite(name="torch_poisson_nll_loss")
def poisson_nll_loss(F, input, target, log_input, full, eps, reduction):
    """nn.functional.poisson_nll_loss with reduction as a number. Derivative: as in nn.functional.poisson_nll_loss."""
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_reduction_name(reduction))


@composite(name="torch_hinge_embedding_loss")
def hinge_embedding_loss(F, input, target, margin=1.0, reduction=0):
    """nn.functional.hinge_embedding_loss with reduction as a number. Derivative: as in nn.functional.hinge_embedding_loss."""
    return F.hinge_embedding_loss(input, target, margin, reduction=_reduction_name(reduction))


@composite(name="torch_cosine_embedding_loss")
def cosine_embedding_loss(F, input1, input2, target, margin=0.0, reduction=0):
    """nn.functional.cosine_embedding_loss with reduction as a number. Derivative: as in nn.functional.cosine_embedding_loss."""
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=_reduction_name(reduction))


@composite(name="torch_margin_ranking_loss")
def margin_ranking_loss(F, input1, input2, target, margin=0.0, reduction=0):
    """nn.functional.margin_ranking_loss with reduction as a number. Derivative: as in nn.functional.margin_ranking_loss."""
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=_reduction_name(reduction))


@composite(name="torch_triplet_margin_loss")
def triplet_margin_loss(F, anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=0):
    """nn.functional.triplet_margin_loss with reduction as a number. Derivative: as in nn.functional.triplet_margin_loss."""
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_reduction_name(reduction))


@composite(name="torch_binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(F, input, target, weight=None, pos_weight=None, reduction=0):
    """nn.functional.binary_cross_entropy_with_logits with reduction as a number.

    Derivative: as in nn.functional.binary_cross_entropy_with_logits."""
    return F.binary_cross_entropy_with_logits(
        input, target, weight, reduction=_reduction_name(reduction), pos_weight=pos_weight
    )


@composite(name="torch_ctc_loss")
def ctc_loss(F, log_probs, targets, input_lengths, target_lengths, blank=0, reduction=0, zero_infinity=False):
    """nn.functional.ctc_loss with reduction as a number. Derivative: as in nn.functional.ctc_loss."""
    return F.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, _reduction_name(reduction), zero_infinity
    )


@composite(name="torch_adaptive_max_pool1d")
def adaptive_max_pool1d(F, input, output_size):
    """nn.functional.adaptive_max_pool1d with return_indices=True. Derivative: as in nn.functional.adaptive_max_pool1d."""
    return F.adaptive_max_pool1d(input, output_size, True)


@composite(namespaces=("", "nn.functional"))
def conv_tbc(F, input, weight, bias, pad=0):
    """conv1d of input, (length, batch, channels), with weight, (width, channels, outputs). Derivative: as in conv1d."""
    found = F.conv1d(F.permute(input, dims=(1, 2, 0)), F.permute(weight, dims=(2, 1, 0)), bias, 1, pad)
    return F.permute(found, dims=(2, 0, 1))


