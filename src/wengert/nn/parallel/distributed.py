"""DistributedDataParallel: each rank computes the gradient of its part of the batch, and all take steps with the mean.

Note [Buckets]: parameters are divided into buckets, in the reverse of their order, which is roughly the order in which the backward
pass finishes their gradients. When all gradients of a bucket are there, they are copied into one flat array, and its all-reduce
starts while the pass goes on. Buckets start in one order on all ranks, whatever the order of the gradients. A callback at the end
of the pass waits for the buckets and writes the means into the gradients.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from wengert import distributed, errors
from wengert.core.engine import queue_callback
from wengert.core.modes import grad_enabled
from wengert.core.tensor import TensorBase, wrap
from wengert.devices import device
from wengert.distributed.algorithms.join import Join, Joinable, JoinHook
from wengert.distributed.buckets import Bucket, GradBucket, divide
from wengert.distributed.memory import write
from wengert.distributed.process_group import default_group, resolve
from wengert.distributed.reduce_op import ReduceOp, mpi_operation
from wengert.distributed.work import Header, Work
from wengert.nn.modules.batchnorm import SyncBatchNorm
from wengert.nn.modules.module import Module

__all__ = ["DistributedDataParallel"]

MEGABYTE = 1024 * 1024
FIRST_BUCKET = MEGABYTE  # bytes: a small one, so that communication starts early
UNUSED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that your module "
    "has parameters that were not used in producing loss. You can enable unused parameter detection by passing the keyword "
    "argument `find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by making sure all `forward` "
    "function outputs participate in calculating loss."
)


def _tensors_in(value: Any) -> Iterator[Any]:
    """Yield the tensors in nested lists, tuples, dicts and objects with attributes, as modules return them."""
    if isinstance(value, TensorBase):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors_in(item)
    elif hasattr(value, "__dict__"):
        yield from _tensors_in(vars(value))


def _reached(outputs: Any) -> set[int]:
    """Return the ids of the leaves that a backward pass from the outputs reaches."""
    found: set[int] = set()
    seen: set[Any] = set()
    stack = [tensor.grad_fn for tensor in _tensors_in(outputs) if tensor.grad_fn is not None]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None:
            found.add(id(variable))
        stack += [after for after, _ in node.next_functions if after is not None]
    return found


class DistributedDataParallel(Module, Joinable):
    """A module that runs `module` on this rank's part of the data, and gives its parameters the mean of all ranks' gradients.

    The parameters and buffers of rank 0 go to all ranks at the start; buffers also before each training forward, unless
    broadcast_buffers is False. All ranks must run forward and backward equally often.

    module: the module, with at least one parameter that requires grad. process_group: the default group if None.
    bucket_cap_mb: size of a bucket, 25 MiB if None. find_unused_parameters: look in each forward which parameters the outputs
    depend on; without it all must take part. static_graph: look in the first forward only. gradient_as_bucket_view: gradients
    lie in the buckets, which saves a copy. init_sync: False leaves the parameters as they are. device_ids and output_device: None.

    Raises RuntimeError without such a parameter, ValueError without a process group or for devices, DistBackendError if the modules
    of the ranks differ.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
    ) -> None:
        super().__init__()
        group = default_group() if process_group is None else resolve(process_group)
        if group is None:
            raise ValueError("DistributedDataParallel: this rank is not in process_group.")
        self._parameters_to_share = [p for p in module.parameters() if p.requires_grad]
        if not self._parameters_to_share:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient."
            )
        if device_ids or output_device is not None:
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with single-device/multiple-device GPU "
                f"modules or CPU modules, but got device_ids {device_ids}, output_device {output_device}. Hint: leave them out."
            )
        self.module = module
        self.process_group = group
        self.dim = dim
        self.device_ids = None
        self.output_device = None
        self.broadcast_buffers = True if broadcast_buffers is None else broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_backward_grad_sync = True
        self.bucket_bytes_cap = int((25 if bucket_cap_mb is None else bucket_cap_mb) * MEGABYTE)
        self._check_modules()
        if init_sync:
            self._broadcast([*module.parameters(), *module.buffers()])
        first = FIRST_BUCKET if bucket_cap_mb is None else self.bucket_bytes_cap
        self._buckets = divide(self._parameters_to_share, first, self.bucket_bytes_cap)
        self._place = {id(p): (bucket, i) for bucket in self._buckets for i, p in enumerate(bucket.parameters)}
        self._ready: set[int] = set()  # ids of the parameters that are done in this iteration
        self._unused: set[int] = set()
        self._used_once: set[int] | None = None  # with static_graph, what the first forward used
        self._hook: Any = None
        self._divides_by_all = True  # the option divide_by_initial_world_size of join()
        self._share = 1.0 / group.size()  # what a gradient is multiplied by
        self._next = 0  # the bucket that starts next
        self._is_expecting = False  # a forward has prepared a backward
        self._is_finishing = False  # a pass has queued _finish
        for parameter in self._parameters_to_share:
            parameter.register_post_accumulate_grad_hook(self._take)

    def _check_modules(self) -> None:
        """Raise DistBackendError on all ranks unless the parameters and buffers have the same names, shapes and dtypes on all."""
        own = [(name, tuple(t.shape), str(t.dtype)) for name, t in (*self.module.named_parameters(), *self.module.named_buffers())]
        found: list[Any] = [None] * self.process_group.size()
        distributed.all_gather_object(found, own, self.process_group)
        for rank, other in zip(self.process_group.ranks, found):
            if len(other) != len(found[0]):
                raise errors.DistBackendError(
                    f"DDP expects same model across all ranks, but Rank {self.process_group.ranks[0]} has {len(found[0])} params, "
                    f"while rank {rank} has inconsistent {len(other)} params."
                )
            for mine, its in zip(found[0], other):
                if mine != its:
                    raise errors.DistBackendError(
                        f"DDP expects same model across all ranks: {mine[0]} has shape {mine[1]} and dtype {mine[2]} on rank "
                        f"{self.process_group.ranks[0]}, and {its[0]} has shape {its[1]} and dtype {its[2]} on rank {rank}."
                    )

    def _broadcast(self, tensors: Iterable[Any], root: int = 0) -> None:
        """Give all ranks the tensors of a rank of the group, those of one dtype together."""
        by_dtype: dict[Any, list[Any]] = {}
        for tensor in tensors:
            by_dtype.setdefault(tensor._array.dtype, []).append(tensor)
        for group in by_dtype.values():
            flat = wrap(np.concatenate([tensor._array.reshape(-1) for tensor in group]))
            distributed.broadcast(flat, group=self.process_group, group_src=root)
            if self.process_group.rank() != root:
                parts = np.split(flat.numpy(), np.cumsum([tensor.numel() for tensor in group])[:-1])
                for tensor, part in zip(group, parts):
                    write(tensor, part)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module, and prepare for the backward pass."""
        is_synchronous = grad_enabled() and self.require_backward_grad_sync
        if grad_enabled() and self._join_config.enable:
            Join.notify_join_context(self)
            self._count_active(True, self.require_backward_grad_sync)
        if is_synchronous:
            if self._is_expecting and self._ready and len(self._ready) < len(self._parameters_to_share):
                raise RuntimeError(f"{UNUSED}\nParameters which did not receive grad: {', '.join(self._names_missing())}")
            if self.broadcast_buffers:
                self._broadcast(self.module.buffers())
            if not self._join_config.enable:
                self._share = 1.0 / self.process_group.size()
        result = self.module(*inputs, **kwargs)
        if is_synchronous:
            self._prepare(result)
        return result

    def _prepare(self, result: Any) -> None:
        self._prepare_buckets()
        self._is_expecting = True
        self._is_finishing = False
        if self.find_unused_parameters or self.static_graph:
            used = self._used_once
            if used is None:
                used = _reached(result)
                if self.static_graph:
                    self._used_once = used
            self._unused = {id(p) for p in self._parameters_to_share} - used

    def _prepare_buckets(self) -> None:
        self._ready.clear()
        self._unused.clear()
        self._next = 0
        for bucket in self._buckets:
            bucket.missing = len(bucket.parameters)
            bucket.work = bucket.future = None

    def _names_missing(self) -> list[str]:
        return [name for name, p in self.module.named_parameters() if p.requires_grad and id(p) not in self._ready]

    # -- in the backward pass ------------------------------------------------------------------------------------------------

    def _take(self, parameter: Any) -> None:
        """Take the gradient of a parameter, which has just been finished."""
        if not self.require_backward_grad_sync or not self._is_expecting:
            return
        if id(parameter) in self._ready:
            name = next(name for name, p in self.module.named_parameters() if p is parameter)
            raise RuntimeError(
                f"Expected to mark a variable ready only once. This error is caused by a second backward pass after one forward, "
                f"or by a parameter that is used in several passes: {name}. Hint: call the module once for each backward pass."
            )
        if not self._is_finishing:
            self._is_finishing = True
            queue_callback(self._finish)
            for unused in self._parameters_to_share:
                if id(unused) in self._unused:
                    self._add(unused, is_used=False)
        self._unused.discard(id(parameter))
        self._add(parameter, is_used=True)

    def _add(self, parameter: Any, is_used: bool) -> None:
        bucket, index = self._place[id(parameter)]
        target = bucket.view(index)
        grad = parameter.grad
        if grad is None:
            target.fill(0)
        else:
            np.multiply(grad._array, 1.0 if self._hook is not None else self._share, out=target, casting="same_kind")
        self._ready.add(id(parameter))
        bucket.missing -= 1
        while self._next < len(self._buckets) and self._buckets[self._next].missing == 0:
            self._start(self._buckets[self._next])
            self._next += 1

    def _start(self, bucket: Bucket) -> None:
        if self._hook is not None:
            state, hook = self._hook
            bucket.future = hook(state, GradBucket(bucket, self._next, self._next == len(self._buckets) - 1))
            return
        group = self.process_group
        operation = mpi_operation(group.mpi, ReduceOp.SUM, bucket.flat.dtype)
        name = f"all_reduce bucket {self._next}, {bucket.flat.nbytes} bytes"

        def header() -> Header:
            return group.header("DistributedDataParallel", bucket.flat.shape, bucket.flat.dtype)

        # The other buckets follow on all ranks, so one header a pass is enough.
        bucket.work = Work(
            group, name, lambda: [group.comm.Iallreduce(group.mpi.IN_PLACE, bucket.flat, operation)],
            header=header if self._next == 0 else None, is_async=True,
        )  # fmt: skip

    def _finish(self) -> None:
        """Wait for the buckets, and write the means into the gradients."""
        if self._next < len(self._buckets):
            return  # parameters were not used; the next forward says which
        used = self._used_anywhere()
        for bucket in self._buckets:
            self._settle(bucket)
            for i, parameter in enumerate(bucket.parameters):
                if used is None or used[id(parameter)]:
                    self._give(parameter, bucket.view(i))
        self._is_expecting = False

    def _settle(self, bucket: Bucket) -> None:
        """Wait for a bucket. What a hook returns is written into it."""
        if self._hook is None:
            assert bucket.work is not None
            bucket.work.wait()
            return
        found = bucket.future.wait() if hasattr(bucket.future, "wait") else bucket.future
        found = found[0] if isinstance(found, (list, tuple)) and len(found) == 1 else found
        if not isinstance(found, TensorBase) or found._array.shape != bucket.flat.shape:
            raise RuntimeError(
                "expected the communication hook to return a future of one tensor of the bucket's shape, "
                f"{list(bucket.flat.shape)}, but it returned {type(found).__name__}. Hint: return bucket.buffer() changed in place."
            )
        bucket.flat[...] = found._array

    def _used_anywhere(self) -> dict[int, bool] | None:
        """Return which parameters any rank has used, or None if all are."""
        if not (self.find_unused_parameters or self.static_graph):
            return None
        flags = wrap(np.array([id(p) not in self._unused for p in self._parameters_to_share], np.int32))
        distributed.all_reduce(flags, ReduceOp.MAX, self.process_group)
        return {id(p): bool(flag) for p, flag in zip(self._parameters_to_share, flags.tolist())}

    def _give(self, parameter: Any, mean: Any) -> None:
        if parameter.grad is None or (self.gradient_as_bucket_view and parameter.grad._array is not mean):
            mean = mean.astype(parameter._array.dtype, copy=not self.gradient_as_bucket_view)
            parameter.grad = wrap(mean)
        else:
            write(parameter.grad, mean)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Leave the gradients of the passes in the block on their rank. The next pass outside shares their sum."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def register_comm_hook(self, state: Any, hook: Any) -> None:
        """Let hook(state, bucket) do what ranks do with the gradients of a bucket, in place of taking their mean.

        bucket: a GradBucket. The hook starts its calls and returns a future of the vector that this rank is to have, such as
        all_reduce(bucket.buffer(), async_op=True).get_future().then(...), or the vector itself. It divides by the number of
        ranks, if that is wanted. It runs in the backward pass, as soon as a bucket is full, in the same order on all ranks.
        Raises TypeError for what cannot be called, RuntimeError on a second call.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self._hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self._hook = state, hook

    # -- ranks with different numbers of batches -------------------------------------------------------------------------

    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Join:
        """Let ranks have different numbers of batches: return a context manager. A rank that leaves the block early answers the
        calls of the others.

        Such a rank adds gradients of zeros, also to what a communication hook sends. At the end all ranks get the parameters and
        buffers of a rank that was among the last. All ranks have no_sync() in the same passes.

        divide_by_initial_world_size: divide sums by the number of ranks, else by that of the ranks that still have batches; a hook
        divides by itself. throw_on_early_termination: raise RuntimeError on all ranks when the first one has no more batches.
        enable: False does nothing.

        Raises ValueError for a module with SyncBatchNorm, whose calls need a batch, unless throw_on_early_termination is True.
        """
        if enable and not throw_on_early_termination and any(isinstance(m, SyncBatchNorm) for m in self.module.modules()):
            raise ValueError("join() of a module with SyncBatchNorm needs throw_on_early_termination=True.")
        return Join([self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size)

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return what a rank without batches does, for Join. divide_by_initial_world_size: see join()."""
        self._divides_by_all = kwargs.get("divide_by_initial_world_size", True)
        return _JoinHook(self)

    @property
    def join_device(self) -> Any:
        """The CPU."""
        return device("cpu")

    @property
    def join_process_group(self) -> Any:
        """The process group of the module."""
        return self.process_group

    def _count_active(self, has_batch: bool, is_synchronous: bool) -> bool:
        """Tell the other ranks whether this one has a batch, and shares its gradients. Return whether any rank shares."""
        found = wrap(np.array([has_batch, is_synchronous], np.int64))
        distributed.all_reduce(found, group=self.process_group)
        active, sharing = found.tolist()
        self._share = 1.0 / (self.process_group.size() if self._divides_by_all else max(active, 1))
        return sharing > 0

    def _answer(self) -> None:
        """Take part in the calls of one iteration of the ranks that still have batches."""
        if not self._count_active(False, False):
            return
        if self.broadcast_buffers:
            self._broadcast(self.module.buffers())
        self._prepare_buckets()
        for bucket in self._buckets:
            bucket.flat.fill(0)
            self._start(bucket)
            self._next += 1
        for bucket in self._buckets:
            self._settle(bucket)
        if self.find_unused_parameters or self.static_graph:
            flags = wrap(np.zeros(len(self._parameters_to_share), np.int32))
            distributed.all_reduce(flags, ReduceOp.MAX, self.process_group)

    def _take_over(self, is_last_joiner: bool) -> None:
        """Give all ranks the parameters and buffers of a rank that was among the last to have batches."""
        found = wrap(np.array([self.process_group.rank() if is_last_joiner else -1], np.int64))
        distributed.all_reduce(found, ReduceOp.MAX, self.process_group)
        self._broadcast([*self.module.parameters(), *self.module.buffers()], root=int(found.item()))


class _JoinHook(JoinHook):
    """What a rank does that has no more batches for a module."""

    def __init__(self, module: DistributedDataParallel) -> None:
        self._module = module

    def main_hook(self) -> None:
        self._module._answer()

    def post_hook(self, is_last_joiner: bool) -> None:
        self._module._take_over(is_last_joiner)


def __dir__() -> list[str]:
    return sorted(__all__)
