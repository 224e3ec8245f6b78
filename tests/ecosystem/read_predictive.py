#!/usr/bin/env python3
"""Checks leave-one-out and the predictive groups of posterior.nc with ArviZ.

usage: read_predictive.py COMMAND   (run by a Python that has ArviZ)
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")  # ArviZ announces its next version at every import
import arviz
import matplotlib
import numpy

PROGRAM = """
data { int N; int K; matrix[N, K] x; array[N] int y; }
parameters { real alpha; vector[K] beta; }
model { alpha ~ normal(0, 2); beta ~ std_normal(); y ~ bernoulli_logit_glm(x, alpha, beta); }
generated quantities {
  vector[N] log_lik;
  array[N] int y_rep;
  for (n in 1 : N) {
    real eta = alpha + x[n] * beta;
    log_lik[n] = bernoulli_logit_lpmf(y[n] | eta);
    y_rep[n] = bernoulli_logit_rng(eta);
  }
}
"""


def check(what, holds):
    if not holds:
        sys.exit(f"read_predictive: not true: {what}")
    print(f"  {what}")


def main():
    matplotlib.use("Agg")
    chance = numpy.random.default_rng(1)
    x = chance.normal(size=(60, 3))
    y = (chance.uniform(size=60) < 0.3 + 0.4 * (x[:, 0] > 0)).astype(int)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "program.stan").write_text(PROGRAM)
        (folder / "data.json").write_text(json.dumps({"N": 60, "K": 3, "x": x.tolist(), "y": y.tolist()}))
        words = ["sample", folder / "program.stan", "--data", folder / "data.json", "--seed", "1", "--draws", "500",
                 "--quiet", "--output", folder / "run"]
        subprocess.run([sys.argv[1], *map(str, words)], check=True)
        told = json.loads((folder / "run/summary.json").read_text())["loo"]
        data = arviz.from_netcdf(folder / "run/posterior.nc")
        check("observed data", numpy.array_equal(data.observed_data["y"], y))
        check("constant data", numpy.allclose(data.constant_data["x"], x) and data.constant_data["N"] == 60)
        check("groups apart", set(data.posterior.data_vars) == {"alpha", "beta"})
        loo = arviz.loo(data, reff=told["relative_efficiency"], pointwise=True)
        for ours, theirs in (("elpd", "elpd_loo"), ("se_elpd", "se"), ("p_loo", "p_loo"), ("good_k", "good_k")):
            check(f"{ours} is ArviZ's: {told[ours]:.6f}", math.isclose(told[ours], loo[theirs], rel_tol=1e-8))
        shapes = [point["pareto_k"] for point in told["observations"]]
        check("Pareto k of every observation", numpy.allclose(shapes, loo.pareto_k, rtol=1e-8))
        elpds = [point["elpd"] for point in told["observations"]]
        check("elpd of every observation", numpy.allclose(elpds, loo.loo_i, rtol=1e-8))
        usual = arviz.loo(data)
        check("ArviZ's own efficiency changes little", abs(usual.elpd_loo - told["elpd"]) < 0.02 * told["se_elpd"])
        arviz.plot_ppc(data, data_pairs={"y": "y_rep"}, num_pp_samples=20)
        check("plot_ppc draws a picture", True)


main()
