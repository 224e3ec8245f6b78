#!/usr/bin/env python3
"""Tests that everything the documents mention exists: make targets, presets, files; and that there is one version."""

import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def prose(document):
    """A document without its code blocks."""
    return re.sub(r"^```.*?^```$", "", document, flags=re.MULTILINE | re.DOTALL)


def code(document):
    """The shell blocks and the `inline code` of a document."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", document, re.MULTILINE | re.DOTALL)
    return "\n".join(blocks + re.findall(r"`([^`\n]+)`", prose(document)))


class Documents(unittest.TestCase):
    def assert_all_known(self, pattern, known):
        """The pattern matches something in the documents' code, and every match is known."""
        found = 0
        for path in DOCUMENTS:
            for name in re.findall(pattern, code(path.read_text(encoding="utf-8")), re.MULTILINE):
                found += 1
                self.assertIn(name, known, path.name)
        self.assertGreater(found, 0)

    def test_make_targets_exist(self):
        targets = re.findall(r"^([a-z-]+):.*## ", text("Makefile"), re.MULTILINE)
        self.assert_all_known(r"^make ([a-z-]+)", targets)
        readme = code(text("README.md"))
        for command in ["make run", "make test"]:
            self.assertIn(command, readme)

    def test_presets_exist(self):
        presets = [preset["name"] for preset in json.loads(text("CMakePresets.json"))["configurePresets"]]
        self.assert_all_known(r"--preset (\S+)", presets)

    def test_links_lead_to_files(self):
        for path in DOCUMENTS:
            for link in re.findall(r"\]\(([^)#]+)[^)]*\)", prose(path.read_text(encoding="utf-8"))):
                if not link.startswith("https://"):
                    self.assertTrue((path.parent / link).exists(), f"{path.name}: {link}")

    def test_one_version(self):
        version = re.search(r"project\(rehmc VERSION ([\d.]+)", text("CMakeLists.txt")).group(1)
        self.assertIn(f"\nversion: {version}\n", text("CITATION.cff"))
        minor = version.rpartition(".")[0]
        for path in ["docs/cpp.md", "tests/consumer/find_package/CMakeLists.txt"]:
            self.assertIn(f"find_package(rehmc {minor} REQUIRED)", text(path))

    def test_the_rooms_are_described(self):
        rooms = re.findall(r'^    "(\w+)": \[.*\],$', text("scripts/check_rooms").split("OUTSIDE")[0], re.MULTILINE)
        self.assertGreater(len(rooms), 5)
        described = re.findall(r"^\| `(\w+)` \|", text("CONTRIBUTING.md").split("## The rooms")[1].split("##")[0], re.MULTILINE)
        self.assertEqual(described, rooms)


if __name__ == "__main__":
    unittest.main()
