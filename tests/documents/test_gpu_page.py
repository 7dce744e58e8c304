"""The page docs/gpu.md: its examples run and print what it shows, on a device."""

import doctest
import re
from pathlib import Path

import device_library

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "gpu.md").read_text(encoding="utf-8")


@device_library.on_the_stand_in
def test_examples_print_the_shown_output():
    source = "\n".join(re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
    test = doctest.DocTestParser().get_doctest(source, {"__name__": "__main__"}, "gpu.md", "gpu.md", 0)
    complaints: list[str] = []
    with device_library.in_use():
        failed, tried = doctest.DocTestRunner(verbose=False).run(test, out=complaints.append)
    assert failed == 0 and tried >= 12, "".join(complaints)


def test_the_page_is_short_found_and_its_links_lead_somewhere():
    assert len(TEXT.splitlines()) <= 120
    assert "(gpu.md)" in (DOCS / "index.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", TEXT) if "://" not in link]
    assert links and [link for link in links if not (DOCS / link).exists()] == []
