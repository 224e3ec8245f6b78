#!/usr/bin/env python3
"""Tests `rehmc check-gradient`: correct gradients, good and bad data files, and absurd options."""

import json
import pathlib
import tempfile
import unittest

from command import rehmc


class CheckGradient(unittest.TestCase):
    def with_data(self, model, text, *words):
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder, "data.json")
            data.write_text(text, encoding="utf-8")
            return rehmc("check-gradient", model, "--data", data, *words)

    def test_every_model_is_right(self):
        for model in json.loads(rehmc("models", "--json").stdout):
            with self.subTest(model["name"]):
                result = self.with_data(model["name"], json.dumps(model["data_example"]), "--points", 2)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertIn("The gradient is right", result.stdout)

    def test_json_holds_what_was_checked(self):
        result = rehmc("check-gradient", "eight-schools", "--points", 3, "--seed", 7, "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        told = json.loads(result.stdout)
        self.assertEqual((told["dimension"], told["points"], told["seed"]), (10, 3, 7))
        self.assertEqual((told["checked"], told["failed"], told["ok"]), (30, 0, True))
        ratios = [row["error"] / row["tolerance"] for row in told["worst"]]
        self.assertEqual(ratios, sorted(ratios, reverse=True))

    def test_seed_chooses_the_points(self):
        first, again, other = (rehmc("check-gradient", "funnel", "--seed", seed).stdout for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_wide_models_are_checked_along_directions(self):
        result = self.with_data("standard-normal", '{"dimension": 3000}', "--points", 2, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        told = json.loads(result.stdout)
        self.assertEqual((told["dimension"], told["checked"]), (3000, 200))

    def test_bad_data_is_named(self):
        for text, parts in {
            "{": ["data.json is not JSON", "line 1, column"],
            '{"y": [1, NaN], "sigma": [1, 1]}': ["data.json: y[2]: found nan"],
            '{"y": [1, 2], "sigmas": [1, 1]}': ["unknown key 'sigmas'", "did you mean 'sigma'?", "J, y, sigma"],
            '{"y": [1, 2], "sigma": 1}': ["sigma: found 1", "a list of numbers"],
        }.items():
            result = self.with_data("eight-schools", text)
            self.assertEqual((result.returncode, result.stdout), (65, ""), text)
            for part in parts:
                self.assertIn(part, result.stderr)

    def test_missing_data_file_is_named(self):
        result = rehmc("check-gradient", "banana", "--data", "no-such-file.json")
        self.assertEqual((result.returncode, result.stdout), (66, ""))
        self.assertEqual(result.stderr, "rehmc: cannot read no-such-file.json: No such file or directory\n")

    def test_absurd_options_are_refused(self):
        for option, value in [
            ("--points", 0),
            ("--points", -1),
            ("--points", "many"),
            ("--points", 10**30),
            ("--seed", -1),
            ("--seed", "x"),
            ("--seed", 2**64),
            ("--radius", 0),
            ("--radius", "nan"),
            ("--radius", "inf"),
            ("--tolerance", -1),
            ("--tolerance", "nan"),
        ]:
            result = rehmc("check-gradient", "banana", option, value)
            self.assertEqual((result.returncode, result.stdout), (78, ""), (option, value, result.stderr))
            self.assertIn(option.strip("-"), result.stderr)
        result = rehmc("check-gradient")
        self.assertEqual((result.returncode, result.stdout), (64, ""))
        self.assertIn("MODEL", result.stderr)


if __name__ == "__main__":
    unittest.main()
