"""Groups of ranks: the processes that mpirun has started, and parts of them, each with a communicator of MPI of its own."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import is_installed
from wengert.distributed.job import Job, await_request, load_mpi, within
from wengert.distributed.work import GRACE, Header, Work

__all__ = [
    "Backend", "GroupMember", "ProcessGroup", "default_pg_timeout", "destroy_process_group", "get_backend", "get_global_rank",
    "get_group_rank", "get_node_local_rank", "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size", "group",
    "init_process_group", "is_available", "is_backend_available", "is_gloo_available", "is_initialized", "is_mpi_available",
    "is_nccl_available", "is_torchelastic_launched", "is_ucc_available", "is_xccl_available", "new_group", "new_subgroups",
    "new_subgroups_by_enumeration",
]  # fmt: skip

default_pg_timeout = timedelta(minutes=30)


class Backend(str):
    """The name of a backend, in small letters: Backend("GLOO") == Backend.GLOO == "gloo". Here all work is MPI's.

    Raises ValueError for what is no string.
    """

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    XCCL = "xccl"
    UCC = "ucc"
    MPI = "mpi"

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


class ProcessGroup:
    """Ranks that call together. Made by init_process_group and new_group.

    ranks: the global ranks, in the order of the group. comm: MPI's communicator, for this group alone.
    """

    def __init__(self, job: Job, comm: Any, ranks: Sequence[int], timeout: float, label: str) -> None:
        self.job = job
        self.mpi = job.mpi
        self.comm = comm
        self.headers = comm.Dup()  # see Note [Headers]
        self.lines = comm.Dup()
        self.ranks = tuple(ranks)
        self.timeout = timeout  # seconds
        self.label = label
        self._rank = comm.Get_rank()
        self._calls = 0
        self._failure: str | None = None
        self.is_destroyed = False
        job.states.pop(label, None)

    def rank(self) -> int:
        """The rank of this process in the group."""
        return self._rank

    def size(self) -> int:
        """Number of ranks."""
        return len(self.ranks)

    def name(self) -> str:
        """The backend: mpi."""
        return "mpi"

    def __repr__(self) -> str:
        return f"<ProcessGroup of ranks {list(self.ranks)}>"

    # -- for Work ------------------------------------------------------------------------------------------------------------

    def check_usable(self, name: str) -> None:
        """Raise DistBackendError after a failure: the ranks are no longer in step."""
        if self.is_destroyed:
            raise errors.DistBackendError(f"{name}: the process group {self.label} has been destroyed.")
        if self._failure is not None:
            raise errors.DistBackendError(
                f"{name}: {self.label} cannot be used after the failure of an earlier call. {self._failure}"
            )

    def count(self, name: str, is_collective: bool) -> int:
        """Note a call. Return the number of collectives so far, which is the same on all ranks; send and recv do not count."""
        self._calls += is_collective
        self.job.states[self.label] = (self._calls, name)
        return self._calls

    def fail(self, name: str, error: BaseException) -> None:
        """Note that the ranks are out of step."""
        self._failure = f"{name} raised: {error}"
        self.job.is_broken = True

    def header(self, name: str, shape: Any, dtype: Any, op: Any = None, root: int | None = None) -> Header:
        """Start to compare a call with those of the other ranks. See Note [Headers]."""
        options = "" if op is None else f", op={op.name}"
        if root is not None:
            options += f", root={root}"
        text = f"{name}({dtype}, shape={list(shape)}{options})" if shape is not None else f"{name}({options[2:]})"
        return Header(self, (name, tuple(shape or ()), dtype, op, root, self._calls), f"{text}, call {self._calls}")

    def ended_rank(self, grace: float) -> tuple[int, str] | None:
        """Return a rank of the group that ended more than some seconds ago, and why, or None."""
        return self.job.watch.ended_rank(self.ranks, grace)

    def describe(self, work: Work) -> str:
        """A call, for messages."""
        return f"{work.name} (call {work.number} of {self.label}, on rank {self.job.rank})"

    def explain_timeout(self, work: Work, timeout: float) -> str:
        """Return the text for a call that was not finished in time: which ranks have not made it, and where they are."""
        states = self.job.watch.ask(self.label)
        ended = self.job.watch.ended
        found = []
        for rank in self.ranks:
            if rank == self.job.rank:
                continue
            if rank in ended:
                found.append(f"rank {rank} {ended[rank][0]}")
            elif rank not in states:
                found.append(f"rank {rank} does not answer: it is stopped, or busy in compiled code")
            elif states[rank] is None:
                found.append(f"rank {rank} has not called it, nor anything else of the group")
            elif tuple(states[rank]) == (work.number, work.name):
                found.append(f"rank {rank} has called {work.name}")
            elif states[rank][0] < work.number:
                found.append(f"rank {rank} has not called it: its last was call {states[rank][0]}, {states[rank][1]}")
            else:
                found.append(f"rank {rank} is at call {states[rank][0]}, {states[rank][1]}")
        return (
            f"Timed out waiting {timeout:g} seconds for {self.describe(work)}: {'; '.join(found)}. Hint: all ranks of a group make "
            "the same calls in the same order; if one rank needs longer, give init_process_group a longer timeout."
        )


_job: Job | None = None


class _World:
    """The default group, as torch's `group.WORLD`."""

    WORLD: ProcessGroup | None = None


