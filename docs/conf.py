"""Settings of Sphinx for the site: `make docs` builds it in build/docs."""

from __future__ import annotations

import sys
from pathlib import Path

import wengert

ROOT = Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "docs" / "_extensions"), str(ROOT / "tests")]

project = "wengert"
author = "The wengert developers"
copyright = author
version = release = wengert.__version__

extensions = ["myst_parser", "sphinx_gallery.gen_gallery", "api_pages", "operator_examples"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
nitpicky = True
myst_heading_anchors = 3

html_theme = "furo"
html_title = "wengert"
html_static_path = ["_static"]
html_css_files = ["site.css"]

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d\d_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "within_subsection_order": "FileNameSortKey",
}
