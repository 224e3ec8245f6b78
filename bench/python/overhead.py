#!/usr/bin/env python3
"""Measures what a gradient costs beyond the model's function when Python samples it.

usage: overhead.py [--draws N] [--repeat N] [--json FILE]

For two models (eight schools, and a logistic regression with 1000 x 25 data) and four kinds of functions: processor time of the
function alone, and of `rehmc.sample` for each gradient; 4 chains on 2 threads, for batches 64 chains. Medians of the repetitions. It
needs numba and JAX, and PYTHONPATH=build/release/python.
"""

import argparse
import json
import statistics
import time

import jax
import numba
import numpy as np

import rehmc

jax.config.update("jax_enable_x64", True)
jnp = jax.numpy

EFFECT = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
ERROR = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
RANDOM = np.random.default_rng(1)
X = np.column_stack([np.ones(1000), RANDOM.normal(size=(1000, 24))])
Y = (RANDOM.random(1000) < 1 / (1 + np.exp(-X @ RANDOM.normal(size=25) * 0.3))).astype(float)


def schools_numpy(x):
    """mu ~ normal(0, 5), log of tau ~ normal(0, 1), effects without centring."""
    mu, log_tau, z = x[0], x[1], x[2:]
    tau = np.exp(log_tau)
    error = (EFFECT - mu - tau * z) / ERROR**2
    value = -mu**2 / 50 - log_tau**2 / 2 - z @ z / 2 - (error * error * ERROR**2).sum() / 2
    slope = np.empty(10)
    slope[0] = error.sum() - mu / 25
    slope[1] = tau * (error @ z) - log_tau
    slope[2:] = tau * error - z
    return value, slope


def credit_numpy(x):
    """Coefficients ~ normal(0, 1)."""
    eta = X @ x
    p = 1 / (1 + np.exp(-eta))
    return Y @ eta - np.logaddexp(0, eta).sum() - x @ x / 2, X.T @ (Y - p) - x


def schools_jax(x):
    """The same in JAX."""
    mu, log_tau, z = x[0], x[1], x[2:]
    error = (EFFECT - mu - jnp.exp(log_tau) * z) / ERROR
    return -(mu**2) / 50 - log_tau**2 / 2 - z @ z / 2 - error @ error / 2


def credit_jax(x):
    """The same in JAX."""
    eta = X @ x
    return Y @ eta - jnp.logaddexp(0, eta).sum() - x @ x / 2


DOUBLES = numba.types.CPointer(numba.types.float64)
SIGNATURE = numba.types.int64(numba.types.uint64, DOUBLES, DOUBLES, DOUBLES, numba.types.voidptr)


@numba.cfunc(SIGNATURE)
def schools_c(dim, x, slope, value, data):
    """The same, compiled."""
    mu, log_tau = x[0], x[1]
    tau = np.exp(log_tau)
    total = -mu * mu / 50 - log_tau * log_tau / 2
    slope[0], slope[1] = -mu / 25, -log_tau
    for i in range(8):
        z = x[2 + i]
        error = (EFFECT[i] - mu - tau * z) / ERROR[i]
        total -= z * z / 2 + error * error / 2
        slope[0] += error / ERROR[i]
        slope[1] += tau * z * error / ERROR[i]
        slope[2 + i] = tau * error / ERROR[i] - z
    value[0] = total
    return 0


def seconds_of(work, least=0.3):
    """Processor time of one call."""
    count, spent = 1, 0.0
    while spent < least:
        begun = time.process_time()
        for _ in range(count):
            work()
        spent = time.process_time() - begun
        count *= 2
    return spent / (count / 2)


def seconds_of_c():
    """The same of the compiled function, called in a compiled loop."""
    inner = numba.njit(schools_c._pyfunc)

    @numba.njit
    def loop(count, x, slope, value):
        for _ in range(count):
            inner(10, x, slope, value, 0)

    arrays = np.zeros(10), np.zeros(10), np.zeros(1)
    loop(1, *arrays)
    begun = time.process_time()
    loop(1_000_000, *arrays)
    return (time.process_time() - begun) / 1e6


def per_gradient(model, repeat, **settings):
    """Processor time of a run for each gradient."""
    rehmc.sample(model, draws=20, progress=False, seed=1, **settings)
    values = []
    for seed in range(repeat):
        begun = time.process_time()
        fit = rehmc.sample(model, progress=False, seed=seed, **settings)
        values.append((time.process_time() - begun) / fit.gradients)
    return statistics.median(values)


def main():
    """Prints a row for every model and kind of function."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json")
    options = parser.parse_args()
    rows = []

    def row(name, raw, sampled, bar):
        rows.append({"name": name, "raw_us": raw * 1e6, "sampled_us": sampled * 1e6, "beyond_us": (sampled - raw) * 1e6, "bar": bar})
        print(f"{name:28} function {raw * 1e6:8.2f} us   in rehmc {sampled * 1e6:8.2f} us   beyond {(sampled - raw) * 1e6:6.2f} us   bar: {bar}", flush=True)

    threads = {"threads": 2, "draws": options.draws}
    batch = {"engine": "batch", "chains": 64, "batch": 64, "threads": 1, "draws": max(options.draws // 10, 20)}
    model = rehmc.cfunc(schools_c, 10)
    row("schools, cfunc", seconds_of_c(), per_gradient(model, options.repeat, **threads), "0.3 us beyond")
    for name, of_numpy, of_jax, dim in (("schools", schools_numpy, schools_jax, 10), ("credit", credit_numpy, credit_jax, 25)):
        x = np.zeros(dim)
        row(f"{name}, numpy", seconds_of(lambda: of_numpy(x)), per_gradient(rehmc.function(of_numpy, dim), options.repeat, **threads), "12 us beyond")
        single = jax.jit(jax.value_and_grad(of_jax))
        model = rehmc.jax(of_jax, dim)
        row(f"{name}, jax.jit", seconds_of(lambda: jax.block_until_ready(single(x))), per_gradient(model, options.repeat, **threads), "12 us beyond")
        many = jax.jit(jax.vmap(jax.value_and_grad(of_jax)))
        rows64 = np.zeros((64, dim))
        raw = seconds_of(lambda: [np.asarray(part) for part in many(rows64)]) / 64
        row(f"{name}, jax, batch of 64", raw, per_gradient(model, options.repeat, **batch), "1.2 times the function")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
