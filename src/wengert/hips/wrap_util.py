"""Operators on functions of several arguments, made from operators on functions of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.hips.traces import is_recorded, record


def get_name(f: Any) -> str:
    """Return the name of a function."""
    return getattr(f, "__name__", "[unknown name]")


def get_doc(f: Any) -> str:
    """Return the docstring of a function."""
    return getattr(f, "__doc__", "")


def wraps(fun: Any, namestr: str = "{fun}", docstr: str = "{doc}", **names: Any) -> Callable[[Any], Any]:
    """Return a decorator that gives a function the name and docstring of fun, in these forms."""

    def decorate(f: Any) -> Any:
        try:
            f.__name__ = namestr.format(fun=get_name(fun), **names)
            f.__doc__ = docstr.format(fun=get_name(fun), doc=get_doc(fun), **names)
        except (AttributeError, KeyError, ValueError):
            pass
        return f

    return decorate


def unary_to_nary(unary_operator: Callable[..., Any]) -> Callable[..., Any]:
    """Make an operator on functions of one argument work on one argument of a function, or on several as a tuple.

    unary_operator(fun, x, ...) becomes operator(fun, argnum=0, ...), which returns a function of the arguments of fun.
    """

    operator = get_name(unary_operator)

    @wraps(unary_operator)
    def nary_operator(fun: Any, argnum: Any = 0, *operator_args: Any, **operator_kwargs: Any) -> Any:
        assert type(argnum) in (int, tuple, list), argnum
        single, name = isinstance(argnum, int), get_name(fun)

        def nary_f(*args: Any, **kwargs: Any) -> Any:
            if is_recorded(args):
                return record(nary_f, args, kwargs)

            if single and len(args) == 1 and not kwargs:
                return unary_operator(fun, args[argnum], *operator_args, **operator_kwargs)

            def unary_f(x: Any) -> Any:
                given = list(args)
                if single:
                    given[argnum] = x
                else:
                    for i, value in zip(argnum, x, strict=True):
                        given[i] = value
                return fun(*given, **kwargs)

            unary_f.__name__ = name
            x = args[argnum] if single else tuple([args[i] for i in argnum])
            return unary_operator(unary_f, x, *operator_args, **operator_kwargs)

        nary_f.__name__ = f"{operator}_of_{name}_wrt_argnum_{argnum}"
        nary_f.__doc__ = (
            f"    {operator} of function {name} with respect to argument number {argnum}. Takes the\n"
            f"    same arguments as {name}, and returns the {operator}.\n"
        )
        return nary_f

    return nary_operator
