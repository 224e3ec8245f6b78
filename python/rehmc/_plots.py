"""Plots that only we have; all others are ArviZ's. Matplotlib is imported only when they are used."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core

if TYPE_CHECKING:
    from ._fit import Fit

NORMAL_90 = 1.6448536269514722


def plot_of_arviz(fit: Fit, name: str) -> Callable[..., Any]:
    """The plot of that name: of arviz-plots, which belongs to ArviZ 1.x, or of ArviZ 0.x."""
    for library in ("arviz_plots", "arviz"):
        try:
            found = getattr(__import__(library), name, None)
        except ImportError:
            continue
        if found is not None:
            return partial(found, fit.to_arviz())
    raise AttributeError(f"there is no {name}: neither here nor in ArviZ, as far as that is installed")


def axes_for(axes: Any, height: float) -> Any:
    """The axes that were given, or new ones."""
    if axes is not None:
        return axes
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(6, 1 + height), layout="constrained")[1]


def gain(fit: Fit, axes: Any) -> Any:
    """See `Fit.plot_gain`."""
    tables = {kind: fit.summary(kind) for kind in ("recycled", "sharpened")}
    names = tables["sharpened"].index
    axes = axes_for(axes, 0.3 * len(names))
    rows = np.arange(len(names))
    for offset, (kind, table) in zip((0.2, -0.2), tables.items()):
        axes.barh(rows - offset, table["gain"], height=0.4, label=kind)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set(xscale="log", yticks=rows, yticklabels=names, xlabel="plain draws that one draw is worth, for the mean")
    axes.invert_yaxis()
    axes.legend()
    return axes


def intervals(fit: Fit, names: list[str] | None, axes: Any) -> Any:
    """See `Fit.plot_intervals`."""
    table, plain = fit.summary(), fit.summary("plain")
    chosen = table.index if names is None else names
    for name in chosen:
        if name not in table.index:
            raise _core.ConfigError(f"names: there is no parameter {name!r}")
    axes = axes_for(axes, 0.3 * len(chosen))
    for offset, (source, label, color) in zip((0.15, -0.15), ((plain, "plain", "C7"), (table, "sharpened", "C0"))):
        rows = [source.row(name) for name in chosen]
        at = np.arange(len(chosen)) - offset
        axes.hlines(at, [r["q5"] for r in rows], [r["q95"] for r in rows], color=color, label=label)
        ends = [(r[q], r[f"mcse_{q}"], y) for r, y in zip(rows, at) for q in ("q5", "q50", "q95")]
        values, errors, places = map(np.array, zip(*ends))
        axes.errorbar(values, places, xerr=NORMAL_90 * errors, fmt="|", color=color, capsize=3)
    axes.set(yticks=np.arange(len(chosen)), yticklabels=chosen, xlabel="q5, median and q95 with the 90% intervals of their errors")
    axes.invert_yaxis()
    axes.legend()
    return axes


def trajectory(fit: Fit, x: str, y: str, chain: int, draw: int, axes: Any) -> Any:
    """See `Fit.plot_trajectory`."""
    names = list(fit._view.names)
    labels = fit.summary().index
    for name in (x, y):
        if name not in labels:
            raise _core.ConfigError(f"there is no parameter {name!r}; there are {', '.join(labels[:10])}")
    assert len(names) == len(labels)
    columns = [labels.index(x), labels.index(y)]
    states = fit.states(chain)
    begin = 0 if draw == 0 else int(states["end"][draw - 1])
    kept = states["values"][begin : int(states["end"][draw])][:, columns]
    all_draws = fit._view.draws(chain)[:, columns]
    axes = axes_for(axes, 4)
    axes.plot(*all_draws.T, ".", color="0.8", markersize=3, label="draws of the chain")
    axes.scatter(*kept.T, color="C0", zorder=3, label="recycled states of this draw")
    if draw > 0:
        axes.plot(*all_draws[draw - 1], "o", color="black", fillstyle="none", label="previous draw")
    axes.plot(*all_draws[draw], "o", color="C3", zorder=4, label="draw")
    axes.set(xlabel=x, ylabel=y)
    axes.legend()
    return axes
