#!/usr/bin/env python3
"""Tests scripts/picture_terminal: it draws the final screen, and fails if the command fails."""

import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/picture_terminal"


class PictureTerminal(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.picture = pathlib.Path(folder.name, "picture.svg")

    def draw(self, script):
        return subprocess.run(
            [SCRIPT, self.picture, "80", "sh", "-c", script], capture_output=True, text=True, check=False
        )

    def test_shows_the_last_screen(self):
        result = self.draw(r"printf 'one\ntwo  2\n\033[2A\r\033[Knew <&>\n\n'; test -t 2 && stty size")
        self.assertEqual(result.returncode, 0, result.stderr)
        tree = xml.etree.ElementTree.parse(self.picture)
        lines = [text.text.replace("\u00a0", " ") for text in tree.iter("{http://www.w3.org/2000/svg}text")]
        self.assertTrue(lines[0].startswith("$ sh -c "))
        self.assertEqual(lines[1:], ["new <&>", "two  2", "50 80"])

    def test_refuses_a_command_that_fails(self):
        result = self.draw("echo 'no such run'; exit 3")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("no such run", result.stderr)
        self.assertFalse(self.picture.exists())


if __name__ == "__main__":
    unittest.main()
