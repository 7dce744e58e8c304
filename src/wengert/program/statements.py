"""What the source of a function says of an instruction that runs: where its number goes, and which statement it is part of.

Source counts only if it compiles to the code that runs: a file may have been changed since it was loaded.
"""

from __future__ import annotations

import ast
import builtins
import io
import linecache
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

from wengert.tensor import Tensor

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
_PASSING = (ast.BinOp, ast.UnaryOp, ast.BoolOp)  # their result may be the number, or follows from it
_COMPARING = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_SELECTING = frozenset({"min", "max", "abs"})  # functions of numbers that ask for nothing but comparisons and signs


class _Source(NamedTuple):
    """A file. codes: those that it compiles to. parents: of each node of its syntax."""

    codes: list[CodeType]
    tree: ast.Module
    parents: dict[ast.AST, ast.AST]


_sources: dict[tuple[str, int], _Source | None] = {}  # by the name of a file, and the hash of its text


def _source_of(code: CodeType) -> _Source | None:
    """Return the source of a code, or None if there is none, or another one."""
    text = "".join(linecache.getlines(code.co_filename))
    key = code.co_filename, hash(text)
    if key not in _sources:
        _sources[key] = _read(text, code.co_filename) if text else None
    source = _sources[key]
    is_same = source is not None and any(x == code and x.co_linetable == code.co_linetable for x in source.codes)
    return source if is_same else None


