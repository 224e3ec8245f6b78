"""Draws of PyMC, nutpie and NumPyro are sharpened as they come, and give what their models' own gradients give."""

import warnings
from types import SimpleNamespace

import numpy as np
import nutpie
import numpyro
import numpyro.distributions as dist
import pymc as pm
import pytest

import rehmc

Y = np.array([1.0, 2.0, 0.5])


def model_of_pymc():
    with pm.Model(coords={"unit": ["a", "b", "c"]}) as model:
        mu = pm.Normal("mu", 0, 2)
        tau = pm.HalfNormal("tau", 1)
        theta = pm.Normal("theta", mu, 1, dims="unit")
        pm.Uniform("share", 0, 1 + tau)  # a constraint that depends on another parameter
        pm.Normal("y", theta, tau, observed=Y)
    return model


@pytest.fixture(scope="module")
def trace():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = nutpie.compile_pymc_model(model_of_pymc())
        return nutpie.sample(
            compiled, draws=500, tune=500, chains=4, seed=1, progress_bar=False, store_gradient=True, store_unconstrained=True
        )


def test_a_trace_of_nutpie_needs_no_model_and_the_model_agrees_with_it(trace):
    alone = rehmc.sharpen(trace)
    assert not alone.not_sharpened
    with_model = rehmc.sharpen(trace, model=model_of_pymc())
    assert with_model.summary().index == ["mu", "tau", "theta[a]", "theta[b]", "theta[c]", "share"]
    assert not with_model.not_sharpened
    np.testing.assert_allclose(with_model.draws["share"], trace.posterior["share"], rtol=1e-9)

    # Without what nutpie stored, constraints are taken away and gradients computed by the model.
    del trace.sample_stats["unconstrained_draw"]
    del trace.sample_stats["gradient"]
    with pytest.raises(rehmc.DataError, match="give the model"):
        rehmc.sharpen(trace)
    again = rehmc.sharpen(trace, model=rehmc.pymc(model_of_pymc()))
    for name, column in (("mu", "mean"), ("theta[b]", "mcse_mean")):
        assert again.summary().row(name)[column] == pytest.approx(with_model.summary().row(name)[column], rel=1e-4)


def test_runs_of_numpyro_come_with_gradients_or_with_a_model():
    def model(y):
        mu = numpyro.sample("mu", dist.Normal(0, 2))
        tau = numpyro.sample("tau", dist.HalfNormal(1))
        numpyro.sample("y", dist.Normal(mu, tau + 0.5), obs=y)

    import jax

    mcmc = numpyro.infer.MCMC(
        numpyro.infer.NUTS(model), num_warmup=500, num_samples=500, num_chains=4, chain_method="sequential", progress_bar=False
    )
    mcmc.run(jax.random.PRNGKey(1), Y, extra_fields=("z", "z_grad", "diverging"))
    stored = rehmc.sharpen(mcmc)
    assert stored.summary().index == ["mu", "tau"]
    bare = SimpleNamespace(get_samples=mcmc.get_samples, get_extra_fields=lambda group_by_chain: {})
    with pytest.raises(rehmc.DataError, match="give the model"):
        rehmc.sharpen(bare)
    computed = rehmc.sharpen(bare, model=rehmc.numpyro(model, Y))
    assert not stored.not_sharpened and not computed.not_sharpened
    assert computed.summary().row("mu")["mean"] == pytest.approx(stored.summary().row("mu")["mean"], rel=1e-6)
    np.testing.assert_allclose(computed.draws["tau"], mcmc.get_samples(group_by_chain=True)["tau"], rtol=1e-9)
