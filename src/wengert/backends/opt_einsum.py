"""torch.backends.opt_einsum: einsum finds the order of its products by opt_einsum, which is always installed."""

enabled = True
strategy = "auto"


def is_available() -> bool:
    """Whether opt_einsum is used: always True."""
    return True


def get_opt_einsum() -> object:
    """Return the module opt_einsum."""
    import opt_einsum

    return opt_einsum
