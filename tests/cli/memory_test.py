#!/usr/bin/env python3
"""Tests how much memory runs without stored draws take."""

import os
import pathlib
import subprocess
import tempfile
import unittest


class Memory(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def test_without_draws_memory_is_bounded(self):
        """Less than 2 GB for 10^5 coordinates and 4 chains, and no more for more draws."""
        data = self.path / "data.json"
        peaks = {}
        for dimension, draws in ((100000, 20), (20000, 30), (20000, 90)):
            data.write_text(f'{{"dimension": {dimension}}}')
            process = subprocess.Popen(
                [os.environ["REHMC"], "sample", "standard-normal", "--data", data, "--no-draws", "--seed", "1", "--warmup", "30"]
                + ["--draws", str(draws), "--quiet", "--output", self.path / f"run-{dimension}-{draws}"],
                stderr=subprocess.DEVNULL,
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            peaks[dimension, draws] = usage.ru_maxrss / 1e6
        self.assertLess(peaks[100000, 20], 2.0, "GB")
        self.assertLess(peaks[20000, 90], 1.1 * peaks[20000, 30], "memory grows with the draws")


if __name__ == "__main__":
    unittest.main()
