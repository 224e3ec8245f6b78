"""Which figures the tables make: panels, curves, captions. Every function returns a list of figures."""

import numpy as np

from curves import RATIO_LABEL, grouping_note, order_of, over_parameters, ratio_panel, through_rows
from names import CASES, KERNELS, STATISTICS, case_name, kernel_name, statistic_name
from shapes import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, Curve, Density, Figure, Note, Panel
from tables import TableError

STATISTIC_COLOURS = {"mean": BLACK, "variance": VERMILION, "q97.5": BLUE}
BY_MEAN = "parameters, sorted by the mean's ratio"
PAPER_KERNELS = ["hmc", "nuts-slice"]
FAMILIES = {
    "spread": ("evenly spread", {"colour": BLUE, "marker": "o"}),
    "final": ("final state + (K − 1)", {"colour": VERMILION, "marker": "s"}),
    "simple": ("at random", {"colour": GREEN, "marker": "^"}),
    "stride": ("evenly spaced steps, accepted one by one", {"colour": PURPLE, "marker": "D"}),
    "all": ("all states", {"colour": GREY, "dash": "--"}),
    "by-draw": ("all states, draws alike", {"colour": ORANGE, "dash": ":", "width": 2.2}),
}
STEPS = "; under HMC they are evenly spaced steps back from the end, each accepted or rejected"
# The numbers that figures have in the paper; its panels on covariances are a figure of their own here.
PAPER_NUMBERS = {
    "trajectory": "1",
    "gaussian-hmc": "2",
    "components-gaussian": "3 and 4, right",
    "gaussian-nuts-slice": "4",
    "tuning-gaussian": "5",
    "logistic-hmc": "6",
    "logistic-nuts-slice": "7",
    "components-logistic": "6 and 7, right",
    "tuning-logistic": "8",
    "volatility-hmc": "9",
    "volatility-nuts-slice": "10",
    "components-volatility": "9 and 10, right",
    "cox-hmc": "11",
    "cox-nuts-slice": "12",
    "components-cox": "11 and 12, right",
    **{f"counts-{case}": str(13 + i) for i, case in enumerate(CASES)},
    **{f"lengths-{case}": str(17 + i) for i, case in enumerate(CASES)},
}


def kernel_style(kernel):
    return {"dash": "-", "marker": "o"} if kernel == "hmc" else {"dash": "--", "marker": "D"}


def short_name(kernel):
    return "HMC" if kernel == "hmc" else "NUTS"


def statistic_curves(values, order):
    """One curve for each statistic, from its values by name."""
    return [
        over_parameters(statistic_name(statistic), values[statistic], order, colour=STATISTIC_COLOURS[statistic])
        for statistic in STATISTICS
    ]


def log2_panel(table, title):
    """The log2 ratios of one table with a row for each parameter."""
    values = {statistic: table.numbers(f"{statistic}_log2") for statistic in STATISTICS}
    return ratio_panel(title, BY_MEAN, statistic_curves(values, order_of(values["mean"])))


def refine(height, times=4):
    """A grid `times` as fine along its rows, by cubic interpolation (Catmull and Rom)."""
    padded = np.concatenate([2 * height[:1] - height[1:2], height, 2 * height[-1:] - height[-2:-1]])
    before, here, after, beyond = padded[:-3], padded[1:-2], padded[2:-1], padded[3:]
    parts = []
    for step in range(times):
        t = step / times
        parts.append(
            here
            + 0.5 * t * (after - before)
            + t**2 * (before - 2.5 * here + 2 * after - 0.5 * beyond)
            + 0.5 * t**3 * (3 * (here - after) + beyond - before)
        )
    inner = np.stack(parts, axis=1).reshape(-1, *height.shape[1:])
    return np.concatenate([inner, height[-1:]])


def density_of(table):
    x, y = np.unique(table.numbers("x")), np.unique(table.numbers("y"))
    if len(table) != x.size * y.size:
        raise TableError(f"{table.path}: {len(table)} points, expected a full grid of {x.size} x and {y.size} y")
    rows = np.lexsort((table.numbers("x"), table.numbers("y")))
    height = np.log(np.maximum(table.numbers("density")[rows], 1e-300)).reshape(y.size, x.size)
    height = refine(refine(height).T).T
    fine_x = np.linspace(x[0], x[-1], height.shape[1])
    fine_y = np.linspace(y[0], y[-1], height.shape[0])
    return Density(fine_x, fine_y, np.exp(height), [0.99, 0.9, 0.7, 0.5, 0.3, 0.1])


