"""Run programs that were written for torch, and rewrite outdated ones.

    install()                             makes `import torch` import this package, in this process
    python -m wengert run SCRIPT ...      runs a script with `import torch` importing this package
    python -m wengert migrate FILE ...    lists spellings that torch has given up; --write rewrites them

>>> import wengert.compat
>>> wengert.compat.install()
>>> import torch
>>> torch.ones(2).sum()
tensor(2.)
>>> wengert.compat.uninstall()
"""

from wengert.compat.modules import install as install, uninstall as uninstall

__all__ = ["install", "uninstall"]
