"""ExceptionWrapper: an error that crosses from one process to another, with its traceback as text."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

__all__ = ["ExceptionWrapper", "KeyErrorMessage"]


class KeyErrorMessage(str):
    """Message of a KeyError that keeps its line breaks: a KeyError prints the repr of its message."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An error's class, and its traceback as text. It can be pickled if the class can. where: "in DataLoader worker process 0".

    exc_info: as of sys.exc_info(); None: the error that is being handled."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        from traceback import format_exception

        if exc_info is None:
            exc_info = sys.exc_info()
        self.exc_type = exc_info[0]
        self.exc_msg = "".join(format_exception(*exc_info))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise an error of the class, with the traceback as its message; a RuntimeError if the class takes no message."""
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            raise KeyError(KeyErrorMessage(message))
        try:
            error = self.exc_type(message=message) if getattr(self.exc_type, "message", None) else self.exc_type(message)
        except Exception:
            error = RuntimeError(message)
        raise error
