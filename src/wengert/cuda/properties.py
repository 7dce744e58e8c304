"""Facts of GPUs, under torch's names."""

from __future__ import annotations

from typing import Any

from wengert.cuda._devices import backend, index_of

_NAMES = {  # torch's names of CUDA's properties
    "major": "major", "minor": "minor", "total_memory": "totalGlobalMem", "multi_processor_count": "multiProcessorCount",
    "max_threads_per_multi_processor": "maxThreadsPerMultiProcessor", "max_threads_per_block": "maxThreadsPerBlock",
    "regs_per_multiprocessor": "regsPerMultiprocessor", "shared_memory_per_block": "sharedMemPerBlock",
    "shared_memory_per_block_optin": "sharedMemPerBlockOptin", "shared_memory_per_multiprocessor": "sharedMemPerMultiprocessor",
    "warp_size": "warpSize", "is_integrated": "integrated", "is_multi_gpu_board": "isMultiGpuBoard", "clock_rate": "clockRate",
    "memory_clock_rate": "memoryClockRate", "memory_bus_width": "memoryBusWidth", "L2_cache_size": "l2CacheSize",
    "pci_bus_id": "pciBusID", "pci_device_id": "pciDeviceID", "pci_domain_id": "pciDomainID", "uuid": "uuid",
}  # fmt: skip


class DeviceProperties:
    """What is known of a GPU: name, major and minor (its compute capability), total_memory (bytes), multi_processor_count,
    L2_cache_size, warp_size and others, as the CUDA of the machine reports them."""

    def __init__(self, found: dict[str, Any]) -> None:
        name = found["name"]
        self.name = name.decode() if isinstance(name, bytes) else str(name)
        for ours, cudas in _NAMES.items():
            if cudas in found:
                setattr(self, ours, found[cudas])

    def __repr__(self) -> str:
        facts = dict(vars(self), total_memory=f"{getattr(self, 'total_memory', 0) >> 20}MB", name=repr(self.name))
        shown = ("name", "major", "minor", "total_memory", "multi_processor_count", "uuid", "L2_cache_size")
        return f"_CudaDeviceProperties({', '.join([f'{name}={facts[name]}' for name in shown if name in facts])})"


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Return the properties of a GPU. Raises AssertionError if there is none."""
    return DeviceProperties(backend().properties(index_of(device)))


def get_device_name(device: Any = None) -> str:
    """Return the name of a GPU. Raises AssertionError if there is none."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Return the compute capability of a GPU, (9, 0) for an H100. Raises AssertionError if there is none."""
    found: Any = get_device_properties(device)
    return int(found.major), int(found.minor)