group = _World


class GroupMember(_World):
    """What new_group returns in a process that is not in the new group: NON_GROUP_MEMBER."""

    NON_GROUP_MEMBER = -100


_groups: list[ProcessGroup] = []  # those of this process that have not been destroyed


def is_available() -> bool:
    """Whether mpi4py is installed, which lets processes work together: pip install "wengert[mpi]"."""
    return is_installed("mpi4py")


def is_mpi_available() -> bool:
    """Whether mpi4py is installed."""
    return is_available()


def is_gloo_available() -> bool:
    """Whether init_process_group accepts "gloo", for which MPI stands in."""
    return is_available()


def _is_never_available() -> bool:
    """Whether this library of GPUs can be used: False."""
    return False


is_nccl_available = is_ucc_available = is_xccl_available = _is_never_available


def is_backend_available(backend: str) -> bool:
    """Whether init_process_group accepts the name of a backend."""
    return backend.lower() in ("mpi", "gloo") and is_available()


def is_initialized() -> bool:
    """Whether init_process_group has been called."""
    return _World.WORLD is not None


def is_torchelastic_launched() -> bool:
    """Whether torchrun has started this process: always False."""
    return False


def _check_backend(backend: Any) -> None:
    name = "mpi" if backend is None else str(backend).lower().removeprefix("cpu:").split(",")[0]
    if name in ("nccl", "ucc", "xccl"):
        raise RuntimeError(f"Distributed package doesn't have {name.upper()} built in. Hint: init_process_group('mpi')")
    if name not in ("mpi", "gloo"):
        raise ValueError(f"Unknown backend: {backend!r}. Hint: init_process_group('mpi')")


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Join the processes that mpirun has started: `mpirun -n 4 python train.py`.

    backend: "mpi", "gloo" or None, which all mean MPI. timeout: how long a call may wait for the other ranks, 30 minutes if None.
    world_size, rank: checked against those of MPI if given. init_method, store, group_name, pg_options and
    device_id have no effect.

    Raises ValueError if there is a group already or MPI's numbers are others, ModuleNotFoundError without mpi4py, and
    DistBackendError without an MPI library or if not all ranks call.
    """
    global _job
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    _check_backend(backend)
    seconds = (default_pg_timeout if timeout is None else timeout).total_seconds()
    mpi = load_mpi()
    found = mpi.COMM_WORLD.Get_size(), mpi.COMM_WORLD.Get_rank()
    wanted = [int(os.environ.get(key, -1)) if given < 0 else given for key, given in (("WORLD_SIZE", world_size), ("RANK", rank))]
    for what, mine, mpis in zip(("world_size", "rank"), wanted, found):
        if mine not in (-1, mpis):
            raise ValueError(
                f"init_process_group: {what} is {mine}, but it is {mpis} in MPI, which starts the processes. "
                f"Hint: mpirun -n {max(wanted[0], 2)} python {os.path.basename(sys.argv[0]) or 'train.py'}"
            )
    if _job is None:
        _job = Job(mpi, seconds)
    _World.WORLD = _new_group(_job, range(_job.size), seconds, _World.WORLD)


def _new_group(job: Job, ranks: Sequence[int], seconds: float, parent: ProcessGroup | None) -> ProcessGroup | None:
    """Make a group, on all ranks of the job. Return None on ranks that are not in it."""
    label = "the default group" if parent is None else f"group {job.groups} of ranks {list(ranks)}"
    job.groups += 1
    # MPI's calls block, so all ranks are brought here first.
    if parent is None:
        await_request(job.comm.Ibarrier(), seconds, "init_process_group: not all ranks of mpirun have called it")
    else:
        run(parent, "new_group", list, (len(ranks), job.groups), str(list(ranks)))

    def make() -> ProcessGroup | None:
        is_member = job.rank in ranks
        comm = job.comm.Split(0 if is_member else job.mpi.UNDEFINED, list(ranks).index(job.rank) if is_member else 0)
        return None if comm == job.mpi.COMM_NULL else ProcessGroup(job, comm, ranks, seconds, label)

    def check() -> None:
        ended = job.watch.ended_rank(range(job.size), GRACE)
        if ended is not None:
            raise errors.DistBackendError(f"{label} cannot be made: rank {ended[0]} {ended[1]}.")

    try:
        made = within(job.mpi, seconds, "new_group", make, check)
    except errors.DistBackendError:
        job.is_broken = True
        raise
    if made is not None:
        _groups.append(made)
    return made


def default_group() -> ProcessGroup:
    """Return the default group. Raises ValueError, as torch does, if there is none."""
    if _World.WORLD is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return _World.WORLD


def resolve(given: Any) -> ProcessGroup | None:
    """Return the group that a call names, the default one if None, or None if this process is not in it."""
    world = default_group()
    if given is None:
        return world
    if given == GroupMember.NON_GROUP_MEMBER:
        return None
    if not isinstance(given, ProcessGroup):
        raise TypeError(f"group must be a ProcessGroup, as new_group() returns it, or None, got {type(given).__name__}")
    return given


def member_group(given: Any, name: str) -> ProcessGroup | None:
    """As resolve, with torch's warning that a call does nothing on ranks that are not in the group."""
    found = resolve(given)
    if found is None:
        warnings.warn(
            f"Running {name} on global rank {default_group().rank()} which does not belong to the given group.", stacklevel=3
        )
    return found


