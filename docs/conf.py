"""How Sphinx builds the site: ``make docs``."""

from __future__ import annotations

import os

from sphinx_gallery.sorting import ExplicitOrder

import baytree

os.environ.setdefault("SOURCE_DATE_EPOCH", "1767225600")  # the same site from the same sources

project = "baytree"
author = "The baytree developers"
project_copyright = "2026, the baytree developers"
release = version = baytree.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",  # the name of its module, too
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # the order of the gallery is an object

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the signature has them
autodoc_member_order = "bysource"
autodoc_default_options = {"inherited-members": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_attr_annotations = False
highlight_language = "none"  # of blocks without a language: outputs
default_role = "literal"  # `X` in a docstring is code
toc_object_entries_show_parents = "hide"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/story_",
    "ignore_pattern": r"(^|/)(?!story_)\w+\.py$",
    "within_subsection_order": ExplicitOrder(["story_tumours.py", "story_diabetes.py"]),
    "download_all_examples": False,
    "capture_repr": (),
    "show_memory": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "matplotlib_animations": False,
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "baytree"
html_static_path = ["_static"]
html_css_files = ["baytree.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}


def skip_member(app, what, name, member, skip, options):  # noqa: ARG001 (Sphinx passes them)
    """Leave out what scikit-learn and others give our classes, and what fitted results do for us alone."""
    function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
    module = getattr(function, "__module__", None) or ""
    ours = module.startswith("baytree.") and not module.startswith("baytree.fitted.")
    return None if ours and name != "features" else True


def setup(app) -> None:
    """Connect what is above."""
    app.connect("autodoc-skip-member", skip_member)
