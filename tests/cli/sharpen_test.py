#!/usr/bin/env python3
"""Tests rehmc sharpen: CmdStan's draws are sharpened, and refused with a reason where they do not fit the program."""

import csv
import json
import math
import pathlib
import tempfile
import unittest
from random import Random as random_numbers

from command import rehmc

PROGRAM = """
data { int<lower=1> N; vector[N] y; }
parameters {
  real mu;
  real<lower=0> tau;
  matrix[2, 3] m;
  simplex[3] p;
  array[2] vector<lower=0, upper=1>[2] u;
  cholesky_factor_corr[2] L;
}
transformed parameters { real ratio = mu / tau; }
model {
  mu ~ normal(0, 3);
  tau ~ gamma(8, 8);
  to_vector(m) ~ std_normal();
  p ~ dirichlet([2, 3, 4]');
  for (k in 1 : 2) u[k] ~ beta(3, 3);
  L ~ lkj_corr_cholesky(2);
  y ~ normal(mu, tau);
}
generated quantities { real next = normal_rng(mu, tau); }
"""


class Sharpen(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        (cls.folder / "model.stan").write_text(PROGRAM, encoding="utf-8")
        (cls.folder / "data.json").write_text('{"N": 5, "y": [1, 2, 1.5, 0.5, 2.5]}', encoding="utf-8")
        cls.run_command("sample", "model.stan", "--data", "data.json", "--seed", "1", "--recycle", "none", "--quiet",
                        "--draws", "500", "--output", "run", code=0)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def run_command(cls, *arguments, code):
        result = rehmc(*arguments, cwd=cls.folder)
        if result.returncode != code:
            raise AssertionError(f"exit code {result.returncode}, expected {code}: {result.stderr}")
        return result

    def chains(self, change=lambda row: row, name="changed"):
        """Copies of the files of all chains with changed rows."""
        files = []
        for chain in range(1, 5):
            lines = (self.folder / "run" / f"chain-{chain}.csv").read_text(encoding="utf-8").splitlines()
            header = next(line for line in lines if line.startswith("lp__")).split(",")
            changed = []
            for line in lines:
                if line.startswith(("#", "lp__")):
                    changed.append(line)
                else:
                    changed.append(",".join(change(dict(zip(header, line.split(",")))).values()))
            file = self.folder / f"{name}-{chain}.csv"
            file.write_text("\n".join(changed) + "\n", encoding="utf-8")
            files.append(file.name)
        return files

    def sharpen(self, files, *more, code=0, data="data.json"):
        return self.run_command("sharpen", "model.stan", "--data", data, *files, *more, code=code)

    def summary(self, files):
        return json.loads(self.sharpen(files, "--json").stdout)

    def test_every_kind_of_parameter_is_taken_back(self):
        summary = self.summary(self.chains(name="same"))
        rows = {row["name"]: row for row in summary["parameters"]}
        self.assertEqual(summary["stein_check"]["passed"], True)
        for name in ["mu", "tau", "m[2,3]", "p[2]", "u[2,1]", "L[2,1]", "ratio"]:
            self.assertIn("sharpened", rows[name], rows[name].get("not_sharpened"))
            self.assertNotIn("recycled", rows[name])
        self.assertIn("drawn at random", rows["next"]["not_sharpened"])
        gain = (rows["mu"]["plain"]["mcse_mean"] / rows["mu"]["sharpened"]["mcse_mean"]) ** 2
        self.assertGreater(gain, 3)
        # The mean of a standard normal coordinate is known. A healthy run is off by more than 5 errors once in a million.
        of_m = rows["m[1,2]"]["sharpened"]
        self.assertLess(abs(of_m["mean"]), 5 * of_m["mcse_mean"] + 1e-6)

    def test_plain_estimates_are_those_of_the_summary(self):
        table = {row["name"]: row["plain"] for row in self.summary(self.chains(name="plain"))["parameters"]}
        summary = json.loads((self.folder / "run" / "summary.json").read_text(encoding="utf-8"))
        for row in summary["parameters"]:
            self.assertAlmostEqual(table[row["name"]]["mean"], row["plain"]["mean"], places=12)
            self.assertEqual(table[row["name"]]["ess_bulk"], row["plain"]["ess_bulk"])

    def test_few_digits_are_enough(self):
        whole = {row["name"]: row for row in self.summary(self.chains(name="whole"))["parameters"]}
        for digits in (8, 6):
            def short(row, digits=digits):
                return {k: f"{float(v):.{digits}g}" if "." in v else v for k, v in row.items()}

            summary = self.summary(self.chains(short))
            self.assertTrue(summary["stein_check"]["passed"])
            for row in summary["parameters"]:
                if "sharpened" in row:
                    one, other = row["sharpened"], whole[row["name"]]["sharpened"]
                    # The choice of features may change with the last digits.
                    self.assertLess(abs(one["mean"] - other["mean"]), 3 * other["mcse_mean"] + 1e-5)

    def test_other_data_and_other_programs_are_refused(self):
        (self.folder / "other.json").write_text('{"N": 5, "y": [11, 2, 1.5, 0.5, 2.5]}', encoding="utf-8")
        refused = self.sharpen(self.chains(name="data"), data="other.json", code=65)
        self.assertIn("lp__ is not the log density of this program with these data", refused.stderr)
        (self.folder / "other.stan").write_text("parameters { real nu; } model { nu ~ std_normal(); }", encoding="utf-8")
        refused = self.run_command("sharpen", "other.stan", *self.chains(name="program"), code=65)
        self.assertIn("no column nu", refused.stderr)

    def test_a_value_on_its_bound_is_an_error(self):
        def onto_bound(row):
            return {**row, "tau": "0"}

        self.assertIn("draw 1: cannot be taken back", self.sharpen(self.chains(onto_bound), code=65).stderr)

    def test_divergences_are_counted(self):
        count = iter(range(10**6))

        def diverging(row):
            return {**row, "divergent__": "1" if next(count) % 50 == 0 else "0"}

        summary = self.summary(self.chains(diverging))
        self.assertEqual(summary["diagnostics"]["divergences"], 40)
        self.assertIn("40 of 2000 draws diverged", summary["not_sharpened"])

    def test_weights_and_resampled_draws_carry_what_was_learnt(self):
        files = self.chains(name="weights")
        shown = self.sharpen(files, "--weights", "weights.csv", "--resample", "1000", "--output", "resampled.csv").stdout
        self.assertRegex(shown, r"Weights balance \d+ features; 2000 draws are worth \d+ with equal weights")
        with open(self.folder / "weights.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        weights = [math.exp(float(row["log_weight"])) for row in rows]
        self.assertEqual((len(rows), rows[-1]["chain"], rows[-1]["draw"]), (2000, "4", "500"))
        self.assertAlmostEqual(sum(weights), 1, places=9)
        draws = []
        for file in files:
            lines = [line for line in (self.folder / file).read_text(encoding="utf-8").splitlines() if line[0] != "#"]
            draws += [float(row["m.1.2"]) for row in csv.DictReader(lines)]
        # The gradient of a standard normal coordinate is minus the coordinate, so that its weighted mean is 0, and so are
        # those of its square less 1.
        self.assertLess(abs(sum(w * x for w, x in zip(weights, draws))), 1e-6)
        self.assertLess(abs(sum(w * x * x for w, x in zip(weights, draws)) - 1), 1e-5)
        with open(self.folder / "resampled.csv", encoding="utf-8") as file:
            resampled = [float(row["m.1.2"]) for row in csv.DictReader(file)]
        self.assertEqual(len(resampled), 1000)
        # Systematic sampling in the order of the draws: errors as of a few independent ones.
        self.assertLess(abs(sum(resampled) / 1000), 0.2)
        again = self.sharpen(files, "--weights", "weights.csv", code=78)
        self.assertIn("weights.csv: exists", again.stderr)
        self.assertIn("go together", self.sharpen(files, "--resample", "10", code=78).stderr)
        diverging = self.chains(lambda row: {**row, "divergent__": "1"}, name="divergent")
        self.assertIn("no weights: 2000 of 2000", self.sharpen(diverging, "--weights", "none.csv", code=65).stderr)

    def test_diagnostic_files_need_no_program(self):
        # Of two standard normals, with the signs that CmdStan writes.
        random = random_numbers(1)
        files = []
        for chain in range(1, 5):
            lines = ["lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,a,b,p_a,p_b,g_a,g_b"]
            for _ in range(300):
                a, b = random.gauss(0, 1), random.gauss(0, 1)
                lines.append(f"{-(a * a + b * b) / 2},0.9,0.5,2,3,0,1,{a},{b},0.1,0.2,{a},{b}")
            files.append(f"diagnostic-{chain}.csv")
            (self.folder / files[-1]).write_text("\n".join(lines) + "\n", encoding="utf-8")
        told = json.loads(self.run_command("sharpen", *files, "--json", code=0).stdout)
        self.assertEqual([row["name"] for row in told["parameters"]], ["a", "b"])
        for row in told["parameters"]:
            self.assertLess(abs(row["sharpened"]["mean"]), 1e-4)
            self.assertGreater(abs(row["plain"]["mean"]), 1e-4)
        refused = self.run_command("sharpen", *self.chains(name="no-diagnostics"), code=65)
        self.assertIn("no diagnostic files of CmdStan", refused.stderr)
        self.assertIn("give the CSV files", self.run_command("sharpen", "model.stan", code=78).stderr)

    def test_tables(self):
        files = self.chains(name="tables")
        self.assertIn("Sharpened with gradients", self.sharpen(files).stdout)
        rows = list(csv.DictReader(self.sharpen(files, "--csv").stdout.splitlines()))
        self.assertEqual({row["estimate"] for row in rows}, {"plain", "sharpened"})
        self.assertIn("rehmc summary RUN", self.run_command("sharpen", "eight-schools", *files, code=78).stderr)
        self.assertIn("no such file", self.sharpen(["nothing.csv"], code=66).stderr)


if __name__ == "__main__":
    unittest.main()
