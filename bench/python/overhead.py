#!/usr/bin/env python3
"""Measures what a gradient costs beyond the model's function when Python samples it.

usage: overhead.py [--draws N] [--repeat N] [--table FILE]

For two models (eight schools, and a logistic regression with 1000 x 25 data) and four kinds of functions: processor time of the
function alone, and for each gradient of `rehmc.sample` and of nutpie with the same function; 4 chains on 2 threads, for batches
64 chains. The function alone is called at draws of the model, one after the other: at one point again and again, the processor
predicts every branch, and numpy's logaddexp takes half the time. All three are measured in turn, and each figure is a median over
the turns. It needs numba, JAX and nutpie, and PYTHONPATH=build/release/python. --table writes the table into a document, between the
lines that mark its place.
"""

import argparse
import dataclasses
import os
import pathlib
import statistics
import time
import warnings
from collections.abc import Callable

# A second thread of numpy would wait for work, and its waiting would count as processor time.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import jax
import numba
import numpy as np
import nutpie
from nutpie.compile_pymc import CompiledPyMCModel
from nutpie.compiled_pyfunc import from_pyfunc

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


@numba.cfunc(numba.types.int64(numba.types.uint64, numba.types.uint64, DOUBLES, DOUBLES, numba.types.voidptr))
def copy_c(dim, expanded, x, out, data):
    """What nutpie shows of a state."""
    for i in range(dim):
        out[i] = x[i]
    return 0


def start(seed, dim):
    """Where nutpie starts."""
    return np.random.default_rng(seed).uniform(-1, 1, dim)


def nutpie_of_c(dim):
    """The compiled function, as nutpie takes it."""
    return CompiledPyMCModel(
        dims={}, compiled_logp_func=schools_c, compiled_expand_func=copy_c, initial_point_func=lambda seed: start(seed, dim),
        shared_data={}, user_data=np.zeros(1), n_expanded=dim, shape_info=(["x"], [slice(0, dim)], [(dim,)]), logp_func=None,
        expand_func=None, _n_dim=dim, _shapes={"x": (dim,)}, _coords={},
    )


def nutpie_of(function, dim):
    """A function of Python, as nutpie takes it."""
    return from_pyfunc(
        dim, lambda: function, lambda *seeds: lambda x: {"x": x}, [np.dtype("float64")], [(dim,)], ["x"],
        make_initial_point_fn=lambda seed: start(seed, dim),
    )


def draws_of(model):
    """Where a run calls the function, roughly: 512 draws of a model, one per row."""
    draws = rehmc.sample(model, draws=128, seed=0, progress=False).draws["x"]
    return np.ascontiguousarray(draws.reshape(512, -1))


def seconds_of(function, points, least=0.1):
    """Processor time of one call."""
    function(points[0])  # compiles it
    count, spent = 0, 0.0
    while spent < least:
        begun = time.process_time()
        for point in points:
            function(point)
        spent += time.process_time() - begun
        count += len(points)
    return spent / count


@numba.njit
def loop_c(function, count, points, x, slope, value):
    """Calls the compiled function many times by its address."""
    for i in range(count):
        x[:] = points[i % len(points)]
        function(np.uint64(10), x.ctypes, slope.ctypes, value.ctypes, slope.ctypes)


def seconds_of_c(points, count=1_000_000):
    """The same of the compiled function, called by its address in a compiled loop."""
    arrays = points, np.zeros(10), np.zeros(10), np.zeros(1)
    loop_c(schools_c, 1, *arrays)
    begun = time.process_time()
    loop_c(schools_c, count, *arrays)
    return (time.process_time() - begun) / count


def seconds_in_rehmc(model, seed, **settings):
    """Processor time of a run for each gradient."""
    begun = time.process_time()
    fit = rehmc.sample(model, progress=False, seed=seed, **settings)
    return (time.process_time() - begun) / fit.gradients


def seconds_in_nutpie(model, seed, draws):
    """The same of a run of nutpie."""
    begun = time.process_time()
    trace = nutpie.sample(model, draws=draws, chains=4, cores=2, seed=seed, progress_bar=False)
    spent = time.process_time() - begun
    return spent / sum(int(part["n_steps"].sum()) for part in (trace.sample_stats, trace.warmup_sample_stats))


@dataclasses.dataclass
class Case:
    """A function, and how it is called."""

    name: str
    alone: Callable[[], float]
    ours: Callable[[int], float]
    peer: Callable[[int], float] | None
    most_beyond: float | None = None
    most_ratio: float | None = None


