"""torch.utils.data: data sets, samplers, and the DataLoader.

Each name is loaded when it is first used.
"""

from typing import Any as _Any

from wengert import errors as _errors
from wengert._forks import import_late as _import_module

_HOMES = {
    "BatchSampler": "sampler", "ChainDataset": "dataset", "ConcatDataset": "dataset", "DataLoader": "dataloader",
    "Dataset": "dataset", "DistributedSampler": "distributed", "IterableDataset": "dataset", "RandomSampler": "sampler",
    "Sampler": "sampler", "SequentialSampler": "sampler", "StackDataset": "dataset", "Subset": "dataset",
    "SubsetRandomSampler": "sampler", "TensorDataset": "dataset", "WeightedRandomSampler": "sampler",
    "_DatasetKind": "dataloader", "default_collate": "dataloader", "default_convert": "dataloader",
    "get_worker_info": "dataloader", "random_split": "dataset",
}  # fmt: skip
_MODULES = ("_utils", "dataloader", "dataset", "distributed", "sampler")
_PIPES = frozenset({
    "DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe", "argument_validation", "datapipes", "functional_datapipe",
    "graph", "graph_settings", "guaranteed_datapipes_determinism", "non_deterministic", "runtime_validation",
    "runtime_validation_disabled",
})  # fmt: skip


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(f"wengert.utils.data.{name}")
    if name == "__all__":
        return sorted([name for name in _HOMES if not name.startswith("_")])
    if name in _PIPES:
        raise _errors.MissingFeatureError(
            f"utils.data.{name} is not part of wengert: torch no longer develops data pipes. Hint: write an IterableDataset."
        )
    if name not in _HOMES:
        raise _errors.no_such_name(__name__, name)
    found = globals()[name] = getattr(_import_module(f"wengert.utils.data.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*_HOMES, *_MODULES})
