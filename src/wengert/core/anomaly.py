"""Anomaly detection: which operation, of a forward or a backward pass, first made a value that is not finite. Not compiled.

While it is on, every node keeps the whole stack of its call, passes are run by recorder.run_watched, and each node's results
are looked at. With forward checks, so is the result of every operation: what is found is reported when a backward pass
reaches it, for only then is it known how it leads to the loss.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from types import TracebackType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of, to_host
from wengert.core.buffers import ReadCotangent
from wengert.core.node import Node, edge_at, find_position, keeps_stacks, locate, set_stack_keeper
from wengert.core.recorder import set_anomaly
from wengert.core.stacks import Stack, format_stack, take_stack, user_level
from wengert.core.tensor import TensorBase

CHAIN_LIMIT = 12  # nodes of a chain that a message names

_running = threading.local()  # .node: what the thread's innermost pass evaluates


class Settings:
    """Settings of anomaly detection."""

    __slots__ = ("check_nan", "enabled", "forward", "inf")

    def __init__(self, enabled: bool, check_nan: bool = True, forward: bool = False, inf: bool = False) -> None:
        self.enabled = enabled
        self.check_nan = check_nan
        self.forward = forward  # operations are looked at, too
        self.inf = inf  # infinite values count, too


_settings = Settings(False)
_found: list[Finding] = []  # by operations, not yet reported; the first ones
_found_at: WeakKeyDictionary[Node, Finding] = WeakKeyDictionary()


def settings() -> Settings:
    """Return the current settings."""
    return _settings


def apply(new: Settings) -> None:
    """Set it, for all threads."""
    global _settings
    passes = Passes() if new.enabled else None
    _settings = new
    if not (new.enabled and new.forward):
        _found.clear()
        _found_at.clear()
    set_stack_keeper(keep_stack if new.enabled else None)
    set_anomaly(passes, check_operation if new.enabled and new.forward else None)


# -- stacks of forward calls -----------------------------------------------------------------------------------------------


class Traceback(Sequence[str]):
    """A call stack. It becomes text when somebody reads it."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self._lines: list[str] | None = None

    def lines(self) -> list[str]:
        """Return the lines that traceback.format_stack gives."""
        if self._lines is None:
            self._lines = format_stack(self.stack)
        return self._lines

    def __getitem__(self, index: Any) -> Any:
        return self.lines()[index]

    def __len__(self) -> int:
        return len(self.stack)


def keep_stack(node: Node) -> None:
    """Give a new node the stack of its call, under torch's names; and the node of a pass that was making it."""
    metadata = node.metadata
    metadata["traceback_"] = Traceback(take_stack())
    parent = getattr(_running, "node", None)
    if parent is not None:
        metadata["parent_"] = parent


def warn_of(node: Node) -> None:
    """Warn that this node failed, with the stack of its forward, and those of the passes that made it."""
    level = user_level()
    metadata = node.metadata if node._hooks is not None else {}
    traceback = metadata.get("traceback_")
    nothing_kept = "No forward pass information available. Enable detect anomaly during forward pass for more information."
    if traceback is None:
        where = node._source()
        text = nothing_kept + (f" The forward was called at {where}." if where else "")
    else:
        text = f"Traceback of forward call that caused the error:\n{''.join(traceback)}"
    warnings.warn(f"Error detected in {node.name()}. {text}", stacklevel=level)
    parent = metadata.get("parent_")
    while parent is not None:
        above = parent.metadata
        traceback = above.get("traceback_")
        text = nothing_kept
        if traceback is not None:
            text = f"Traceback of forward call that induced the previous calculation:\n{''.join(traceback)}"
        warnings.warn(f"\n\nPrevious calculation was induced by {parent.name()}. {text}", stacklevel=level)
        parent = above.get("parent_")


# -- passes ----------------------------------------------------------------------------------------------------------------


class Passes:
    """Checks passes for recorder.run_watched."""

    def begin(self, roots: list[Any]) -> Pass:
        """To be called as a pass begins."""
        nodes = [root.node for root in roots]
        report_found(nodes)
        return Pass(nodes)


class Pass:
    """One backward pass, looked at."""

    def __init__(self, roots: list[Node]) -> None:
        self.roots = roots
        self.node: Node | None = None
        self.before: Node | None = None

    def watching(self, node: Node) -> Pass:
        """For a with block in which the node is evaluated."""
        self.node = node
        return self

    def __enter__(self) -> None:
        self.before = getattr(_running, "node", None)
        _running.node = self.node

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        _running.node = self.before
        if isinstance(error, Exception) and self.node is not None:
            warn_of(self.node)

    def check(self, node: Node, results: Sequence[Any], cotangents: Sequence[Any]) -> None:
        """Raise where a node's results are not finite. cotangents: what they were made from."""
        now = _settings
        if not now.check_nan:
            return
        for i, result in enumerate(results):
            kind = what_is_wrong(result, now.inf)
            if kind is not None:
                # Not from a variable here: the error's traceback has this frame, and the two would keep each other alive.
                raise self.error(node, i, kind, cotangents)

    def error(self, node: Node, i: int, kind: str, cotangents: Sequence[Any]) -> errors.AnomalyError:
        """Return the error for a node's result i, which holds nan or inf values."""
        where = node._source()
        error = errors.AnomalyError(
            f"Function '{node.name()}' returned {kind} values in its {i}th output."
            + (f" Its forward was called at {where}." if where else "")
        )
        for nr, cotangent in enumerate(cotangents):
            error.add_note(f"gradient of its output {nr}: {statistics(cotangent)}")
        for name, value in saved_values(node):
            error.add_note(f"{name}: {statistics(value)}")
        error.add_note(chain_text(self.roots, node))
        return error


