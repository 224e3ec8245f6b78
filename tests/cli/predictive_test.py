#!/usr/bin/env python3
"""Tests of generated quantities: recycled ones, log likelihoods, other programs; and of exported states."""

import csv
import json
import math
import os
import pathlib
import tempfile
import unittest

from command import rehmc

SHORT = ["--warmup", 200, "--draws", 150, "--chains", 2, "--seed", 1, "--quiet"]
MODEL = """
data { int<lower=1> N; vector[N] y; }
parameters { real mu; real<lower=0> s; vector[2] z; }
transformed parameters { real t = mu + s; }
model { y ~ normal(mu, s); mu ~ normal(0, 9); s ~ normal(0, 9); z ~ std_normal(); }
"""
GENERATED = """
generated quantities {
  vector[N] log_lik;
  vector[N] y_rep;
  real effect = mu / s;
  for (n in 1 : N) { log_lik[n] = normal_lpdf(y[n] | mu, s); y_rep[n] = normal_rng(mu, s); }
}
"""
DATA = '{"N": 5, "y": [0.5, 1.5, -0.5, 2.5, 1]}'


def setUpModule():
    result = rehmc("stan", "install", "--interpreter")
    assert result.returncode == 0, result.stderr


def table(file):
    with open(file, encoding="utf-8") as opened:
        return list(csv.DictReader(line for line in opened if not line.startswith("#")))


def divergence(weights, base):
    """The relative entropy of weights to others."""
    total = sum(base)
    return sum(w * math.log(w * total / b) for w, b in zip(weights, base, strict=True))


