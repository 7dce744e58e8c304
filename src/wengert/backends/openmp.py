"""torch.backends.openmp: threads of OpenMP. The package has threads and products of its own."""


def is_available() -> bool:
    """Whether the library is used by name: always False."""
    return False
