#!/usr/bin/env python3
"""Tests that the page about reliability is written from the figures, not by hand."""

import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Reliability(unittest.TestCase):
    def test_the_page_is_what_the_script_makes_of_the_figures(self):
        subprocess.run([ROOT / "scripts" / "write_reliability", "--check"], check=True)


if __name__ == "__main__":
    unittest.main()
