"""What a figure consists of: panels with curves, before anything is drawn."""

from dataclasses import dataclass, field

import numpy as np

# Okabe and Ito's colours, which people with any kind of colour blindness can distinguish.
BLACK = "#1c2330"
GREY = "#7a8494"
BLUE = "#0072b2"
GREEN = "#009e73"
ORANGE = "#e69f00"
VERMILION = "#d55e00"
PURPLE = "#cc79a7"


@dataclass
class Curve:
    """A line, its error bars or its band; `dash` is matplotlib's line style, "none" for markers alone."""

    label: str
    x: np.ndarray
    y: np.ndarray
    colour: str = BLUE
    dash: str = "-"
    marker: str = ""
    width: float = 1.6
    error: np.ndarray | None = None
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None


@dataclass
class Note:
    """A short text next to a point, `offset` points away from it."""

    x: float
    y: float
    text: str
    offset: tuple = (0, 0)
    align: str = "center"


@dataclass
class Density:
    """A density on a grid, drawn as regions that hold the given shares of its mass."""

    x: np.ndarray  # ascending
    y: np.ndarray  # ascending
    height: np.ndarray  # one row for each y
    shares: list


@dataclass
class Panel:
    """One pair of axes. Scales are "linear", "log2" or "log10"."""

    title: str
    x_label: str
    y_label: str
    curves: list
    x_scale: str = "linear"
    y_scale: str = "linear"
    zero_line: bool = False
    factors: bool = False  # y is a log2 ratio: show the factors on the right
    limits: tuple | None = None  # of the y-axis
    notes: list = field(default_factory=list)
    density: Density | None = None
    square: bool = False  # one unit is as long on both axes


@dataclass
class Figure:
    name: str  # of its files
    caption: str
    panels: list
    columns: int = 2
