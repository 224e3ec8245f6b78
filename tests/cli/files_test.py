#!/usr/bin/env python3
"""Tests that docs/files.md names the files of a run, their columns and their fields: all of them and no others."""

import json
import pathlib
import re
import struct
import tempfile
import unittest

from command import rehmc

DOCUMENT = (pathlib.Path(__file__).resolve().parents[2] / "docs/files.md").read_text(encoding="utf-8")
RUN = ["sample", "eight-schools", "--seed", "1", "--chains", "2", "--warmup", "200", "--draws", "500", "--quiet"]


def names_in(text):
    """The names in the first column of tables."""
    cells = re.findall(r"^\| ([^|]*`[^|]*) \|", text, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def section(title):
    return DOCUMENT.split(f"\n## {title}\n")[1].split("\n## ")[0]


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.run_folder = pathlib.Path(cls.folder.name, "run")
        data = pathlib.Path(cls.folder.name, "data.json")
        data.write_text('{"y": [28, 8, -3], "sigma": [15, 10, 16]}', encoding="utf-8")
        words = ["--data", data, "--recycled-csv", "--checkpoint-seconds", "0", "--output", cls.run_folder]
        result = rehmc(*RUN, *words)
        assert result.returncode == 0, result.stderr
        # A model that reports its coordinates, so that there is a plot of a trajectory.
        cls.pictured = pathlib.Path(cls.folder.name, "pictured")
        result = rehmc("sample", "funnel", *RUN[2:], "--output", cls.pictured)
        assert result.returncode == 0, result.stderr
        cls.bounded = pathlib.Path(cls.folder.name, "bounded")
        result = rehmc(*RUN, "--no-draws", "--output", cls.bounded)
        assert result.returncode == 0, result.stderr
        # Without draws, only coordinates are sharpened.
        cls.summed = pathlib.Path(cls.folder.name, "summed")
        result = rehmc("sample", "standard-normal", *RUN[2:], "--draws", "600", "--no-draws", "--output", cls.summed)
        assert result.returncode == 0, result.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_file(self):
        table = DOCUMENT.split("\n## ")[0]
        described = set(re.findall(r"^\| \[`([^`]+)`\]", table, re.MULTILINE))
        described.remove("model.stan")  # a built-in model has none; the tests of Stan programs look for it
        folders = [*self.run_folder.iterdir(), *self.pictured.iterdir()]
        found = {re.sub(r"-\d", "-N", path.name) for path in folders}
        self.assertIn("checkpoint-N-previous.bin", found)
        self.assertEqual(described, found - {"checkpoint-N-previous.bin"})
        sentence = re.search(r"With `--no-draws` there are no (.*?)\.\s", table, re.DOTALL).group(1)
        left = described - set(re.findall(r"`([^`]+)`", sentence)) - {"data.json"}
        found = {re.sub(r"-\d", "-N", path.name) for path in self.bounded.iterdir()}
        self.assertEqual(left, found - {"checkpoint-N-previous.bin"})

    def test_columns(self):
        for name in ("chain", "recycled"):
            lines = (self.run_folder / f"{name}-1.csv").read_text(encoding="utf-8").splitlines()
            head = next(line for line in lines if not line.startswith("#"))
            columns = [column for column in head.split(",") if column.endswith("__")]
            self.assertEqual(names_in(section(f"{name}-N.csv")), columns)

    def test_manifest_and_trajectory(self):
        for name in ("manifest.json", "trajectory.json"):
            told = json.loads((self.pictured / name).read_text(encoding="utf-8"))
            self.assertEqual(names_in(section(name)), list(told))

    def test_parameters_of_the_manifest(self):
        told = json.loads((self.run_folder / "manifest.json").read_text(encoding="utf-8"))
        self.assertEqual(told["coordinates"], ["mu", "log_tau", "theta_trans.1", "theta_trans.2", "theta_trans.3"])
        parameters = {parameter["name"]: parameter.get("coordinate") for parameter in told["parameters"]}
        self.assertEqual(parameters["tau"], 1)
        self.assertIsNone(parameters["theta.1"])

    def test_summary(self):
        parts = section("summary.json").split("Fields of `")
        top, diagnostics, warmup, _, check, estimates, plain, sharpened = (names_in(part) for part in parts)
        sets = {"none", "plain", "bounded", "own", "bounded_linear", "linear", "row", "quadratic"}
        for folder in (self.run_folder, self.summed, self.bounded):
            told = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
            absent = {"loo", "stein_check" if folder == self.bounded else "not_sharpened"}
            self.assertEqual(list(told), [name for name in top if name not in absent])
            self.assertEqual(list(told["diagnostics"]), diagnostics)
            self.assertEqual(list(told["warmup"]), warmup)
            if folder != self.bounded:
                self.assertEqual(list(told["stein_check"]), check)
                self.assertTrue(any("sharpened" in parameter for parameter in told["parameters"]))
            for parameter in told["parameters"]:
                kinds = list(parameter)[1:]
                self.assertEqual(kinds[:2], ["plain", "recycled"])
                self.assertIn(kinds[2:], [["sharpened"], ["not_sharpened"]] if folder != self.bounded else [[]])
                for kind, more in (("plain", plain), ("recycled", []), ("sharpened", sharpened)):
                    if kind not in parameter:
                        continue
                    fields = [name for name in parameter[kind] if not name.startswith("bin_error_")]
                    known = estimates if folder == self.run_folder else [e for e in estimates if "degrees" not in e]
                    self.assertEqual(fields, known + more)
                    bounds = {name for name in parameter[kind] if name.startswith("bin_error_")}
                    quantiles = {"bin_error_" + name for name in estimates if name.startswith("q")}
                    self.assertEqual(bounds, set() if folder == self.run_folder else quantiles)
                if "sharpened" in parameter:
                    features = parameter["sharpened"]["features"]
                    values = [name for name in estimates if not name.startswith(("mcse_", "degrees_", "ess_"))]
                    self.assertEqual(list(features), values)
                    self.assertLessEqual(set(features.values()), sets)
        self.assertEqual(told["errors_from"], "batch means")
        self.assertIsNone(told["parameters"][0]["plain"]["ess_bulk"])

    def test_states_are_as_described(self):
        """Reads the draws by the document's table, and finds those of the CSV file."""
        content = (self.run_folder / "states-1.bin").read_bytes()
        lines = (self.run_folder / "chain-1.csv").read_text(encoding="utf-8").splitlines()
        rows = [line.split(",") for line in lines if not line.startswith("#")]
        d = sum(not column.endswith("__") for column in rows[0])
        coordinates = len(json.loads((self.run_folder / "manifest.json").read_text(encoding="utf-8"))["coordinates"])
        at = 0

        def take(layout):
            nonlocal at
            values = struct.unpack_from("<" + layout, content, at)
            at += struct.calcsize("<" + layout)
            return values

        for row in rows[1:]:
            log_density, acceptance, step_size, energy, energy_error, path_length, mass = take("7d")
            depth, gradients, ending = take("iIB")
            draw = take(f"{d}d")
            # The model computes tau and theta; positions and gradients follow.
            self.assertEqual(take("BBBB"), (1, 1, 1, 1))
            (kept,) = take("I")
            self.assertAlmostEqual(sum(take(f"{kept}d")), 1)
            take(f"{kept * coordinates}d{kept * coordinates}f")
            if ending == 3:
                take(f"Q{d}dQ{coordinates}dQ{d}dB")
            numbers = [log_density, acceptance, step_size, depth, gradients, ending == 3, energy, path_length]
            self.assertEqual([float(cell) for cell in row], [*numbers, energy_error, kept, ending == 4, mass, *draw])
        self.assertEqual(at, len(content))

    def test_exit_codes(self):
        """The codes that need no fault; faults_test has the others."""
        described = {int(code) for code in re.findall(r"^\| (\d+) \|", section("Exit codes"), re.MULTILINE)}
        self.assertEqual(described, {0, 1, 64, 65, 66, 70, 71, 73, 74, 78, 130})
        for code, words in {
            0: ["models"],
            64: ["sample"],
            65: ["summary", self.run_folder / "data.json"],
            66: ["check", self.run_folder / "nothing"],
            73: [*RUN, "--output", self.run_folder],
            78: ["sample", "eight-schools", "--draws", "0"],
        }.items():
            self.assertEqual(rehmc(*words).returncode, code, words)


if __name__ == "__main__":
    unittest.main()
