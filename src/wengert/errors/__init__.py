"""What can go wrong: the exceptions, and functions that build them with their messages.

Every exception is also the built-in one that torch raises in its place, so `except RuntimeError` catches what it caught
before. Code in the package writes `raise errors.no_graph(0)`: one function a message, made from plain values (shapes,
names, dtypes), so that it can be raised from anywhere and is pinned by one test. Messages keep torch's wording, which
is what people search for, and may go on with the values at hand and a hint. Nothing is imported here.

    classes   the exceptions: for each, the cause, and code that works
    graph     messages about backward passes, in-place operations, requires_grad, hooks, custom Functions; the warnings
    saved     messages about hooks on saved tensors, and checkpoints
    tensors   messages about arguments, shapes, dimensions, indices, dtypes, conversions
    algebra   messages about reductions, matrix products, neural networks
    analysis  messages about Fourier transforms, special functions, factorisations
    layers    messages about convolutions, pooling, normalisation
    images    messages about padding and interpolation
    losses    messages about attention, distances and losses
    bags      messages about bags of embeddings
    signals   messages about Fourier transforms of pieces of a signal, and reductions by index and by segments
    masks     messages about reductions under a mask
    forward   messages about forward mode, its dual levels and tangents; loaded with it
    profiling messages about the profiler
    functional  messages about autograd.functional, func and vmap; loaded with them
    programs  messages about functions given to wengert.pointwise, cond and while_loop; loaded with them
    eras      messages about what torch has given up since; the warnings that name today's spelling
"""

from importlib import import_module as _import_module

from . import classes as _classes
from .classes import *  # noqa: F403

# Tracebacks show where an exception can be imported from: wengert.errors.VersionError.
for _name in _classes.__all__:
    getattr(_classes, _name).__module__ = __name__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .algebra import *  # noqa: F403
    from .analysis import *  # noqa: F403
    from .eras import *  # noqa: F403
    from .forward import *  # noqa: F403
    from .functional import *  # noqa: F403
    from .graph import *  # noqa: F403
    from .images import *  # noqa: F403
    from .layers import *  # noqa: F403
    from .losses import *  # noqa: F403
    from .names import (
        dtype_name as dtype_name,
        operation_name as operation_name,
        scalar_name as scalar_name,
        tensor_type as tensor_type,
    )
    from .profiling import *  # noqa: F403
    from .programs import *  # noqa: F403
    from .saved import *  # noqa: F403
    from .signals import *  # noqa: F403
    from .tensors import *  # noqa: F403

# Messages: these modules are loaded when one of theirs is first needed, in this order until it is found.
_MESSAGES = (
    "names", "graph", "tensors", "saved", "eras",
    "algebra", "analysis", "images", "layers", "losses", "profiling", "signals",
    "forward", "functional", "programs",
)  # fmt: skip


def __getattr__(name: str) -> object:
    if not name.startswith("_"):
        for module in _MESSAGES:
            found = getattr(_import_module(f"wengert.errors.{module}"), name, None)
            if found is not None:
                globals()[name] = found
                return found
    raise AttributeError(f"module 'wengert.errors' has no attribute {name!r}")