def free_places(x, y, away=10.0, points_per_unit=85.0):
    """For each point of a path an offset, in points, at which a number is farthest from the path and other numbers."""
    path = points_per_unit * np.stack([x, y], axis=1)
    taken = np.concatenate([path, (path[1:] + path[:-1]) / 2])
    angles = np.arange(16) * np.pi / 8
    candidates = away * np.stack([1.15 * np.cos(angles), np.sin(angles)], axis=1)
    offsets = []
    for point in path:
        distances = np.linalg.norm((point + candidates)[:, None] - taken, axis=2).min(axis=1)
        offsets.append(tuple(candidates[np.argmax(np.round(distances, 6))]))
        taken = np.concatenate([taken, [point + offsets[-1]]])
    return offsets


def trajectory_figures(tables):
    steps, grid = tables.find("trajectory"), tables.find("banana")
    if not steps:
        return []
    x, y, names = steps.numbers("x"), steps.numbers("y"), steps.texts("step")
    accepted = steps.numbers("accepted") != 0
    rejected = ~accepted
    accepted[0] = rejected[0] = False
    curves = [
        Curve("", x, y, colour=GREY, width=1.0),
        Curve("accepted, recycled", x[accepted], y[accepted], colour=GREEN, dash="none", marker="o"),
        Curve("rejected: the start counts again", x[rejected], y[rejected], VERMILION, dash="none", marker="s"),
        Curve("start", x[:1], y[:1], colour=BLACK, dash="none", marker="D"),
    ]
    notes = [Note(x[i], y[i], name, offset) for i, (name, offset) in enumerate(zip(names, free_places(x, y), strict=True))]
    refused = [name for name, no in zip(names, rejected, strict=True) if no]
    caption = (
        "One iteration of recycled HMC on a banana-shaped density. Numbers count the leapfrog steps from the start, 0; "
        "each state is accepted or rejected on its own against the start "
        f"({'rejected: ' + ', '.join(refused) if refused else 'here none is rejected'}). "
        "The shaded regions hold 10, 30, 50, 70, 90 and 99% of the mass."
    )
    panel = Panel("", "θ₁", "θ₂", curves, notes=notes, density=density_of(grid) if grid else None, square=True)
    return [Figure("trajectory", caption, [panel], columns=1)]


def size_panel(table):
    """Each curve is sorted on its own, which shows how the worst, the middle and the best parameter do."""
    curves = []
    for statistic in ["mean", "variance"]:
        for which, dash in [("recycled", "-"), ("plain", "--")]:
            sizes = table.numbers(f"{statistic}_{which}")
            label = f"{statistic_name(statistic)}, {which}"
            style = {"colour": STATISTIC_COLOURS[statistic], "dash": dash}
            curves.append(over_parameters(label, sizes, order_of(sizes), band=False, **style))
    x_label = "parameters, each curve sorted on its own"
    return Panel("ESS per iteration", x_label, "ESS per iteration", curves, y_scale="log10")


def gain_figures(tables, case, kernel):
    """Recycling against the plain chain in one case under one kernel."""
    table = tables.find(f"{case}-{kernel}")
    if not table:
        return []
    caption = (
        f"{case_name(case)}, {kernel_name(kernel, case)}: recycling all states compared with the plain chain, "
        f"{len(table)} parameters. Gain: log₂ ratio of ESS; above zero recycling is better. The standard error of one "
        f"parameter's ratio is about {np.nanmedian(table.numbers('mean_log2_error')):.2f}. ESS per iteration: each "
        f"curve is sorted on its own, so that its left end is the worst parameter.{grouping_note(len(table))}"
    )
    return [Figure(f"{case}-{kernel}", caption, [log2_panel(table, "Gain from recycling"), size_panel(table)])]


def component_figures(tables, case):
    table = tables.find("components")
    if not table or not (table := table.where(case=case)):
        return []
    gains, angles = [], []
    for kernel in PAPER_KERNELS:
        for quantity, colour in [("angle", BLUE), ("eigenvalue", VERMILION)]:
            if rows := table.where(kernel=kernel, quantity=quantity):
                label = f"{short_name(kernel)}, {quantity}"
                style = {"label": label, "colour": colour, **kernel_style(kernel)}
                gains.append(through_rows(rows, "iterations", "log2", "log2_error", **style))
        for which, colour in [("plain", GREY), ("recycled", BLUE)]:
            if rows := table.where(kernel=kernel, quantity="angle"):
                style = {"label": f"{short_name(kernel)}, {which}", "colour": colour, **kernel_style(kernel)}
                angles.append(through_rows(rows, "iterations", f"{which}_rmse", **style))
    caption = (
        f"{case_name(case)}: the leading principal component as the chain gets longer. Gain: log₂ ratio of ESS for its "
        "direction (the angle to the plane of the true leading components) and its eigenvalue. Error: the angle itself."
    )
    gain = {"x_scale": "log10", "zero_line": True, "factors": True}
    panels = [
        Panel("Gain from recycling", "iterations", RATIO_LABEL, gains, **gain),
        Panel("Error of the direction", "iterations", "RMS angle (radians)", angles, x_scale="log10", y_scale="log10"),
    ]
    return [Figure(f"components-{case}", caption, panels)]


