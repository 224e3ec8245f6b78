#!/usr/bin/env python3
"""Tests that scripts/extract_snippets finds every C++ block, and rejects blocks with an unclear language."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "extract_snippets"


class ExtractSnippets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.document = self.folder / "guide.md"

    def extract(self, text):
        self.document.write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, SCRIPT, self.folder / "out", self.document], capture_output=True,
                              text=True, check=False)

    def test_each_cpp_block_becomes_a_file_that_knows_its_line(self):
        result = self.extract("# Guide\n\n```cpp\nint main() {}\n```\n\n```sh\nmake\n```\n\n```cpp\nint main() { return 1; }\n```\n")
        self.assertEqual((result.returncode, result.stdout), (0, "guide_1\nguide_2\n"), result.stderr)
        self.assertEqual((self.folder / "out/guide_1.cpp").read_text(encoding="utf-8"),
                         f'#line 4 "{self.document}"\nint main() {{}}\n')
        self.assertEqual((self.folder / "out/guide_2.cpp").read_text(encoding="utf-8"),
                         f'#line 12 "{self.document}"\nint main() {{ return 1; }}\n')

    def test_a_block_must_name_its_language(self):
        for language in ["", "c++", "cxx"]:
            result = self.extract(f"```{language}\nint main() {{}}\n```\n")
            self.assertEqual(result.returncode, 1)
            self.assertIn("guide.md:1: name the language", result.stderr)

    def test_a_block_must_end(self):
        result = self.extract("text\n```cpp\nint main() {}\n")
        self.assertEqual(result.returncode, 1)
        self.assertIn("guide.md:2: this block is never closed", result.stderr)

    def test_an_unchanged_snippet_is_not_written_again(self):
        self.extract("```cpp\nint main() {}\n```\n")
        snippet = self.folder / "out/guide_1.cpp"
        before = snippet.stat().st_mtime_ns
        self.extract("```cpp\nint main() {}\n```\n\nMore text.\n")
        self.assertEqual(snippet.stat().st_mtime_ns, before)


if __name__ == "__main__":
    unittest.main()
