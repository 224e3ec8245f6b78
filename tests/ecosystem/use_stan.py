#!/usr/bin/env python3
"""Checks that the clients of Stan accept what `rehmc compile` and `rehmc cmdstan-exe` build from a program.

usage: use_stan.py COMMAND

BridgeStan's own client and walnutpie load the library, and so does R, in the way of BridgeStan's client for it;
cmdstanpy runs the executable, and so does R, in the way of cmdstanr. Needs their packages.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import bridgestan
import numpy
import walnutpie

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "stan"
PROGRAM, DATA = EXAMPLES / "eight_schools.stan", EXAMPLES / "eight_schools.json"


def run(*words):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def check(what, holds):
    if not holds:
        sys.exit(f"use_stan: {what}")
    print(f"  {what}")


def use_bridgestan(library):
    model = bridgestan.StanModel(library, str(DATA))
    x = numpy.linspace(-1, 1, 10)
    value, gradient = model.log_density_gradient(x)
    same, _, hessian = model.log_density_hessian(x)
    _, product = model.log_density_hessian_vector_product(x, numpy.ones(10))
    check("bridgestan: log density and gradient", value == same and gradient.shape == (10,))
    differences = [
        (model.log_density(x + step) - model.log_density(x - step)) / 2e-6 for step in 1e-6 * numpy.eye(10)
    ]
    check("bridgestan: the gradient is that of the log density", numpy.allclose(differences, gradient, atol=1e-6))
    check("bridgestan: Hessian and its product", numpy.allclose(hessian @ numpy.ones(10), product, atol=1e-8))
    values = model.param_constrain(x, include_tp=True, include_gq=True, rng=model.new_rng(1))
    check("bridgestan: all quantities", values.shape == (26,) and model.param_names()[:2] == ["mu", "tau"])
    check("bridgestan: and back", numpy.allclose(model.param_unconstrain(values[:10]), x))
    check(
        "bridgestan: starting points from some values",
        numpy.isclose(model.param_initialize(model.new_rng(1), {"tau": 2.5})[1], numpy.log(2.5)),
    )
    return model


def use_walnutpie(model):
    chains = walnutpie.walnuts_stan(model, num_chains=4, min_sampling_iter=500)
    mu = numpy.concatenate([chain.data[:, 0] for chain in chains])
    check(f"walnutpie: the mean of mu is {mu.mean():.2f}, near 4.4", abs(mu.mean() - 4.4) < 0.7)


def use_r(script, file):
    if shutil.which("Rscript") is None:
        print("  R is not installed")
        return
    print(run("Rscript", "--vanilla", pathlib.Path(__file__).with_name(script), file, DATA), end="")


def use_cmdstanpy(executable, folder):
    # cmdstanpy looks for CmdStan even if it already has an executable.
    (folder / "cmdstan" / "bin").mkdir(parents=True)
    (folder / "cmdstan" / "makefile").write_text("CMDSTAN_VERSION := 2.39.0\n", encoding="utf-8")
    os.environ["CMDSTAN"] = str(folder / "cmdstan")
    import cmdstanpy  # noqa: PLC0415 (it reads $CMDSTAN)

    model = cmdstanpy.CmdStanModel(exe_file=executable)
    fit = model.sample(data=str(DATA), chains=4, seed=1, adapt_delta=0.95, show_progress=False, output_dir=str(folder))
    check("cmdstanpy: 4 x 1000 draws", fit.draws().shape[:2] == (1000, 4))
    check("cmdstanpy: variables by name", fit.stan_variable("theta").shape == (4000, 8))
    mean = fit.stan_variable("mu").mean()
    check(f"cmdstanpy: the mean of mu is {mean:.2f}, near 4.4", abs(mean - 4.4) < 0.7)
    use_other_methods(model, folder)


def use_other_methods(model, folder):
    point = {"mu": 4.0, "tau": 2.0, "theta_trans": [0.1] * 8}
    fit = model.sample(data=str(DATA), chains=2, seed=1, show_progress=True, refresh=50, output_dir=str(folder))
    generated = model.generate_quantities(data=str(DATA), previous_fit=fit, seed=2)
    check("cmdstanpy: generated quantities of a fit", generated.draws().shape[:2] == (1000, 2))
    mode = model.optimize(data=str(DATA), seed=1, jacobian=True)
    check("cmdstanpy: optimize", numpy.isfinite(mode.optimized_params_dict["mu"]))
    approximate = model.laplace_sample(data=str(DATA), mode=mode, draws=500, seed=1)
    check("cmdstanpy: laplace", approximate.stan_variable("theta").shape == (500, 8))
    found = model.pathfinder(data=str(DATA), seed=1)
    check("cmdstanpy: pathfinder", found.stan_variable("theta").shape == (1000, 8))
    value = model.log_prob(point, data=str(DATA))
    check("cmdstanpy: log_prob", value.shape == (1, 11))
    try:
        model.sample(data={"J": 2}, chains=1, seed=1, show_progress=False)
    except RuntimeError as error:
        check("cmdstanpy: errors say what is wrong", "do not match the model" in str(error))


def main(command):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(command, "compile", PROGRAM, "-o", folder / "schools.so")
        use_walnutpie(use_bridgestan(str(folder / "schools.so")))
        use_r("use_bridge.R", folder / "schools.so")
        run(command, "cmdstan-exe", PROGRAM, "-o", folder / "schools")
        use_r("use_cmdstan.R", folder / "schools")
        use_cmdstanpy(str(folder / "schools"), folder)


if __name__ == "__main__":
    main(sys.argv[1])
