"""Sampling: seeds, threads, engines, settings, files."""

import ctypes
import json
import os
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import normal, same

import rehmc
from rehmc import _core

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "stan"
PROGRAM = """
data { int<lower=0> J; array[J] real y; array[J] real<lower=0> sigma; }
parameters { real mu; real<lower=0> tau; vector[J] theta_trans; matrix[2, 3] extra; }
transformed parameters { vector[J] theta = theta_trans * tau + mu; }
model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); theta_trans ~ std_normal(); to_vector(extra) ~ std_normal(); y ~ normal(theta, sigma); }
generated quantities { real next = normal_rng(mu, tau); }
"""
DATA = {"J": 8, "y": np.array([28, 8, -3, 7, -1, 1, 18, 12.0]), "sigma": [15, 10, 16, 11, 9, 11, 10, 18]}


def run(model, **settings):
    return rehmc.sample(model, **{"draws": 60, "seed": 1, "progress": False, **settings})


def test_draws_depend_on_the_seed_alone(model):
    first = run(model, threads=1)
    assert same(first, run(model, threads=4))
    assert not same(first, run(model, seed=2))
    assert first.draws["x"].shape == (4, 60, 3)
    assert first.recycled["x"].shape == (4, 60, 8, 3)
    assert run(model, seed=None).seed != run(model, seed=None).seed


def test_recycling_leaves_the_chain_alone(model):
    plain = run(model, recycle="none")
    assert np.array_equal(plain.draws["x"], run(model).draws["x"])
    with pytest.raises(rehmc.DataError, match="no fixed number"):
        run(model, recycle="all").recycled
    weights = run(model, recycle="all").states(0)
    assert np.allclose(np.add.reduceat(weights["weight"], np.r_[0, weights["end"][:-1]]), 1)


def test_a_compiled_function_gives_the_draws_of_the_same_function_of_python():
    pointer = ctypes.POINTER(ctypes.c_double)

    @ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, pointer, pointer, pointer, ctypes.c_void_p)
    def compiled(dim, x, gradient, log_density, user_data):
        scale = ctypes.cast(user_data, pointer)[0]
        log_density[0] = 0.0
        for i in range(dim):
            log_density[0] += -0.5 * x[i] * x[i] * scale
            gradient[i] = -x[i] * scale
            x[i] = np.nan  # a copy: it may do that
        return 0

    def interpreted(x):
        value = 0.0
        for each in x:
            value += -0.5 * each * each * 4.0
        return value, -x * 4.0

    address = ctypes.cast(compiled, ctypes.c_void_p).value
    fit = run(rehmc.cfunc(address, 2, np.array([4.0])))
    assert same(fit, run(rehmc.function(interpreted, 2)))


def test_engines_agree_and_one_width_serves_all_calls():
    widths = set()

    def batch(points):
        widths.add(len(points))
        scale = 1 + 1e-13 * len(points)  # rounds differently for every width
        return -0.5 * (points**2).sum(axis=1) * scale, -points * scale

    model = rehmc.function(normal, 3, batch=batch)
    fit = run(model, engine="batch", batch=5, chains=7, threads=1)
    assert widths == {5} and fit.width == 5
    assert same(fit, run(model, engine="batch", batch=5, chains=7, threads=3))
    assert widths == {5}