class Predictive(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        return file

    def sample(self, *words, program=MODEL + GENERATED, name="run"):
        given = [self.write("model.stan", program), "--data", self.write("data.json", DATA)]
        return rehmc("sample", *given, *SHORT, "--output", self.folder / name, *words)

    def run_with(self, *words, **options):
        result = self.sample(*words, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.folder / options.get("name", "run")

    def summary(self, run):
        told = json.loads((run / "summary.json").read_text(encoding="utf-8"))
        return told, {parameter["name"]: parameter for parameter in told["parameters"]}

    def assert_says(self, result, code, *parts):
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_parameters_are_recycled_and_everything_else_on_request(self):
        _, usual = self.summary(self.run_with())
        _, everything = self.summary(self.run_with("--sharpen", "all", name="all"))
        for name, parameter in usual.items():
            of_state = not name.startswith("y_rep")
            is_parameter = name in ("mu", "s", "z[1]", "z[2]")
            self.assertEqual("recycled" in parameter, is_parameter, name)
            self.assertEqual("recycled" in everything[name], of_state, name)
            self.assertEqual(parameter["plain"], everything[name]["plain"])
        self.assertEqual(usual["mu"], everything["mu"])
        # A function of the state has the mean that its states have.
        total = everything["mu"]["recycled"]["mean"] + everything["s"]["recycled"]["mean"]
        self.assertAlmostEqual(everything["t"]["recycled"]["mean"], total, places=10)
        self.assertLess(everything["effect"]["recycled"]["mcse_mean"], everything["effect"]["plain"]["mcse_mean"])

    def test_predictions_have_no_gain(self):
        """They are not recycled: a gain of x1.0 would suggest that they were, without effect."""
        shown = rehmc("summary", self.run_with(), "mu", "y_rep*", env={**os.environ, "COLUMNS": "120"}).stdout.splitlines()
        heads = next(line for line in shown if line.startswith("parameter")).split()
        gains = {row.split()[0]: row.split()[heads.index("gain")] for row in shown if row.startswith(("mu ", "y_rep["))}
        self.assertRegex(gains.pop("mu"), "^(x|>)")
        self.assertEqual(gains, {f"y_rep[{i}]": "-" for i in range(1, 6)})

    def test_leave_one_out(self):
        run = self.run_with()
        told, parameters = self.summary(run)
        loo = told["loo"]
        self.assertEqual([point["name"] for point in loo["observations"]], [f"log_lik[{n}]" for n in range(1, 6)])
        self.assertAlmostEqual(sum(point["elpd"] for point in loo["observations"]), loo["elpd"], places=10)
        # What is left out is predicted worse than what was seen.
        self.assertLess(loo["elpd"], sum(parameters[f"log_lik[{n}]"]["plain"]["mean"] for n in range(1, 6)))
        result = rehmc("summary", run)
        self.assertIn("LOO: elpd", result.stdout)
        self.assertEqual(json.loads(rehmc("summary", run, "--json").stdout)["loo"], loo)
        other, _ = self.summary(self.run_with("--log-lik", "y_rep", name="other"))
        self.assertEqual(other["loo"]["observations"][0]["name"], "y_rep[1]")
        none, _ = self.summary(self.run_with(program=MODEL, name="none"))
        self.assertNotIn("loo", none)

    def test_lines_below_the_table_fit_the_terminal(self):
        run = self.run_with()
        shown = rehmc("summary", run, env={**os.environ, "COLUMNS": "60"}).stdout.splitlines()
        begin = next(i for i, line in enumerate(shown) if line.startswith("LOO: "))
        self.assertLessEqual(max(len(line) for line in shown[begin:]), 60)
        self.assertIn("Pareto k", " ".join(shown[begin:]))

    def test_a_folder_takes_at_most_three_times_its_text(self):
        """Of a model with many columns: its CSV files are what CmdStan writes."""
        groups = """
        data { int N; int G; vector[N] y; }
        parameters { real mu; real<lower=0> tau; vector[G] z; }
        transformed parameters { vector[G] theta = mu + tau * z; }
        model { mu ~ std_normal(); tau ~ std_normal(); z ~ std_normal(); for (n in 1 : N) y[n] ~ normal(theta[1 + n % G], 1); }
        generated quantities {
          vector[N] log_lik; vector[N] y_rep;
          for (n in 1 : N) { log_lik[n] = normal_lpdf(y[n] | theta[1 + n % G], 1); y_rep[n] = normal_rng(theta[1 + n % G], 1); }
        }"""
        program = self.write("groups.stan", groups)
        data = self.write("groups.json", json.dumps({"N": 100, "G": 46, "y": [0.1 * (n % 37) - 2 for n in range(100)]}))
        ratios = {}
        for name, words in (("usual", []), ("text", ["--recycled-csv"])):
            run = self.folder / name
            result = rehmc("sample", program, "--data", data, "--draws", 500, "--seed", 1, "--quiet", "--output", run, *words)
            self.assertEqual(result.returncode, 0, result.stderr)
            bytes_of = {file.name: file.stat().st_size for file in run.iterdir() if file.name != "report.html"}
            ratios[name] = sum(bytes_of.values()) / sum(size for file, size in bytes_of.items() if file.startswith("chain-"))
        self.assertEqual(len(table(self.folder / "usual/chain-1.csv")[0]), 294 + 12)
        self.assertLess(ratios["usual"], 3)
        self.assertGreater(ratios["text"], 3)  # the eight states of every draw as text take several times the space

    def test_log_likelihoods_of_the_wrong_shape(self):
        run = self.run_with("--log-lik", "effect")
        self.assertIn("effect is a single number", self.summary(run)[0]["loo"]["refused"])
        self.assertIn("LOO: not computed: effect is a single number", rehmc("summary", run).stdout)
        infinite = MODEL + "generated quantities { vector[2] log_lik = [mu, log(0)]'; }"
        run = self.run_with(program=infinite, name="infinite")
        self.assertIn("log_lik[2] is not finite", self.summary(run)[0]["loo"]["refused"])

    def test_bad_options(self):
        self.assert_says(self.sample("--log-lik", "nowhere"), 78, "log-lik", "'nowhere' matches no")
        self.assert_says(self.sample("--predictive", "nowhere"), 78, "predictive", "'nowhere' matches no")
        self.assert_says(self.sample("--no-draws", "--log-lik", "log_lik"), 78, "rehmc: --log-lik: needs stored draws", "--no-draws")
        self.assert_says(self.sample("--no-draws", "--recycled-csv"), 78, "recycled-csv", "--no-draws")
        self.assert_says(self.sample("--recycle", "none", "--recycled-csv"), 78, "recycled-csv")
        self.assert_says(self.sample("--sharpen", "some"), 78, "auto, all or none")
        self.assertFalse((self.folder / "run").exists())

    def test_the_stored_summary_is_shown_again(self):
        run = self.run_with()
        shown = rehmc("summary", run, "--json").stdout
        self.assertEqual(shown, (run / "summary.json").read_text(encoding="utf-8"))
        report = (run / "report.html").read_bytes()
        self.assertEqual(rehmc("report", run).returncode, 0)
        self.assertEqual((run / "report.html").read_bytes(), report)
        # Without the estimates they are computed again, to the same numbers.
        (run / "estimates.bin").unlink()
        checked = rehmc("check", run)  # it may be deleted
        self.assertEqual((checked.returncode, "estimates.bin: was deleted" in checked.stdout), (0, True), checked.stdout)
        self.assertEqual(rehmc("summary", run, "--json").stdout, shown)
        # Damaged ones are not believed.
        self.assertEqual(self.sample("--force").returncode, 0)
        content = bytearray((run / "estimates.bin").read_bytes())
        content[len(content) // 2] ^= 1
        (run / "estimates.bin").write_bytes(content)
        result = rehmc("summary", run, "--json")
        self.assertEqual(json.loads(result.stdout)["parameters"], json.loads(shown)["parameters"])
        self.assertIn("estimates.bin", result.stderr)
        # Nor are those of other draws.
        other = self.run_with("--seed", "2", name="other")
        (run / "estimates.bin").write_bytes((other / "estimates.bin").read_bytes())
        self.assertEqual(json.loads(rehmc("summary", run, "--json").stdout)["parameters"], json.loads(shown)["parameters"])
        # An extended run has estimates of its own.
        self.assertEqual(rehmc("extend", run, "--draws", 50, "--quiet").returncode, 0)
        self.assertEqual(json.loads(rehmc("summary", run, "--json").stdout)["draws"], 200)

    def test_generates_what_the_run_would_have(self):
        run = self.run_with()
        other = self.write("other.stan", MODEL + GENERATED + "// the same again\n")
        result = rehmc("generate", run, other, "--output", self.folder / "again")
        self.assertEqual(result.returncode, 0, result.stderr)
        for chain in (1, 2):
            before, after = table(run / f"chain-{chain}.csv"), table(self.folder / f"again/generated-{chain}.csv")
            self.assertEqual(len(after), 150)
            for old, new in zip(before, after, strict=True):
                for name, value in new.items():
                    self.assertAlmostEqual(float(value), float(old[name]), places=8)
            self.assertEqual(list(after[0])[:5], [f"log_lik.{n}" for n in range(1, 6)])
        again = rehmc("generate", run, other, "--output", self.folder / "again")
        self.assert_says(again, 73, "exists")

    def test_programs_that_do_not_fit(self):
        run = self.run_with("--drop", "t")
        for program, part in (
            (MODEL, "no generated quantities"),
            (MODEL.replace("vector[2] z", "vector[3] z") + GENERATED, "z[3]"),
            (MODEL.replace("vector[2] z;", "").replace("z ~ std_normal();", "") + GENERATED, "z[1]"),
        ):
            other = self.write("other.stan", program)
            self.assert_says(rehmc("generate", run, other, "--output", self.folder / "no"), 65, part)
            self.assertFalse((self.folder / "no").exists())
        bounded = self.run_with("--no-draws", name="bounded")
        other = self.write("other.stan", MODEL + GENERATED)
        self.assert_says(rehmc("generate", bounded, other), 65, "--no-draws")

    def test_exports_recycled_states(self):
        run = self.run_with("--recycled-csv")
        result = rehmc("export", run, "--recycled", "csv", "--output", self.folder / "csv")
        self.assertEqual(result.returncode, 0, result.stderr)
        for chain in (1, 2):
            before = table(run / f"recycled-{chain}.csv")
            after = table(self.folder / f"csv/recycled-{chain}.csv")
            self.assertEqual(len(after), 150 * 8)
            for old, new in zip(before, after, strict=True):
                # Text that is written while sampling has no generated quantities.
                self.assertEqual({n: v for n, v in old.items() if v != "nan"}, {n: new[n] for n, v in old.items() if v != "nan"})
                self.assertEqual(new["y_rep.1"], "nan")
                self.assertAlmostEqual(float(new["effect"]), float(new["mu"]) / float(new["s"]), places=10)
        result = rehmc("export", run, "--recycled", "netcdf", "--output", self.folder / "netcdf")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater((self.folder / "netcdf/posterior.nc").stat().st_size, (run / "posterior.nc").stat().st_size)
        self.assert_says(rehmc("export", run, "--recycled", "text", "--output", self.folder / "no"), 78, "csv, arrow or netcdf")
        result = rehmc("export", run, "--recycled", "arrow", "--output", self.folder / "arrow")
        self.assertEqual(result.returncode, 0, result.stderr)
        file = (self.folder / "arrow/recycled.arrow").read_bytes()  # tests/ecosystem reads it
        self.assertEqual((file[:8], file[-6:]), (b"ARROW1\0\0", b"ARROW1"))
        self.assert_says(rehmc("export", run, "--recycled", "csv", "--output", self.folder / "csv"), 73, "exists")
        none = self.run_with("--recycle", "none", name="none")
        self.assert_says(rehmc("export", none, "--recycled", "csv", "--output", self.folder / "no"), 65, "--recycle")

    def test_exports_calibrated_weights(self):
        # Paths of random length: draws have masses.
        run = self.run_with("--kernel", "hmc", "--path-steps", "1", "--path-steps-most", "9", "--draws", "500", name="calibrated")
        self.assertEqual(rehmc("export", run, "--recycled", "csv", "--output", self.folder / "own").returncode, 0)
        result = rehmc("export", run, "--recycled", "csv", "--calibrated", "--output", self.folder / "weighted")
        self.assertEqual(result.returncode, 0, result.stderr)
        weights, within, own = [], [], []
        for chain in (1, 2):
            masses = [float(row["mass__"]) for row in table(run / f"chain-{chain}.csv")]
            before, after = table(self.folder / f"own/recycled-{chain}.csv"), table(self.folder / f"weighted/recycled-{chain}.csv")
            for old, new in zip(before, after, strict=True):
                weights.append(math.exp(float(new.pop("calibrated_log_weight__"))))
                within.append(math.exp(float(old["log_weight__"])))
                own.append(within[-1] * masses[int(old["iter__"]) - 1])
                self.assertEqual(old, new)
        self.assertAlmostEqual(sum(weights), 1, places=9)
        # They are those nearest to the states' own weights, in which masses count.
        self.assertGreater(len(set(own)), 1)
        self.assertLess(divergence(weights, own), divergence(weights, within))
        thin = self.run_with("--thin", "2", name="thin")
        for words in ((thin, "--recycled", "csv"), (run, "--recycled", "arrow")):
            self.assert_says(rehmc("export", *words, "--calibrated", "--output", self.folder / "no"), 78, "--calibrated")
        self.assertFalse((self.folder / "no").exists())

    def test_a_folder_of_an_earlier_format(self):
        run = self.run_with()
        told = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
        told["format_version"] = 3
        (run / "manifest.json").write_text(json.dumps(told), encoding="utf-8")
        for command in (["summary"], ["report"], ["check"], ["resume"]):
            self.assert_says(rehmc(*command, run), 65, "another version of rehmc (0.1.0, format 3)", "reads format 4",
                             f"rehmc summary {run}/chain-1.csv {run}/chain-2.csv")
        result = rehmc("summary", *run.glob("chain-*.csv"))
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main()
