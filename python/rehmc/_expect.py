"""Expectations of functions of the parameters."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._models import Array, Variable
from ._table import Table

if TYPE_CHECKING:
    from ._fit import Fit


@dataclasses.dataclass(frozen=True)
class Expectation:
    """What `Fit.expect` found.

    Attributes
    ----------
    plain, recycled, sharpened : Table
        The estimates of each kind, as `Fit.summary` returns them; a kind that is not to be had shows the next best.
    """

    plain: Table
    recycled: Table
    sharpened: Table

    @property
    def mean(self) -> float:
        """The best mean of a single number."""
        return self._single("mean")

    @property
    def mcse(self) -> float:
        """Its Monte Carlo standard error."""
        return self._single("mcse_mean")

    @property
    def sd(self) -> float:
        """The best sd of a single number."""
        return self._single("sd")

    def _single(self, column: str) -> float:
        if len(self.sharpened.index) != 1:
            raise _core.DataError(f"there are {len(self.sharpened.index)} numbers, not one: use the tables")
        return float(self.sharpened[column][0])

    def __repr__(self) -> str:
        return repr(self.sharpened)


def expectation(fit: Fit, function: Callable[[dict[str, Array]], Any], name: str) -> Expectation:
    """See `Fit.expect`."""
    from ._fit import KINDS, monotone_coordinates, summary_table

    view, columns = fit._view, fit._columns()
    variable: Variable | None = None

    def values_at(rows: Array) -> Array:
        nonlocal variable
        given = {each: rows[:, place] for each, place in columns.items()}
        values = np.asarray(function(given))
        if values.dtype.kind not in "fiub" or values.shape[:1] != rows.shape[:1]:
            raise _core.DataError(
                f"{name}: the function returned an array of shape {values.shape} and dtype {values.dtype} for "
                f"{len(rows)} states; expected one row of real numbers for each"
            )
        variable = Variable(name, values.shape[1:])
        return values.reshape(len(rows), -1).astype(np.float64)

    states = [view.kept(c) for c in range(fit.chains)]
    draws = [view.draws(c) for c in range(fit.chains)]
    new_draws = [values_at(each) for each in draws]
    new_kept = [values_at(each["values"]) for each in states]
    assert variable is not None
    # The parameters come along: only with them is it known whether the chains are fit to be sharpened.
    known = np.isfinite(np.concatenate([s["values"] for s in states])).all(axis=0)
    own_names = [each for each, is_known in zip(view.names, known) if is_known]
    names = [*own_names, *variable.flat_names({})]
    joined = [np.ascontiguousarray(np.concatenate([d[:, known], n], axis=1)) for d, n in zip(draws, new_draws)]
    joined_kept = [np.ascontiguousarray(np.concatenate([s["values"][:, known], n], axis=1)) for s, n in zip(states, new_kept)]
    positions = [fit._raw.draws(c) for c in range(fit.chains)] if fit._reads_positions() else None
    coordinates = [-1] * len(names) if positions is None else monotone_coordinates(positions, joined)
    result = view.with_quantities(names, coordinates, joined, joined_kept)
    sharpen = bool(fit._settings.get("sharpen", True))
    parameters = json.loads(result.summary(fit.name, sharpen))["parameters"][len(own_names) :]
    for row, own in zip(parameters, variable.flat_names({})):
        row["name"] = own
    return Expectation(*(summary_table(parameters, kind) for kind in KINDS))
