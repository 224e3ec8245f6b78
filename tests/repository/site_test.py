#!/usr/bin/env python3
"""Tests of what `make docs` builds, without building it: every page is in the contents, every link to a heading leads to one,
tutorials are valid Python that uses names that exist."""

import ast
import importlib.machinery
import importlib.util
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TUTORIALS = sorted(ROOT.glob("docs/tutorials/*.md"))


def load(script):
    loader = importlib.machinery.SourceFileLoader("build_docs", str(script))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("build_docs", loader))
    loader.exec_module(module)
    return module


BUILD = load(ROOT / "scripts" / "build_docs")
PAGES = sorted([*ROOT.glob("docs/**/*.md"), *(ROOT / page for page in BUILD.ELSEWHERE)])


def text(path):
    return path.read_text(encoding="utf-8")


def without_code(document):
    return re.sub(r"^(```|:::\{toctree\}).*?^(```|:::)$", "", document, flags=re.MULTILINE | re.DOTALL)


def anchors(document):
    """Of all headings, as the site and code hosts make them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", without_code(document), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def names_after(source, name):
    """X of all `name.X` in a program."""
    return {node.attr for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name}


class Site(unittest.TestCase):
    def test_every_page_is_in_the_contents_once(self):
        listed = re.findall(r"^:::\{toctree\}\n(.*?)^:::$", text(ROOT / "docs/index.md"), re.MULTILINE | re.DOTALL)
        entries = [line for block in listed for line in block.splitlines() if line and not line.startswith(":")]
        self.assertEqual(len(entries), len(set(entries)))
        pages = {str(BUILD.place(page).relative_to(BUILD.SOURCE).with_suffix("")) for page in PAGES}
        self.assertEqual(sorted(set(entries)), sorted((pages | {"reference/options"}) - {"index"}))

    def test_links_lead_to_headings(self):
        followed = 0
        for page in [*PAGES, ROOT / "README.md"]:
            for link, anchor in re.findall(r"\]\(([^)#\s]*)#([^)]+)\)", without_code(text(page))):
                if "://" in link:
                    continue
                target = (page.parent / link).resolve() if link else page
                followed += 1
                self.assertIn(anchor, anchors(text(target)), f"{page.name}: {link}#{anchor}")
        self.assertGreater(followed, 50)

    def test_cards_lead_to_pages(self):
        for page in re.findall(r"^:link: (\S+)$", text(ROOT / "docs/index.md"), re.MULTILINE):
            self.assertTrue((ROOT / "docs" / f"{page}.md").exists(), page)

    def test_tutorials_are_python_with_names_that_exist(self):
        self.assertGreaterEqual(len(TUTORIALS), 7)
        package = text(ROOT / "python/rehmc/__init__.py")
        known = set(re.findall(r'"(\w+)"', package.split("__all__")[1]))
        fit = next(node for node in ast.parse(text(ROOT / "python/rehmc/_fit.py")).body
                   if isinstance(node, ast.ClassDef) and node.name == "Fit")
        of_fit = {node.name for node in fit.body if isinstance(node, ast.FunctionDef)}
        of_fit |= names_after(text(ROOT / "python/rehmc/_fit.py"), "self")
        for tutorial in TUTORIALS:
            self.assertTrue(text(tutorial).startswith("---\nfile_format: mystnb\n"), tutorial.name)
            cells = list(BUILD.python_of(tutorial))
            self.assertGreater(len(cells), 2)
            source = "\n".join(cells)
            self.assertLessEqual(names_after(source, "rehmc"), known, tutorial.name)
            self.assertLessEqual(names_after(source, "fit"), of_fit, tutorial.name)

    def test_the_reference_has_every_name(self):
        package = text(ROOT / "python/rehmc/__init__.py")
        known = set(re.findall(r'"(\w+)"', package.split("__all__")[1])) - {"__version__"}
        described = set(re.findall(r"auto\w+:: rehmc\.(\w+)", text(ROOT / "docs/reference/python.md")))
        self.assertEqual(described, known)

    def test_names_of_the_c_reference_are_in_the_headers(self):
        headers = "\n".join(text(path) for path in ROOT.glob("include/rehmc/**/*.hpp"))
        for kind, name in re.findall(r"doxygen(class|struct|function):: rehmc::(\w+)", text(ROOT / "docs/reference/cpp.md")):
            pattern = rf"\b{name}\(" if kind == "function" else rf"\b{kind} {name}\b"
            self.assertRegex(headers, pattern)


class BuildDocs(unittest.TestCase):
    def test_links_lead_to_the_same_files(self):
        with tempfile.TemporaryDirectory() as folder:
            BUILD.SOURCE, before = pathlib.Path(folder), BUILD.SOURCE
            self.addCleanup(setattr, BUILD, "SOURCE", before)
            written = set()
            BUILD.copy_document(ROOT / "docs/command.md", written)
            BUILD.copy_document(ROOT / "experiments/README.md", written)
            copied = text(pathlib.Path(folder, "command.md"))
            self.assertIn("](experiments/README.md)", copied)
            self.assertIn("](sharpening.md)", copied)
            self.assertNotIn("](../", copied)

    def test_files_that_are_no_pages_come_along(self):
        with tempfile.TemporaryDirectory() as folder:
            BUILD.SOURCE, before = pathlib.Path(folder), BUILD.SOURCE
            self.addCleanup(setattr, BUILD, "SOURCE", before)
            BUILD.copy_document(ROOT / "docs/cpp.md", set())
            self.assertTrue(pathlib.Path(folder, "examples/cpp_model/regression.cpp").exists())
            self.assertIn("](examples/cpp_model/regression.cpp)", text(pathlib.Path(folder, "cpp.md")))

    def test_help_becomes_tables(self):
        found = BUILD.tables_of("Do it\nUsage: rehmc do [OPTIONS]\n\nOptions:\n  -h,--help     Print this\n  --long-name WORD=auto\n"
                                "                one|two\n                or three\n  --tick WORD=x touches\n\nMore:\n"
                                "  --last        the last")
        for part in ["Do it\n", "`rehmc do [OPTIONS]`", "**Options:**", "| `-h,--help` | Print this |",
                     "| `--long-name WORD=auto` | one\\|two or three |", "| `--tick WORD=x` | touches |",
                     "**More:**", "| `--last` | the last |"]:
            self.assertIn(part, found)

    def test_finds_what_a_page_would_fetch(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.html")
            page.write_text('<a href="https://a.org">x</a><img src="local.svg"><script async src="https://b.org/x.js"></script>',
                            encoding="utf-8")
            self.assertEqual(BUILD.from_the_network(page), ["https://b.org/x.js"])

    def test_finds_missing_packages(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text("```{code-cell}\nimport json, no_such_package.part\n!import nothing\n```\n", encoding="utf-8")
            self.assertEqual(BUILD.missing_packages(page), ["no_such_package"])


if __name__ == "__main__":
    unittest.main()
