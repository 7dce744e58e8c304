"""The exceptions, and the messages that several modules raise.

Every exception is also the built-in one that torch raises in its place, so `except RuntimeError` catches what it caught
before. A module writes a message where it raises it: `raise errors.ShapeError(f"...")`. Only a message that several
modules raise is a function here: `raise errors.no_graph(0)`. Messages keep torch's wording, which is what people search
for, and may go on with the values at hand and a hint. Nothing is imported here.

    classes   the exceptions: for each, the cause, and code that works
    names     how messages name dtypes, operations and tensors: errors.scalar_name(x.dtype)
    graph     messages about backward passes, hooks, forward mode and older versions of torch
    absent    the message for names that are not here, with what to use instead
    tensors   messages about arguments, shapes, indices, dtypes and layers
"""

from importlib import import_module as _import_module

from . import classes as _classes
from .classes import *  # noqa: F403

# Tracebacks show where an exception can be imported from: wengert.errors.VersionError.
for _name in _classes.__all__:
    getattr(_classes, _name).__module__ = __name__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .absent import *  # noqa: F403
    from .graph import *  # noqa: F403
    from .names import *  # noqa: F403
    from .tensors import *  # noqa: F403


def __getattr__(name: str) -> object:
    """Load the module that holds a message when it is first needed: `import wengert` shall not pay for it."""
    if not name.startswith("_"):
        for module in ("names", "graph", "tensors", "absent"):
            found = getattr(_import_module(f"wengert.errors.{module}"), name, None)
            if found is not None:
                globals()[name] = found
                return found
    raise AttributeError(f"module 'wengert.errors' has no attribute {name!r}")
