"""Parameters of a test in one test item. An item costs milliseconds; a check of numbers costs a tenth of that."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from wengert import manual_seed

ParameterSet = type(pytest.param())


def each(names: str | tuple[str, ...], values: Iterable[Any]) -> Callable[..., Any]:
    """Call a test with each of the values, as pytest.mark.parametrize would, in one test item. A failure names the values.

    A skip skips the one value. The random seed is the same for each."""
    chosen = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [row.values if isinstance(row, ParameterSet) else row if len(chosen) > 1 else (row,) for row in values]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def run(**others: Any) -> None:
            for row in rows:
                manual_seed(0)
                try:
                    test(**others, **dict(zip(chosen, row, strict=True)))
                except pytest.skip.Exception:
                    continue
                except BaseException as error:
                    error.add_note(f"with {', '.join(f'{name}={value!r}' for name, value in zip(chosen, row, strict=True))}")
                    raise

        signature = inspect.signature(test)
        others = [parameter for name, parameter in signature.parameters.items() if name not in chosen]
        run.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        run.__name__, run.__doc__ = test.__name__, test.__doc__
        run.pytestmark = getattr(test, "pytestmark", [])  # type: ignore[attr-defined]
        return run

    return decorate
