"""Five models of NumPyro agree with its own sampler; JAX; batches."""

import doctest
import importlib

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from conftest import assert_agree

import rehmc

RANDOM = np.random.default_rng(2)
X = RANDOM.normal(size=(60, 3))
Y = X @ [1.0, -0.5, 0.2] + RANDOM.normal(size=60)
EFFECT = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
ERROR = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def regression():
    beta = numpyro.sample("beta", dist.Normal(0, 1).expand([3]).to_event(1))
    numpyro.sample("y", dist.Normal(X @ beta, numpyro.sample("sigma", dist.HalfNormal(1))), obs=Y)


def logistic():
    beta = numpyro.sample("beta", dist.Normal(0, 1).expand([3]).to_event(1))
    numpyro.sample("y", dist.Bernoulli(logits=X @ beta), obs=(Y > 0).astype(int))


def schools():
    mu, tau = numpyro.sample("mu", dist.Normal(0, 5)), numpyro.sample("tau", dist.HalfNormal(5))
    with numpyro.plate("school", 8):
        theta = numpyro.deterministic("theta", mu + tau * numpyro.sample("z", dist.Normal(0, 1)))
        numpyro.sample("y", dist.Normal(theta, ERROR), obs=EFFECT)


def simplex():
    p = numpyro.sample("p", dist.Dirichlet(jnp.ones(4)))
    numpyro.sample("y", dist.Multinomial(50, p), obs=np.array([20, 15, 10, 5]))


def correlated():
    scale = numpyro.sample("scale", dist.HalfNormal(2).expand([2]).to_event(1))
    cholesky = numpyro.sample("cholesky", dist.LKJCholesky(2, 2))
    data = np.random.default_rng(3).multivariate_normal([0, 0], [[1, 0.5], [0.5, 2]], size=50)
    numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(2), scale_tril=scale[:, None] * cholesky), obs=data)


@pytest.mark.parametrize("model", [regression, logistic, schools, simplex, correlated], ids=lambda model: model.__name__)
def test_agrees_with_its_own_sampler(model):
    fit = rehmc.sample(rehmc.numpyro(model), seed=1, progress=False)
    sampler = numpyro.infer.MCMC(
        numpyro.infer.NUTS(model), num_warmup=1000, num_samples=1000, num_chains=4, chain_method="vectorized", progress_bar=False
    )
    sampler.run(jax.random.PRNGKey(1))
    assert_agree(fit, sampler.get_samples(group_by_chain=True))


def test_plates_are_dimensions():
    posterior = rehmc.sample(rehmc.numpyro(schools), draws=50, seed=1, progress=False).to_arviz().posterior
    assert posterior["theta"].dims == ("chain", "draw", "school") and posterior["z"].sizes["school"] == 8


def test_a_batch_has_one_width():
    def log_density(x):
        return -0.5 * jnp.sum(x**2)

    model = rehmc.jax(log_density, 5)
    settings = {"draws": 50, "seed": 1, "progress": False, "engine": "batch", "chains": 6, "batch": 4}
    one = rehmc.sample(model, threads=1, **settings)
    assert one.width == 4 and np.array_equal(one.draws["x"], rehmc.sample(model, threads=2, **settings).draws["x"])


def test_32_bits_are_refused():
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(rehmc.ConfigError, match="jax_enable_x64"):
            rehmc.jax(lambda x: -x @ x, 2)
    finally:
        jax.config.update("jax_enable_x64", True)


def test_examples_in_docstrings():
    for module in ("rehmc._jax", "rehmc._pymc"):
        assert doctest.testmod(importlib.import_module(module)).failed == 0
