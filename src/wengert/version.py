"""torch.version: the interface is torch 2.13's, without GPUs."""

__version__ = "2.13.0"
cuda: str | None = None
hip: str | None = None
xpu: str | None = None
git_version = "Unknown"
debug = False
