"""What all models have in common, and the built-in ones."""

from __future__ import annotations

import abc
import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core

Array = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Variable:
    """A quantity that users read of a state: a number, or an array of them.

    Attributes
    ----------
    name : str
        Its name, as in the model.
    shape : tuple of int
        Its shape; empty for a number.
    dims : tuple of str
        The names of its dimensions, or empty.
    """

    name: str
    shape: tuple[int, ...] = ()
    dims: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The count of its numbers."""
        return int(np.prod(self.shape, dtype=int))

    def flat_names(self, coords: Mapping[str, Sequence[Any]]) -> Iterator[str]:
        """One name for each number, row after row: `theta[0, 1]`, or with labels, `theta[Choate]`."""
        for index in np.ndindex(*self.shape):
            labels = [
                str(coords[self.dims[axis]][place]) if axis < len(self.dims) and self.dims[axis] in coords else str(place)
                for axis, place in enumerate(index)
            ]
            yield f"{self.name}[{', '.join(labels)}]" if labels else self.name


class Model(abc.ABC):
    """A density to sample from, as `function`, `stan`, `pymc` and the others make it.

    Attributes
    ----------
    name : str
        Shown in tables and reports.
    coords : dict
        Labels of named dimensions.
    """

    name: str
    coords: dict[str, list[Any]]

    def __init__(self, name: str) -> None:
        self.name = name
        self.coords = {}

    @abc.abstractmethod
    def _open(self, seed: int) -> _core.Model:
        """The density for a run with this seed."""

    #: Whether the rounding of batched calls depends on their width.
    _pads = False

    def _variables(self, opened: _core.Model) -> list[Variable]:
        """What users read, in the order of the columns of a result."""
        return grid_variables(opened.quantities)

    def _read(self, positions: Array) -> dict[str, Array] | None:
        """The variables at many positions, one per row; None if the columns of a result hold them already."""
        return None

    def _unconstrain(self, values: Mapping[str, Array]) -> Array:
        """The positions of draws by name, each array with one row for every draw."""
        raise _core.ConfigError(f"{self.name}: only models of Stan, PyMC and NumPyro know what draws by name mean")

    def _start(self, opened: _core.Model, init: Any) -> list[list[float]]:
        """Starting points from what a user gave: one row for every chain, or for all."""
        rows = np.asarray(init, dtype=np.float64)
        if rows.ndim == 1:
            rows = rows[None, :]
        if rows.ndim != 2 or rows.shape[1] != opened.dimension:
            raise _core.ConfigError(
                f"init: found an array of shape {np.shape(init)}, expected ({opened.dimension},) or "
                f"(chains, {opened.dimension})"
            )
        return [list(map(float, row)) for row in rows]

    def __repr__(self) -> str:
        return f"<rehmc model {self.name}>"


def split_name(name: str) -> tuple[str, tuple[int, ...]]:
    """The base of a name as CmdStan writes it, and its indices: theta.1.2 is theta, (1, 2)."""
    base, *rest = name.split(".")
    if rest and all(part.isdigit() and part != "0" for part in rest):
        return base, tuple(int(part) for part in rest)
    return name, ()


def grid_variables(names: Sequence[str]) -> list[Variable]:
    """Variables of names with indices; a name whose indices do not form a full grid stays a number of its own."""
    groups: dict[str, list[tuple[int, ...]]] = {}
    for name in names:
        base, index = split_name(name)
        groups.setdefault(base, []).append(index)
    variables = []
    for base, indices in groups.items():
        lengths = {len(index) for index in indices}
        shape = tuple(int(n) for n in np.max(np.array(indices), axis=0)) if lengths != {0} and len(lengths) == 1 else ()
        if shape and len(set(indices)) == len(indices) == int(np.prod(shape)):
            variables.append(Variable(base, shape))
        elif indices == [()]:
            variables.append(Variable(base))
        else:
            variables.extend(Variable(".".join([base, *map(str, index)])) for index in indices)
    return variables


def grid_columns(names: Sequence[str], variable: Variable) -> NDArray[np.intp]:
    """The columns that hold a variable, in its shape."""
    columns = np.empty(variable.shape, dtype=np.intp)
    if not variable.shape:
        return np.array(list(names).index(variable.name), dtype=np.intp)
    for column, name in enumerate(names):
        base, index = split_name(name)
        if base == variable.name and len(index) == len(variable.shape):
            columns[tuple(i - 1 for i in index)] = column
    return columns


class _BuiltIn(Model):
    def __init__(self, name: str, data: Mapping[str, Any] | None) -> None:
        super().__init__(name)
        self._opened = _core.built_in_model(name, "" if data is None else data_json(data))

    def _open(self, seed: int) -> _core.Model:
        return self._opened


def data_json(data: Mapping[str, Any]) -> str:
    """Data as JSON in CmdStan's format. Arrays of numpy are allowed."""

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(key): plain(each) for key, each in value.items()}
        if hasattr(value, "to_numpy"):
            value = value.to_numpy()
        if isinstance(value, (np.ndarray, np.generic)):
            value = value.tolist()
        if isinstance(value, (list, tuple)):
            return [plain(each) for each in value]
        if isinstance(value, complex):
            return [value.real, value.imag]
        if isinstance(value, bool):
            return int(value)
        if isinstance(value, (int, float, str)):
            return value
        raise _core.DataError(f"data: found {value!r}, expected numbers and arrays of them")

    return json.dumps(plain(dict(data)))


def built_in(name: str, data: Mapping[str, Any] | None = None) -> Model:
    """One of the models that the command lists with `rehmc models`.

    Parameters
    ----------
    name : str
        Its name.
    data : mapping, optional
        Its data; most models have some of their own.

    Examples
    --------
    >>> import rehmc
    >>> rehmc.built_in("eight-schools")
    <rehmc model eight-schools>
    """
    return _BuiltIn(name, data)
