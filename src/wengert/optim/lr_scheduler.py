"""torch.optim.lr_scheduler: schedules of learning rates. Call step() after optimizer.step().

>>> import wengert
>>> p = wengert.nn.Parameter(wengert.ones(1))
>>> optimizer = wengert.optim.SGD([p], lr=1.0)
>>> schedule = wengert.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
>>> for _ in range(4):
...     optimizer.step()
...     schedule.step()
>>> schedule.get_last_lr()
[0.25]
"""

from wengert.optim._combined_schedules import (
    ChainedScheduler as ChainedScheduler,
    ReduceLROnPlateau as ReduceLROnPlateau,
    SequentialLR as SequentialLR,
)
from wengert.optim._schedules import (
    EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING,
    ConstantLR as ConstantLR,
    CosineAnnealingLR as CosineAnnealingLR,
    CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts,
    CyclicLR as CyclicLR,
    ExponentialLR as ExponentialLR,
    LambdaLR as LambdaLR,
    LinearLR as LinearLR,
    LRScheduler as LRScheduler,
    MultiplicativeLR as MultiplicativeLR,
    MultiStepLR as MultiStepLR,
    OneCycleLR as OneCycleLR,
    PolynomialLR as PolynomialLR,
    StepLR as StepLR,
)

_LRScheduler = LRScheduler  # its name before torch 2.0

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR",
    "LRScheduler",
    "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR",
    "StepLR",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