def run(
    group: ProcessGroup,
    name: str,
    start: Any,
    shape: Any = None,
    dtype: Any = "",
    op: Any = None,
    root: int | None = None,
    finish: Any = None,
    tensors: Sequence[Any] = (),
    async_op: bool = False,
    timeout: float | None = None,
) -> Work | None:
    """Run a collective: compare headers, then start(), then finish(). Return its handle if async_op, else None when it is over.

    timeout: seconds, the group's if None."""
    work = Work(group, name, start, finish, lambda: group.header(name, shape, dtype, op, root), tensors, async_op)
    if async_op:
        return work
    work.settle(group.timeout if timeout is None else timeout)
    return None


def get_rank(group: Any = None) -> int:
    """Return the rank of this process in a group, the default one if None. -1 if it is not in the group."""
    found = resolve(group)
    return -1 if found is None else found.rank()


def get_world_size(group: Any = None) -> int:
    """Return the number of ranks of a group, the default one if None. -1 if this process is not in the group."""
    found = resolve(group)
    return -1 if found is None else found.size()


def get_backend(group: Any = None) -> str:
    """Return "mpi"."""
    default_group()
    return "mpi"


def get_pg_count() -> int:
    """Return the number of groups that this process is in."""
    return len(_groups)


def get_process_group_ranks(group: Any = None) -> list[int]:
    """Return the global ranks of a group, in its order."""
    found = resolve(group)
    return [] if found is None else list(found.ranks)


def get_group_rank(group: Any, global_rank: int) -> int:
    """Return the rank in a group of a global rank. Raises ValueError if it is not in the group."""
    found = resolve(group)
    if found is None or global_rank not in found.ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return found.ranks.index(global_rank)


