"""torch.backends.opt_einsum: einsum finds the order of its products by opt_einsum, where it is installed."""

from wengert._forks import import_late, is_installed

enabled = True
strategy = "auto"


def is_available() -> bool:
    """Whether opt_einsum is used: it is, where it is installed."""
    return is_installed("opt_einsum")


def get_opt_einsum() -> object:
    """Return the module opt_einsum."""
    return import_late("opt_einsum")
