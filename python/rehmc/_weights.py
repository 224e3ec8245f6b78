"""Calibrated weights: whatever is computed with them is sharper, without knowing of gradients.

For a density with log density l and gradient g, the functions g_i and (x_i - c_i) g_i + 1 have mean 0 (Stein's identity).
Of all weights for which their weighted averages over the states of a run are 0, those are taken that are nearest to the
states' own in relative entropy: positive by construction, proportional to own * exp(lambda . features).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._models import Array

if TYPE_CHECKING:
    from ._fit import Fit

#: Draws for every feature, at least: each feature adds a bias of the order of one over the number of draws.
DRAWS_PER_FEATURE = 20
STEPS = 60


def features(positions: Array, gradients: Array, own: Array, most: int) -> Array:
    """The functions of mean 0 at every state, each with sd 1; those of second degree only if there are few enough."""
    centre, dim = own @ positions, positions.shape[1]
    if dim > most:
        raise _core.DataError(
            f"there are {dim} coordinates, but only {most} features can be calibrated with this many draws; take more draws"
        )
    columns = [gradients]
    if 2 * dim <= most:
        columns.append((positions - centre) * gradients + 1)
    found = np.concatenate(columns, axis=1)
    spread: Array = np.sqrt(own @ found**2)
    if not np.all(np.isfinite(spread)) or np.any(spread == 0):
        raise _core.DataError("the states or their gradients do not vary in some coordinate")
    return found / spread


def calibrate(found: Array, own: Array) -> Array:
    """The weights, by Newton's method on the dual problem, which is convex. DataError if there are none."""
    factors = np.zeros(found.shape[1])

    def at(trial: Array) -> tuple[float, Array]:
        exponents = found @ trial
        top = exponents.max()
        raised = own * np.exp(exponents - top)
        total = raised.sum()
        return float(top + np.log(total)), raised / total

    value, weights = at(factors)
    for _ in range(STEPS):
        slope = weights @ found
        if np.abs(slope).max() < 1e-10:
            return weights
        centred = found - slope
        curvature = (centred * weights[:, None]).T @ centred
        step = np.linalg.solve(curvature + 1e-12 * np.eye(len(slope)), slope)
        size = 1.0
        while size > 1e-8:
            trial_value, trial_weights = at(factors - size * step)
            if trial_value <= value - 1e-4 * size * (slope @ step):
                break
            size /= 2
        if size <= 1e-8:
            break
        factors, value, weights = factors - size * step, trial_value, trial_weights
    if np.abs(weights @ found).max() < 1e-8:
        return weights
    raise _core.DataError(
        "there are no positive weights for which all features average to 0: some coordinate is on one side of where its "
        "gradient says that it must be; take more draws"
    )


def weights(fit: Fit) -> Array:
    """See `Fit.weights`."""
    if fit.not_sharpened:
        raise _core.DataError(f"no weights: {fit.not_sharpened}")
    states = [fit.states(c) for c in range(fit.chains)]
    if "gradients" not in states[0]:
        raise _core.DataError("no weights: the gradients of the kept states were not stored")
    own = np.concatenate([s["weight"] for s in states])
    own = own / own.sum()
    most = fit.chains * fit.size // DRAWS_PER_FEATURE
    positions = np.concatenate([s["positions"] for s in states])
    found = features(positions, np.concatenate([s["gradients"] for s in states]), own, most)
    calibrated = calibrate(found, own)
    each = len(own) // (fit.chains * fit.size)
    if each * fit.chains * fit.size != len(own):
        return calibrated
    return calibrated.reshape((fit.chains, fit.size) if each == 1 else (fit.chains, fit.size, each))


def systematic(weights: Array, count: int, seed: int) -> NDArray[np.intp]:
    """Places drawn with these probabilities by systematic sampling."""
    if count < 1:
        raise _core.ConfigError(f"count: found {count}, expected at least 1")
    points = (np.arange(count) + np.random.default_rng(seed).random()) / count
    return np.searchsorted(np.cumsum(weights) / weights.sum(), points).clip(0, len(weights) - 1)
