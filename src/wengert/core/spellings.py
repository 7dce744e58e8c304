"""Arguments under names that they no longer have."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

from wengert import errors
from wengert.core.stacks import user_level

_F = TypeVar("_F", bound=Callable[..., Any])


def take_old(function: str, given: dict[str, Any], old: dict[str, Any], renames: dict[str, str]) -> None:
    """Move what old holds into given, under its new name, with a DeprecationWarning each.

    Raises TypeError for a name that is not in renames, and where given has the new name already.
    """
    for name, value in old.items():
        new = renames.get(name)
        if new is None:
            raise errors.unexpected_keyword(function, name)
        if new in given:
            raise errors.SpellingError(f"only one of {new} and {name} can be specified")
        warnings.warn(errors.renamed(f"{name}=", f"{new}="), stacklevel=user_level())
        given[new] = value


def accepts_old_names(**renames: str) -> Callable[[_F], _F]:
    """Decorate a function whose arguments had other names: @accepts_old_names(variables="tensors")."""

    def decorate(function: _F) -> _F:
        code: Any = function.__code__
        names = code.co_varnames[: code.co_argcount]

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            old = {name: kwargs.pop(name) for name in renames if name in kwargs} if kwargs else None
            if old:
                given = dict(zip(names, args, strict=False)) | kwargs
                take_old(function.__name__, given, old, renames)
                return function(**given)
            return function(*args, **kwargs)

        return cast(_F, wrapper)

    return decorate