def cases(draws):
    """All rows of the table."""
    threads = {"chains": 4, "threads": 2}
    compiled, peer_c = rehmc.cfunc(schools_c, 10), nutpie_of_c(10)
    points = draws_of(compiled)
    # A compiled run is short, and so longer ones are measured.
    yield Case(
        "eight schools, numba cfunc", lambda: seconds_of_c(points),
        lambda seed: seconds_in_rehmc(compiled, seed, draws=20 * draws, **threads),
        lambda seed: seconds_in_nutpie(peer_c, seed, 20 * draws), most_beyond=0.3,
    )
    for title, of_numpy, of_jax, dim in (("eight schools", schools_numpy, schools_jax, 10), ("logistic", credit_numpy, credit_jax, 25)):
        yield from python_cases(title, of_numpy, of_jax, dim, draws, threads)


def python_cases(title, of_numpy, of_jax, dim, draws, threads):
    """The rows of one model."""
    numpys, peer = rehmc.function(of_numpy, dim), nutpie_of(of_numpy, dim)
    points = draws_of(numpys)
    yield Case(
        f"{title}, numpy", lambda: seconds_of(of_numpy, points),
        lambda seed: seconds_in_rehmc(numpys, seed, draws=draws, **threads),
        lambda seed: seconds_in_nutpie(peer, seed, draws), most_beyond=12,
    )
    single, model = jax.jit(jax.value_and_grad(of_jax)), rehmc.jax(of_jax, dim)

    def as_nutpie_calls_it(point):
        value, slope = single(point)
        return float(value), np.asarray(slope)

    jaxed = nutpie_of(as_nutpie_calls_it, dim)
    yield Case(
        f"{title}, jax.jit", lambda: seconds_of(lambda x: jax.block_until_ready(single(x)), points),
        lambda seed: seconds_in_rehmc(model, seed, draws=draws, **threads),
        lambda seed: seconds_in_nutpie(jaxed, seed, draws), most_beyond=12,
    )
    many, batches = jax.jit(jax.vmap(jax.value_and_grad(of_jax))), points.reshape(8, 64, dim)
    yield Case(
        f"{title}, jax, 64 chains in a batch",
        lambda: seconds_of(lambda rows: [np.asarray(part) for part in many(rows)], batches) / 64,
        lambda seed: seconds_in_rehmc(model, seed, draws=draws, engine="batch", chains=64, batch=64, threads=1),
        None, most_ratio=1.2,
    )


def row_of(case, repeat):
    """A row of the table."""
    case.ours(0)  # compiles
    if case.peer:
        case.peer(1)
    turns = [(case.alone(), case.ours(seed), case.peer(seed) if case.peer else None) for seed in range(1, repeat + 1)]
    alone, ours = (statistics.median(turn[k] for turn in turns) * 1e6 for k in (0, 1))
    beyond = statistics.median(turn[1] - turn[0] for turn in turns) * 1e6
    cells = [case.name, f"{alone:.2f}", f"{ours:.2f}"]
    if case.most_beyond is not None:
        cells += [f"{beyond:.2f}", f"at most {case.most_beyond:g} more: {'met' if beyond <= case.most_beyond else 'not met'}"]
    else:
        ratio = statistics.median(turn[1] / turn[0] for turn in turns)
        cells += [f"{beyond:.2f}", f"at most {case.most_ratio:g} times: {ratio:.2f}, {'met' if ratio <= case.most_ratio else 'not met'}"]
    if case.peer is None:
        return [*cells, "", ""]
    peer = statistics.median(turn[2] for turn in turns) * 1e6
    return [*cells, f"{peer:.2f}", f"{statistics.median(turn[1] / turn[2] for turn in turns):.2f}"]


def write_table(path, rows, options):
    """Replaces what is between the marks."""
    begin, end = "<!-- overhead -->\n", "<!-- /overhead -->"
    text = path.read_text(encoding="utf-8")
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    lines = [
        f"`make bench-python`: rehmc {rehmc.__version__}, nutpie {nutpie.__version__}, JAX {jax.__version__}, numba "
        f"{numba.__version__}; medians of {options.repeat} turns, {options.draws} draws a chain.",
        "",
        "| microseconds of processor time for each gradient | function | in rehmc | more | bar | in nutpie | rehmc / nutpie |",
        "|---|---|---|---|---|---|---|",
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
    ]
    path.write_text(before + begin + "\n".join(lines) + end + after, encoding="utf-8")


def main():
    """Prints a row for every model and kind of function."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="", help="rows whose name has this in it")
    parser.add_argument("--table", type=pathlib.Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for case in cases(options.draws):
        if options.only in case.name:
            rows.append(row_of(case, options.repeat))
            print(" | ".join(rows[-1]), flush=True)
    if options.table:
        write_table(options.table, rows, options)


if __name__ == "__main__":
    main()
