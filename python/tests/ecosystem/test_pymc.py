"""Eleven models of PyMC agree with pm.sample, dimensions and coordinates carry through, and all backends sample the same."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from conftest import assert_agree

import rehmc

RANDOM = np.random.default_rng(1)
X = RANDOM.normal(size=(60, 3))
Y = X @ [1.0, -0.5, 0.2] + RANDOM.normal(size=60)
GROUP = RANDOM.integers(0, 5, size=60)


def regression():
    with pm.Model(coords={"predictor": ["a", "b", "c"]}) as model:
        beta = pm.Normal("beta", 0, 1, dims="predictor")
        sigma = pm.HalfNormal("sigma", 1)
        pm.Normal("y", pm.math.dot(pm.Data("x", X), beta), sigma, observed=Y)
    return model


def logistic():
    with pm.Model() as model:
        beta = pm.Normal("beta", 0, 1, shape=3)
        pm.Bernoulli("y", logit_p=X @ beta, observed=(Y > 0).astype(int))
    return model


def hierarchical():
    with pm.Model(coords={"group": list("vwxyz")}) as model:
        mu, tau = pm.Normal("mu", 0, 1), pm.HalfNormal("tau", 1)
        z = pm.Normal("z", 0, 1, dims="group")
        alpha = pm.Deterministic("alpha", mu + tau * z, dims="group")
        pm.Normal("y", alpha[GROUP], 1, observed=Y)
    return model


def mixture():
    data = np.concatenate([RANDOM.normal(-2, 1, 40), RANDOM.normal(3, 1, 60)])
    with pm.Model() as model:
        weight = pm.Dirichlet("weight", [2.0, 2.0])
        mu = pm.Normal("mu", [-2, 3], 2, shape=2, transform=pm.distributions.transforms.ordered, initval=[-1, 1])
        pm.NormalMixture("y", weight, mu, 1, observed=data)
    return model


def ordered():
    latent = X[:, 0] + RANDOM.logistic(size=60)
    with pm.Model() as model:
        cuts = pm.Normal("cuts", [-1, 0, 1], 2, shape=3, transform=pm.distributions.transforms.ordered, initval=[-1, 0, 1])
        eta = pm.Normal("eta", 0, 1)
        pm.OrderedLogistic("y", eta * X[:, 0], cuts, observed=np.digitize(latent, [-1, 0, 1]))
    return model


def simplex():
    with pm.Model() as model:
        p = pm.Dirichlet("p", np.ones(4))
        pm.Multinomial("y", 50, p, observed=[20, 15, 10, 5])
    return model


def lkj():
    data = RANDOM.multivariate_normal([0, 0], [[1, 0.5], [0.5, 2]], size=50)
    with pm.Model() as model:
        cholesky, _, _ = pm.LKJCholeskyCov("cov", n=2, eta=2, sd_dist=pm.HalfNormal.dist(2, shape=2))
        mu = pm.Normal("mu", 0, 2, shape=2)
        pm.MvNormal("y", mu, chol=cholesky, observed=data)
    return model


def process():
    x = np.linspace(0, 1, 15)[:, None]
    with pm.Model() as model:
        length = pm.InverseGamma("length", 5, 2)
        scale = pm.HalfNormal("scale", 1)
        gp = pm.gp.Marginal(cov_func=scale**2 * pm.gp.cov.ExpQuad(1, length))
        gp.marginal_likelihood("y", x, np.sin(6 * x[:, 0]) + 0.1 * RANDOM.normal(size=15), sigma=pm.HalfNormal("sigma", 0.5))
    return model


def scanned():
    series = np.zeros(60)
    for i in range(1, 60):
        series[i] = 0.6 * series[i - 1] + RANDOM.normal()
    with pm.Model() as model:
        rho, sigma = pm.Uniform("rho", -1, 1), pm.HalfNormal("sigma", 1)
        pm.AR("y", rho, sigma=sigma, init_dist=pm.Normal.dist(0, 1), steps=59, observed=series)
    return model


def missing():
    data = Y.copy()
    data[[3, 17]] = np.nan
    with pm.Model() as model:
        mu, sigma = pm.Normal("mu", 0, 1), pm.HalfNormal("sigma", 2)
        pm.Normal("y", mu, sigma, observed=np.ma.masked_invalid(data))
    return model


def zero_sum():
    with pm.Model(coords={"group": list("vwxyz")}) as model:
        mu = pm.Normal("mu", 0, 1)
        effect = pm.ZeroSumNormal("effect", 1, dims="group")
        pm.Normal("y", mu + effect[GROUP], 1, observed=Y)
    return model


MODELS = [regression, logistic, hierarchical, mixture, ordered, simplex, lkj, process, scanned, missing, zero_sum]


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
@pytest.mark.filterwarnings("ignore")
def test_agrees_with_pm_sample(make):
    model = make()
    fit = rehmc.sample(rehmc.pymc(model), seed=1, progress=False)
    with model:
        trace = pm.sample(1000, chains=4, cores=1, random_seed=1, progressbar=False, compute_convergence_checks=False)
    reference = {name: trace.posterior[name].values for name in trace.posterior.data_vars}
    assert_agree(fit, reference)
    idata = fit.to_arviz()
    for name, values in idata.posterior.data_vars.items():
        named = trace.posterior[name]
        assert values.shape[2:] == named.shape[2:]
        for dim in named.dims[2:]:
            if dim in model.coords:
                assert list(idata.posterior[name].coords[dim].values) == list(named.coords[dim].values)


@pytest.mark.filterwarnings("ignore")
def test_backends_sample_the_same():
    model = hierarchical()
    numba, jax, c = (rehmc.sample(rehmc.pymc(model, backend), draws=100, seed=1, progress=False) for backend in ("numba", "jax", "c"))
    for other in (jax, c):
        # Rounding differs, and chaos makes it visible only after many draws.
        assert np.allclose(numba.draws["alpha"][:, :3], other.draws["alpha"][:, :3], rtol=1e-3)
    assert numba.summary().index[-5:] == [f"alpha[{group}]" for group in "vwxyz"]


def test_order_of_variables_is_that_of_the_model():
    with pm.Model(coords={"second": list("ab"), "first": list("xyz")}) as model:
        table = pm.Normal("table", np.arange(6).reshape(3, 2) * 100.0, 1, dims=("first", "second"))
        pm.Deterministic("row", table[:, 0], dims="first")
    fit = rehmc.sample(rehmc.pymc(model), draws=50, seed=1, progress=False)
    assert np.allclose(fit.draws["table"].mean(axis=(0, 1)), np.arange(6).reshape(3, 2) * 100.0, atol=1)
    posterior = fit.to_arviz().posterior
    assert abs(float(posterior["table"].sel(first="y", second="a").mean()) - 200) < 1
    assert abs(float(posterior["row"].sel(first="z").mean()) - 400) < 1


def test_models_that_cannot_be_sampled():
    with pm.Model() as discrete:
        pm.Poisson("n", 3)
    with pytest.raises(rehmc.ModelError, match="n is discrete"):
        rehmc.pymc(discrete)
    with pm.Model() as empty:
        pm.Deterministic("one", pt.as_tensor(1.0))
    with pytest.raises(rehmc.ModelError, match="no free variables"):
        rehmc.pymc(empty)
    with pytest.raises(rehmc.ConfigError, match="numba"):
        rehmc.pymc(regression(), backend="fortran")


def test_draws_of_nutpie_are_sharpened():
    import nutpie

    model = hierarchical()
    trace = nutpie.sample(
        nutpie.compile_pymc_model(model), draws=1000, seed=1, progress_bar=False, store_unconstrained=True, store_gradient=True
    )
    stats = trace.sample_stats
    fit = rehmc.sharpen(stats["unconstrained_draw"].values, stats["gradient"].values, diverging=stats["diverging"].values)
    assert fit.not_sharpened == "" and fit.summary()["gain"].min() > 1
