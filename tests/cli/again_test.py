#!/usr/bin/env python3
"""Tests that the command that the report shows takes the same draws again, to the last bit, for runs of many kinds."""

import json
import pathlib
import re
import shlex
import tempfile
import unittest

from command import rehmc

SHORT = ["--seed", "5", "--warmup", "60", "--draws", "50", "--chains", "2"]
DATA = {"dimension": 3}
RUNS = [
    ["eight-schools"],
    ["eight-schools", "--kernel", "hmc", "--path-length", "1.2", "--recycle", "all", "--path-jitter", "0.8:1.1"],
    ["eight-schools", "--kernel", "hmc", "--path-length", "1.5707963267948966"],
    ["standard-normal", "--data", "the data.json", "--warmup-schedule", "stan", "--metric", "dense", "--offset", "12"],
    ["eight-schools", "--init", "0", "--max-treedepth", "6", "--adapt-delta", "0.9", "--thin", "2", "--save-warmup"],
    ["eight-schools", "--init", "start.json", "--save", "mu,theta_trans[2]", "--drop", "theta_trans.3"],
    ["funnel", "--init", "0.7", "--kernel", "nuts-slice", "--recycle", "simple:3", "--start", "random", "--engine", "batch"],
    ["eight-schools", "--metric-file", "metric.json", "--warmup", "0"],
    ["eight-schools", "--metric-file", "metric.json", "--warmup", "0", "--step-size", "1"],
    ["eight-schools", "--until", "ess>=50", "--no-sharpen-data", "--sharpen", "none"],
    ["banana", "--kernel", "hmc", "--path-steps", "2", "--path-steps-most", "9", "--weight-by-draws", "--threads", "1"],
    ["eight-schools", "--first-chain", "3", "--warmup-schedule", "stan"],
]


class Again(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        (self.path / "the data.json").write_text(json.dumps(DATA))
        (self.path / "start.json").write_text(json.dumps({"mu": 1, "log_tau": 0.5, "theta_trans": [0.1] * 8}))
        (self.path / "metric.json").write_text(json.dumps({"inv_metric": [1 + 0.1 * i for i in range(10)], "stepsize": 0.4}))

    def command_of(self, run):
        page = (self.path / run / "report.html").read_text(encoding="utf-8")
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL).group(1))
        return data["command"]

    def draws(self, run):
        """The rows of all chains without comments, and the kept states."""
        files = sorted((self.path / run).glob("chain-*.csv")) + sorted((self.path / run).glob("recycled-*.csv"))
        return [[line for line in file.read_text().splitlines() if not line.startswith("#")] for file in files]

    def test_twelve_runs_are_repeated_to_the_bit(self):
        for i, words in enumerate(RUNS):
            with self.subTest(words):
                given = [*words, *(word for pair in zip(SHORT[::2], SHORT[1::2]) if pair[0] not in words for word in pair)]
                first = rehmc("sample", *given, "--output", f"run-{i}", cwd=self.path)
                self.assertEqual(first.returncode, 0, first.stderr)
                command = self.command_of(f"run-{i}")
                self.assertTrue(command.startswith("rehmc sample "), command)
                again = rehmc(*shlex.split(command)[1:], "--output", f"again-{i}", cwd=self.path)
                self.assertEqual(again.returncode, 0, command + "\n" + again.stderr)
                self.assertEqual(self.draws(f"run-{i}"), self.draws(f"again-{i}"), command)
                self.assertEqual(self.command_of(f"again-{i}"), command)

    def test_only_what_differs_is_named(self):
        rehmc("sample", "eight-schools", "--seed", 3, "--chains", 4, "--adapt-delta", 0.8, "--output", "run", cwd=self.path)
        self.assertEqual(self.command_of("run"), "rehmc sample eight-schools --seed 3")

    def test_an_extended_run_is_one_long_run(self):
        rehmc("sample", "eight-schools", *SHORT, "--output", "run", cwd=self.path)
        rehmc("extend", "run", "--draws", 30, cwd=self.path)
        command = self.command_of("run")
        self.assertIn("--draws 80", command)
        rehmc(*shlex.split(command)[1:], "--output", "again", cwd=self.path)
        self.assertEqual(self.draws("run"), self.draws("again"))


if __name__ == "__main__":
    unittest.main()
