"""Sharper summaries for draws that others made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._fit import Fit
from ._foreign import read_foreign
from ._functions import coordinate_names
from ._models import Array, grid_variables
from ._sample import model_of


def _chains(values: Any, what: str, trailing: int) -> Array:
    """An array of (chain, draw) and `trailing` more dimensions; a single chain may leave out the first."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise _core.DataError(f"{what}: found dtype {array.dtype}, expected real numbers")
    if array.ndim == trailing + 1:
        array = array[None]
    if array.ndim != trailing + 2:
        raise _core.DataError(f"{what}: found an array of shape {np.shape(values)}, expected (chains, draws{', dim' * trailing})")
    return np.ascontiguousarray(array, dtype=np.float64)


def sharpen(
    draws: Any,
    gradients: Any = None,
    *,
    model: Any = None,
    names: Sequence[str] | None = None,
    diverging: Any = None,
    name: str = "draws",
) -> Fit:
    """Sharper summaries of anybody's draws, by the gradients there.

    Parameters
    ----------
    draws : array, InferenceData, DataTree, numpyro.infer.MCMC, or states of BlackJAX
        Positions of shape (chains, draws, dim), without constraints; gradients of bounded parameters do not vanish at
        the bounds, so draws of those must be transformed first. Of a trace or a run of NumPyro, `model` takes the
        constraints away. Traces of nutpie with ``store_unconstrained=True, store_gradient=True`` need no model, nor
        do runs of NumPyro with ``extra_fields=("z", "z_grad", "diverging")``, nor stacked states of BlackJAX.
    gradients : array, optional
        Of the log density of these positions (Jacobians included), likewise. Without them, `model` computes them.
    model : Model or pymc.Model, optional
        Computes gradients, and shows its own parameters instead of the coordinates.
    names : sequence of str, optional
        One name for each coordinate.
    diverging : array of bool, optional
        Of shape (chains, draws): which draws diverged.
    name : str
        Shown in the summary.

    Returns
    -------
    Fit
        As of `sample`, without recycled states: `Fit.summary`, `Fit.expect`, `Fit.weights`, `Fit.not_sharpened`.

    Examples
    --------
    >>> import numpy as np
    >>> import rehmc
    >>> draws = np.random.default_rng(1).normal(size=(4, 500, 2))
    >>> fit = rehmc.sharpen(draws, -draws, names=["a", "b"])
    >>> abs(fit.summary().row("a")["mean"]) < 1e-6
    True
    """
    if model is not None:
        model = model_of(model)
    found = read_foreign(draws, model)
    if found is not None:
        draws = found.positions
        gradients = found.gradients if gradients is None else gradients
        diverging = found.diverging if diverging is None else diverging
        names = found.names if names is None else names
    positions = _chains(draws, "draws", 1)
    chains, _, dim = positions.shape
    opened = model._open(0) if model is not None else None
    if opened is not None and opened.dimension != dim:
        raise _core.DataError(f"draws: found {dim} coordinates, but the model has {opened.dimension}")
    if gradients is None:
        if opened is None:
            raise _core.ConfigError("gradients: found None, expected an array, or a model that computes them")
        slopes = np.array([np.reshape(opened.evaluate(p)[1], p.shape) for p in positions])
    else:
        slopes = _chains(gradients, "gradients", 1)
    if slopes.shape != positions.shape:
        raise _core.DataError(f"gradients: found an array of shape {slopes.shape}, expected that of draws, {positions.shape}")
    flags: list[Any] = []
    if diverging is not None:
        marks = _chains(diverging, "diverging", 0)
        if marks.shape != positions.shape[:2]:
            raise _core.DataError(f"diverging: found an array of shape {marks.shape}, expected {positions.shape[:2]}")
        flags = [np.ascontiguousarray(each.astype(bool)) for each in marks]
    own_names = coordinate_names(dim, names) if opened is None else list(opened.names)
    result = _core.foreign_result(own_names, list(positions), list(slopes), flags)
    if model is not None and opened is not None and model._read(positions[0][:1]) is None and _computes(opened, positions[0]):
        return Fit(_with_quantities_of(opened, result, chains), None, {}, name=model.name)
    if model is None:
        return Fit(result, None, {}, name=name, variables=grid_variables(own_names))
    return Fit(result, model, {})


def _computes(opened: _core.Model, positions: Array) -> bool:
    """Whether a model has quantities of its own. Those of a Stan program may have the names of its coordinates."""
    few = np.ascontiguousarray(positions[:8])
    return opened.quantities != list(opened.names) or not np.array_equal(np.reshape(opened.read(few), few.shape), few)


def _with_quantities_of(opened: _core.Model, result: _core.Result, chains: int) -> _core.Result:
    """The quantities that a model computes itself, of the draws."""
    from ._fit import monotone_coordinates

    width = len(opened.quantities)
    positions = [result.draws(c) for c in range(chains)]
    values = [np.array(opened.read(each)).reshape(len(each), width) for each in positions]
    finite = np.isfinite(np.concatenate(values)).all(axis=0)
    names = [each for each, good in zip(opened.quantities, finite) if good]  # generated ones are not functions of a state
    values = [np.ascontiguousarray(each[:, finite]) for each in values]
    return result.with_quantities(names, monotone_coordinates(positions, values), values, values)
