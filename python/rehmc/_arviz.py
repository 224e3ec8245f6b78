"""Fits for ArviZ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core

if TYPE_CHECKING:
    from ._fit import Fit

QUANTILES = ("q2.5", "q5", "q25", "q50", "q75", "q95", "q97.5")
ESTIMATES = ("mean", "sd", *QUANTILES)


def _dataset(fit: Fit, values: dict[str, Any], leading: tuple[str, ...]) -> Any:
    import xarray

    coords: dict[str, Any] = {}
    data = {}
    for variable in fit._variables:
        if variable.name not in values:
            continue  # not known of recycled states
        array = values[variable.name]
        named = variable.dims if len(variable.dims) == len(variable.shape) else ()
        dims = named or tuple(f"{variable.name}_dim_{k}" for k in range(len(variable.shape)))
        data[variable.name] = ((*leading, *dims), array)
        for dim, size in zip(dims, variable.shape):
            labels = fit._coords.get(dim)
            coords[dim] = list(labels) if labels is not None and len(labels) == size else np.arange(size)
    for axis, dim in enumerate(leading):
        for array in values.values():
            coords[dim] = np.arange(array.shape[axis])
    attributes = {"inference_library": "rehmc", "inference_library_version": _core.__version__, "created_by": "rehmc"}
    return xarray.Dataset(data, coords, attributes)


def _sharpened(fit: Fit) -> Any:
    """The best estimates with their errors: `theta` and `theta_mcse`, along the dimension `estimate`."""
    import xarray

    rows = fit._summary["parameters"]
    best = [row.get("sharpened") or row.get("recycled") or row["plain"] for row in rows]
    table = np.array([[row[each] for row in best] for each in ESTIMATES], dtype=np.float64)
    errors = np.array([[row[f"mcse_{each}"] for row in best] for each in ESTIMATES], dtype=np.float64)
    columns = fit._columns()
    values = _dataset(fit, {k: table[:, c] for k, c in columns.items()}, ("estimate",))
    mcse = _dataset(fit, {k: errors[:, c] for k, c in columns.items()}, ("estimate",))
    merged = xarray.merge([values, mcse.rename({name: f"{name}_mcse" for name in columns})])
    return merged.assign_coords(estimate=list(ESTIMATES))


def _log_weights(fit: Fit) -> Any:
    """Logarithms of the calibrated weights: of draws that others made by draw, else by recycled state."""
    import xarray

    weights = fit.weights
    dims = ("chain", "draw", "recycle")[: weights.ndim]
    if weights.ndim == 1:
        raise _core.DataError("weights: draws kept different numbers of states, which an array cannot hold; use fit.weights")
    return xarray.Dataset(
        {"log_weight": (dims, np.log(weights))}, {dim: np.arange(size) for dim, size in zip(dims, weights.shape)}
    )


def to_arviz(fit: Fit, weights: bool) -> Any:
    """See `Fit.to_arviz`."""
    import arviz
    import xarray

    statistics = xarray.Dataset(
        {name: (("chain", "draw"), values) for name, values in fit.statistics.items()},
        {"chain": np.arange(fit.chains), "draw": np.arange(fit.size)},
    )
    groups = {"posterior": _dataset(fit, fit.draws, ("chain", "draw")), "sample_stats": statistics}
    try:
        groups["recycled_posterior"] = _dataset(fit, fit.recycled, ("chain", "draw", "recycle"))
    except _core.DataError:
        pass  # no fixed number of states in every draw
    if fit.size >= 4:
        groups["sharpened"] = _sharpened(fit)
    if weights:
        found = _log_weights(fit)
        if "recycle" in found.dims:
            groups["recycled_sample_stats"] = found
        else:
            groups["sample_stats"] = xarray.merge([statistics, found])
    if hasattr(arviz, "InferenceData"):
        return arviz.InferenceData(warn_on_custom_groups=False, **groups)
    return xarray.DataTree.from_dict(groups)