def command(*arguments):
    result = subprocess.run([sys.executable, "-m", "rehmc", *map(str, arguments)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_command_gives_the_same_draws_to_the_bit(tmp_path):
    program, data = tmp_path / "schools.stan", tmp_path / "schools.json"
    program.write_text(PROGRAM)
    data.write_text(json.dumps({k: np.asarray(v).tolist() for k, v in DATA.items()}))
    command("sample", program, "--data", data, "--seed", 9, "--draws", 80, "--output", tmp_path / "run", "--quiet")
    of_command = rehmc.load(tmp_path / "run")
    model = rehmc.stan(program, data)
    for fit in (
        run(model, seed=9, draws=80),
        run(rehmc.stan(PROGRAM, DATA), seed=9, draws=80),
        run(model, seed=9, draws=80, output=tmp_path / "ours"),
    ):
        for name, values in of_command.draws.items():
            assert np.array_equal(fit.draws[name], values), name
        for name, values in of_command.recycled.items():
            assert np.array_equal(fit.recycled[name], values, equal_nan=True), name
    assert of_command.draws["extra"].shape == (4, 80, 2, 3)
    header = (tmp_path / "run" / "chain-1.csv").read_text().split("lp__,", 1)[1].split("\n")[0].split(",")
    row = (tmp_path / "run" / "chain-1.csv").read_text().split("lp__,", 1)[1].split("\n")
    first = next(line for line in row[1:] if not line.startswith("#")).split(",")
    assert np.isclose(float(first[header.index("extra.2.3") + 1]), of_command.draws["extra"][0, 0, 1, 2])
    for file in ("manifest.json", "model.stan", "data.json", "summary.json", "report.html"):
        assert (tmp_path / "ours" / file).exists()
    command("check", tmp_path / "ours")


def test_a_library_that_bridgestan_could_have_built_is_a_model(tmp_path):
    library = os.environ["REHMC_BRIDGE_LIBRARY"]  # tests/bridge/good.cpp: it has a generated quantity
    command("sample", library, "--seed", 4, "--draws", 60, "--output", tmp_path / "run", "--quiet")
    fit, of_command = run(rehmc.stan(library), seed=4), rehmc.load(tmp_path / "run")
    assert list(fit.draws) == ["scale", "place", "noise"]
    for name, values in of_command.draws.items():
        assert np.array_equal(fit.draws[name], values, equal_nan=True), name
    positions = fit.states(0)["positions"]
    # But for the rounding of two functions exp.
    assert np.allclose(fit.states(0)["values"][:, 0], np.exp(positions[:, 0]), rtol=1e-14, atol=0)


def test_the_command_continues_our_run_and_we_continue_its(tmp_path):
    model = rehmc.stan(PROGRAM, DATA, name="schools")
    whole = run(model, draws=90)
    run(model, draws=60, output=tmp_path / "run")
    command("extend", tmp_path / "run", "--draws", 30, "--quiet")
    assert same_values(whole, rehmc.load(tmp_path / "run"))
    resumed = rehmc.resume(tmp_path / "run", model, progress=False)
    assert resumed.complete and resumed.size == 90
    longer = resumed.extend(20, progress=False)
    assert longer.size == 110 and same_values(run(model, draws=110), longer)


def same_values(a, b):
    return all(np.array_equal(a.draws[k], b.draws[k]) for k in a.draws)


def test_extending_gives_one_long_run(model, schools):
    for each in (model, schools):
        fit = run(each, draws=40).extend(35, progress=False)
        assert fit.size == 75 and same(fit, run(each, draws=75))
        assert fit.summary()["rhat"].shape == (len(fit._view.names),)


def test_saved_runs_are_the_same_when_they_are_loaded(tmp_path, schools):
    transformed = rehmc.function(normal, 2, names=["mu", "log_tau"], transforms={"log_tau": np.exp})
    for number, each in enumerate((schools, transformed)):
        fit = run(each)
        fit.save(tmp_path / f"saved-{number}")
        again = rehmc.load(tmp_path / f"saved-{number}")
        assert same(fit, again)
        assert repr(fit.summary()) == repr(again.summary())
        assert same(rehmc.resume(tmp_path / f"saved-{number}", each, progress=False).extend(20, progress=False), run(each, draws=80))
        with pytest.raises(rehmc.ConfigError, match="resume"):
            again.extend(10, progress=False)
        with pytest.raises(rehmc.FileError, match="not an empty folder"):
            fit.save(tmp_path / f"saved-{number}")
    damaged = tmp_path / "saved-0" / "states.bin"
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    with pytest.raises(rehmc.DataError, match="checksum"):
        rehmc.load(tmp_path / "saved-0")
    with pytest.raises(rehmc.FileError):
        rehmc.load(tmp_path / "nowhere")


def test_a_run_in_a_folder_is_that_in_memory(tmp_path, model):
    fit = run(model, output=tmp_path / "run")
    assert same(fit, run(model))
    with pytest.raises(rehmc.FileError, match="--force|force|choose"):
        run(model, output=tmp_path / "run")
    run(model, output=tmp_path / "run", force=True, seed=2)
    other = rehmc.function(normal, 3, version="2")
    with pytest.raises(rehmc.DataError, match="not the one that was sampled"):
        rehmc.resume(tmp_path / "run", other)


def test_until_stops_early(model):
    fit = run(model, draws=2000, until="ess>=100")
    assert 20 <= fit.size < 2000
    assert fit.extend(10, progress=False).size > 10


def test_all_settings_of_the_command_are_there_and_wrong_ones_are_named(model):
    names = _core.setting_names()
    assert {"target_accept", "max_depth", "engine", "kernel", "thin", "path_length"} <= set(names)
    assert run(model, target_accept=0.95, max_depth=5, kernel="hmc").size == 60
    assert run(model, draws=np.int64(30), chains=np.int32(2), target_accept=np.float32(0.9), seed=np.uint64(3)).size == 30
    for settings, message in (
        ({"target_acept": 0.9}, "did you mean 'target_accept'"),
        ({"target_accept": "high"}, "expected a number"),
        ({"max_depth": 3.5}, "expected a whole number"),
        ({"chains": 0}, "chains"),
        ({"chains": True}, "whole number"),
        ({"recycle": "everything"}, "everything"),
        ({"warmup": "none"}, "expected 'auto'"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"engine": "gpu"}, "threads, batch"),
        ({"init": [0, 0]}, "init"),
    ):
        with pytest.raises(rehmc.ConfigError, match=message):
            run(model, **settings)


def test_starts(schools, model):
    assert run(model, init=0).size == 60
    assert run(model, init=0.5).size == 60
    assert run(model, init=np.zeros((4, 3))).size == 60
    stan = rehmc.stan(PROGRAM, DATA)
    start = {"mu": 1, "tau": 2, "theta_trans": np.zeros(8), "extra": np.zeros((2, 3))}
    assert run(stan, init=start, draws=10).size == 10
    with pytest.raises(rehmc.Error):
        run(stan, init={"mu": 1}, draws=10)


def test_models_of_stan_fail_with_the_message_of_the_command(tmp_path):
    with pytest.raises(rehmc.DataError, match="y"):
        run(rehmc.stan(PROGRAM, {**DATA, "y": [1.0]}))
    with pytest.raises(rehmc.Error, match="Syntax error"):
        run(rehmc.stan("parameters { rea x; }\nmodel { x ~ std_normal(); }"))
    with pytest.raises(rehmc.FileError, match="no such file|No such file"):
        run(rehmc.stan(tmp_path / "nothing.stan"))
    with pytest.raises(rehmc.FileError):
        rehmc.stan(PROGRAM, tmp_path / "nothing.json")
    with pytest.raises(rehmc.ConfigError):
        rehmc.stan("model.txt")


def test_two_samples_in_two_threads(model, schools):
    fits = {}
    threads = [threading.Thread(target=lambda k=k, m=m: fits.update({k: run(m, draws=200)})) for k, m in enumerate((model, model, schools))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same(fits[0], fits[1]) and same(fits[0], run(model, draws=200))
    assert same(fits[2], run(schools, draws=200))


def test_fork_after_import(model):
    run(model)
    child = os.fork()
    if child == 0:
        try:
            code = 0 if run(model, threads=2).size == 60 else 1
        except BaseException:  # noqa: BLE001
            code = 2
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


def test_import_is_quick_and_needs_numpy_alone():
    code = "import sys, rehmc; print(*sorted({m.split('.')[0] for m in sys.modules} & {'jax', 'pymc', 'numpyro', 'pandas', 'arviz', 'numba'}))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""
