"""Builds the exceptions and warnings of the profiler, of anomaly detection and of pictures of graphs."""

from __future__ import annotations

from .classes import (
    ProfilerError,
)


def profile_unfinished() -> ProfilerError:
    return ProfilerError(
        "Profiler didn't finish running: its results are there when its `with` block is left. "
        "Hint: profile(enabled=False) has none at all."
    )


# -- anomaly detection -----------------------------------------------------------------------------------------------------


# -- pictures of graphs ----------------------------------------------------------------------------------------------------
