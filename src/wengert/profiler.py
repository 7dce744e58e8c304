"""torch.profiler: profile with a schedule, over wengert.autograd.profiler.

>>> import wengert
>>> from wengert.profiler import profile, schedule
>>> with profile(schedule=schedule(wait=1, warmup=1, active=1), on_trace_ready=lambda p: print(len(p.events()))) as prof:
...     for step in range(3):
...         x = wengert.ones(2) + step
...         prof.step()
2
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from wengert import errors
from wengert.autograd import profiler as _profiler
from wengert.autograd.profiler import record_function as record_function
from wengert.autograd.profiler_util import EventList, FunctionEventAvg
from wengert.backends.selection import cuda_is_available

__all__ = [
    "ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule", "supported_activities",
    "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerActivity(Enum):
    """Activities that a profiler records. CPU and CUDA have an effect; the others are accepted."""

    CPU = 0
    XPU = 1
    CUDA = 2
    MTIA = 3
    PrivateUse1 = 4


class ProfilerAction(Enum):
    """Action of a profiler in a step: nothing, warm up, record, or record and hand the results over at its end."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    """Return the activities that profile can record: the CPU, and CUDA if there is a GPU."""
    return {ProfilerActivity.CPU, ProfilerActivity.CUDA} if cuda_is_available() else {ProfilerActivity.CPU}


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """Return a schedule for profile(schedule=...): skip_first steps without profiling, then cycles of three phases.

    wait, warmup, active: the number of steps of the phases of a cycle; only active steps are recorded. repeat: the number
    of cycles, 0 for no limit. skip_first_wait: 1 leaves out the wait of the first cycle. Raises ValueError for negative
    numbers, and for active < 1.
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise errors.ProfilerKeyError("a schedule takes no negative numbers of steps, and at least one active step")

    def action(step: int) -> ProfilerAction:
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        cycle, position = divmod(step, wait + warmup + active)
        if repeat and cycle >= repeat:
            return ProfilerAction.NONE
        if position < wait:
            return ProfilerAction.NONE
        if position < wait + warmup:
            return ProfilerAction.WARMUP
        last = position == wait + warmup + active - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """Return a handler for profile(on_trace_ready=...) that writes each trace into the folder dir_name."""

    def handler(prof: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"{os.uname().nodename if hasattr(os, 'uname') else 'host'}_{os.getpid()}"
        prof.export_chrome_trace(os.path.join(dir_name, f"{name}.{time.time_ns()}.pt.trace.json"))

    return handler


class profile:
    """Context manager that profiles steps of its block; step() ends a step.

    schedule: a function of the step's number that returns a ProfilerAction; by default all steps are recorded.
    on_trace_ready: called with this object at the end of the last active step of a cycle, and at the end of the block.
    activities: with CUDA among them, the work on GPUs is measured, too. None: all that supported_activities lists. Other
    arguments: as wengert.autograd.profiler.profile. The results are those of the last cycle.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        **_: Any,
    ) -> None:
        self._settings: dict[str, Any] = {
            "record_shapes": record_shapes, "profile_memory": profile_memory, "with_stack": with_stack, "with_flops": with_flops,
        }  # fmt: skip
        self.activities = set(activities) if activities is not None else supported_activities()
        if ProfilerActivity.CUDA in self.activities:
            self._settings["use_device"] = "cuda"
        self.schedule = schedule or (lambda _step: ProfilerAction.RECORD)
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.profiler: _profiler.profile | None = None
        self._running = False

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None:
        self.stop()

    def start(self) -> None:
        """Begin the first step."""
        self._begin_step()

    def stop(self) -> None:
        """End the last step."""
        if self._running:
            self._finish_cycle()

    def step(self) -> None:
        """End the current step and begin the next one."""
        if self._running and self.schedule(self.step_num) is ProfilerAction.RECORD_AND_SAVE:
            self._finish_cycle()
        self.step_num += 1
        self._begin_step()

    def _begin_step(self) -> None:
        action = self.schedule(self.step_num)
        if not self._running and action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self.profiler = _profiler.profile(**self._settings)
            self.profiler.__enter__()
            self._running = True

    def _finish_cycle(self) -> None:
        self._running = False
        if self.profiler is not None:
            self.profiler.__exit__(None, None, None)
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)

    def _finished_profile(self) -> _profiler.profile:
        if self.profiler is None:
            raise errors.profile_unfinished()
        return self.profiler

    def events(self) -> EventList:
        """Return the recorded events: wengert.autograd.profiler.profile.function_events."""
        return self._finished_profile().function_events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, **_: Any) -> EventList:
        """Return the sums over the events of each name."""
        return self._finished_profile().key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> FunctionEventAvg:
        """Return the sum over all events."""
        return self._finished_profile().total_average()

    def export_chrome_trace(self, path: Any) -> None:
        """Write a trace for Perfetto or chrome://tracing to a file."""
        self._finished_profile().export_chrome_trace(path)

    def export_stacks(self, path: Any, metric: str = "self_cpu_time_total") -> None:
        """Write the stacks to a file, as input of a flame graph tool."""
        self._finished_profile().export_stacks(path, metric)


def __dir__() -> list[str]:
    return sorted(__all__)
