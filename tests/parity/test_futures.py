"""torch.futures: what programs see of futures is what they see in torch."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

pytest.importorskip("torch")


def outcomes(name: str) -> list[Any]:
    futures = importlib.import_module(f"{name}.futures")
    found: list[Any] = []

    def note(call: Any) -> None:
        try:
            found.append(call())
        except BaseException as error:
            found.append((type(error).__name__, str(error).split("\n")[0]))

    future = futures.Future()
    after = future.then(lambda done: done.value() + 1)
    further = after.then(lambda done: [done.wait()])
    future.add_done_callback(lambda done: found.append(("called", done.value())))
    found.append([future.done(), after.done()])
    future.set_result(3)
    future.add_done_callback(lambda done: found.append(("called late", done.value())))
    found.append([future.done(), future.value(), future.wait(), after.wait(), further.value()])
    note(lambda: future.set_result(4))
    failed = futures.Future()
    note(lambda: failed.set_exception("text"))
    failed.set_exception(ValueError("on purpose"))
    note(failed.wait)
    note(failed.value)
    note(failed.done)
    first, second = futures.Future(), futures.Future()
    both = futures.collect_all([first, second])
    second.set_result("b")
    found.append(both.done())
    first.set_result("a")
    found.append([both.done(), [one.value() for one in both.wait()], futures.wait_all([first, second])])
    note(lambda: futures.wait_all([first, failed]))
    found.append(futures.collect_all([]).wait())
    found.append(isinstance(futures.Future[int](), futures.Future))
    return found


def test_futures_are_those_of_torch():
    ours, theirs = outcomes("wengert"), outcomes("torch")
    assert ours == theirs and len(ours) > 12