def tuning_figures(tables, case):
    """A mass matrix estimated with recycling compared with one without."""
    summary = tables.find("tuning")
    if not summary or not (summary := summary.where(case=case)):
        return []
    panels, parameters = [], 0
    for adapt in dict.fromkeys(summary.texts("adapt")):
        if table := tables.find(f"tuning-{case}-{adapt}"):
            parameters = len(table)
            panels.append(log2_panel(table, f"{adapt} iterations of tuning"))
    averages = [
        through_rows(rows, "adapt", "log2", "log2_error", label=statistic_name(s), colour=STATISTIC_COLOURS[s], marker="o")
        for s in STATISTICS
        if (rows := summary.where(statistic=s))
    ]
    panels.append(
        Panel(
            "Average over parameters",
            "iterations of tuning",
            RATIO_LABEL,
            averages,
            x_scale="log10",
            zero_line=True,
            factors=True,
        )
    )
    caption = (
        f"{case_name(case)}: log₂ ratio of the ESS of plain NUTS over 10⁴ gradients, mass matrix estimated with "
        f"recycling over without.{grouping_note(parameters)}"
    )
    return [Figure(f"tuning-{case}", caption, panels, columns=3 if len(panels) == 3 else 2)]


def chosen_counts(table):
    """At most five numbers of states, from the most to the fewest, evenly spread over those of the table."""
    counts = sorted((int(name[1:]) for name in table.columns if name[:1] == "k" and name[1:].isdigit()), reverse=True)
    if len(counts) <= 5:
        return counts
    return [counts[i * (len(counts) - 1) // 4] for i in range(5)]


def counts_panel(table, title):
    counts = chosen_counts(table)
    order = order_of(table.numbers(f"k{counts[0]}")) if counts else []
    # From dark to light; bands would hide one another.
    colours = ["#1f2a5c", BLUE, GREEN, VERMILION, ORANGE]
    curves = [
        over_parameters(f"K = {count}", table.numbers(f"k{count}"), order, band=False, colour=colour)
        for count, colour in zip(counts, colours, strict=False)
    ]
    return ratio_panel(title, "parameters, sorted by the ratio at the largest K", curves)


def count_figures(tables):
    """Gains with a handful of numbers of states, parameter by parameter."""
    figures, counts = [], tables.find("counts")
    for case in CASES:
        found = [(kernel, tables.find(f"counts-{case}-{kernel}")) for kernel in PAPER_KERNELS]
        found = [(kernel, table) for kernel, table in found if table]
        if not found:
            continue
        by_steps = counts and counts.where(case=case, kernel="hmc", family="stride")
        caption = (
            f"{case_name(case)}: gain in the ESS of the 97.5% quantile with K states per iteration, of which one is the "
            f"next state of the chain and K − 1 are recycled{STEPS if by_steps else ''}.{grouping_note(len(found[-1][1])).split(', bands')[0]}"
        )
        caption += "" if caption.endswith(".") else "."
        figures.append(
            Figure(f"counts-{case}", caption, [counts_panel(table, kernel_name(kernel, case)) for kernel, table in found])
        )
    return figures


def family_panel(counts, case, kernel):
    """Gains against the number of states. Families without a number of states are level lines."""
    curves = []
    rows = {family: counts.where(case=case, kernel=kernel, family=family, statistic="q97.5") for family in FAMILIES}
    for family in ["spread", "final", "stride", "simple"]:
        if rows[family]:
            label, style = FAMILIES[family]
            curves.append(through_rows(rows[family], "k", "log2", "log2_error", label=label, **style))
    if curves:
        ends = np.array([min(curve.x[0] for curve in curves), max(curve.x[-1] for curve in curves)])
        for family in ["all", "by-draw"]:
            if rows[family]:
                label, style = FAMILIES[family]
                curves.append(Curve(label, ends, np.repeat(rows[family].numbers("log2")[0], 2), **style))
    panel = {"x_scale": "log2", "zero_line": True, "factors": True}
    return Panel(kernel_name(kernel, case), "states per iteration, K", RATIO_LABEL, curves, **panel)


def family_figures(tables):
    """Average gains against the number of states, by the rule that picks them."""
    counts = tables.find("counts")
    if not counts:
        return []
    figures = []
    for case in CASES:
        panels = [family_panel(counts, case, kernel) for kernel in KERNELS]
        caption = (
            f"{case_name(case)}: average gain in the ESS of the 97.5% quantile against the number of states per "
            "iteration, by the rule that picks them. Bars show one standard error where that is larger than the marker."
        )
        if panels := [panel for panel in panels if panel.curves]:
            figures.append(Figure(f"families-{case}", caption, panels, columns=3))
    return figures


def length_panel(lengths, case):
    curves = []
    for kernel in PAPER_KERNELS:
        for statistic in STATISTICS:
            if rows := lengths.where(case=case, kernel=kernel, statistic=statistic):
                label = f"{short_name(kernel)}, {statistic_name(statistic)}"
                style = {"label": label, "colour": STATISTIC_COLOURS[statistic], **kernel_style(kernel)}
                curves.append(through_rows(rows, "fraction", "log2", "log2_error", **style))
    panel = {"x_scale": "log2", "zero_line": True, "factors": True}
    return Panel(case_name(case), "length, as a fraction of the full chain", RATIO_LABEL, curves, **panel)


def short_chain_panel(table, title):
    order = order_of(table.numbers("mean_log2"))
    curves = []
    for statistic in ["mean", "variance"]:
        name, colour = statistic_name(statistic), STATISTIC_COLOURS[statistic]
        short = {"mean": GREY, "variance": ORANGE}[statistic]
        full_values, short_values = table.numbers(f"{statistic}_log2"), table.numbers(f"{statistic}_log2_short")
        curves.append(over_parameters(f"{name}, full chain", full_values, order, colour=colour))
        curves.append(over_parameters(f"{name}, 1/32 of it", short_values, order, colour=short, dash=":", width=2.0))
    return ratio_panel(title, BY_MEAN, curves)


def length_figures(tables):
    """Gains against the length of the chain: averages, then parameter by parameter."""
    figures = []
    if lengths := tables.find("lengths"):
        panels = [panel for case in CASES if (panel := length_panel(lengths, case)).curves]
        caption = "Average gain from recycling against the length of the chain. Bars show one standard error."
        if panels:
            figures.append(Figure("lengths", caption, panels))
    for case in CASES:
        found = [(kernel, tables.find(f"{case}-{kernel}")) for kernel in PAPER_KERNELS]
        found = [(kernel, table) for kernel, table in found if table]
        if found:
            caption = (
                f"{case_name(case)}: log₂ ratios of ESS from chains of full length and of 1/32 of it."
                f"{grouping_note(len(found[-1][1]))}"
            )
            panels = [short_chain_panel(table, kernel_name(kernel, case)) for kernel, table in found]
            figures.append(Figure(f"lengths-{case}", caption, panels))
    return figures


def duel_panel(one, other, cost_ratio, which, title):
    """ESS per gradient of one table over that of the other."""
    values = {
        statistic: np.log2(one.numbers(f"{statistic}_{which}") / other.numbers(f"{statistic}_{which}") / cost_ratio)
        for statistic in STATISTICS
    }
    curves = statistic_curves(values, order_of(values["mean"]))
    return ratio_panel(title, BY_MEAN, curves, y_label="log₂ ratio of ESS per gradient")


def multinomial_figures(tables):
    """Multinomial against slice NUTS."""
    settings = tables.find("settings")
    if not settings:
        return []
    figures = []
    for case in CASES:
        one, other = tables.find(f"{case}-nuts"), tables.find(f"{case}-nuts-slice")
        costs = [settings.where(case=case, kernel=kernel) for kernel in ["nuts", "nuts-slice"]]
        if not (one and other and all(costs)):
            continue
        ratio = costs[0].numbers("leapfrogs")[0] / costs[1].numbers("leapfrogs")[0]
        panels = [
            duel_panel(one, other, ratio, "plain", "Plain chains"),
            duel_panel(one, other, ratio, "recycled", "All states recycled"),
        ]
        caption = (
            f"{case_name(case)}: multinomial compared with slice NUTS. Above zero the multinomial kernel has more ESS "
            f"per gradient.{grouping_note(len(one))}"
        )
        figures.append(Figure(f"multinomial-{case}", caption, panels))
    return figures


def sharpening_figures(tables):
    """Gradients as control variates."""
    figures = []
    for case in CASES:
        table = tables.find(f"sharpening-{case}")
        if not table:
            continue
        panels = []
        for statistic in ["mean", "sd", "q97.5"]:
            recycled = table.numbers(f"{statistic}_recycled")
            order = order_of(recycled)
            sharpened = table.numbers(f"{statistic}_sharpened")
            curves = [
                over_parameters("recycled", recycled, order, colour=BLUE),
                over_parameters("recycled and sharpened", sharpened, order, colour=VERMILION),
            ]
            label = "log₂ gain over the plain chain"
            panels.append(ratio_panel(statistic_name(statistic), "parameters, by the recycled gain", curves, label))
        caption = (
            f"{case_name(case)}: log₂ of how many times as many plain draws would give the same variance, for recycled "
            "estimates and for those that also use the gradients. The plain chain is the line at zero."
            f"{grouping_note(len(table))}"
        )
        figures.append(Figure(f"sharpening-{case}", caption, panels, columns=3))
    return figures