def _read(text: str, name: str) -> _Source | None:
    try:
        tree = ast.parse(text)
        whole = compile(text, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    return _Source(list(_codes_in(whole)), tree, parents)


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for x in code.co_consts:
        if isinstance(x, CodeType):
            yield x
            yield from _codes_in(x)


def _node_at(source: _Source, frame: FrameType) -> ast.AST | None:
    """Return the smallest part of the source that holds what a frame runs now."""
    found: ast.AST | None = None
    todo: list[ast.AST] = [source.tree]
    while todo:
        node = todo.pop()
        if hasattr(node, "end_col_offset"):
            if not is_in(frame, node):
                continue
            found, todo = node, []  # parts of one node do not overlap
        todo.extend(ast.iter_child_nodes(node))
    return found


# -- where a number goes ---------------------------------------------------------------------------------------------------


class _Ways:
    """The ways that an object takes from a part of the source on.

    returned: whether it may be the function's result; in a container, if `packed`."""

    def __init__(self, source: _Source, frame: FrameType, reaches: Callable[[Any], bool]) -> None:
        self.parents = source.parents
        self.namespace = frame.f_globals
        self.frame = frame
        self.reaches = reaches
        self.is_of_code = True  # whether it follows from the code alone
        self.returned = False
        self.packed = False
        self._seen: set[tuple[Any, str]] = set()

    def are_of_operators(self, node: ast.AST) -> bool:
        """Whether only operators, comparisons and texts read it, directly or by the name of a variable, until it is returned."""
        above = self.parents[node]
        if isinstance(above, _PASSING):
            return self.are_of_operators(above)
        if isinstance(above, ast.Compare):
            return all(isinstance(x, _COMPARING) for x in above.ops)
        if isinstance(above, (ast.If, ast.While, ast.FormattedValue, ast.Attribute)):  # attributes are those of the value
            return True
        if isinstance(above, ast.IfExp):
            return node is above.test or self.are_of_operators(above)
        if isinstance(above, ast.NamedExpr):
            return self._are_of_variable(above.target) and self.are_of_operators(above)
        if isinstance(above, ast.keyword):
            above = self.parents[above]
        if isinstance(above, ast.Call) and self._is_printed(above):
            return True
        if isinstance(above, ast.Call):
            return self._takes_numbers(above) or (self._selects(above) and self.are_of_operators(above))
        if isinstance(above, ast.Assign) and len(above.targets) == 1 and isinstance(above.targets[0], ast.Name):
            return self._are_of_variable(above.targets[0])
        if isinstance(above, ast.AugAssign) and isinstance(above.target, ast.Name):
            return self._are_of_variable(above.target)
        while isinstance(above, (ast.Tuple, ast.List, ast.Dict)):
            self.packed = True
            node, above = above, self.parents[above]
        self.returned = self.returned or isinstance(above, (ast.Return, ast.Lambda))
        return isinstance(above, (ast.Return, ast.Lambda))

    def _found(self, x: ast.expr) -> Any:
        """Return what a name, or an attribute of one, is in the frame, or None."""
        if isinstance(x, ast.Name):
            return self.frame.f_locals.get(x.id, self.namespace.get(x.id))
        return getattr(self._found(x.value), "__dict__", {}).get(x.attr) if isinstance(x, ast.Attribute) else None

    def _is_printed(self, call: ast.AST) -> bool:
        """Whether a call is part of the arguments of print(), which are computed again in each run."""
        function = self.function_of(call)
        while not isinstance(call, ast.stmt) and call is not function:
            is_named = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"
            if is_named and self._is_builtin(call.func):  # type: ignore[attr-defined]
                return isinstance(self.parents[call], ast.Expr)
            call = self.parents[call]
        return False

    def _selects(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Name) and call.func.id in _SELECTING and self._is_builtin(call.func)

    def _takes_numbers(self, call: ast.Call) -> bool:
        """Whether a call is one of print(), of a function of this package, or of a method that writes into a tensor."""
        function = call.func
        if isinstance(function, ast.Name):
            named = self.namespace.get(function.id)
            return _is_own(named) and self._is_global(function)
        if not isinstance(function, ast.Attribute):
            return False
        if function.attr == "append":
            self.is_of_code = False
            found = self._found(function.value)
            return type(found) is list and self.reaches(found)
        if function.attr.endswith("_") and hasattr(Tensor, function.attr) and not function.attr.startswith("_"):
            return True
        while isinstance(function, ast.Attribute):
            function = function.value
        return isinstance(function, ast.Name) and _is_own(self.namespace.get(function.id)) and self._is_global(function)

    def _is_builtin(self, x: ast.Name) -> bool:
        return x.id not in self.namespace and self._is_global(x)

    def _is_global(self, x: ast.Name) -> bool:
        """Whether no variable of the functions around it has a name."""
        function: ast.AST = x
        while function in self.parents:
            function = self.function_of(self.parents[function])
            for y in ast.walk(function) if isinstance(function, _FUNCTIONS) else ():
                if isinstance(y, ast.arg) and y.arg == x.id:
                    return False
                if isinstance(y, ast.Name) and y.id == x.id and isinstance(y.ctx, ast.Store):
                    return False
        return True

    def _are_of_variable(self, target: ast.Name) -> bool:
        function = self.function_of(target)
        key = function, target.id
        if key in self._seen:
            return True
        self._seen.add(key)
        if not isinstance(function, (ast.FunctionDef, ast.Lambda)):
            return False
        for node in ast.walk(function):
            if isinstance(node, (ast.Global, ast.Nonlocal)) and target.id in node.names:
                return False
            if not isinstance(node, ast.Name) or node.id != target.id:
                continue
            if self.function_of(node) is not function or isinstance(node.ctx, ast.Del):
                return False
            if isinstance(node.ctx, ast.Load) and not self.are_of_operators(node):
                return False
        return True

    def function_of(self, node: ast.AST) -> ast.AST:
        """Return the function that a part of the source is in, or the module."""
        while node in self.parents and not isinstance(node, _FUNCTIONS):
            node = self.parents[node]
        return node


def _is_own(x: Any) -> bool:
    """Whether an object is a module or a function of this package."""
    name = x.__name__ if isinstance(x, ModuleType) else getattr(x, "__module__", None) if callable(x) else None
    return isinstance(name, str) and name.partition(".")[0] == "wengert" and not isinstance(x, type)


_ways: dict[tuple[int, int], tuple[CodeType, tuple[bool, bool, bool]]] = {}  # by the id of a code, and the offset of an instruction


def stays_in_operators(
    frame: FrameType, is_outermost: Callable[[FrameType], bool], reaches: Callable[[Any], bool]
) -> bool:
    """Whether the result of the call that a frame waits for is read by nothing but operators, comparisons and texts, is appended to
    a list that the function reaches, or is returned by the compiled function.

    is_outermost: tells whether a frame is that of the compiled function. reaches: whether the function reaches an object."""
    while True:
        key = id(frame.f_code), frame.f_lasti
        kept = _ways.get(key)
        if kept is None:
            ways = _ways_from(frame, reaches)
            kept = frame.f_code, ways[:3]
            if ways[3]:
                _ways[key] = kept
        are_of_operators, returned, packed = kept[1]
        if not are_of_operators:
            return False
        if not returned or is_outermost(frame):
            return True
        caller = frame.f_back
        if packed or caller is None:
            return False
        frame = caller


def _ways_from(frame: FrameType, reaches: Callable[[Any], bool]) -> tuple[bool, bool, bool, bool]:
    source = _source_of(frame.f_code)
    node = None if source is None else _node_at(source, frame)
    if source is None or not isinstance(node, ast.Call):
        return False, False, False, True
    ways = _Ways(source, frame, reaches)
    return ways.are_of_operators(node), ways.returned, ways.packed, ways.is_of_code


# -- statements that put something out --------------------------------------------------------------------------------------


class Statement(NamedTuple):
    """A call whose result nobody uses, and which does nothing but put something out, as print() does.

    arguments: a function of the values of `names`, variables of the frame, that gives the function to call, the tuple of its
    arguments, and the dict. call: a function of these that calls it, at the line of the statement. is_simple: no other function is
    called in it."""

    arguments: Callable[..., Any]
    call: Callable[..., Any]
    names: tuple[str, ...]
    function: Any
    is_simple: bool
    node: ast.Expr


def statement_at(frame: FrameType) -> Statement | None:
    """Return the statement that a frame is in, if it is a call that does nothing but put something out."""
    source = _source_of(frame.f_code)
    node = None if source is None else _node_at(source, frame)
    while source is not None and node is not None and not isinstance(node, ast.stmt):
        if isinstance(node, ast.Lambda):
            return None
        node = source.parents[node]
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call) or any(map(_is_unusual, ast.walk(node))):
        return None
    call, variables = node.value, frame.f_locals
    names = tuple(dict.fromkeys([x.id for x in ast.walk(call) if isinstance(x, ast.Name) and x.id in variables]))
    parts: list[ast.expr] = [call.func, ast.Tuple(call.args, ast.Load())]
    keys: list[ast.expr | None] = [None if x.arg is None else ast.Constant(x.arg) for x in call.keywords]
    parts.append(ast.Dict(keys, [x.value for x in call.keywords]))
    given = [variables[name] for name in names]
    function = _compiled(call.func, names, frame)(*given)
    if not puts_out(function):
        return None
    f, a, k = [ast.Name(name, ast.Load()) for name in "fak"]
    made = ast.Call(f, [ast.Starred(a, ast.Load())], [ast.keyword(None, k)])
    again = _compiled(ast.copy_location(made, call), ("f", "a", "k"), frame)
    again.__code__ = again.__code__.replace(co_name=frame.f_code.co_name)  # logging tells it
    is_simple = sum(isinstance(x, ast.Call) for x in ast.walk(call)) == 1
    return Statement(_compiled(ast.Tuple(parts, ast.Load()), names, frame), again, names, function, is_simple, node)


