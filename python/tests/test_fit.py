"""Fits: summaries, expectations, sharpening of draws that others made, reports, examples in docstrings."""

import doctest
import importlib
import io
import pkgutil

import numpy as np
import pytest
from conftest import normal

import rehmc
from rehmc import _progress


@pytest.fixture(scope="module")
def fit():
    return rehmc.sample(rehmc.built_in("eight-schools"), seed=3, progress=False)


def test_the_summary_has_all_kinds_of_estimates(fit):
    table = fit.summary()
    assert table.index[:3] == ["mu", "tau", "theta_trans[1]"]
    assert list(table["kind"][:2]) == ["sharpened"] * 2
    assert list(fit.summary("plain")["kind"][:2]) == ["plain"] * 2
    assert list(fit.summary("recycled")["kind"][:2]) == ["recycled"] * 2
    mu = fit.draws["mu"]
    assert np.isclose(fit.summary("plain").row("mu")["mean"], mu.mean())
    assert np.isclose(fit.summary("plain").row("mu")["sd"], mu.std(ddof=1), rtol=1e-3)
    kept = fit.recycled["theta"].mean(axis=(0, 1, 2))
    assert np.allclose(fit.summary("recycled")["mean"][-8:], kept)
    assert table.row("mu")["gain"] > 2
    with pytest.raises(rehmc.ConfigError):
        fit.summary("best")
    text, page = repr(fit), fit._repr_html_()
    assert "4 chains x 1000 draws, seed 3" in text and "theta[8]" in text
    assert page.count("<tr>") == len(table.index) + 1


def test_expectations_agree_with_the_summary(fit):
    of_mu = fit.expect(lambda v: v["mu"])
    for kind in ("plain", "recycled"):
        assert np.isclose(getattr(of_mu, kind)["mean"][0], fit.summary(kind).row("mu")["mean"], atol=0.2)
    assert np.isclose(of_mu.plain["mcse_mean"][0], fit.summary("plain").row("mu")["mcse_mean"])
    ratio = fit.expect(lambda v: v["theta"][:, :2] / v["tau"][:, None], "ratio")
    assert ratio.sharpened.index == ["ratio[0]", "ratio[1]"]
    probability = fit.expect(lambda v: v["theta"][:, 0] > v["theta"][:, 1], "better")
    assert 0.5 < probability.mean < 0.8 and 0 < probability.mcse < 0.03
    for wrong in (lambda v: 1.0, lambda v: v["mu"][:5], lambda v: v["mu"].astype(str)):
        with pytest.raises(rehmc.DataError, match="expected one row"):
            fit.expect(wrong)
    with pytest.raises(KeyError):
        fit.expect(lambda v: v["nu"])


def test_transforms_are_shown_and_sharpened():
    def density(x):  # of mu and the log of an exponential
        return -0.5 * x[0] ** 2 + x[1] - np.exp(x[1]), np.array([-x[0], 1 - np.exp(x[1])])

    model = rehmc.function(density, 2, names=["mu", "tau"], transforms={"tau": np.exp})
    fit = rehmc.sample(model, seed=1, progress=False)
    table = fit.summary()
    assert list(table["kind"]) == ["sharpened"] * 2
    for name, mean in (("mu", 0), ("tau", 1)):
        row = table.row(name)
        # Exceeded by a healthy run with a probability below 1e-6.
        assert abs(row["mean"] - mean) < 5 * row["mcse_mean"] + 1e-6
    states = fit.states(0)
    assert np.array_equal(states["values"][:, 1], np.exp(states["positions"][:, 1]))


def draws_of_normal(seed=1, rho=0.0):
    noise = np.random.default_rng(seed).normal(size=(4, 500, 3))
    draws = np.empty_like(noise)
    draws[:, 0] = noise[:, 0]
    for i in range(1, 500):
        draws[:, i] = rho * draws[:, i - 1] + np.sqrt(1 - rho**2) * noise[:, i]
    return draws


def test_draws_of_others_are_sharpened():
    draws = draws_of_normal(rho=0.4)
    for given in (
        rehmc.sharpen(draws, -draws),
        rehmc.sharpen(draws, model=rehmc.function(normal, 3)),
        rehmc.sharpen(draws.astype(np.float32), -draws.astype(np.float32)),
    ):
        assert given.not_sharpened == ""
        assert np.abs(given.summary()["mean"]).max() < 1e-5
        assert np.abs(given.summary("plain")["mean"]).max() > 1e-3
    independent = draws_of_normal()[0]
    one = rehmc.sharpen(independent, -independent)
    assert one.chains == 1 and list(one.summary()["kind"]) == ["sharpened"] * 3


def test_what_cannot_be_trusted_is_not_sharpened():
    draws = draws_of_normal()
    assert "Stein check" in rehmc.sharpen(draws, -1.5 * draws).not_sharpened
    apart = draws + np.array([0, 0, 0, 2.0])[:, None, None]
    assert rehmc.sharpen(apart, -apart).not_sharpened != ""
    diverging = np.zeros((4, 500), dtype=bool)
    diverging[:, :20] = True
    assert "80 of 2000 draws diverged" in rehmc.sharpen(draws, -draws, diverging=diverging).not_sharpened
    assert "fewer than" in rehmc.sharpen(draws[:, :50], -draws[:, :50]).not_sharpened


