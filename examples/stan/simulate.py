#!/usr/bin/env python3
"""Simulates the data of the Stan programs in this folder, and writes them next to the programs."""

import json
import math
import pathlib
import random


def logistic_regression(draw):
    beta = [0.5, -1, 0.75, 0, 1.5]
    x = [[1.0] + [round(draw.gauss(0, 1), 3) for _ in beta[1:]] for _ in range(150)]
    chance = [1 / (1 + math.exp(-sum(b * v for b, v in zip(beta, row)))) for row in x]
    y = [int(draw.random() < p) for p in chance]
    return {"N": len(x), "K": len(beta), "x": x, "y": y, "prior_sd": 2}


def varying_intercepts(draw):
    group = [1 + n % 8 for n in range(80)]
    shift = [draw.gauss(0, 1.2) for _ in range(8)]
    x = [round(draw.gauss(0, 1), 3) for _ in group]
    y = [round(2 + shift[g - 1] + 0.7 * v + draw.gauss(0, 0.8), 3) for g, v in zip(group, x)]
    return {"N": len(y), "G": 8, "group": group, "x": x, "y": y}


def lotka_volterra(draw):
    prey, predators, counts, times = 30.0, 4.0, [], []
    steps = 1000
    for year in range(1, 13):
        for _ in range(steps):
            change = ((0.6 - 0.03 * predators) * prey, (0.025 * prey - 0.8) * predators)
            prey, predators = prey + change[0] / steps, predators + change[1] / steps
        times.append(year)
        counts.append([round(z * math.exp(draw.gauss(0, 0.2)), 2) for z in (prey, predators)])
    return {"N": len(times), "times": times, "counts": counts}


def gaussian_process(draw):
    x = [round(-3 + 6 * n / 24, 3) for n in range(25)]
    return {"N": len(x), "x": x, "y": [round(math.sin(1.5 * v) + draw.gauss(0, 0.3), 3) for v in x]}


def mixture(draw):
    y = [round(draw.gauss(-2, 1) if draw.random() < 0.35 else draw.gauss(1.5, 0.7), 3) for _ in range(120)]
    return {"N": len(y), "y": y}


def garch(draw):
    r, sigma = [], 0.6
    for _ in range(120):
        r.append(round(0.1 + draw.gauss(0, sigma), 4))
        sigma = math.sqrt(0.1 + 0.3 * (r[-1] - 0.1) ** 2 + 0.5 * sigma**2)
    return {"T": len(r), "r": r, "sigma_first": 0.6}


def constraints(draw):
    z = []
    for _ in range(40):
        a, b, c = (draw.gauss(0, 1) for _ in range(3))
        z.append([round(v, 3) for v in (a, 1.5 * (0.6 * a + 0.8 * b), 0.7 * c)])
    return {"K": 3, "counts": [12, 30, 8], "N": len(z), "z": z}


def hidden_markov(draw):
    y, state = [], 0
    for _ in range(100):
        state = state if draw.random() < 0.85 else 1 - state
        y.append(round(draw.gauss((-1, 2)[state], 0.8), 3))
    return {"T": len(y), "y": y}


SIMULATIONS = [
    logistic_regression,
    varying_intercepts,
    lotka_volterra,
    gaussian_process,
    mixture,
    garch,
    constraints,
    hidden_markov,
]

if __name__ == "__main__":
    folder = pathlib.Path(__file__).resolve().parent
    for simulate in SIMULATIONS:
        data = simulate(random.Random(simulate.__name__))
        (folder / f"{simulate.__name__}.json").write_text(json.dumps(data) + "\n", encoding="utf-8")
