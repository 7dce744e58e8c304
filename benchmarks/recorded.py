"""Run a program, and record the loss and the processor time at each call of backward: recorded.py RECORD STEPS SCRIPT ARGUMENTS...

`import torch` decides which library runs: `python recorded.py ...` is torch, `python -m wengert run recorded.py ...` is wengert.
RECORD gets, as JSON, the losses, the seconds since the first loss, and the exception that ended the program, or null.
The program ends at loss number STEPS. Before it starts, all seeds are 0, and one thread computes. Environment variables:

    RECORD_GRAD=1   records calls of torch.autograd.grad, too
    OLD=1           lets torch index numbers by 0, as torch 0.1 to 0.3 did: loss.data[0]
    NUDGED=1        adds errors of one rounding to the gradients, so that one sees how far rounding alone carries a loss curve
"""

from __future__ import annotations

import json
import os
import random
import runpy
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import torch

losses: list[float] = []
times: list[float] = []


class EnoughLosses(BaseException):
    """Raised when STEPS losses are recorded."""


def record_calls(owner: Any, name: str, steps: int) -> None:
    """Make the function owner.name record its first argument."""
    function = getattr(owner, name)

    def recorded(loss: Any, *args: Any, **kwargs: Any) -> Any:
        times.append(time.process_time())
        losses.append(float(loss.detach().sum()))
        if len(losses) >= steps:
            raise EnoughLosses
        return function(loss, *args, **kwargs)

    setattr(owner, name, recorded)


def index_numbers() -> None:
    """Make x[0] of a tensor x without dimensions x itself."""
    getitem = torch.Tensor.__getitem__
    torch.Tensor.__getitem__ = lambda x, index: x if x.ndim == 0 and isinstance(index, int) else getitem(x, index)


def nudge_gradients() -> None:
    """Make every backward pass start at 1 + 2**-23, and add noise of 2**-24 of the largest element to what optimizers get."""
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    backward, generator = torch.Tensor.backward, torch.Generator().manual_seed(1)

    def nudged_backward(loss: Any, *args: Any, **kwargs: Any) -> Any:
        return backward(loss, *(args or (torch.full_like(loss, 1 + 2**-23),)), **kwargs)

    def nudge(optimizer: Any, args: Any, kwargs: Any) -> None:
        for group in optimizer.param_groups:
            for grad in [p.grad for p in group["params"] if p.grad is not None]:
                grad += 2**-24 * grad.abs().max() * torch.randn(grad.shape, generator=generator).to(grad.dtype)

    torch.Tensor.backward = nudged_backward
    register_optimizer_step_pre_hook(nudge)


def main(record: Path, steps: int, arguments: list[str]) -> None:
    """Run the program arguments[0] with its arguments, and write the record."""
    if os.environ.get("OLD"):
        index_numbers()
    if os.environ.get("NUDGED"):
        nudge_gradients()
    if os.environ.get("RECORD_GRAD"):
        record_calls(torch.autograd, "grad", steps)
    record_calls(torch.Tensor, "backward", steps)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002 (programs draw from the old generator)
    random.seed(0)
    sys.argv = arguments
    sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
    failure = None
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except EnoughLosses:
        pass
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        failure = f"{type(error).__name__}: {error}"
    record.write_text(json.dumps({"losses": losses, "seconds": [t - times[0] for t in times], "failure": failure}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
