"""Messages about reductions under a mask."""

from __future__ import annotations

