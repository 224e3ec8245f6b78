"""Draws figures with matplotlib: SVG with real text, PNG, and a narrow SVG for phones."""

import math
import re

import matplotlib

matplotlib.use("svg")  # no display needed

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.textpath import TextPath  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator, ScalarFormatter  # noqa: E402

INK, MUTED, GRID = "#1c2330", "#586273", "#e7eaee"
REGIONS = ["#f1f5f9", "#e2ebf3", "#cfdeeb", "#b9cfe2", "#a1bfd8", "#88adcc"]

# In inches; a point is 1/72 of one.
WIDE, NARROW = 9.4, 4.4
LEFT, RIGHT, RIGHT_OF_FACTORS, BOTTOM, TITLE, LEGEND_ROW, SAMPLE, BETWEEN = 0.62, 0.14, 0.52, 0.52, 0.27, 0.19, 0.23, 0.16
LEGEND_SIZE = 8.5  # points

STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "rehmc",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial"],
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": "#9aa3b0",
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "xtick.major.size": 3,
    "ytick.major.size": 0,
    "lines.solid_capstyle": "round",
}


def number_text(value):
    """1000 and 0.01 in digits, 10⁵ and beyond as powers."""
    if math.log10(value).is_integer() and not 1e-3 <= value <= 1e4:
        return "10" + str(round(math.log10(value))).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{value:g}"


def fraction_text(value):
    return f"1/{1 / value:g}" if value < 1 else f"{value:g}"


def log_ticks(values, base):
    """The values themselves if there are few, else powers of the base, in short ranges also 2 and 5 times them."""
    distinct = np.unique(values)
    if distinct.size <= 7:
        return distinct
    low, high = distinct[0], distinct[-1]
    powers = range(math.floor(math.log(low, base)), math.ceil(math.log(high, base)) + 1)
    wide = high / low >= 100
    for factors in ([1], [1, 2, 5]) if base == 2 or wide else ([1, 2, 5],):
        ticks = [factor * float(base) ** power for power in powers for factor in factors]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= 3:
            return ticks
    return [tick for tick in MaxNLocator(nbins=6, steps=[1, 2, 5, 10]).tick_values(low, high) if low <= tick <= high]


def factor_ticks(low, high):
    """Factors whose log2 lies in [low, high], about five of them."""
    if high - low < 2.2:
        return [f for f in [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4, 6, 8] if low <= math.log2(f) <= high]
    step = next(step for step in [1, 2, 4, 8, 16, 32, 64] if (high - low) / step <= 7)
    return [2.0**power for power in range(math.ceil(low / step) * step, math.floor(high) + 1, step)]


