"""Plots: our own, and ArviZ's by the same name."""

import matplotlib
import pytest

import rehmc

matplotlib.use("Agg")


def test_plots():
    fit = rehmc.sample(rehmc.built_in("eight-schools"), draws=200, seed=1, progress=False)
    assert len(fit.plot_gain().patches) == 2 * len(fit.summary().index)
    assert [label.get_text() for label in fit.plot_intervals(["mu", "tau"]).get_yticklabels()] == ["mu", "tau"]
    axes = fit.plot_trajectory("mu", "tau", chain=1, draw=7)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("mu", "tau")
    assert len(axes.collections[0].get_offsets()) == 8
    with pytest.raises(rehmc.ConfigError, match="nothing"):
        fit.plot_intervals(["nothing"])
    assert fit.plot_rank(var_names=["mu"]) is not None
    with pytest.raises(AttributeError, match="plot_nothing"):
        fit.plot_nothing()
    with pytest.raises(AttributeError, match="nothing"):
        fit.nothing
