#!/usr/bin/env python3
"""Examples of Stan programs, interpreted and compiled: the same densities, quantities and summaries.

To compile a program takes some 20 seconds, so `make test` takes one that other tests compile as well, and three that have all
constraints of the examples, arrays of constrained parameters and bounds that are parameters. `make test-stan` takes all,
by --all.
"""

import json
import math
import pathlib
import statistics
import sys
import tempfile
import unittest

from command import rehmc

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "stan"
QUICK = ("constraints", "eight_schools", "garch", "hidden_markov")
ALL = "--all" in sys.argv
PROGRAMS = sorted(EXAMPLES.glob("*.stan")) if ALL else [EXAMPLES / f"{name}.stan" for name in QUICK]
SEEDS = {"interpret": 1, "compile": 2}
FALSE_ALARMS = 1e-4  # of all summaries together


def setUpModule():
    result = rehmc("stan", "install")
    assert result.returncode == 0, result.stderr


class Agreement(unittest.TestCase):
    def test_values_gradients_and_quantities(self):
        self.assertEqual(len(PROGRAMS), 9 if ALL else 4)
        for program in PROGRAMS:
            with self.subTest(program.stem):
                result = rehmc(
                    "check-gradient", program, "--data", program.with_suffix(".json"), "--points", 50,
                    "--against", "compile", "--tolerance", 1e-8, "--json", timeout=900,
                )  # fmt: skip
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_summaries(self):
        scores = []
        for program in PROGRAMS:
            with tempfile.TemporaryDirectory() as folder:
                parts = [self.summary(program, pathlib.Path(folder, backend), backend) for backend in SEEDS]
            self.assertEqual(*(list(part) for part in parts))
            for name, one in parts[0].items():
                other = parts[1][name]
                if one["sd"] == 0:  # such as the corner of a Cholesky factor
                    self.assertEqual(one["mean"], other["mean"], name)
                else:
                    error = math.hypot(one["mcse_mean"], other["mcse_mean"])
                    scores.append((abs(one["mean"] - other["mean"]) / error, f"{program.stem}: {name}"))
        self.assertGreater(len(scores), 100 if ALL else 40)
        # The runs have different seeds. If the scores were normal, one would exceed the limit at this rate; they nearly
        # are: error bars from 1600 draws are themselves off by some 5%, which a limit above 5 allows for.
        limit = statistics.NormalDist().inv_cdf(1 - FALSE_ALARMS / (2 * len(scores)))
        self.assertLess(max(scores)[0], limit, max(scores))

    def summary(self, program, folder, backend):
        result = rehmc(
            "sample", program, "--data", program.with_suffix(".json"), "--stan-backend", backend, "--output", folder,
            "--seed", SEEDS[backend], "--warmup", 400, "--draws", 400, "--sharpen", "none", "--quiet", timeout=900,
        )  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr)
        told = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        return {parameter["name"]: parameter["plain"] for parameter in told["parameters"]}


if __name__ == "__main__":
    unittest.main(argv=[word for word in sys.argv if word != "--all"])
