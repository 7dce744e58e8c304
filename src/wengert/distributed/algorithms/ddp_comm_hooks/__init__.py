"""torch.distributed.algorithms.ddp_comm_hooks: what ranks do with gradients in place of taking their mean."""

from wengert import errors as _errors
from wengert.distributed.algorithms.ddp_comm_hooks import default_hooks as default_hooks

default = default_hooks


def __getattr__(name: str) -> object:
    raise _errors.no_such_name(__name__, name)
