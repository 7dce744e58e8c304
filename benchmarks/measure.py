"""Time programs beside each other, in turns, so that a disturbance affects all of them.

A round runs every program for some milliseconds, one after the other. A program's time is its best round, because noise only
ever adds. The ratio of two programs is the ratio of their best times. Its spread is the range between the quartiles of the
ratios within single rounds.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from math import exp, log
from statistics import fmean, quantiles

ROUND_SECONDS = 0.03  # of one program in one round; a call that takes longer is a round of its own
PAUSE_SECONDS = 0.01  # before each: worker threads of the library that ran last spin for a while before they sleep


def time_rounds(
    programs: dict[str, Callable[[], object]],
    rounds: int,
    collect: bool,
    length: float = ROUND_SECONDS,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Return seconds a call for each program, one entry a round. collect: Python's garbage collector is on, as users have it.
    length: of a round, in seconds. clock: returns the seconds that are counted.

    Existing objects are frozen, because a collection would walk the modules of both libraries whichever is being timed.
    """
    numbers = {name: _calls_a_round(program, length, clock) for name, program in programs.items()}
    times: dict[str, list[float]] = {name: [] for name in programs}
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        for name, program in programs.items():
            gc.collect()
            time.sleep(PAUSE_SECONDS)
            if numbers[name] > 1:
                program()  # wakes its threads and fills the caches again
            if not collect:
                gc.disable()
            times[name].append(_time(program, numbers[name], clock))
            gc.enable()
    gc.unfreeze()
    return times


def _calls_a_round(program: Callable[[], object], length: float, clock: Callable[[], float]) -> int:
    return max(1, round(length / max(min(_time(program, 1, clock), _time(program, 1, clock)), 1e-6)))


def _time(program: Callable[[], object], number: int, clock: Callable[[], float]) -> float:
    """Return seconds a call."""
    started = clock()
    for _ in range(number):
        program()
    return (clock() - started) / number


def compare(slower: list[float], faster: list[float]) -> tuple[float, float, float]:
    """Return slower / faster: the ratio of the best times, and the lower and upper quartile of the rounds' ratios."""
    ratios = [a / b for a, b in zip(slower, faster, strict=True)]
    low, _, high = quantiles(ratios, n=4) if len(ratios) > 1 else (ratios[0],) * 3
    return min(slower) / min(faster), low, high


def geometric_mean(ratios: Sequence[float]) -> float:
    """Geometric mean: twice as fast and half as fast cancel."""
    return exp(fmean(log(ratio) for ratio in ratios))


def format_seconds(seconds: float) -> str:
    """Format seconds with three digits and a unit."""
    if seconds >= 1:
        return f"{seconds:.3g} s "
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"
