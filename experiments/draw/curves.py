"""Turns columns of a table into curves: sorted, in groups of neighbours, with errors."""

import numpy as np

from shapes import Curve, Note, Panel

MOST_POINTS = 60  # more parameters than this are drawn in groups of neighbours
RATIO_LABEL = "log₂ ratio of ESS"


def order_of(values):
    """The order that sorts the values, those that are not finite last."""
    return np.argsort(np.where(np.isfinite(values), values, np.inf), kind="stable")


def over_parameters(label, values, order, band=True, **style):
    """A curve over parameters in this order: medians of groups in a band from their smallest to largest value."""
    count = len(order)
    groups = min(count, MOST_POINTS)
    edges = [group * count // groups for group in range(groups + 1)]
    members = [values[order[first:last]] for first, last in zip(edges[:-1], edges[1:], strict=True)]
    members = [group[np.isfinite(group)] for group in members]
    # The ends of the x-axis are the first and the last parameter.
    x = np.linspace(1, count, groups)
    curve = Curve(label, x, np.array([np.median(m) if m.size else np.nan for m in members]), **style)
    if band and groups < count:
        curve.lower = np.array([m.min() if m.size else np.nan for m in members])
        curve.upper = np.array([m.max() if m.size else np.nan for m in members])
    return curve


def grouping_note(count):
    if count <= MOST_POINTS:
        return ""
    return (
        f" Lines are medians over groups of {-(-count // MOST_POINTS)} neighbouring parameters, bands the range "
        "within each group."
    )


def through_rows(table, x, y, error=None, **style):
    """A curve through the rows of a summary table, in the order of x."""
    table = table.sorted_by(x)
    curve = Curve(x=table.numbers(x), y=table.numbers(y), **style)
    if error:
        curve.error = table.numbers(error)
    return curve


def cut_outliers(panel):
    """Limits the y-axis where a few very large values would flatten everything else, and notes how far they go."""
    finite = [curve.y[np.isfinite(curve.y)] for curve in panel.curves]
    values = np.sort(np.concatenate([*finite, np.empty(0)]))
    if values.size == 0:
        return
    ends = [array for curve in panel.curves for array in (curve.y, curve.upper, curve.lower) if array is not None]
    top = max(np.nanmax(array) for array in ends)
    bottom = min(0.0, *(np.nanmin(array) for array in ends))
    most = max(values[int(0.97 * (values.size - 1))], 0.0)
    body = most - min(values[0], 0.0)
    limit = most + 0.4 * body
    if not top > limit + 0.6 * body:
        return
    panel.limits = (bottom - 0.06 * (limit - bottom), limit)
    for curve in panel.curves:
        outliers = np.flatnonzero(curve.y > limit)
        if outliers.size:
            x = curve.x[outliers[0]] - 0.02 * curve.x[-1]
            panel.notes.append(Note(x, limit, f"up to {top:.1f} →", offset=(0, -9), align="right"))
            return


def ratio_panel(title, x_label, curves, y_label=RATIO_LABEL):
    """log2 ratios over parameters."""
    panel = Panel(title, x_label, y_label, curves, zero_line=True, factors=True)
    cut_outliers(panel)
    return panel
