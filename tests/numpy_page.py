"""Writes docs/numpy-functions.md: what each public function of NumPy does with a tensor that requires grad.

    PYTHONPATH=src:tests python -m numpy_page

The functions are called as core/test_numpy_functions.py calls them. tests/documents/test_numpy_page.py holds the page to it.
"""

from __future__ import annotations

import sys
import textwrap
import warnings
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "core"))
import numpy as np
import test_numpy_functions as calls

PAGE = Path(__file__).parents[1] / "docs" / "numpy-functions.md"

# Why functions have no derivative here, and what to write instead.
REFUSED = {
    "The result is an array of NumPy's, which holds no history. Join tensors by `np.stack` or `np.block`, make new ones by "
    "`np.zeros_like(x)`, `np.full_like` or `torch.arange`.":
        "array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asmatrix bmat require frombuffer from_dlpack full "
        "arange fromiter",
    "They write into an array of NumPy's. Write into a tensor, such as `np.zeros_like(x)`: then they differentiate. "
    "The call of a ufunc stands for `out=`.":
        "copyto put place putmask put_along_axis fill_diagonal add.at add.__call__ multiply.at multiply.__call__ maximum.at "
        "maximum.__call__ logical_and.at logical_and.__call__ logaddexp.at logaddexp.__call__ hypot.at hypot.__call__ power.at "
        "power.__call__",
    "They take integers, bits or dates. Detach the tensor first.":
        "bincount invert bitwise_count bitwise_invert bitwise_not bitwise_and bitwise_or bitwise_xor left_shift right_shift "
        "bitwise_left_shift bitwise_right_shift packbits unpackbits gcd lcm ix_ isnat",
    "They count elements between edges that depend on x. `np.bincount(places, weights=x)` has a derivative in the weights.":
        "histogram histogram_bin_edges histogram2d histogramdd",
    "They write a file or a text. Detach the tensor first.":
        "save savez savez_compressed savetxt format_float_positional format_float_scientific",
    "The distance to the next number, a window of a size, and an old name of `np.vstack`.": "spacing kaiser row_stack",
}  # fmt: skip

_HEAD = """# NumPy's functions

<!-- Written by tests/numpy_page.py from the calls of tests/core/test_numpy_functions.py. -->

What each public function of `numpy`, `numpy.linalg` and `numpy.fft` does with a tensor that requires grad, and with a dual tensor. The
derivatives, backward and forward, are compared with finite differences. The test fails if a function is added to NumPy and not listed.
[en/numpy.md](en/numpy.md) shows programs.

"""


def outcomes() -> dict[str, str]:
    """What became of the derivative, for each function that this version of NumPy has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: calls.check_reverse(name, calls.caller(name, arguments)) for name, arguments in calls.ROWS.items()}


def listed(names: list[str]) -> str:
    """The names, those of each namespace in a paragraph."""
    ufuncs = [name for name in names if "." in name and isinstance(getattr(np, name.split(".")[0]), np.ufunc)]
    groups = {
        "numpy": [n for n in names if "." not in n], "numpy.linalg": [n for n in names if n.startswith("linalg.")],
        "numpy.fft": [n for n in names if n.startswith("fft.")], "Methods of ufuncs": ufuncs,
    }  # fmt: skip
    return "".join(f"{_wrapped(f'{title}: {_in_code(sorted(found))}.')}\n\n" for title, found in groups.items() if found)


def _in_code(names: list[str]) -> str:
    return ", ".join([f"`{name}`" for name in names])


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 132, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def page() -> str:
    found = outcomes()
    differentiated = [name for name, what in found.items() if what in ("differentiated", "constant")]
    constant = [name for name, what in found.items() if what == "no number"]
    text = f"{_HEAD}## {len(differentiated)} differentiate\n\n{listed(differentiated)}"
    text += f"## {len(constant)} have nothing to differentiate\n\nTheir results are integers, conditions, text, or new memory.\n\n"
    text += listed(constant)
    refused = [name for name, what in found.items() if what in ("refused", "warned")]
    text += f"## {len(refused)} refuse\n\nThey raise an error that names the function, or warn at the line.\n\n"
    return text + "".join([f"{_wrapped(f'- {_in_code(names.split())}. {why}', '  ')}\n" for why, names in REFUSED.items()])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written: {PAGE}")
