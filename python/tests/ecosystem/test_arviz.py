"""Fits for ArviZ: the same in InferenceData of 0.x and in the DataTree of 1.x, with weights if they are asked for."""

import arviz
import numpy as np
import pytest
import xarray

import rehmc


@pytest.fixture(scope="module")
def fit():
    return rehmc.sample(rehmc.built_in("eight-schools"), draws=300, seed=1, progress=False)


def test_an_inference_data_and_a_data_tree_hold_the_same(fit, monkeypatch):
    data = fit.to_arviz(weights=True)
    assert isinstance(data, arviz.InferenceData)
    monkeypatch.delattr(arviz, "InferenceData")  # as ArviZ 1.x is
    tree = fit.to_arviz(weights=True)
    assert isinstance(tree, xarray.DataTree)
    groups = {"posterior", "sample_stats", "recycled_posterior", "recycled_sample_stats", "sharpened"}
    assert set(data.groups()) == set(tree.children) == groups
    for group in groups:
        assert tree[group].to_dataset().identical(data[group])


def test_groups_hold_what_the_fit_holds(fit):
    data = fit.to_arviz()
    assert set(data.groups()) == {"posterior", "sample_stats", "recycled_posterior", "sharpened"}
    assert np.array_equal(data.posterior["theta"], fit.draws["theta"])
    assert np.array_equal(data.recycled_posterior["theta"], fit.recycled["theta"])
    assert np.array_equal(data.sample_stats["diverging"], fit.statistics["diverging"])
    row = fit.summary().row("theta[3]")
    best = data.sharpened.sel(theta_dim_0=2)
    assert float(best["theta"].sel(estimate="mean")) == row["mean"]
    assert float(best["theta_mcse"].sel(estimate="q95")) == row["mcse_q95"]


def test_weights_come_as_logarithms(fit):
    data = fit.to_arviz(weights=True)
    weights = np.exp(data.recycled_sample_stats["log_weight"])
    assert weights.dims == ("chain", "draw", "recycle") and np.isclose(weights.sum(), 1)
    mean = float((weights * data.recycled_posterior["mu"]).sum())
    assert mean == pytest.approx((fit.weights * fit.recycled["mu"]).sum())
    positions = np.random.default_rng(1).normal(size=(4, 400, 2))
    single = rehmc.sharpen(positions, -positions).to_arviz(weights=True)
    of_draws = np.exp(single.sample_stats["log_weight"])
    assert of_draws.dims == ("chain", "draw")
    assert abs(float((of_draws * single.posterior["x"].isel(x_dim_0=0)).sum())) < 1e-6
    with pytest.raises(rehmc.DataError, match="no weights"):
        rehmc.sharpen(positions, -1.5 * positions).to_arviz(weights=True)
