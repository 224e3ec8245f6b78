"""A small table: columns by name, rows by parameter. pandas is not needed, but can have it."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas


class Table(Mapping[str, Any]):
    """Columns by name, with one row for each parameter.

    Examples
    --------
    >>> table = Table(["mu", "tau"], {"mean": [1.0, 2.5], "sd": [0.1, 0.2]})
    >>> table["mean"]
    array([1. , 2.5])
    >>> table.row("tau")["sd"]
    0.2
    >>> print(table)
         mean   sd
    mu    1.0  0.1
    tau   2.5  0.2
    """

    def __init__(self, index: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> None:
        self.index = list(index)
        # Words stay strings of Python.
        self._columns = {
            name: np.asarray(values, dtype=object if any(isinstance(v, str) for v in values) else None)
            for name, values in columns.items()
        }

    def __getitem__(self, column: str) -> Any:
        return self._columns[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def row(self, name: str) -> dict[str, Any]:
        """The values of one parameter by column."""
        place = self.index.index(name)
        return {column: values[place : place + 1].tolist()[0] for column, values in self._columns.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a DataFrame."""
        import pandas

        return pandas.DataFrame(self._columns, index=self.index)

    def _cells(self) -> list[list[str]]:
        columns = [[name, *_shown(values)] for name, values in self._columns.items()]
        return [list(row) for row in zip(["", *self.index], *columns)]

    def __repr__(self) -> str:
        rows = self._cells()
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join(
            "  ".join(cell.rjust(width) if k else cell.ljust(width) for k, (cell, width) in enumerate(zip(row, widths))).rstrip()
            for row in rows
        )

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        cells = ["<tr>" + "".join(f"<th>{html.escape(c)}</th>" for c in head) + "</tr>"]
        for first, *rest in rows:
            cells.append(f"<tr><th>{html.escape(first)}</th>" + "".join(f"<td>{html.escape(c)}</td>" for c in rest) + "</tr>")
        return "<table>" + "".join(cells) + "</table>"


def _shown(values: np.ndarray) -> list[str]:
    """Numbers with the same count of decimals, about three digits for the smallest that matters."""
    if values.dtype.kind != "f":
        return [str(v) for v in values]
    finite = np.abs(values[np.isfinite(values) & (values != 0)])
    if len(finite) == 0:
        return [f"{v:g}" for v in values]
    largest = float(finite.max())
    if largest >= 1e6 or largest < 1e-3:
        return [f"{v:.3g}" for v in values]
    digits = min(max(0, 2 - int(np.floor(np.log10(np.median(finite))))), 4)
    texts = [f"{v:.{digits}f}" for v in values]
    while digits > 1 and all(t.endswith("0") for t in texts):
        texts, digits = [t[:-1] for t in texts], digits - 1
    return texts
