#!/usr/bin/env python3
"""Runs the command rehmc and checks that common readers accept its files and agree with its summary.

usage: check_readers.py [--light] [--python PYTHON] COMMAND

Fails if a reader is not installed, and names it. --light uses only the readers in Python, and one kernel.
PYTHON is the interpreter whose packages are used.
"""

import argparse
import csv
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NOT_INSTALLED = 3  # what a reader's script exits with
DRAWS, WARMUP, CHAINS = 501, 301, 4  # odd, so that thinning by 2 must round


def ties_at_quantiles(values):
    """Whether the draws around the 5% or the 95% quantile are equal, as where HMC rejects."""
    ordered = sorted(values)
    places = [int((len(ordered) - 1) * p) for p in (0.05, 0.95)]
    return any(ordered[place] == ordered[place + 1] for place in places)


class Run:
    """One run folder, and what any reader must find in it, read here with only the csv and json modules."""

    def __init__(self, command, folder, kernel, save_warmup, thin):
        self.folder, self.thin, self.label = folder, thin, folder.name
        options = {"seed": 1, "chains": CHAINS, "kernel": kernel, "draws": DRAWS, "warmup": WARMUP, "thin": thin,
                   "recycle": "spread:8", "output": folder}
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        result = subprocess.run([command, "sample", "eight-schools", *words, "--recycled-csv", "--quiet",
                                 *(["--save-warmup"] if save_warmup else [])], capture_output=True, text=True,
                                check=False)
        if result.returncode != 0:
            sys.exit(f"{command} sample failed with exit code {result.returncode}:\n{result.stderr[-3000:]}")
        result = subprocess.run([command, "export", folder, "--recycled", "arrow", "--output", folder / "export"],
                                capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"{command} export failed with exit code {result.returncode}:\n{result.stderr[-3000:]}")
        self.draws = math.ceil(DRAWS / thin)
        self.summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        # Warmup may end before WARMUP.
        self.warmup_rows = math.ceil(self.summary["warmup"]["iterations"] / thin) if save_warmup else 0
        self.expected = {("*", "draws"): self.draws, ("*", "warmup_rows"): self.warmup_rows}
        self.expect_rows()
        self.expect_recycled()
        self.expect_tuning()
        if thin == 1:  # otherwise the summary knows more draws than the files
            self.expect_summary()

    def expect_rows(self):
        rows = []
        for chain in range(1, CHAINS + 1):
            with open(self.folder / f"chain-{chain}.csv", encoding="utf-8") as file:
                all_rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
            if len(all_rows) != self.warmup_rows + self.draws:
                sys.exit(f"{self.label}: chain-{chain}.csv has {len(all_rows)} rows, expected "
                         f"{self.warmup_rows} of warmup and {self.draws} of sampling")
            rows += all_rows[self.warmup_rows:]
        self.names = [name for name in rows[0] if not name.endswith("__")]
        self.tied = {name for name in self.names if ties_at_quantiles([float(row[name]) for row in rows])}
        for name in rows[0]:
            self.expected[name, "mean"] = math.fsum(float(row[name]) for row in rows) / len(rows)
        self.expected["*", "divergences"] = sum(int(row["divergent__"]) for row in rows)
        self.expected["*", "depth_limit"] = sum(int(row["max_depth_hit__"]) for row in rows)

    def expect_recycled(self):
        rows = []
        for chain in range(1, CHAINS + 1):
            with open(self.folder / f"recycled-{chain}.csv", encoding="utf-8") as file:
                rows += [row for row in csv.DictReader(file) if (int(row["iter__"]) - 1) % self.thin == 0]
        if len(rows) != 8 * CHAINS * self.draws:
            sys.exit(f"{self.label}: recycled-*.csv have {len(rows)} states, expected {8 * CHAINS * self.draws}")
        self.expected["*", "recycled_per_draw"] = 8
        for name in self.names:
            self.expected[name, "recycled_mean"] = math.fsum(float(row[name]) for row in rows) / len(rows)

    def expect_tuning(self):
        for chain in range(1, CHAINS + 1):
            metric = json.loads((self.folder / f"metric-{chain}.json").read_text(encoding="utf-8"))
            self.expected[f"chain {chain}", "stepsize"] = metric["stepsize"]
            rows = metric["inv_metric"]
            numbers = [number for row in rows for number in row] if isinstance(rows[0], list) else rows
            for place, number in enumerate(numbers, start=1):
                self.expected[f"chain {chain} metric {place}", "inv_metric"] = number

    def expect_summary(self):
        for parameter in self.summary["parameters"]:
            # theta[1,2] is theta.1.2 in the heads of CSV files.
            name = parameter["name"].replace("[", ".").replace(",", ".").removesuffix("]")
            plain = parameter["plain"]
            if not math.isclose(plain["mean"], self.expected[name, "mean"], rel_tol=1e-10, abs_tol=1e-12):
                sys.exit(f"{self.label}: the mean of {name} in summary.json is not that of chain-*.csv")
            for ours, theirs in [("mean", "mean"), ("sd", "sd"), ("q5", "q5"), ("q50", "median"), ("q95", "q95"),
                                 ("rhat", "rhat"), ("ess_bulk", "ess_bulk"), ("ess_tail", "ess_tail")]:
                self.expected[name, theirs] = plain[ours]
        for chain, ebfmi in enumerate(self.summary["diagnostics"]["ebfmi"], start=1):
            self.expected[f"chain {chain}", "ebfmi"] = ebfmi


