"""Build backend: meson-python, and builds with less compiled code if the compiler fails.

The first attempt compiles everything. The second leaves out the kernels for newer processors. The third leaves out all kernels,
which need an extension of C, vectors. The last compiles nothing. So every compiler ends in a working installation.
-Csetup-args=-Dnative=enabled asks for the first attempt or a failure.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import mesonpy
from mesonpy import (
    build_sdist as build_sdist,
    get_requires_for_build_editable as get_requires_for_build_editable,
    get_requires_for_build_sdist as get_requires_for_build_sdist,
    get_requires_for_build_wheel as get_requires_for_build_wheel,
)

Settings = dict[str, Any] | None

# The value of the option `fallback`, and what an attempt with it leaves out.
ATTEMPTS = {"none": "", "levels": "the kernels for newer processors", "kernels": "all kernels", "native": "all compiled code"}


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build a wheel, with as much compiled code as the compiler can do."""
    return _attempt(mesonpy.build_wheel, wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build an editable wheel, with as much compiled code as the compiler can do."""
    return _attempt(mesonpy.build_editable, wheel_directory, config_settings, metadata_directory)


def _attempt(build: Callable[..., str], folder: str, settings: Settings, metadata: str | None) -> str:
    """Return the result of the first attempt that does not fail. Raise SystemExit if the last one fails, too."""
    given = (settings or {}).get("setup-args", [])
    given = [given] if isinstance(given, str) else list(given)
    decided = any(option in argument for argument in given for option in ("native=enabled", "native=disabled", "fallback="))
    for fallback, left_out in ATTEMPTS.items():
        if left_out:
            print(f"WARNING: the compiler failed (see above): building wengert again without {left_out}", file=sys.stderr)
        # Always given, because a build folder that stays remembers the value of the last attempt.
        arguments = given if decided else [*given, f"-Dfallback={fallback}"]
        try:
            return build(folder, {**(settings or {}), "setup-args": arguments}, metadata)
        except SystemExit:
            if decided or fallback == "native":
                raise
    raise AssertionError("the last attempt returns or raises")
