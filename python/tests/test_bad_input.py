"""Functions that misbehave: each gives a defined result, without a hang or a leak."""

import ctypes
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import normal, same

import rehmc

LONG = "REHMC_LONG" in os.environ  # make torture-python
LEAKS = 500 if LONG else 150  # of each of two kinds


def run(f, dim=3, **settings):
    return rehmc.sample(rehmc.function(f, dim), **{"draws": 30, "seed": 1, "progress": False, "threads": 2, **settings})


def after(count, misbehave):
    """A normal whose calls misbehave after the first `count`."""
    calls = iter(range(10**9))
    return lambda x: normal(x) if next(calls) < count else misbehave(x)


@pytest.mark.parametrize("count", [0, 1, 5, 200])
def test_an_exception_ends_the_run_and_keeps_its_traceback(count):
    def fails(x):
        raise ZeroDivisionError("in the model")

    with pytest.raises(ZeroDivisionError, match="in the model") as caught:
        run(after(count, fails))
    assert "fails" in [entry.name for entry in caught.traceback]


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (None, TypeError, "returned None"),
        (1.0, TypeError, "expected .log density, gradient."),
        ((1.0,), TypeError, "expected .log density, gradient."),
        ((1.0, 2.0, 3.0), TypeError, "expected .log density, gradient."),
        (("a", np.zeros(3)), TypeError, "expected a number"),
        ((np.zeros(2), np.zeros(3)), TypeError, "expected a number"),
        ((1.0, np.zeros(2)), ValueError, r"shape \(2,\), expected \(3,\)"),
        ((1.0, np.zeros((3, 1))), ValueError, r"shape \(3, 1\)"),
        ((1.0, 1.0), ValueError, r"shape \(\)"),
        ((1.0, np.zeros(3, dtype=complex)), TypeError, "complex"),
        ((1.0, ["a", "b", "c"]), TypeError, "dtype"),
        ((1.0, None), TypeError, "dtype object"),
    ],
)
def test_wrong_results_end_the_run(returned, error, message):
    for count in (0, 100):
        with pytest.raises(error, match=message):
            run(after(count, lambda x: returned))


@pytest.mark.parametrize(
    "convert",
    [
        lambda g: g.tolist(),
        lambda g: np.repeat(g, 2)[::2],
        lambda g: np.asfortranarray(g),
        lambda g: g.astype(">f8"),
        lambda g: memoryview(g),
    ],
)
def test_gradients_of_other_kinds_give_the_same_draws(convert):
    assert same(run(normal), run(lambda x: (np.float64(normal(x)[0]), convert(-x))))
    assert run(lambda x: (int(normal(x)[0]), np.round(-x).astype(int)), warmup=20, draws=5).size == 5


def test_what_is_not_finite_rejects_the_point():
    for bad in (np.nan, np.inf, -np.inf):
        fit = run(lambda x: normal(x) if x[0] > 0 else (bad, x), init=np.ones(3), draws=100)
        assert fit.draws["x"][..., 0].min() > 0
    fit = run(lambda x: (-0.5 * x @ x, -x if x[0] > 0 else x * np.nan), init=np.ones(3), draws=100)
    assert fit.draws["x"][..., 0].min() > 0
    with pytest.raises(rehmc.ModelError, match="NaN"):
        run(lambda x: (np.nan, x))


def test_reject_rejects_the_point_and_says_why():
    def half(x):
        if x[0] < 0:
            raise rehmc.Reject("too small")
        return normal(x)

    assert run(half, init=np.ones(3)).draws["x"][..., 0].min() >= 0

    def none(x):
        raise rehmc.Reject("never good")

    with pytest.raises(rehmc.ModelError, match="never good"):
        run(none)


def test_the_argument_belongs_to_the_function():
    kept = []

    def keeps(x):
        kept.append(x)
        return normal(x)

    fit = run(keeps)
    assert len(kept) == len({id(x) for x in kept}) > 100
    assert len({x.tobytes() for x in kept}) > 0.9 * len(kept)

    def changes(x):
        result = -0.5 * x @ x, -x
        x[:] = np.nan
        return result

    assert same(fit, run(changes))

    def returns_it(x):
        value = -0.5 * x @ x
        np.negative(x, out=x)
        return value, x

    assert same(fit, run(returns_it))


def test_bad_models_are_refused_at_once():
    for make in (
        lambda: rehmc.function(None, 3),
        lambda: rehmc.function(normal, 0),
        lambda: rehmc.function(normal, True),
        lambda: rehmc.function(normal, 2.5),
        lambda: rehmc.function(normal, 3, names=["a"]),
        lambda: rehmc.function(normal, 2, names=["a", "a"]),
        lambda: rehmc.function(normal, 2, names=["a", "b"], transforms={"c": np.exp}),
        lambda: rehmc.cfunc("f", 3),
        lambda: rehmc.cfunc(0, 3),
        lambda: rehmc.sample(normal),
        lambda: rehmc.built_in("eight-school"),
    ):
        with pytest.raises(rehmc.ConfigError):
            make()


