"""ChannelShuffle: channels of several groups in turn."""

from __future__ import annotations

from typing import Any

from wengert.nn import functional as F
from wengert.nn.modules.module import Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """Take the channels of `groups` groups in turn. See nn.functional.channel_shuffle."""

    __constants__ = ["groups"]

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Any) -> Any:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
