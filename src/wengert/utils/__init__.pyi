"""The names of wengert.utils, which the module itself loads late.

Written by `make generate`: change the sources, not this file.
"""

# ruff: noqa

__all__: list[str]
from wengert.utils import backcompat as backcompat
from wengert.utils import benchmark as benchmark
from wengert.utils import checkpoint as checkpoint
from wengert.utils import data as data
from wengert.utils import dlpack as dlpack
from wengert.utils import hooks as hooks
from wengert.utils import model_zoo as model_zoo
