"""torch.distributed over MPI: several processes, on one machine or on many, that compute together.

Start them with MPI's launcher, `mpirun -n 4 python train.py`. Each process, a rank, runs the whole program:

    import wengert.distributed as dist

    dist.init_process_group()
    x = wengert.ones(3) * dist.get_rank()
    dist.all_reduce(x)  # x is now the sum over the ranks, on every rank

Needs mpi4py and an MPI library: pip install "wengert[mpi]" brings both. docs/distributed.md is the guide.
"""

from wengert import errors as _errors
from wengert._forks import import_late as _import_late
from wengert.distributed.buckets import GradBucket as GradBucket
from wengert.distributed.collectives import (
    all_gather as all_gather,
    all_gather_into_tensor as all_gather_into_tensor,
    all_reduce as all_reduce,
    all_to_all as all_to_all,
    all_to_all_single as all_to_all_single,
    barrier as barrier,
    broadcast as broadcast,
    gather as gather,
    monitored_barrier as monitored_barrier,
    reduce as reduce,
    reduce_scatter as reduce_scatter,
    reduce_scatter_tensor as reduce_scatter_tensor,
    scatter as scatter,
)
from wengert.distributed.objects import (
    all_gather_object as all_gather_object,
    broadcast_object_list as broadcast_object_list,
    gather_object as gather_object,
    recv_object_list as recv_object_list,
    scatter_object_list as scatter_object_list,
    send_object_list as send_object_list,
)
from wengert.distributed.point_to_point import (
    P2POp as P2POp,
    batch_isend_irecv as batch_isend_irecv,
    irecv as irecv,
    isend as isend,
    recv as recv,
    send as send,
)
from wengert.distributed.process_group import (
    Backend as Backend,
    GroupMember as GroupMember,
    ProcessGroup as ProcessGroup,
    default_pg_timeout as default_pg_timeout,
    destroy_process_group as destroy_process_group,
    get_backend as get_backend,
    get_global_rank as get_global_rank,
    get_group_rank as get_group_rank,
    get_node_local_rank as get_node_local_rank,
    get_pg_count as get_pg_count,
    get_process_group_ranks as get_process_group_ranks,
    get_rank as get_rank,
    get_world_size as get_world_size,
    group as group,
    init_process_group as init_process_group,
    is_available as is_available,
    is_backend_available as is_backend_available,
    is_gloo_available as is_gloo_available,
    is_initialized as is_initialized,
    is_mpi_available as is_mpi_available,
    is_nccl_available as is_nccl_available,
    is_torchelastic_launched as is_torchelastic_launched,
    is_ucc_available as is_ucc_available,
    is_xccl_available as is_xccl_available,
    new_group as new_group,
    new_subgroups as new_subgroups,
    new_subgroups_by_enumeration as new_subgroups_by_enumeration,
)
from wengert.distributed.reduce_op import ReduceOp as ReduceOp
from wengert.distributed.work import Work as Work

DistError = _errors.DistError
DistBackendError = _errors.DistBackendError
DistNetworkError = _errors.DistNetworkError
all_gather_single = all_gather_into_tensor
reduce_scatter_single = reduce_scatter_tensor
reduce_op = ReduceOp


def __getattr__(name: str) -> object:
    if name in ("algorithms", "nn"):
        return _import_late(f"wengert.distributed.{name}")
    raise _errors.no_such_name(__name__, name)
