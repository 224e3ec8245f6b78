"""Comparison of fits with the samplers that come with PyMC and NumPyro."""

import numpy as np
import pytest

import rehmc


@pytest.fixture(scope="session", autouse=True)
def _sixty_four_bits():
    import jax

    jax.config.update("jax_enable_x64", True)


def moments(draws):
    """Mean and sd of every number with their Monte Carlo errors, by our own estimators."""
    flat = np.ascontiguousarray(draws.reshape(*draws.shape[:2], -1), dtype=np.float64)
    table = rehmc.sharpen(flat, np.zeros_like(flat)).summary("plain")
    return {k: table[k] for k in ("mean", "mcse_mean", "sd", "mcse_sd")}


def assert_agree(fit, reference):
    """Means and sds of all variables agree within their errors.

    There are at most 100 numbers per model; of one, |z| exceeds 5 with a probability of 6e-7, so all 15 models fail by chance
    in fewer than 1 of 1000 runs.
    """
    assert fit.draws.keys() == reference.keys()
    recycled = fit.summary("recycled")
    columns = fit._columns()
    for name, values in reference.items():
        assert fit.draws[name].shape[2:] == values.shape[2:], name
        other = moments(np.asarray(values))
        places = np.ravel(columns[name])
        for what in ("mean", "sd"):
            ours, error = recycled[what][places], recycled[f"mcse_{what}"][places]
            scale = np.sqrt(error**2 + other[f"mcse_{what}"] ** 2)
            moves = scale > 1e-12  # a diagonal of ones does not
            z = np.abs(ours - other[what])[moves] / scale[moves]
            assert z.size == 0 or z.max() < 5, (name, what, z)
            assert np.allclose(ours[~moves], other[what][~moves], atol=1e-9), (name, what)
