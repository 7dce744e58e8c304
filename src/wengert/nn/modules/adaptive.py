"""AdaptiveLogSoftmaxWithLoss: a softmax over many classes, the rare ones in clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from wengert.nn import functional as F
from wengert.nn.modules.container import ModuleList, Sequential
from wengert.nn.modules.linear import Linear
from wengert.nn.modules.module import Module
from wengert.ops import function

_cat: Any = function("", "cat")

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    """The log probability of each target, and the mean of their negatives."""

    output: Any
    loss: Any


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log softmax over n_classes, sorted by frequency, as Grave et al. have it (2017).

    cutoffs: the first class of each cluster, increasing, in (0, n_classes). The classes before the first one and the clusters
    make the head. Cluster i projects the input to in_features // div_value ** (i + 1) features. Raises ValueError for
    cutoffs that are not so."""

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        is_increasing = all(a < b for a, b in zip([0, *cutoffs], [*cutoffs, n_classes], strict=True))
        if not is_increasing or any(int(c) != c for c in cutoffs):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is "
                "between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // div_value ** (i + 1))
            outputs = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, bias=False, device=device, dtype=dtype),
                    Linear(hidden, outputs, bias=False, device=device, dtype=dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Draw new initial values."""
        self.head.reset_parameters()
        for cluster in self.tail:
            for layer in cluster:  # type: ignore[attr-defined]
                layer.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> _ASMoutput:
        """Return (log probability of each target, loss). input_: (N, in_features) or (in_features), target_: (N) or ().

        Raises RuntimeError for other shapes, or targets out of range."""
        self._check(input_, target_)
        is_batched = target_.dim() > 0
        input, target = (input_, target_) if is_batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        in_head = target.clone()
        parts = []
        for i in range(self.n_clusters):
            low, high = self.cutoffs[i], self.cutoffs[i + 1]
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            in_head[rows] = self.shortlist_size + i
            scores = F.log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
            parts.append((rows, scores.gather(1, (target[rows] - low).unsqueeze(1)).squeeze(1)))
        output = F.log_softmax(self.head(input), dim=1).gather(1, in_head.unsqueeze(1)).squeeze(1)
        for rows, scores in parts:
            output = output.index_add(0, rows, scores)
        loss = (-output).mean()
        return _ASMoutput(output if is_batched else output.squeeze(0), loss)

    def _check(self, input: Any, target: Any) -> None:
        if target.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target.dim() == 1 and input.shape[0] != target.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input.dim() != target.dim() + 1:
            raise RuntimeError(
                f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs with size "
                f"{input.shape}"
            )
        if target.numel() and not (target.min().item() >= 0 and target.max().item() < self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )

    def _get_full_log_prob(self, input: Any, head_output: Any) -> Any:
        """Return the log probabilities of all classes, given the output of the head."""
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            scores = F.log_softmax(cluster(input), dim=1)
            parts.append(scores + head[:, self.shortlist_size + i].unsqueeze(1))
        return _cat(parts, 1)

    def log_prob(self, input: Any) -> Any:
        """Return the log probabilities of all classes, (N, n_classes). input: (N, in_features)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Any) -> Any:
        """Return the most probable class of each row, (N). input: (N, in_features)."""
        return self.log_prob(input).argmax(dim=1)
