"""The documents on a device: tests of this folder run again with the stand-in's arrays, where `cuda` is the usual device.

Each claim holds there, too, but for a list with reasons. A claim of the list that holds by now fails."""

from __future__ import annotations

import device_library
import device_runs

FILES = [f"documents/test_{name}.py" for name in ("s0", "s1", "s2", "s3", "s4", "semantics", "pages")]
REASONS = {
    "The program asks for a NumPy array of a tensor, which a tensor on a GPU refuses, or gives it one.": """
        test_semantics.py::test_table_row_holds[v = torch.complex(c, c).conj(); v.numpy()]
        test_pages.py::test_examples_of_pages_print_the_shown_output[functions.md-en]
        test_pages.py::test_examples_of_pages_print_the_shown_output[functions.md-zh]
        test_pages.py::test_examples_of_pages_print_the_shown_output[numpy.md-en]
        test_pages.py::test_examples_of_pages_print_the_shown_output[numpy.md-zh]
    """,
    "The tables of profiles have columns of the device.": """
        test_pages.py::test_examples_of_pages_print_the_shown_output[profiling.md-en]
        test_pages.py::test_examples_of_pages_print_the_shown_output[profiling.md-zh]
    """,
}


@device_library.on_the_stand_in
def test_the_documents_hold_on_a_device():
    assert device_runs.check(FILES, REASONS) > 500