def saved_values(node: Node) -> list[tuple[str, Any]]:
    """The tensors that a node saved, by the names under which it shows them."""
    found = []
    for name in dir(type(node)):
        if name.startswith("_saved_"):
            try:
                value = getattr(node, name)
            except Exception:  # released, or written since: there is nothing to tell
                continue
            if isinstance(value, TensorBase):
                found.append((name, value))
    return found


# -- operations ------------------------------------------------------------------------------------------------------------


class Finding:
    """An operation that made a value that is not finite."""

    def __init__(self, name: str, kind: str, inputs: tuple[Any, ...], node: Node | None) -> None:
        self.name = name.lstrip("_")  # some are registered under a name that says they are internal
        self.kind = kind
        self.where = locate(*find_position())
        self.facts = [f"input {i}: {statistics(x)}" for i, x in enumerate(inputs)]
        self.was_given = any(what_is_wrong(x, True) is not None for x in inputs)
        self.recorded = node is not None

    def error(self, chain: str | None) -> errors.AnomalyError:
        """Return the error to raise. chain: how the result leads to the loss."""
        text = f"Operation '{self.name}'{f' at {self.where}' if self.where else ''} "
        if self.was_given:
            text += (
                f"was given values that are not finite, and returned {self.kind} values. No operation looked at before has "
                "made them."
            )
        else:
            text += f"returned {self.kind} values. It is the first that did."
        error = errors.AnomalyError(text)
        for fact in self.facts:
            error.add_note(fact)
        if chain is not None:
            error.add_note(chain)
        return error


def check_operation(name: str, inputs: tuple[Any, ...], result: Any) -> None:
    """Look at what an operation has made."""
    for x in result if isinstance(result, tuple) else (result,):
        kind = what_is_wrong(x, _settings.inf)
        if kind is None:
            continue
        # What was given one is not where it comes from; but the first one in all may come from outside.
        if _found and any(what_is_wrong(x, True) is not None for x in inputs):
            return
        node = x._grad_fn
        finding = Finding(name, kind, inputs, node)
        if not _found:
            _found.append(finding)
        if node is not None:
            _found_at[node] = finding
        return


def report_found(roots: list[Node]) -> None:
    """Raise the first finding from which one of these nodes was computed."""
    if not _found_at:
        return
    reached = [node for node in ancestors(roots) if node in _found_at]
    if reached:
        first = min(reached, key=lambda node: node._seq)
        finding = _found_at[first]
        forget_found()
        raise finding.error(chain_text(roots, first))


def forget_found() -> None:
    """To be called where a finding is reported, or there is no need to."""
    _found.clear()
    _found_at.clear()


def unreported() -> errors.AnomalyError | None:
    """The first finding that no pass has reported, as an error."""
    return _found[0].error(None) if _found else None


# -- values and chains -----------------------------------------------------------------------------------------------------


def array_of(x: Any) -> Any:
    """The array of what a rule returned or an operation was given; None for what is none, or holds no floats."""
    if isinstance(x, ReadCotangent):
        x = x.value
    array = x._array if isinstance(x, TensorBase) else x
    if isinstance(array, float):
        array = np.asarray(array)
    return array if hasattr(array, "dtype") and array.dtype.kind in "fcV" else None


def what_is_wrong(x: Any, inf: bool) -> str | None:
    """ "nan" or "inf" for what holds such values; None for what is as it should be. inf: whether infinite values count."""
    array = array_of(x)
    if array is None:
        return None
    xp = backend_of(array)
    with np.errstate(all="ignore"):
        if xp.isnan(array).any():
            return "nan"
        return "inf" if inf and xp.isinf(array).any() else None


def statistics(x: Any) -> str:
    """Return one line of statistics of a value."""
    if x is None:
        return "none"
    array = array_of(x)
    if array is None:
        array = getattr(x, "_array", None)
        return repr(x) if array is None else f"{array.dtype} {list(array.shape)}"
    text = f"{array.dtype} {list(array.shape)}"
    array = to_host(array)
    with np.errstate(all="ignore"):
        finite = array[np.isfinite(array)]
        if finite.size and array.dtype.kind != "c":
            text += f", from {float(finite.min()):.6g} to {float(finite.max()):.6g}, mean {float(finite.mean(dtype='f8')):.6g}"
        counts = (("zero", array == 0), ("nan", np.isnan(array)), ("inf", np.isinf(array)))
        return text + "".join([f", {int(found.sum())} {name}" for name, found in counts if found.any()])


def ancestors(roots: list[Node]) -> dict[Node, Node | None]:
    """Every node that the roots lead to, with the node by which it was first reached; the nearest first."""
    reached: dict[Node, Node | None] = dict.fromkeys(roots)
    queue = list(reached)
    for node in queue:
        for i in range(node._n_edges):
            edge = edge_at(node, i)
            if edge is not None and edge.node not in reached:
                reached[edge.node] = node
                queue.append(edge.node)
    return reached


def chain_text(roots: list[Node], node: Node) -> str:
    """The shortest way from a node to the root, with source lines."""
    reached = ancestors(roots)
    chain = []
    step: Node | None = node
    while step is not None:
        chain.append(step)
        step = reached.get(step)
    lines = [f"{step.name()} ({step._source() or 'no source line'})" for step in chain]
    if len(lines) > CHAIN_LIMIT:
        half = CHAIN_LIMIT // 2
        lines[half:-half] = [f"... {len(lines) - 2 * half} more ..."]
    return "from there to the loss:\n  " + "\n  ".join(lines)


__all__ = ["Settings", "apply", "keeps_stacks", "settings"]