def factor_text(factor):
    power = math.log2(factor)
    return f"×{factor:g}" if factor <= 1024 else "×2" + str(round(power)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def set_scale(axis, scale, values):
    """Scale, limits and ticks of an axis with these values on it."""
    if scale == "linear":
        axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
        axis.set_major_formatter(ScalarFormatter(useOffset=False))
        return
    base, text = (2, fraction_text) if scale == "log2" else (10, number_text)
    values = values[values > 0] if np.any(values > 0) else np.array([1.0, 2.0])
    margin = max(1.05, (values.max() / values.min()) ** 0.04)
    along_x = axis.axis_name == "x"
    (axis.axes.set_xscale if along_x else axis.axes.set_yscale)("log", base=base)
    (axis.axes.set_xlim if along_x else axis.axes.set_ylim)(values.min() / margin, values.max() * margin)
    axis.set_major_locator(FixedLocator(log_ticks(values, base)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))


def finite_values(curves, name):
    values = np.concatenate([np.empty(0), *(getattr(curve, name) for curve in curves)])
    return values[np.isfinite(values)]


def marker_style(curve):
    size = {"D": 4.6, "^": 5.8}.get(curve.marker, 5.2) + (1.2 if curve.dash == "none" else 0)
    return {"marker": curve.marker, "markersize": size, "markeredgecolor": "white", "markeredgewidth": 0.8}


def draw_curve(axes, curve):
    if curve.lower is not None:
        axes.fill_between(curve.x, curve.lower, curve.upper, color=curve.colour, alpha=0.14, linewidth=0)
    if curve.error is not None:
        ends = [curve.y - curve.error, curve.y + curve.error]
        axes.vlines(curve.x, *ends, color=curve.colour, linewidth=1.2)
    style = {"color": curve.colour, "linestyle": curve.dash, "linewidth": curve.width}
    axes.plot(curve.x, curve.y, **style, **(marker_style(curve) if curve.marker else {}))


def region_levels(density):
    """The heights above which the density has the given shares of its mass."""
    heights = np.sort(density.height, axis=None)[::-1]
    mass = np.cumsum(heights) / heights.sum()
    return [heights[np.searchsorted(mass, share)] for share in density.shares]


def draw_density(axes, density):
    """Regions of highest density."""
    levels = region_levels(density)
    grid = (density.x, density.y, density.height)
    axes.contourf(*grid, levels=[*levels, 1.001 * density.height.max()], colors=REGIONS)
    axes.contour(*grid, levels=levels, colors="white", linewidths=0.8)


def draw_factors(axes):
    """The factors that log2 ratios stand for, on the right."""
    twin = axes.twinx()
    low, high = axes.get_ylim()
    twin.set_ylim(low, high)
    twin.grid(False)
    for side in twin.spines.values():
        side.set_visible(False)
    factors = factor_ticks(low, high)
    twin.set_yticks([math.log2(factor) for factor in factors], [factor_text(factor) for factor in factors])


def draw_panel(axes, panel):
    set_scale(axes.xaxis, panel.x_scale, finite_values(panel.curves, "x"))
    set_scale(axes.yaxis, panel.y_scale, finite_values(panel.curves, "y"))
    if panel.density:
        draw_density(axes, panel.density)
        axes.grid(False)
    for curve in panel.curves:
        draw_curve(axes, curve)
    if panel.square:
        axes.set_aspect("equal")
        axes.set_xlim(-2.5, 2.2)
        axes.set_ylim(-2.1, 2.1)
    if panel.zero_line:
        low, high = panel.limits or axes.get_ylim()
        # Some room on either side of the line, so that it never is the border.
        room = 0.06 * (high - low)
        axes.set_ylim(min(low, -room), high if panel.limits else max(high, room))
        axes.axhline(0, color=INK, linewidth=0.9, zorder=1.5)
        axes.axhspan(axes.get_ylim()[0], 0, color="#8a6d3b", alpha=0.05, linewidth=0, zorder=0)
    for note in panel.notes:
        place = {"xytext": note.offset, "textcoords": "offset points", "ha": note.align, "va": "center"}
        axes.annotate(note.text, (note.x, note.y), **place, fontsize=8, color=MUTED)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.factors:
        draw_factors(axes)


def legend_entries(panel):
    """Labels with the curves they stand for."""
    return {curve.label: curve for curve in panel.curves if curve.label}


def shared_entries(panels):
    """The entries of all panels together, if no label looks different in two panels and most are in all of them."""
    together = {}
    for panel in panels:
        for label, curve in legend_entries(panel).items():
            known = together.setdefault(label, curve)
            if (known.colour, known.dash) != (curve.colour, curve.dash):
                return None
            if curve.marker:
                together[label] = curve
    return together if len(together) == max(len(legend_entries(panel)) for panel in panels) else None


def legend_rows(entries, width):
    """Entries with their x, in inches, row by row: as many to a row as fit."""
    rows, x = [[]], 0.0
    for label, curve in entries.items():
        needed = SAMPLE + 0.07 + TextPath((0, 0), label, size=LEGEND_SIZE).get_extents().width / 72
        if rows[-1] and x + needed > width:
            rows.append([])
            x = 0.0
        rows[-1].append((x, label, curve))
        x += needed + 0.18
    return [row for row in rows if row]


def draw_legend(drawing, rows, x, y):
    """Its upper left corner is at (x, y), in inches."""
    scale = drawing.dpi_scale_trans
    for number, row in enumerate(rows):
        middle = y - LEGEND_ROW * (number + 0.5)
        for start, label, curve in row:
            left = x + start
            style = {"color": curve.colour, "linestyle": curve.dash, "linewidth": curve.width}
            ends = [left, left + SAMPLE]
            if curve.dash != "none":
                drawing.add_artist(Line2D(ends, [middle] * 2, transform=scale, **style))
            if curve.marker:
                style = {"linestyle": "none", "color": curve.colour, **marker_style(curve)}
                drawing.add_artist(Line2D([left + SAMPLE / 2], [middle], transform=scale, **style))
            text = {"fontsize": LEGEND_SIZE, "va": "center_baseline", "transform": scale}
            drawing.text(left + SAMPLE + 0.07, middle, label, **text)


class Layout:
    """Where panels and legends go, in inches from the lower left corner."""

    def __init__(self, figure, width, columns):
        panels = figure.panels
        self.columns = min(columns, len(panels))
        self.cell = (width - (self.columns - 1) * BETWEEN) / self.columns
        if figure.columns == 1 and width == WIDE:
            width = self.cell = 6.4
        self.width = width
        shared = shared_entries(panels) if len(panels) > 1 else None
        self.shared = legend_rows(shared, width - 0.1) if shared else []
        self.legends = [[] if shared else legend_rows(legend_entries(panel), self.cell - 0.1) for panel in panels]
        self.head = LEGEND_ROW * len(self.shared) + 0.1 if shared else 0
        self.title = TITLE if any(panel.title for panel in panels) else 0.04
        self.above = self.title + LEGEND_ROW * max(len(rows) for rows in self.legends) + 0.08
        self.right = RIGHT_OF_FACTORS if any(panel.factors for panel in panels) else RIGHT
        if panels[0].square:
            self.plot = (self.cell - LEFT - self.right) * 4.2 / 4.7
        else:
            self.plot = {1: 2.5, 2: 2.6, 3: 2.4}[self.columns]
        self.row = self.above + self.plot + BOTTOM
        self.rows = math.ceil(len(panels) / self.columns)
        self.height = self.head + self.rows * self.row + (self.rows - 1) * BETWEEN

    def corner(self, place):
        """Upper left corner of a panel's cell."""
        row, column = divmod(place, self.columns)
        return column * (self.cell + BETWEEN), self.height - self.head - row * (self.row + BETWEEN)


def draw_figure(figure, width, columns):
    layout = Layout(figure, width, columns)
    drawing = plt.figure(figsize=(layout.width, layout.height))
    for place, panel in enumerate(figure.panels):
        x, y = layout.corner(place)
        box = (x + LEFT, y - layout.above - layout.plot, layout.cell - LEFT - layout.right, layout.plot)
        axes = drawing.add_axes(
            (box[0] / layout.width, box[1] / layout.height, box[2] / layout.width, box[3] / layout.height)
        )
        draw_panel(axes, panel)
        title = {"fontsize": 10, "fontweight": "bold", "va": "top"}
        drawing.text((x + 0.04) / layout.width, (y - 0.03) / layout.height, panel.title, **title)
        draw_legend(drawing, layout.legends[place], x + 0.05, y - layout.title)
    draw_legend(drawing, layout.shared, 0.05, layout.height)
    return drawing


def shorten(svg):
    """Half the bytes, the same picture: coordinates with two digits, no line breaks in paths, no names of groups."""
    svg = re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), svg)
    svg = re.sub(r' transform="rotate\(-0 [^"]*"| id="(figure|axes|patch|line2d|text|xtick|ytick|matplotlib)[^"]*"', "", svg)
    svg = re.sub(r"<!DOCTYPE[^>]*>", "", svg)
    svg = re.sub(r"<!--.*?-->|^ +", "", svg, flags=re.MULTILINE)
    svg = re.sub(r" ?\n([LQCz])", r"\1", svg).replace(' \n"', '"').replace('\n"', '"')
    return re.sub(r"([MLQC]) ", r"\1", re.sub(r"\n+", "\n", svg))


def write_svg(drawing, path, description):
    drawing.savefig(path, metadata={"Date": None, "Creator": None, "Description": description})
    path.write_text(shorten(path.read_text(encoding="utf-8")), encoding="utf-8")


def save_figure(figure, folder):
    """NAME.svg, NAME.png at twice the size, and narrow/NAME.svg with its panels one below the other."""
    (folder / "narrow").mkdir(parents=True, exist_ok=True)
    with plt.rc_context(STYLE):
        drawing = draw_figure(figure, WIDE, figure.columns)
        write_svg(drawing, folder / f"{figure.name}.svg", figure.caption)
        drawing.savefig(folder / f"{figure.name}.png", dpi=192)
        plt.close(drawing)
        drawing = draw_figure(figure, NARROW, 1)
        write_svg(drawing, folder / "narrow" / f"{figure.name}.svg", figure.caption)
        plt.close(drawing)
