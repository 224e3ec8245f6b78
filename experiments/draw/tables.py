"""Reads the CSV tables of a results folder; experiments/README.md describes them."""

import csv

import numpy as np


class TableError(Exception):
    """A table that cannot be used; the message names file, row and column."""

    def __init__(self, message, exit_code=65):
        super().__init__(message)
        self.exit_code = exit_code


class Table:
    """Rows of texts under named columns."""

    def __init__(self, path, columns, rows):
        self.path = path
        self.columns = columns
        self.rows = rows

    @classmethod
    def read(cls, path):
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
        if not lines:
            raise TableError(f"{path}: empty; expected a line with the names of the columns")
        for number, row in enumerate(lines[1:], start=1):
            if len(row) != len(lines[0]):
                raise TableError(f"{path}, row {number}: {len(row)} fields for {len(lines[0])} columns")
        return cls(path, lines[0], lines[1:])

    def __len__(self):
        return len(self.rows)

    def place(self, column):
        if column not in self.columns:
            raise TableError(f"{self.path} has no column '{column}'")
        return self.columns.index(column)

    def texts(self, column):
        place = self.place(column)
        return [row[place] for row in self.rows]

    def numbers(self, column):
        values = np.empty(len(self.rows))
        for row, text in enumerate(self.texts(column)):
            try:
                values[row] = float(text)
            except ValueError:
                raise TableError(f"{self.path}, row {row + 1}, column {column}: '{text}' is not a number") from None
        return values

    def records(self):
        """The rows as dictionaries."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def where(self, **conditions):
        """A table of the rows with these texts in these columns."""
        places = [(self.place(column), text) for column, text in conditions.items()]
        rows = [row for row in self.rows if all(row[place] == text for place, text in places)]
        return Table(self.path, self.columns, rows)

    def sorted_by(self, column):
        order = np.argsort(self.numbers(column), kind="stable")
        return Table(self.path, self.columns, [self.rows[i] for i in order])


class Tables:
    """The tables of one folder, and which of the requested ones are missing."""

    def __init__(self, folder):
        self.folder = folder
        self.missing = set()
        self.known = {}
        if not any(folder.glob("*.csv")):
            raise TableError(f"no results in '{folder}': expected a folder with the CSV files of rehmc-paper", 66)

    def find(self, name):
        """NAME.csv; None if there is no such file or it has no rows."""
        path = self.folder / f"{name}.csv"
        if name not in self.known:
            self.known[name] = Table.read(path) if path.exists() else None
        table = self.known[name]
        if table is None:
            self.missing.add(path.name)
        return table if table else None

    def take_missing(self):
        """The files that were requested since the last call but are missing."""
        missing, self.missing = sorted(self.missing), set()
        return missing
