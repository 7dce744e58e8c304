"""torch.utils.benchmark: Timer, Measurement and Compare.

>>> from wengert.utils.benchmark import Timer
>>> measurement = Timer("x + 1", "x = 2").timeit(100)
>>> measurement.number_per_run, measurement.title
(100, 'x + 1')
"""

from wengert.utils.benchmark._compare import Compare as Compare
from wengert.utils.benchmark._measurement import (
    Measurement as Measurement,
    TaskSpec as TaskSpec,
    ordered_unique as ordered_unique,
    select_unit as select_unit,
    trim_sigfig as trim_sigfig,
    unit_to_english as unit_to_english,
)
from wengert.utils.benchmark._timer import Language as Language, Timer as Timer, timer as timer

__all__ = [
    "Compare", "Language", "Measurement", "TaskSpec", "Timer", "ordered_unique", "select_unit", "timer", "trim_sigfig",
    "unit_to_english",
]  # fmt: skip
