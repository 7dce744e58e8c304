"""torch.distributed.algorithms: Join, for ranks with different numbers of batches, and communication hooks."""

from wengert import errors as _errors
from wengert._forks import import_late as _import_late
from wengert.distributed.algorithms.join import Join as Join, Joinable as Joinable, JoinHook as JoinHook


def __getattr__(name: str) -> object:
    if name == "ddp_comm_hooks":
        return _import_late("wengert.distributed.algorithms.ddp_comm_hooks")
    raise _errors.no_such_name(__name__, name)