def get_global_rank(group: Any, group_rank: int) -> int:
    """Return the global rank of a rank in a group. Raises ValueError if the group has no such rank."""
    found = resolve(group)
    if found is None or not 0 <= group_rank < found.size():
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return found.ranks[group_rank]


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """Return the number of this process among those of its machine, as LOCAL_RANK or the launcher tells it."""
    for key in ("LOCAL_RANK", "MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK"):
        if key in os.environ:
            return int(os.environ[key])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work, assuming you "
        "are not running in a multi-device context and want the code to run locally instead."
    )


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: Any = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> Any:
    """Return a group of some of the ranks, all if None, or GroupMember.NON_GROUP_MEMBER in other processes. All ranks must call it.

    Raises ValueError for a rank that does not exist or is named twice.
    """
    world = default_group()
    size = world.size()
    chosen = list(range(size)) if ranks is None else [int(rank) for rank in ranks]
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"ranks list must not contain duplicate entries, got {chosen}")
    for rank in chosen:
        if not 0 <= rank < size:
            raise ValueError(f"Rank {rank} is out of range. Valid ranks are 0 to {size - 1} (world_size={size})")
    seconds = world.timeout if timeout is None else timeout.total_seconds()
    made = _new_group(world.job, sorted(chosen) if sort_ranks else chosen, seconds, world)
    return GroupMember.NON_GROUP_MEMBER if made is None else made


def _ranks_of(group: Any) -> tuple[int, ...]:
    """Return the global ranks of a group, also outside of it: all ranks call this and say what they are in the group."""
    world, found = default_group(), resolve(group)
    if found is world:
        return world.ranks
    mine, places = np.array([-1 if found is None else found.rank()]), np.empty(world.size(), np.int64)
    run(world, "new_subgroups", lambda: [world.comm.Iallgather(mine, places)])
    return tuple([rank for place, rank in sorted(zip(places.tolist(), world.ranks)) if place >= 0])


def new_subgroups(
    group_size: int | None = None, group: Any = None, timeout: timedelta | None = None, **_: Any
) -> tuple[Any, list[Any]]:
    """Divide the ranks of a group, all if None, into groups of group_size neighbours. Return this process's group, and all.

    All ranks of the job must call it; one outside of `group` gets GroupMember.NON_GROUP_MEMBER. Raises ValueError if the number of
    ranks is no multiple of group_size.
    """
    ranks = _ranks_of(group)
    size = len(ranks)
    if group_size is None or group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if size < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})")
    if size % group_size:
        raise ValueError("The world size must be divisible by 'group_size'")
    made = [new_group(ranks[first : first + group_size], timeout, sort_ranks=False) for first in range(0, size, group_size)]
    own = ranks.index(get_rank()) // group_size if get_rank() in ranks else None
    return GroupMember.NON_GROUP_MEMBER if own is None else made[own], made


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]], timeout: timedelta | None = None, **_: Any
) -> tuple[Any, list[Any]]:
    """Make one group for each list of global ranks. Return this process's group, or None if it is in none, and all groups.

    All ranks of the job must call it. Raises ValueError if there are no lists, or a rank is in two.
    """
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    homes: dict[int, Sequence[int]] = {}
    for ranks in ranks_per_subgroup_list:
        for rank in ranks:
            if rank in homes:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {homes[rank]} and {ranks}")
            homes[rank] = ranks
    made = [new_group(ranks, timeout) for ranks in ranks_per_subgroup_list]
    own = [one for one in made if one != GroupMember.NON_GROUP_MEMBER]
    return own[0] if own else None, made


def destroy_process_group(group: Any = None) -> None:
    """Give up a group, or all groups if None or the default group: init_process_group can then be called again.

    Nothing happens in a process that is not in the group. Raises ValueError for a group that was given up before."""
    if not is_initialized():
        raise AssertionError("Process group cannot be None")
    found = resolve(group)
    if found is None:
        return
    if found not in _groups:
        raise ValueError("Invalid process group specified")
    for one in list(_groups) if found is _World.WORLD else [found]:
        one.is_destroyed = True
        _groups.remove(one)
    if found is _World.WORLD:
        _World.WORLD = None
