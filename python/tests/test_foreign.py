"""What other programs call draws: traces with stored positions, draws by name, trees of positions and gradients."""

from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import normal

import rehmc

DRAWS = np.random.default_rng(1).normal(size=(4, 300, 3))
State = namedtuple("State", ["position", "logdensity_grad"])
Named = namedtuple("Named", ["mu", "theta"])

PROGRAM = """
parameters { real mu; real<lower=0> tau; }
model { mu ~ normal(0, 1); tau ~ exponential(1); }
"""


class Labelled(np.ndarray):
    """As much of an xarray as is read."""

    dims = ("chain", "draw", "unconstrained_parameter")
    coords = {"unconstrained_parameter": np.array(["mu", "log_tau", "x"])}


def trace(posterior, **stored):
    """As much of an InferenceData as is read."""
    return SimpleNamespace(
        posterior=SimpleNamespace(data_vars=posterior), sample_stats=SimpleNamespace(data_vars=stored)
    )


def same_table(a, b):
    """But for rounding: which numbers form a vector, and so which features there are, goes by names."""
    return all(np.allclose(a.summary()[column], b.summary()[column], rtol=0, atol=1e-8) for column in ("mean", "sd"))


def test_states_of_blackjax_are_trees_of_positions_and_gradients():
    arrays = rehmc.sharpen(DRAWS, -DRAWS)
    fit = rehmc.sharpen(State({"z": DRAWS[..., 1:], "mu": DRAWS[..., 0]}, {"mu": -DRAWS[..., 0], "z": -DRAWS[..., 1:]}))
    assert fit.summary().index == ["mu", "z[1]", "z[2]"]
    assert same_table(fit, arrays)
    named = State(Named(DRAWS[..., 0], DRAWS[..., 1:]), Named(-DRAWS[..., 0], -DRAWS[..., 1:]))
    assert same_table(rehmc.sharpen(named), arrays)
    assert same_table(rehmc.sharpen(State(DRAWS, -DRAWS)), arrays)
    with pytest.raises(rehmc.DataError, match="gradients of"):
        rehmc.sharpen(State({"a": DRAWS}, {"b": -DRAWS}))
    with pytest.raises(rehmc.DataError, match="expected .chains, draws"):
        rehmc.sharpen(State({"a": DRAWS[0, 0]}, {"a": -DRAWS[0, 0]}))


def test_traces_that_store_positions_and_gradients_need_no_model():
    diverging = np.zeros((4, 300), dtype=bool)
    stored = {"unconstrained_draw": DRAWS.view(Labelled), "gradient": -DRAWS, "diverging": diverging}
    fit = rehmc.sharpen(trace({}, **stored))
    assert fit.summary().index == ["mu", "log_tau", "x"]
    assert same_table(fit, rehmc.sharpen(DRAWS, -DRAWS))
    del stored["gradient"]
    with pytest.raises(rehmc.DataError, match="store_gradient=True"):
        rehmc.sharpen(trace({}, **stored))
    assert same_table(rehmc.sharpen(trace({}, **stored), model=rehmc.function(normal, 3)), fit)
    stored["gradient"], diverging[:, :20] = -DRAWS, True
    assert "80 of 1200 draws diverged" in rehmc.sharpen(trace({}, **stored)).not_sharpened


def test_draws_by_name_lose_their_constraints_by_the_model():
    mu, log_tau = DRAWS[..., 0], np.log(-np.log(np.random.default_rng(2).random((4, 300))))
    model = rehmc.stan(PROGRAM)
    fit = rehmc.sharpen(trace({"mu": mu, "tau": np.exp(log_tau)}), model=model)
    straight = rehmc.sharpen(np.stack([mu, log_tau], axis=2), model=model)
    assert fit.summary().index == ["mu", "tau"]
    # Not those without constraints, though they have the same names.
    assert np.allclose(fit.draws["tau"], np.exp(log_tau))
    assert np.allclose(fit.summary()["mean"], straight.summary()["mean"])
    run = SimpleNamespace(
        get_samples=lambda group_by_chain: {"mu": mu, "tau": np.exp(log_tau)}, get_extra_fields=lambda group_by_chain: {}
    )
    assert same_table(rehmc.sharpen(run, model=model), fit)
    with pytest.raises(rehmc.DataError, match="give the model"):
        rehmc.sharpen(run)
    with pytest.raises(rehmc.DataError, match="give the model"):
        rehmc.sharpen(trace({"mu": mu}))
    with pytest.raises(rehmc.ConfigError, match="only models of Stan, PyMC and NumPyro"):
        rehmc.sharpen(trace({"mu": mu}), model=rehmc.function(normal, 3))


def test_runs_of_numpyro_store_gradients_of_the_potential_energy():
    run = SimpleNamespace(
        get_samples=dict, get_extra_fields=lambda group_by_chain: {"z": {"x": DRAWS}, "z_grad": {"x": DRAWS}}
    )
    assert same_table(rehmc.sharpen(run), rehmc.sharpen(DRAWS, -DRAWS))
