#!/usr/bin/env python3
"""Tests that check_readers.py fails when a reader is not installed, and names it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check_readers(*words):
    return subprocess.run([sys.executable, str(ROOT / "tests/ecosystem/check_readers.py"), *words],
                          capture_output=True, text=True, check=False)


class MissingReaders(unittest.TestCase):
    def test_fails_where_no_reader_is_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            python = pathlib.Path(folder) / "python"
            python.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")  # as the readers' scripts say it
            python.chmod(0o755)
            for interpreter in [python, pathlib.Path(folder) / "no-such-python"]:
                result = check_readers("--light", "--python", str(interpreter), "no-such-command")
                self.assertNotEqual(result.returncode, 0)
                for part in ["not installed", "cmdstanpy", "arviz", "make test"]:
                    self.assertIn(part, result.stderr)


if __name__ == "__main__":
    unittest.main()
