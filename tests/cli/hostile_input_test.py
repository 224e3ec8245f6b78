#!/usr/bin/env python3
"""Tests input that is hostile or absurd: deep nesting, control characters, odd file names, empty words."""

import csv
import json
import os
import pathlib
import shlex
import shutil
import tempfile
import unittest

from command import rehmc

DATA, INPUT_OUTPUT, CONFIG = 65, 74, 78
SHORT = ["--seed", 1, "--chains", 2, "--warmup", 50, "--draws", 40, "--quiet"]
BRIDGES = pathlib.Path(os.environ["REHMC"]).parent / "tests/bridge"
DEEP = 200_000


class HostileInput(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def write(self, name, text):
        (self.path / name).write_text(text, encoding="utf-8")
        return self.path / name

    def sample(self, *words, name="run"):
        return rehmc("sample", *words, *SHORT, "--output", self.path / name)

    def test_json_nested_deeply(self):
        library = BRIDGES / "bridge_good.so"
        for text in ('{"y": ' + DEEP * "[" + DEEP * "]" + "}", DEEP * '{"y": ' + "1" + DEEP * "}", DEEP * "["):
            deep = self.write("deep.json", text)
            for words in (
                ["eight-schools", "--data", deep], ["funnel", "--init", deep], ["funnel", "--metric-file", deep],
                [library, "--data", deep], [library, "--init", deep],
            ):  # fmt: skip
                with self.subTest(words):
                    result = self.sample(*words)
                    self.assertEqual(result.returncode, DATA, result.stderr)
                    self.assertIn("deep.json", result.stderr)
                    self.assertIn("nested", result.stderr)
            self.assertEqual(self.sample("funnel", name="deep").returncode, 0)
            run = self.path / "deep"
            for name in ("manifest.json", "trajectory.json", "summary.json"):
                whole = (run / name).read_text(encoding="utf-8")
                self.write(run / name, text)
                for command in ("check", "report", "resume"):
                    result = rehmc(command, run)
                    self.assertIn(result.returncode, (0, DATA), result.stderr)
                self.write(run / name, whole)
            shutil.rmtree(run)

    def test_depth_that_people_use_is_allowed(self):
        nested = self.write("nested.json", '{"v": 1, "x": [1, 2, 3, 4, 5, 6, 7, 8, "' + 300 * "[" + '"]}')
        self.assertNotIn("nested", self.sample("funnel", "--init", nested).stderr.replace("nested.json", ""))

    def test_program_nested_deeply(self):
        for bracket in ("()", "[]", "{}"):
            text = 100_000 * bracket[0] + "1" + 100_000 * bracket[1]
            program = self.write("deep.stan", f"parameters {{ real x; }} model {{ target += {text} * x; }}")
            result = self.sample(program)
            self.assertEqual(result.returncode, DATA, result.stderr)
            self.assertIn("nested", result.stderr)

    def test_more_slots_than_states(self):
        for rule in ("spread:1000000", "simple:10000"):
            result = self.sample("standard-normal", "--kernel", "nuts-slice", "--recycle", rule, name=rule)
            self.assertEqual(result.returncode, 0, result.stderr)
            run = self.path / rule
            lines = (run / "chain-1.csv").read_text(encoding="utf-8").splitlines()
            for row in csv.DictReader(line for line in lines if not line.startswith("#")):
                self.assertLessEqual(int(row["n_recycled__"]), int(row["n_leapfrog__"]) + 1)

    def test_names_of_files_that_are_not_text(self):
        name = os.fsencode(self.path) + b"/bad\xff\x1b[31m.so"
        shutil.copy(BRIDGES / "bridge_good.so", name)
        result = rehmc("sample", os.fsdecode(name), *SHORT, "--output", self.path / "run", errors="surrogateescape")
        self.assertEqual(result.returncode, DATA, result.stderr)
        self.assertIn(r"bad\xff\u001b[31m", result.stderr)
        self.assertFalse((self.path / "run").exists())
        # A folder may have any name; the commands that are printed work as they are.
        for odd in (b"\xff\x1b[31m", b"with space", b"it's", b"$(touch x)", b"a\\b", b"-x"):
            run = os.fsdecode(os.fsencode(self.path) + b"/" + odd)
            result = rehmc("sample", "funnel", *SHORT[:-1], "--output", run, errors="surrogateescape")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("\x1b", result.stdout + result.stderr)
            line = next(line for line in result.stdout.splitlines() if line.startswith("Next:"))
            words = line.removeprefix("Next:").split("   take")[0]
            if "$'" not in words:  # a form that shlex does not know
                self.assertEqual(shlex.split(words)[2], run)
            else:
                self.assertIn(r"$'", words)

    def test_names_of_programs_that_are_not_text(self):
        for name in (b"bad\xff.stan", b"bad\x1b[31m.stan", "bad\u202e.stan".encode()):
            program = os.fsdecode(os.fsencode(self.path) + b"/" + name)
            with open(program, "w", encoding="utf-8") as file:
                file.write("parameters { real x; } model { x ~ normal(0, 1); }")
            result = rehmc("sample", program, *SHORT, "--output", self.path / "run", errors="surrogateescape")
            self.assertEqual(result.returncode, DATA, result.stderr)
            self.assertIn("the name of this file", result.stderr)
            self.assertFalse((self.path / "run").exists())

    def test_devices_are_not_replaced(self):
        program = self.write("model.stan", "parameters { real x; } model { x ~ normal(0, 1); }")
        pipe = self.path / "pipe"
        os.mkfifo(pipe)
        result = rehmc("cmdstan-exe", program, "--output", pipe)
        self.assertEqual(result.returncode, INPUT_OUTPUT, result.stderr)
        self.assertIn(str(pipe), result.stderr)
        self.assertTrue(pipe.is_fifo())

    def test_text_whose_direction_changes_is_shown(self):
        text = "lp__,a\u202eb,c\u2066d\u2028e\n" + "".join(f"-1,{i % 7},{i % 5}\n" for i in range(100))
        result = rehmc("summary", self.write("turned.csv", text))
        for character in "\u202e\u2066\u2028":
            self.assertNotIn(character, result.stdout)
            self.assertIn(f"\\u{ord(character):04x}", result.stdout)

    def test_control_characters_are_shown(self):
        text = "# model = a\x1b]0;owned\x07b\nlp__,accept_stat__,a\x1b[31m,b\x9b31m,c\x7f\n"
        text += "".join(f"-1,1,{i % 7},{i % 5},{i % 3}\n" for i in range(100))
        table = self.write("hostile.csv", text)
        for more in ([], ["--json"], ["--csv"], ["--all"]):
            result = rehmc("summary", table, *more)
            for character in "\x1b\x07\x9b\x7f":
                self.assertNotIn(character, result.stdout + result.stderr)
            if more == ["--json"]:
                names = [parameter["name"] for parameter in json.loads(result.stdout)["parameters"]]
                self.assertEqual(names, ["a\x1b[31m", "b\x9b31m", "c\x7f"])
        result = rehmc("summary", self.path / "no\x1b[31m")
        self.assertNotIn("\x1b", result.stderr)
        self.assertIn(r"\u001b", result.stderr)

    def test_empty_words(self):
        run = self.path / "run"
        for option in ("--seed", "--until", "--output", "--data", "--init", "--save", "--drop", "--metric-file", "--draws", "--kernel"):
            with self.subTest(option):
                result = rehmc("sample", "eight-schools", *SHORT, "--output", run, option, "")
                self.assertEqual(result.returncode, CONFIG, result.stderr)
                self.assertIn(option, result.stderr)
                self.assertFalse(run.exists())
        for words in (["sample", ""], ["resume", ""], ["summary", ""], ["check", ""]):
            self.assertEqual(rehmc(*words).returncode, CONFIG)

    def test_settings_that_bias_or_mislead(self):
        for kernel, limit, code in (("nuts", 9.9, CONFIG), ("hmc", 0.5, CONFIG), ("nuts-slice", 0.5, 0), ("nuts", 10, 0), ("hmc", 10, 0)):
            result = self.sample("funnel", "--kernel", kernel, "--max-energy-error", limit, name=f"{kernel}{limit}")
            self.assertEqual(result.returncode, code, result.stderr)
            if code == CONFIG:
                self.assertIn("--max-energy-error", result.stderr)
                self.assertIn("10", result.stderr)
        for jitter in ("3", "1", "-0.1", "nan"):
            result = self.sample("funnel", "--kernel", "hmc", f"--path-jitter={jitter}")
            self.assertEqual(result.returncode, CONFIG, result.stderr)
            self.assertIn("--path-jitter", result.stderr)


if __name__ == "__main__":
    unittest.main()