def is_in(frame: FrameType, node: Any, lasti: int = -1) -> bool:
    """Whether what a frame runs is part of a node. lasti: an instruction that it has run, in place of that of now."""
    found = _position(frame, lasti)
    return found is not None and (node.lineno, node.col_offset) <= found[0] and found[1] <= (node.end_lineno, node.end_col_offset)


def is_at(frame: FrameType, call: Any) -> bool:
    """Whether a frame waits for a call, which has a method or a function of one line."""
    found = _position(frame)
    return found == ((call.lineno, call.col_offset), (call.end_lineno, call.end_col_offset))


def _position(frame: FrameType, lasti: int = -1) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return line and column where what a frame runs begins and ends."""
    place = (frame.f_lasti if lasti < 0 else lasti) // 2
    line, last_line, column, last_column = next(islice(frame.f_code.co_positions(), place, None))
    if line is None or last_line is None or column is None or last_column is None:
        return None
    return (line, column), (last_line, last_column)


def _compiled(node: ast.expr, names: tuple[str, ...], frame: FrameType) -> Any:
    """Return an expression as a function of variables."""
    given = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    whole = ast.fix_missing_locations(ast.Expression(ast.Lambda(given, node)))
    code = compile(whole, frame.f_code.co_filename, "eval", dont_inherit=True)
    return eval(code, frame.f_globals)


def _is_unusual(node: ast.AST) -> bool:
    """Whether an expression may change variables, or means something else in another function."""
    if isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
        return True
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name in ("_version", "super", "locals", "vars", "eval", "exec") or (name.startswith("__") and not name.endswith("__"))


def appends(function: Any) -> bool:
    """Whether a function is append() of a list."""
    return type(getattr(function, "__self__", None)) is list and function.__name__ == "append"


def puts_out(function: Any) -> bool:
    """Whether a function does nothing but put out what it is given: print(), functions of logging and of files, and append() of
    lists."""
    if function is builtins.print or appends(function):
        return True
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if isinstance(owner, io.IOBase) or (owner is not None and owner in (sys.stdout, sys.stderr)):
        return name in ("write", "writelines", "flush")
    logging = sys.modules.get("logging")
    is_logger = logging is not None and isinstance(owner, (logging.Logger, logging.LoggerAdapter))
    is_logger = is_logger or getattr(function, "__module__", "") == "logging"
    return is_logger and name in ("debug", "info", "warning", "error", "critical", "log")