def test_a_negative_code_of_a_compiled_function_ends_the_run():
    pointer = ctypes.POINTER(ctypes.c_double)
    codes = iter([0] * 20 + [-7] * 1000)

    @ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, pointer, pointer, pointer, ctypes.c_void_p)
    def compiled(dim, x, gradient, log_density, user_data):
        log_density[0], gradient[0] = -0.5 * x[0] ** 2, -x[0]
        return next(codes)

    with pytest.raises(RuntimeError, match="-7"):
        rehmc.sample(rehmc.cfunc(ctypes.cast(compiled, ctypes.c_void_p).value, 1), seed=1, progress=False, threads=1)


def test_batches_misbehave_as_single_calls_do():
    def model(batch):
        return rehmc.function(normal, 3, batch=batch)

    settings = {"engine": "batch", "draws": 20, "seed": 1, "progress": False}
    for returned, error in (
        (None, TypeError),
        ((np.zeros(3), np.zeros((32, 3))), ValueError),
        ((np.zeros(32), np.zeros((3, 32))), ValueError),
    ):
        with pytest.raises(error):
            rehmc.sample(model(lambda points: returned), **settings)

    def fails(points):
        raise LookupError("in a batch")

    with pytest.raises(LookupError, match="in a batch"):
        rehmc.sample(model(fails), **settings)


INTERRUPTED = """
import sys, time, threading, os, signal
import numpy as np, rehmc
def slow(x):
    if sys.argv[1] == "sleep": time.sleep(0.002)
    if sys.argv[1] == "loop":
        end = time.monotonic() + 3600
        while calls[0] > 100 and time.monotonic() < end: pass
    if sys.argv[1] == "block" and calls[0] > 100: time.sleep(3600)
    calls[0] += 1
    return -0.5 * x @ x, -x
calls = [0]
fired = []
def fire():
    fired.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
def watch():
    while calls[0] < 3000 and sys.argv[1] == "fast" or calls[0] < 100: time.sleep(0.01)
    time.sleep(float(sys.argv[2]))
    fire()
threading.Thread(target=watch, daemon=True).start()
try:
    fit = rehmc.sample(rehmc.function(slow, 2), draws=10**6, seed=1, progress=False)
    assert not fit.complete
    print("fit", fit.size, time.monotonic() - fired[0])
except KeyboardInterrupt:
    print("interrupt", 0, time.monotonic() - fired[0])
"""


@pytest.mark.parametrize(("kind", "delay"), [("fast", 0.1), ("sleep", 0.1), ("loop", 0.5)])
def test_an_interrupt_returns_what_there_is(kind, delay):
    result = subprocess.run([sys.executable, "-c", INTERRUPTED, kind, str(delay)], capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0, result.stderr
    what, size, _ = result.stdout.split()
    assert what == "fit", result.stdout
    assert int(size) > 0 or kind != "fast"  # the others are still in warmup


def test_a_model_that_blocks_outside_of_python_is_given_up():
    result = subprocess.run([sys.executable, "-c", INTERRUPTED, "block", "0.1"], capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split()[0] == "interrupt", result.stdout


def test_a_run_that_was_interrupted_in_warmup_has_no_draws_and_goes_on():
    calls = []

    def interrupting(x):
        calls.append(1)
        if len(calls) == 30:
            os.kill(os.getpid(), signal.SIGINT)
        if 30 <= len(calls) < 300:
            time.sleep(0.01)
        return normal(x)

    model = rehmc.function(interrupting, 2, names=["mu", "log_tau"], transforms={"log_tau": np.exp})
    fit = rehmc.sample(model, draws=50, seed=1, progress=False)
    assert not fit.complete and fit.size == 0
    assert fit.draws["mu"].shape[1:] == (0,) and "stopped before the end" in repr(fit)
    with pytest.raises(rehmc.DataError, match="fewer than 4 draws"):
        fit.summary()
    assert fit.extend(0, progress=False).draws["log_tau"].shape == (4, 50)


def test_a_run_that_was_interrupted_is_continued_to_the_same_draws():
    ends = []

    def interrupting(x):
        ends.append(1)
        if len(ends) == 900:
            os.kill(os.getpid(), signal.SIGINT)
        if 900 <= len(ends) < 1900:
            time.sleep(0.001)  # else a quick machine ends the run before the signal is seen
        return normal(x)

    fit = run(interrupting, draws=3000)
    assert not fit.complete and fit.size < 3000
    assert fit.extend(0, progress=False).complete
    assert same(fit, run(normal, draws=3000))


def test_interrupts_at_random_moments():
    random.seed(1)
    for _ in range(50 if LONG else 15):
        timer = threading.Timer(random.uniform(0, 0.15), lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        try:
            rehmc.sample(rehmc.function(normal, 2), draws=10**6, seed=1, progress=False)
        except KeyboardInterrupt:
            pass  # before the run began
        timer.join()
        try:
            time.sleep(0.01)
        except KeyboardInterrupt:
            pass
    assert run(normal).complete


def test_many_short_runs_do_not_leak():
    def some(count):
        for _ in range(count):
            run(normal, draws=5, warmup=10, threads=1, chains=1)
            with pytest.raises(ZeroDivisionError):
                run(lambda x: (1 / 0, x), threads=1, chains=1)

    def resident():
        gc.collect()
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    some(60)
    before, objects = resident(), len(gc.get_objects())
    some(LEAKS)
    # A leak of a run's draws and states would be above 10 kB each.
    assert resident() - before < LEAKS * 10_000
    assert len(gc.get_objects()) - objects < LEAKS
