"""Settings of Sphinx. `make docs` calls it by scripts/build_docs, which prepares the folder that it reads."""

import os

import myst_nb.core.render

project = "rehmc"
author = "The rehmc developers"
version = release = os.environ["REHMC_VERSION"]
copyright = "the rehmc developers; BSD 3-Clause"  # noqa: A001: Sphinx asks for this name
root_doc = "index"
language = "en"
suppress_warnings = ["myst.header"]  # a heading may skip a level

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "numpydoc",
    "breathe",
    "sphinx_copybutton",
    "sphinx_design",
]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4  # the anchors that links in the documents use

# Tutorials run in their own folder of build/docs/source, and an error in a cell is an error of the build.
nb_execution_mode = "cache"
nb_execution_cache_path = os.environ["REHMC_NOTEBOOK_CACHE"]
nb_execution_excludepatterns = os.environ["REHMC_NOT_RUN"].split()
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True



def joined_streams(outputs):
    """Pieces of what a cell printed, put together as they came: MyST-NB would end a line after each."""
    whole, streams = [], {}
    for output in outputs:
        name = output.get("name") if output["output_type"] == "stream" else None
        if name in streams:
            streams[name]["text"] += output["text"]
            continue
        whole.append(type(output)(output))
        if name:
            streams[name] = whole[-1]
    return whole


myst_nb.core.render.coalesce_streams = joined_streams

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say the types
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

breathe_projects = {"rehmc": os.environ["REHMC_DOXYGEN"]}
breathe_default_project = "rehmc"
breathe_default_members = ("members",)

html_theme = "furo"
html_title = "rehmc"
html_static_path = ["site/static"]
html_css_files = ["rehmc.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6e4f", "color-brand-content": "#0b6e4f"},
    "dark_css_variables": {"color-brand-primary": "#6fd3a8", "color-brand-content": "#6fd3a8"},
}
copybutton_exclude = ".linenos, .gp, .go"
