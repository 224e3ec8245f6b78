#!/usr/bin/env python3
"""Tests that a density in C++ without a hand-written gradient becomes a library that the command samples."""

import csv
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from command import rehmc

ROOT = pathlib.Path(__file__).resolve().parents[2]


def setUpModule():
    result = rehmc("stan", "install", "--compiler")
    assert result.returncode == 0, result.stderr


def stan_folder():
    cache = re.search(r"^folder: *(.*)$", rehmc("stan", "status").stdout, re.MULTILINE).group(1)
    return next(pathlib.Path(cache).glob("compiler-*")) / "httpstan"


class CppModel(unittest.TestCase):
    def test_example_is_sampled(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            stan, library = stan_folder(), folder / "regression.so"
            words = ["g++", "-std=c++20", "-O1", "-w", "-shared", "-fPIC", "-DSTAN_THREADS", "-D_REENTRANT"]
            words += [f"-I{ROOT / 'include'}", f"-I{ROOT / 'autodiff'}", "-isystem", stan / "include", "-o", library]
            words += [ROOT / "examples/cpp_model/regression.cpp", pathlib.Path(os.environ["REHMC"]).parent / "librehmc.a"]
            words += [stan / "lib/libtbb.so", f"-Wl,-rpath,{stan / 'lib'}"]
            made = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
            self.assertEqual(made.returncode, 0, made.stderr)

            data = folder / "data.json"
            x = [0.1 * i - 2 for i in range(41)]
            y = [1 + 2 * value + 0.3 * (-1) ** i for i, value in enumerate(x)]
            data.write_text(json.dumps({"x": x, "y": y}), encoding="utf-8")
            result = rehmc("check-gradient", library, "--data", data)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            run = folder / "run"
            result = rehmc("sample", library, "--data", data, "--seed", 1, "--threads", 2, "--quiet", "--output", run)
            self.assertEqual(result.returncode, 0, result.stderr)
            lines = (run / "chain-1.csv").read_text(encoding="utf-8").splitlines()
            rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
            # The posterior standard deviations are about 0.05 and 0.04.
            for parameter, truth in (("intercept", 1), ("slope", 2)):
                mean = sum(float(row[parameter]) for row in rows) / len(rows)
                self.assertAlmostEqual(mean, truth, delta=0.3)
            self.assertGreater(min(float(row["sigma"]) for row in rows), 0)

            bad = folder / "bad.json"
            bad.write_text('{"x": [1], "y": [1, 2]}', encoding="utf-8")
            result = rehmc("sample", library, "--data", bad, "--output", folder / "none")
            self.assertEqual(result.returncode, 65)
            self.assertIn("x and y differ in length", result.stderr)


if __name__ == "__main__":
    unittest.main()
