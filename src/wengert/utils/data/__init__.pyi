"""The names of wengert.utils.data, which the module itself loads late.

Written by `make generate`: change the sources, not this file.
"""

# ruff: noqa

__all__: list[str]
from wengert.utils.data.sampler import BatchSampler as BatchSampler
from wengert.utils.data.dataset import ChainDataset as ChainDataset
from wengert.utils.data.dataset import ConcatDataset as ConcatDataset
from wengert.utils.data.dataloader import DataLoader as DataLoader
from wengert.utils.data.dataset import Dataset as Dataset
from wengert.utils.data.distributed import DistributedSampler as DistributedSampler
from wengert.utils.data.dataset import IterableDataset as IterableDataset
from wengert.utils.data.sampler import RandomSampler as RandomSampler
from wengert.utils.data.sampler import Sampler as Sampler
from wengert.utils.data.sampler import SequentialSampler as SequentialSampler
from wengert.utils.data.dataset import StackDataset as StackDataset
from wengert.utils.data.dataset import Subset as Subset
from wengert.utils.data.sampler import SubsetRandomSampler as SubsetRandomSampler
from wengert.utils.data.dataset import TensorDataset as TensorDataset
from wengert.utils.data.sampler import WeightedRandomSampler as WeightedRandomSampler
from wengert.utils.data import dataloader as dataloader
from wengert.utils.data import dataset as dataset
from wengert.utils.data._utils.collate import default_collate as default_collate
from wengert.utils.data._utils.collate import default_convert as default_convert
from wengert.utils.data import distributed as distributed
from wengert.utils.data._utils.worker import get_worker_info as get_worker_info
from wengert.utils.data.dataset import random_split as random_split
from wengert.utils.data import sampler as sampler
