#!/usr/bin/env python3
"""Measures what calibrated weights gain for functions that no summary contains.

usage: weights.py [--runs N] [--only NAME] [--table FILE]

For each function, over many runs of 4 x 1000 draws: the variance of the average of the plain draws over that of the weighted average,
of the same draws ("draws", after Stan's warmup, as other programs take them) and of the recycled states of a run with all defaults;
and how far weighted averages are off in the mean of all runs, in sds of a single one. What is true is not known: the mean of the
plain averages of all runs stands for it, and its own error, about 1/sqrt(runs) plain sds, is stated besides. It needs
PYTHONPATH=build/release/python. --table writes the table into a document, between the lines that mark its place.
"""

import argparse
import dataclasses
import pathlib
from collections.abc import Callable

import numpy as np

import rehmc

ERROR = 15.0
CASE = np.array([1.0, 0.5, -0.5, 1.0, 0.0])


def logistic(eta):
    """The probability that belongs to these odds."""
    return 1 / (1 + np.exp(-eta))


SCHOOLS = {
    "product of mean and spread": lambda v: v["mu"] * v["tau"],
    "ratio: how far a school is pooled": lambda v: ERROR**2 / (ERROR**2 + v["tau"] ** 2),
    "event: the first school is better than the third": lambda v: v["theta"][..., 0] > v["theta"][..., 2],
    "event: a spread above 10": lambda v: v["tau"] > 10,
    "effect of the best school": lambda v: v["theta"].max(axis=-1),
}
REGRESSION = {
    "product of two coefficients": lambda v: v["beta"][..., 1] * v["beta"][..., 2],
    "ratio: odds": lambda v: np.exp(v["beta"][..., 1]),
    "event: one coefficient above another": lambda v: v["beta"][..., 1] > v["beta"][..., 2],
    "event: a coefficient above 0": lambda v: v["beta"][..., 3] > 0,
    "predictive mean of a new case": lambda v: logistic(v["beta"] @ CASE),
}


@dataclasses.dataclass(frozen=True)
class Target:
    """A model, and functions of its parameters."""

    name: str
    model: rehmc.Model
    functions: dict[str, Callable]


def targets():
    """All rows of the table."""
    yield Target("eight schools", rehmc.built_in("eight-schools"), SCHOOLS)
    data = {"observations": 200, "predictors": 5}
    yield Target("logistic regression", rehmc.built_in("logistic-regression", data), REGRESSION)


def single_draws(model, seed):
    """A fit of draws with their gradients, as another program might have taken them, or None if it cannot be sharpened."""
    fit = rehmc.sample(model, seed=seed, warmup="stan", recycle="none", threads=1, progress=False)
    states = [fit.states(chain) for chain in range(fit.chains)]
    positions, gradients = (np.stack([each[what] for each in states]) for what in ("positions", "gradients"))
    return rehmc.sharpen(positions, gradients, model=model, diverging=fit.statistics["diverging"])


def averages(target, seed):
    """Of every function, the averages of plain and of weighted single draws, and those of a run with recycled states; None where the
    run cannot be sharpened."""
    single, own = single_draws(target.model, seed), rehmc.sample(target.model, seed=seed, threads=1, progress=False)
    try:
        of_draws, of_states = single.weights, own.weights
    except rehmc.DataError:
        return None
    rows = []
    for function in target.functions.values():
        values, recycled = function(single.draws), function(own.recycled)
        rows.append([values.mean(), (of_draws * values).sum(), function(own.draws).mean(), (of_states * recycled).sum()])
    return rows


def cells_of(found):
    """What `averages` found of one function in all runs: gain and bias, of single draws and of runs."""
    for plain, weighted in (found[:, 0:2].T, found[:, 2:4].T):
        sd = weighted.std(ddof=1)
        error = (weighted - plain).std(ddof=1) / sd / len(found) ** 0.5
        yield f"{(plain.std(ddof=1) / sd) ** 2:.1f}"
        yield f"{(weighted.mean() - plain.mean()) / sd:+.2f} ± {error:.2f}"


def rows_of(target, runs):
    """The rows of one target."""
    found = [averages(target, seed) for seed in range(1, runs + 1)]
    good = np.array([each for each in found if each is not None])
    for place, name in enumerate(target.functions):
        yield " | ".join([f"| {target.name}", name, str(len(good)), *cells_of(good[:, place])]) + " |"


HEAD = [
    "| model | function | runs | gain of draws | bias, in sds | gain of recycled states | bias, in sds |",
    "|---|---|---|---|---|---|---|",
]


def write_table(path, rows):
    """Replaces what is between the marks."""
    before, rest = path.read_text(encoding="utf-8").split("<!-- weights -->\n")
    after = rest.split("<!-- /weights -->")[1]
    table = "".join(f"{line}\n" for line in (*HEAD, *rows))
    path.write_text(f"{before}<!-- weights -->\n{table}<!-- /weights -->{after}", encoding="utf-8")


def main():
    """Prints a row for every function."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--only", default="", help="targets whose name has this in it")
    parser.add_argument("--table", type=pathlib.Path)
    options = parser.parse_args()
    rows = []
    for target in targets():
        if options.only in target.name:
            for row in rows_of(target, options.runs):
                rows.append(row)
                print(row, flush=True)
    if options.table:
        write_table(options.table, rows)


if __name__ == "__main__":
    main()
