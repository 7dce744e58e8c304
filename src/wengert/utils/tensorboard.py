"""torch.utils.tensorboard is not there. Its import raises ImportError, as torch's does where TensorBoard is not installed."""

raise ImportError(
    "utils.tensorboard is not part of wengert. Hint: the SummaryWriter of the package tensorboardX takes numbers and NumPy arrays."
)