class Reader:
    """A script that prints what a package finds in run folders, one line for each number."""

    def __init__(self, name, command, must_find, tolerance, rounds_quantiles=False):
        """`rounds_quantiles`: equal draws may lie above their own quantile, which is not exactly their value."""
        self.name, self.command, self.must_find, self.tolerance = name, command, must_find, tolerance
        self.rounds_quantiles = rounds_quantiles

    def run(self, folders):
        """The lines that the script prints; None if the reader is not installed."""
        if shutil.which(self.command[0]) is None:
            return None
        result = subprocess.run([*self.command, *map(str, folders)], capture_output=True, text=True, check=False)
        if result.returncode == NOT_INSTALLED:
            return None
        if result.returncode != 0:
            sys.exit(f"{self.name} refuses our files:\n{result.stdout[-500:]}\n{result.stderr[-3000:]}")
        return [line.split("\t") for line in result.stdout.splitlines()]

    def is_installed(self):
        return self.run([]) is not None

    def read(self, runs):
        """The version of the reader and {(folder, name, quantity): value}."""
        lines = self.run(run.folder for run in runs)
        return lines[0][1], {(folder, name, quantity): float(value) for folder, name, quantity, value in lines[1:]}

    def faults(self, run, numbers):
        """What the reader found that differs from the files, or did not find."""
        found = {key[1:]: value for key, value in numbers.items() if key[0] == str(run.folder)}
        for quantity in self.must_find:
            missing = {name for name, of in run.expected if of == quantity and not name.endswith("__")}
            missing -= {name for name, of in found if of == quantity}
            if missing:
                yield f"{quantity} of {', '.join(sorted(missing))} is missing"
        for (name, quantity), value in found.items():
            expected = run.expected.get((name, quantity))
            if expected is None or (self.rounds_quantiles and quantity == "ess_tail" and name in run.tied):
                continue
            tolerance = 1e-8 if quantity in ("mean", "recycled_mean") else self.tolerance
            if not math.isclose(value, expected, rel_tol=tolerance, abs_tol=1e-8):
                yield f"{quantity} of {name} is {value}, expected {expected}"


COUNTS = ["draws", "divergences"]


def readers_in_python(python):
    return [
        Reader("cmdstanpy.from_csv", [python, str(HERE / "read_cmdstanpy.py")],
               [*COUNTS, "mean", "warmup_rows", "stepsize", "inv_metric"], 1e-8),
        Reader("arviz.from_netcdf", [python, str(HERE / "read_arviz.py")],
               [*COUNTS, "mean", "rhat", "ess_bulk", "ess_tail", "ebfmi", "warmup_rows", "recycled_per_draw",
                "recycled_mean"], 1e-6, rounds_quantiles=True),
        Reader("pyarrow.feather.read_table", [python, str(HERE / "read_pyarrow.py")],
               ["recycled_mean", "recycled_per_draw"], 1e-8),
    ]


def readers_in_r():
    return [
        Reader("R posterior", ["Rscript", "--vanilla", str(HERE / "read_posterior.R")],
               [*COUNTS, "mean", "sd", "rhat", "ess_bulk", "ess_tail"], 1e-6),
        Reader("rstan::read_stan_csv", ["Rscript", "--vanilla", str(HERE / "read_rstan.R")],
               [*COUNTS, "mean", "warmup_rows"], 1e-8),
    ]


def check(readers, command, kernels):
    """Lets every reader read runs of these kernels; returns how many readers found a fault."""
    if not readers:
        return 0
    bad = 0
    with tempfile.TemporaryDirectory(prefix="rehmc-ecosystem-") as temporary:
        runs = [Run(command, pathlib.Path(temporary) / f"{kernel}-warmup{save_warmup:d}-thin{thin}", kernel,
                    save_warmup, thin)
                for kernel in kernels
                for save_warmup in [False, True]
                for thin in [1, 2]]
        for reader in readers:
            version, numbers = reader.read(runs)
            faults = [f"  {run.label}: {fault}" for run in runs for fault in reader.faults(run, numbers)]
            print(f"{'FAILED' if faults else 'ok'}: {reader.name} ({version}) read {len(runs)} run folders, "
                  f"{len(numbers)} numbers")
            print("\n".join(faults[:20]), end="\n" if faults else "")
            bad += bool(faults)
    return bad


def main():
    parser = argparse.ArgumentParser(description="Checks that other programs read what rehmc writes.")
    parser.add_argument("--light", action="store_true", help="only the readers in Python, only one kernel")
    parser.add_argument("--python", default=sys.executable, help="the interpreter whose packages are used")
    parser.add_argument("command", help="the command rehmc")
    options = parser.parse_args()

    readers = readers_in_python(options.python) + ([] if options.light else readers_in_r())
    missing = [reader.name for reader in readers if not reader.is_installed()]
    readers = [reader for reader in readers if reader.name not in missing]
    bad = check(readers, options.command, ["nuts"] if options.light else ["nuts", "nuts-slice", "hmc"])
    if missing:
        sys.exit(f"not installed, so nothing of theirs was checked: {', '.join(missing)}. `make test` installs the "
                 "readers in Python, `make test-ecosystem` all of them")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
