"""torch.backends.mps: there is no GPU of Apple's."""


def is_available() -> bool:
    """Whether tensors can be on such a GPU: always False."""
    return False


def is_built() -> bool:
    """Whether the package has been built for such GPUs: always False."""
    return False