def test_arrays_that_do_not_fit_are_refused():
    draws = draws_of_normal()
    for arguments, message in (
        (({"a": 1}, draws), "dtype|shape"),
        ((draws.astype(complex), draws), "dtype"),
        ((draws[0, 0], draws[0, 0]), "expected .chains, draws"),
        ((draws, draws[:2]), "expected that of draws"),
        ((draws, np.full_like(draws, np.nan)), "gradient of x.1 is nan"),
        ((np.where(draws > 3, np.inf, draws), draws), "position of"),
    ):
        with pytest.raises(rehmc.DataError, match=message):
            rehmc.sharpen(*arguments)
    with pytest.raises(rehmc.ConfigError, match="gradients"):
        rehmc.sharpen(draws)
    with pytest.raises(rehmc.DataError, match="diverging"):
        rehmc.sharpen(draws, -draws, diverging=np.zeros((4, 3), dtype=bool))
    with pytest.raises(rehmc.DataError, match="the model has 2"):
        rehmc.sharpen(draws, model=rehmc.function(normal, 2))


def test_non_contiguous_draws_are_the_same():
    draws = draws_of_normal()
    strided = np.moveaxis(np.ascontiguousarray(np.moveaxis(draws, 0, 2)), 2, 0)
    assert not strided.flags.c_contiguous
    assert repr(rehmc.sharpen(strided, -strided).summary()) == repr(rehmc.sharpen(draws, -draws).summary())


def test_the_report_is_a_page(fit, tmp_path):
    page = fit.report(tmp_path / "report.html").read_text()
    assert page.startswith("<!doctype html>") and "theta[8]" in page


def test_progress_goes_to_the_stream_it_is_given(model, capsys):
    rehmc.sample(model, draws=2000, seed=1, progress=True)
    assert capsys.readouterr().out == ""

    class Control:
        draws = 100

        def rows(self):
            return [(150, 100, 900, 1, 0.5), (60, 100, 500, 0, 0.4)]

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    bar = _progress.Bar(Control(), True, stream)
    bar.show()
    bar.end()
    assert "1,400 gradients" in stream.getvalue() and "1 divergences" in stream.getvalue() and "\r" in stream.getvalue()
    silent = Terminal()
    quiet = _progress.Bar(Control(), False, silent)
    quiet.show()
    quiet.end()
    assert silent.getvalue() == ""


OTHERS = {"jax", "numpyro", "pymc"}


def test_examples_in_docstrings():
    finder, runner = doctest.DocTestFinder(exclude_empty=True), doctest.DocTestRunner()
    names = ["rehmc", *(info.name for info in pkgutil.iter_modules(rehmc.__path__, "rehmc."))]
    for name in names:
        if name.endswith(("__main__", "_core")):
            continue
        for test in finder.find(importlib.import_module(name)):
            if test.name.split(".")[-1] in OTHERS:
                continue  # run by make test-ecosystem
            runner.run(test)
    failures, tests = runner.summarize()
    assert failures == 0 and tests > 30


def test_weights_make_every_feature_average_to_0(fit):
    weights = fit.weights
    assert weights.shape == (4, 1000, 8) and weights.min() > 0 and np.isclose(weights.sum(), 1)
    positions = np.stack([fit.states(c)["positions"] for c in range(4)]).reshape(4, 1000, 8, -1)
    gradients = np.stack([fit.states(c)["gradients"] for c in range(4)]).reshape(positions.shape)
    assert np.abs(np.einsum("cdk,cdki->i", weights, gradients)).max() < 1e-6
    assert np.abs(np.einsum("cdk,cdki->i", weights, positions * gradients) + 1).max() < 1e-5
    resampled = fit.resample(4000)
    assert resampled["theta"].shape == (4000, 8)
    assert abs(resampled["mu"].mean() - (weights * fit.recycled["mu"]).sum()) < 0.05
    draws = draws_of_normal()
    with pytest.raises(rehmc.DataError, match="Stein check"):
        rehmc.sharpen(draws, -1.5 * draws).weights
    far = np.abs(draws_of_normal()) * 0.01 + 5  # on one side of the mean: no weights are positive
    with pytest.raises(rehmc.DataError, match="no weights: with none that are positive"):
        rehmc._core.foreign_result(["a", "b", "c"], list(draws_of_normal()), list(far), []).weights()


def test_weights_sharpen_what_no_summary_contains():
    # Squared errors of the mean of a product and of a probability, over 60 samples of four independent normals.
    errors = []
    for seed in range(60):
        draws = draws_of_normal(seed)
        weights = rehmc.sharpen(draws, -draws).weights
        for value, truth in ((draws[..., 0] + draws[..., 1] ** 2, 1), (draws[..., 0] > 0.5, 0.3085)):
            errors.append(((value.mean() - truth) ** 2, ((weights * value).sum() - truth) ** 2))
    plain, weighted = np.array(errors).reshape(60, 2, 2).mean(axis=0).T
    # The features span the sum. By theory they leave 0.35 of the squared error of the probability; a ratio of two means of
    # 60 squares is off by a factor of 2.3 with a probability below 1e-3.
    assert weighted[0] < 0.01 * plain[0]
    assert weighted[1] < 0.8 * plain[1]
