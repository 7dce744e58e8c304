"""torch.utils.backcompat: switches of warnings that torch 0.2 gave. They can be set, and no longer warn, as in torch."""

__all__ = ["Warning", "broadcast_warning", "keepdim_warning"]


class Warning:
    """A switch: `enabled` can be read and set."""

    def __init__(self) -> None:
        self.enabled = False


broadcast_warning = Warning()
keepdim_warning = Warning()
