"""Running and renewing programs that were written for torch.

    install()                             import torch means this package, in this process
    python -m wengert run SCRIPT ...      runs a script so
    python -m wengert migrate FILE ...    lists spellings that torch has given up, and rewrites them with --write

>>> import wengert.compat
>>> wengert.compat.install()
>>> import torch
>>> torch.ones(2).sum()
tensor(2.)
>>> wengert.compat.uninstall()
"""

from wengert.compat.modules import install as install, uninstall as uninstall

__all__ = ["install", "uninstall"]
