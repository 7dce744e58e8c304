"""Whole call stacks, without live frames: kept where a profiler or anomaly detection asks for them. Not compiled."""

from __future__ import annotations

import sys
from types import CodeType, FrameType

from wengert.core.node import is_internal, line_number

Stack = tuple[tuple[CodeType, int], ...]  # code object and instruction offset of each frame, the outermost first


def take_stack() -> Stack:
    """The frames that are being called now, without the package's own."""
    frame: FrameType | None = sys._getframe(1)
    frames = []
    while frame is not None:
        code = frame.f_code
        if not is_internal(code):
            frames.append((code, frame.f_lasti))
        frame = frame.f_back
    return tuple(frames[::-1])


def user_level() -> int:
    """The stacklevel by which a warning, given by the caller of this, stands at the line of the user's that is being called."""
    level = 1
    frame = sys._getframe(1)
    while is_internal(frame.f_code) and frame.f_back is not None:
        frame = frame.f_back
        level += 1
    return level


def format_stack(stack: Stack) -> list[str]:
    """The stack as traceback.format_stack writes one: an entry a frame, with its source line where that can be read."""
    from linecache import getline

    lines = []
    for code, lasti in stack:
        number = line_number(code, lasti)
        lines.append(f'  File "{code.co_filename}", line {number}, in {code.co_name}\n')
        source = getline(code.co_filename, number).strip()
        if source:
            lines[-1] += f"    {source}\n"
    return lines
