"""docs/from-hips.md: its programs print what they show, and its links lead somewhere."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "from-hips.md"


def test_programs_of_the_page_print_what_they_show(capsys):
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, names)
        shown = re.findall(r"^# (.*)$", block, re.MULTILINE)
        assert capsys.readouterr().out.splitlines() == shown


def test_links_of_the_page_lead_somewhere():
    links = re.findall(r"\]\((?!http)([^)#]+)", PAGE.read_text(encoding="utf-8"))
    assert links
    assert all((PAGE.parent / link).exists() for link in links)
