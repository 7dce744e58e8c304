"""Tables of messages: rows of the call that builds an exception, the built-in exception that it is, and its text."""

from __future__ import annotations

import inspect

from wengert import errors


def check(build, builtin, text):
    """The exception of a row is what the row says, and either one of ours or a warning."""
    error = build()
    assert str(error) == text
    assert isinstance(error, builtin)
    # The nearest built-in exception is the one that torch raises.
    assert isinstance(error, Warning if issubclass(builtin, Warning) else errors.WengertError)


def builders(module):
    """{name: function} of what a module of wengert.errors builds."""
    functions = inspect.getmembers(module, inspect.isfunction)
    return {name: f for name, f in functions if f.__module__ == module.__name__ and not name.startswith("_")}


def without_row(rows, *modules):
    """The builders of modules that no row calls."""
    called = {name for build, *_ in rows for name in build.__code__.co_names}
    return {name for module in modules for name in builders(module)} - called
