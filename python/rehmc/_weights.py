"""Calibrated weights: whatever is computed with them is sharper, without knowing of gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._models import Array

if TYPE_CHECKING:
    from ._fit import Fit


def weights(fit: Fit) -> Array:
    """See `Fit.weights`."""
    if fit.not_sharpened:
        raise _core.DataError(f"no weights: {fit.not_sharpened}")
    calibrated = fit._raw.weights()
    each = len(calibrated) // (fit.chains * fit.size)
    if each * fit.chains * fit.size != len(calibrated):
        return calibrated
    return calibrated.reshape((fit.chains, fit.size) if each == 1 else (fit.chains, fit.size, each))


def effective_states(weights: Array) -> float:
    """How many states with equal weights they are worth by themselves (Kish 1965)."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def systematic(weights: Array, count: int, seed: int) -> NDArray[np.intp]:
    """Places drawn with these probabilities by systematic sampling."""
    if count < 1:
        raise _core.ConfigError(f"count: found {count}, expected at least 1")
    points = (np.arange(count) + np.random.default_rng(seed).random()) / count
    return np.searchsorted(np.cumsum(weights) / weights.sum(), points).clip(0, len(weights) - 1)
