"""What other programs call draws: traces of PyMC and nutpie, runs of NumPyro, states of BlackJAX."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._models import Array, Model


@dataclasses.dataclass(frozen=True)
class Foreign:
    """Positions without constraints, and what else is known of them.

    Attributes
    ----------
    positions : array
        Of shape (chains, draws, dim).
    gradients : array or None
        Of the log density, likewise.
    diverging : array or None
        Of shape (chains, draws).
    names : list of str or None
        One for each coordinate.
    """

    positions: Any
    gradients: Any = None
    diverging: Any = None
    names: list[str] | None = None


def read_foreign(draws: Any, model: Model | None) -> Foreign | None:
    """The draws of another program; None if these are arrays."""
    if hasattr(draws, "get_samples") and hasattr(draws, "get_extra_fields"):
        return _of_numpyro(draws, model)
    if hasattr(draws, "posterior") and hasattr(draws.posterior, "data_vars"):
        return _of_trace(draws, model)
    if hasattr(draws, "position") and hasattr(draws, "logdensity_grad"):
        return _of_trees(draws.position, draws.logdensity_grad)
    return None


def _of_trace(trace: Any, model: Model | None) -> Foreign:
    """An InferenceData or DataTree. Nutpie stores positions and gradients in it, if it is asked to."""
    statistics = getattr(trace, "sample_stats", None)
    stored = statistics.data_vars if statistics is not None and hasattr(statistics, "data_vars") else {}
    diverging = np.asarray(stored["diverging"]) if "diverging" in stored else None
    if "unconstrained_draw" in stored:
        positions = stored["unconstrained_draw"]
        gradients = np.asarray(stored["gradient"]) if "gradient" in stored else None
        labels = positions.coords.get(positions.dims[-1])
        names = None if labels is None else [str(each) for each in np.asarray(labels)]
        if gradients is None and model is None:
            raise _core.DataError(
                "draws: the trace has positions, but no gradients; sample with store_gradient=True, or give the model"
            )
        return Foreign(np.asarray(positions), gradients, diverging, names)
    if model is None:
        raise _core.DataError(
            "draws: the trace has neither positions without constraints nor gradients; give the model "
            "(rehmc.sharpen(trace, model=pm_model)), or sample by nutpie with store_unconstrained=True and store_gradient=True"
        )
    values = {str(name): np.asarray(value) for name, value in trace.posterior.data_vars.items()}
    return Foreign(_positions_of(values, model), None, diverging)


def _of_numpyro(mcmc: Any, model: Model | None) -> Foreign:
    """A run of NumPyro: its kernels can store positions and gradients of the potential energy, minus ours."""
    extra = mcmc.get_extra_fields(group_by_chain=True)
    diverging = np.asarray(extra["diverging"]) if "diverging" in extra else None
    if "z" in extra and "z_grad" in extra:
        found = _of_trees(extra["z"], extra["z_grad"])
        return Foreign(found.positions, -found.gradients, diverging, found.names)
    if model is None:
        raise _core.DataError(
            "draws: the run stored no gradients; give the model (rehmc.sharpen(mcmc, model=rehmc.numpyro(model, ...))), or "
            'run it with extra_fields=("z", "z_grad", "diverging")'
        )
    values = {name: np.asarray(value) for name, value in mcmc.get_samples(group_by_chain=True).items()}
    return Foreign(_positions_of(values, model), None, diverging)


def _positions_of(values: Mapping[str, Array], model: Model) -> Array:
    """The positions of draws by name, each of shape (chains, draws, ...)."""
    shape = next(iter(values.values())).shape[:2]
    rows = {name: value.reshape(-1, *value.shape[2:]) for name, value in values.items()}
    return model._unconstrain(rows).reshape(*shape, -1)


def _of_trees(positions: Any, gradients: Any) -> Foreign:
    """Pytrees of arrays, each of shape (chains, draws, ...)."""
    leaves = dict(_leaves("", positions))
    slopes = dict(_leaves("", gradients))
    if leaves.keys() != slopes.keys() or not leaves:
        raise _core.DataError(f"draws: there are positions of {sorted(leaves)}, but gradients of {sorted(slopes)}")
    names = []
    for name, leaf in leaves.items():
        if leaf.ndim < 2 or slopes[name].shape != leaf.shape:
            raise _core.DataError(
                f"draws: {name or 'the position'} has shape {leaf.shape} and its gradient {slopes[name].shape}, "
                "expected (chains, draws, ...) of both"
            )
        names += [".".join([name or "x", *(str(i + 1) for i in index)]) for index in np.ndindex(*leaf.shape[2:])]

    def joined(parts: Mapping[str, Array]) -> Array:
        return np.concatenate([part.reshape(*part.shape[:2], -1) for part in parts.values()], axis=2)

    return Foreign(joined(leaves), joined(slopes), None, names)


def _leaves(name: str, tree: Any) -> list[tuple[str, Array]]:
    """The arrays of a pytree, in the order of JAX: dictionaries by key."""
    parts: list[tuple[str, Any]]
    if isinstance(tree, Mapping):
        parts = [(str(key), tree[key]) for key in sorted(tree)]
    elif hasattr(tree, "_fields"):
        parts = [(key, getattr(tree, key)) for key in tree._fields]
    elif isinstance(tree, (list, tuple)):
        parts = [(str(place), each) for place, each in enumerate(tree)]
    else:
        return [(name, np.asarray(tree, dtype=np.float64))]
    return [leaf for key, each in parts for leaf in _leaves(f"{name}.{key}" if name else key, each)]
