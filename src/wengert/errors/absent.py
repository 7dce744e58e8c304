"""The error for a name that is not here, with what to use in its place if torch has the name."""

from __future__ import annotations

import sys

# Names of torch that are not here, and what to use in their place. A name stands for all that is below it.
_GROUPS = (
    (
        """sparse sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor sparse_bsc_tensor sparse_compressed_tensor
        hspmm smm dsmm saddmm sspaddmm spmm""",
        "there are no sparse tensors. Use dense ones; index_add and scatter_add are sums by index.",
    ),
    (
        """ao quantization dequantize quantize_per_tensor quantize_per_tensor_dynamic quantize_per_channel quantized_batch_norm
        empty_quantized quantized_lstm fake_quantize_per_tensor_affine fake_quantize_per_channel_affine qint8 qint32 quint8 qscheme
        nn.quantized nn.intrinsic nn.qat nn.quantizable int_repr q_scale q_zero_point""",
        "nothing is quantized here. Compute in float16 or bfloat16 to save memory.",
    ),
    (
        """export fx package library classes cpp _inductor _export _functorch _higher_order_ops utils.mobile_optimizer
        utils.bundled_inputs Graph Node Value ScriptFunction ScriptModule""",
        "programs run as Python and are not exported. Keep parameters with save(model.state_dict(), file).",
    ),
    (
        """distributed.TCPStore distributed.FileStore distributed.HashStore distributed.PrefixStore distributed.Store
        distributed.DistStoreError distributed.QueueEmptyError distributed.rendezvous distributed.register_rendezvous_handler
        distributed.rpc distributed.autograd distributed.remote_device""",
        "mpirun brings the ranks together. Objects travel by broadcast_object_list, all_gather_object and send_object_list.",
    ),
    (
        """distributed.DeviceMesh distributed.device_mesh distributed.init_device_mesh distributed.tensor distributed.fsdp
        distributed.pipelining distributed.checkpoint distributed.optim""",
        "each rank holds the whole model. Use nn.parallel.DistributedDataParallel, and new_group for parts of the ranks.",
    ),
    (
        "distributed.run distributed.launch distributed.launcher distributed.elastic",
        "MPI's launcher starts the ranks: mpirun -n 4 python train.py.",
    ),
    (
        """distributed.DebugLevel distributed.get_debug_level distributed.set_debug_level distributed.set_debug_level_from_env
        distributed.record_comm distributed.Logger""",
        "ranks compare their calls always, and errors name calls and ranks. autograd.profiler shows the time of calls.",
    ),
    (
        """distributed.ProcessGroupGloo distributed.ProcessGroupMPI distributed.ProcessGroupNCCL distributed.ProcessGroupUCC
        distributed.BackendConfig distributed.get_backend_config distributed.get_default_backend_for_device
        distributed.supports_complex distributed.AllToAllOptions distributed.AllreduceCoalescedOptions
        distributed.AllreduceOptions distributed.BarrierOptions distributed.BroadcastOptions distributed.GatherOptions
        distributed.ReduceOptions distributed.ReduceScatterOptions distributed.ScatterOptions distributed.c10d_logger
        distributed.distributed_c10d distributed.constants distributed.config distributed.utils""",
        "all calls go over MPI. The functions of torch.distributed are the way to them, and init_process_group() makes the group.",
    ),
    (
        "distributed.BuiltinCommHookType distributed.Reducer",
        "register_comm_hook takes functions, such as those of distributed.algorithms.ddp_comm_hooks.default_hooks.",
    ),
    (
        "distributed.breakpoint",
        "MPI's launcher gives the terminal to rank 0 alone. Call breakpoint() there, in a program that runs with one rank.",
    ),
    (
        "distributed.split_group distributed.shrink_group",
        "use new_group or new_subgroups, which all ranks of the job call.",
    ),
    (
        "distributed.all_reduce_coalesced distributed.all_gather_coalesced",
        "torch gives this name up. Call all_reduce or all_gather with async_op=True for each tensor, and wait for all.",
    ),
    (
        """distributed.algorithms.ddp_comm_hooks.powerSGD_hook distributed.algorithms.ddp_comm_hooks.post_localSGD_hook
        distributed.algorithms.ddp_comm_hooks.quantization_hooks distributed.algorithms.model_averaging""",
        "the hooks of default_hooks are there, and register_comm_hook takes any function of (state, bucket).",
    ),
    (
        "mtia npu hpu ipu Stream Event",
        "this package computes on the CPU. Keep such calls behind torch.accelerator.is_available(), which is False here.",
    ),
)
_ADVICE = {name: advice for names, advice in _GROUPS for name in names.split()} | {
    "nested": "there are no nested tensors. Use nn.utils.rnn.pad_sequence and a mask.",
    "optim.SparseAdam": "there are no sparse gradients. Use Adam: nn.Embedding gives dense gradients.",
    "utils.tensorboard": "nothing here writes TensorBoard files. The package tensorboardX does, from numbers and NumPy arrays.",
    "utils.cpp_extension": "no C++ is compiled. Write an autograd.Function, and call NumPy, Numba, Cython or ctypes in it.",
    "utils.bottleneck": "profile with autograd.profiler.profile().",
    "utils.collect_env": "print(wengert.__config__.summary()).",
    "func.functionalize": "programs are not captured, so there is nothing to functionalize: call the function itself.",
    "func.debug_unwrap": "transforms wrap no tensors here: print the tensor itself.",
    "eig": "torch has given this name up. Use linalg.eig, which returns (eigenvalues, eigenvectors) as complex tensors.",
    "symeig": "torch has given this name up. Use linalg.eigh.",
    "solve": "torch has given this name up. Use linalg.solve(A, B), whose arguments come in the other order.",
    "lstsq": "torch has given this name up. Use linalg.lstsq(A, B), whose arguments come in the other order.",
    "matrix_rank": "torch has given this name up. Use linalg.matrix_rank.",
    "rfft": "torch has given this name up. Use fft.rfft, which returns a complex tensor.",
    "irfft": "torch has given this name up. Use fft.irfft, which takes a complex tensor.",
    "complex32": "there is no complex dtype of 32 bits. Use complex64.",
    "monitor": "count events with a variable, or profile with autograd.profiler.",
}


def no_such_name(module: str, name: str) -> AttributeError:
    """Return the error for module.name. Python's own tracebacks add the public name that is nearest in spelling."""
    full = f"{module}.{name}".removeprefix("wengert.")
    text = f"module {module!r} has no attribute {name!r}"
    parts = full.split(".")
    for length in range(len(parts), 0, -1):
        advice = _ADVICE.get(".".join(parts[:length]))
        if advice is not None:
            text += f"\nHint: torch.{full} is not part of wengert: {advice}"
            break
    return AttributeError(text, name=name, obj=sys.modules.get(module))
