"""The result of a run: draws, recycled states, summaries, files."""

from __future__ import annotations

import json
import math
import os
import pathlib
import shutil
import stat
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._models import Array, Model, Variable, grid_columns, grid_variables
from ._table import Table

if TYPE_CHECKING:
    from ._expect import Expectation

KINDS = ("plain", "recycled", "sharpened")


def require_kind(kind: str) -> str:
    """The kind of estimates, if there is such a kind."""
    if kind not in KINDS:
        raise _core.ConfigError(f"kind: found {kind!r}, expected one of {', '.join(KINDS)}")
    return kind


def _fixed(numbers: Any) -> float:
    return math.nan if numbers is None else float(numbers)


class Fit:
    """The result of `sample`.

    Attributes
    ----------
    draws : dict of str to array
        The draws by variable, of shape (chains, draws, ...).
    recycled : dict of str to array
        The recycled states, of shape (chains, draws, states, ...), if every draw has as many, equally weighted.
    statistics : dict of str to array
        What the sampler says of every draw: ``lp``, ``diverging``, ``tree_depth``, ``n_steps``, ``step_size``,
        ``acceptance_rate``, ``energy``, ``energy_error``, ``reached_max_treedepth``.
    """

    def __init__(
        self,
        result: _core.Result,
        model: Model | None,
        settings: Mapping[str, Any],
        *,
        width: int = 0,
        folder: Any = None,
        name: str | None = None,
        variables: Sequence[Variable] | None = None,
        coords: Mapping[str, Sequence[Any]] | None = None,
        in_order: bool = False,
        identity: str | None = None,
    ) -> None:
        self._raw = result
        self._model = model
        self._settings = dict(settings)
        self._width = width
        self._folder = folder
        self._name = name or (model.name if model is not None else "draws")
        self._given_variables = list(variables) if variables is not None else None
        self._coords = dict(coords if coords is not None else (model.coords if model is not None else {}))
        self._in_order = in_order
        self._identity = identity  # of the model, where that is not given

    # What is known of the run.

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._name

    @property
    def seed(self) -> int:
        """The seed of all random numbers."""
        return self._raw.seed

    @property
    def complete(self) -> bool:
        """Whether all draws were taken; False after Ctrl-C."""
        return not self._raw.stopped

    @property
    def chains(self) -> int:
        """The number of chains; of a run that was stopped, without those that had hardly begun."""
        return self._raw.chains

    @property
    def size(self) -> int:
        """Draws of each chain; of a run that was stopped, as many as the chains that are shown all have."""
        return self._raw.size

    @property
    def width(self) -> int:
        """The number of points in every call of a batched model; 0 if its rounding does not depend on that.

        A run with ``engine="batch"`` pads all calls to it, so that its draws depend on the seed and this number alone.
        """
        return self._width

    @property
    def gradients(self) -> int:
        """How often the model was called, warmup included."""
        counts = self._raw.counts()
        return sum(counts["gradients_warmup"]) + sum(counts["gradients_sampling"])

    # Draws.

    def _reads_positions(self) -> bool:
        """Whether the draws of the sampler are the coordinates themselves; names do not tell, since those of a Stan
        program's parameters are also those of its coordinates."""
        if self._raw.names != self._raw.coordinates:
            return False
        states = self._raw.kept(0)
        return "positions" not in states or np.array_equal(states["positions"], states["values"], equal_nan=True)

    @cached_property
    def _view(self) -> _core.Result:
        """The result with the quantities that users read."""
        model = self._model
        if model is None or self._raw.size == 0:
            return self._raw
        probe = model._read(self._raw.draws(0)[:1])
        if probe is None:
            return self._raw

        def flat(positions: Array) -> Array:
            read = model._read(positions)
            assert read is not None
            columns = [np.asarray(read[v.name], dtype=np.float64).reshape(len(positions), -1) for v in self._variables]
            return np.ascontiguousarray(np.concatenate(columns, axis=1))

        names = [name for variable in self._variables for name in variable.flat_names(self._coords)]
        raw = self._raw
        positions = [raw.draws(c) for c in range(raw.chains)]
        draws = [flat(each) for each in positions]
        kept = [flat(raw.kept(c)["values"]) for c in range(raw.chains)]
        return raw.with_quantities(names, monotone_coordinates(positions, draws), draws, kept)

    @cached_property
    def _variables(self) -> list[Variable]:
        if self._given_variables is not None:
            return self._given_variables
        if self._model is None:
            return grid_variables(self._raw.names)
        if self._model._read(np.zeros((0, len(self._raw.coordinates)))) is None:
            return grid_variables(self._raw.names)
        return self._model._variables(self._model._open(self.seed))

    def _columns(self) -> dict[str, Any]:
        """The columns of every variable, in its shape."""
        names = self._view.names
        if self._view is self._raw and not self._in_order:
            return {v.name: grid_columns(names, v) for v in self._variables}
        columns, begin = {}, 0
        for variable in self._variables:
            columns[variable.name] = np.arange(begin, begin + variable.size).reshape(variable.shape)
            begin += variable.size
        return columns

    @cached_property
    def draws(self) -> dict[str, Array]:
        """The draws by variable, of shape (chains, draws, ...)."""
        if self.size == 0:
            return {v.name: np.empty((self.chains, 0, *v.shape)) for v in self._variables}
        stacked = np.stack([self._view.draws(c) for c in range(self.chains)])
        return {name: stacked[..., columns] for name, columns in self._columns().items()}

    @cached_property
    def recycled(self) -> dict[str, Array]:
        """The recycled states by variable, of shape (chains, draws, states, ...); those variables that are known of them."""
        kept = [self._view.kept(c) for c in range(self.chains)]
        counts = {int(n) for k in kept for n in np.unique(np.diff(k["end"], prepend=0))}
        weights = np.concatenate([k["weight"] for k in kept])
        if len(counts) != 1 or counts == {0} or not np.allclose(weights, weights[0]):
            raise _core.DataError(
                f"recycle {self._raw.recycling!r} keeps no fixed number of equally weighted states; use states(chain)"
            )
        shape = (self.chains, self.size, counts.pop())
        stacked = np.stack([k["values"] for k in kept]).reshape(*shape, -1)
        known = {name: stacked[..., columns] for name, columns in self._columns().items()}
        # Generated quantities are drawn for draws alone; of a loaded run, only the model knows what it computes.
        return {name: values for name, values in known.items() if not np.isnan(values).all()}

    def states(self, chain: int) -> dict[str, Array]:
        """All kept states of a chain: ``values``, ``weight``, ``end`` (of each draw), ``positions``, ``gradients``.

        Parameters
        ----------
        chain : int
            Which chain.

        Examples
        --------
        >>> import rehmc
        >>> fit = rehmc.sample(rehmc.built_in("eight-schools"), draws=50, recycle="all", seed=1, progress=False)
        >>> states = fit.states(0)
        >>> len(states["weight"]) == len(states["positions"]) == int(states["end"][-1])
        True
        """
        return self._view.kept(chain)

    @cached_property
    def statistics(self) -> dict[str, Array]:
        """What the sampler says of every draw, of shape (chains, draws)."""
        each = [self._view.statistics(c) for c in range(self.chains)]
        stacked = {name: np.stack([s[name] for s in each]) for name in each[0]}
        return {k: v.astype(bool) if v.dtype == np.uint8 else v for k, v in stacked.items()}

    @property
    def divergences(self) -> int:
        """Draws after warmup whose trajectory diverged."""
        return int(self.statistics["diverging"].sum())

    def __getitem__(self, name: str) -> Array:
        return self.draws[name]

    # Summaries.

    @cached_property
    def _summary(self) -> dict[str, Any]:
        sharpen = bool(self._settings.get("sharpen", True))
        summary: dict[str, Any] = json.loads(self._view.summary(self.name, sharpen))
        if self._view is not self._raw or self._in_order:
            # Labels stay as they are: the library knows names of Stan programs only.
            for row, own in zip(summary["parameters"], self._view.names):
                row["name"] = own
        return summary

    @property
    def warnings(self) -> list[str]:
        """What is wrong with the run, in words; empty if nothing is."""
        return [warning["text"] for warning in self._summary["diagnostics"]["warnings"]]

    @property
    def not_sharpened(self) -> str:
        """Why nothing was sharpened; empty if something was."""
        return str(self._summary.get("not_sharpened", ""))

    def summary(self, kind: str = "sharpened") -> Table:
        """Means, sds and quantiles with their Monte Carlo errors.

        Parameters
        ----------
        kind : {"sharpened", "recycled", "plain"}
            Which estimates; those that were not sharpened, or not recycled, are the next best. The column ``kind``
            says which it is.

        Returns
        -------
        Table
            A row for every parameter; ``gain`` is how many times as many plain draws would give the same error of the
            mean. ``rhat``, ``ess_bulk`` and ``ess_tail`` are of the plain chain.

        Examples
        --------
        >>> import rehmc
        >>> fit = rehmc.sample(rehmc.built_in("eight-schools"), seed=1, progress=False)
        >>> table = fit.summary()
        >>> table.index[:2], table["kind"][0]
        (['mu', 'tau'], 'sharpened')
        >>> bool(table.row("mu")["gain"] > 1)
        True
        """
        return summary_table(self._summary["parameters"], require_kind(kind))

    def expect(self, function: Callable[[dict[str, Array]], Any], name: str = "value") -> Expectation:
        """Mean, sd and quantiles of any function of the parameters, plain, recycled and sharpened.

        Parameters
        ----------
        function : callable
            Gets the variables by name, each with one row for every state, and returns one number (or an array) for
            each state.
        name : str
            What to call it.

        Examples
        --------
        >>> import rehmc
        >>> fit = rehmc.sample(rehmc.built_in("eight-schools"), seed=1, progress=False)
        >>> best = fit.expect(lambda v: v["theta"].max(axis=1), "best")
        >>> best.mean > fit.summary().row("mu")["mean"]
        True
        """
        from ._expect import expectation

        return expectation(self, function, name)

    @property
    def weights(self) -> Array:
        """Positive weights that sharpen whatever you compute with them; they sum to 1.

        One for every recycled state, of shape (chains, draws, states), or for every draw of a fit by `rehmc.sharpen`.
        DataError if the run cannot be sharpened, or if there are no such weights. See ``docs/python.md``.

        Examples
        --------
        >>> import numpy as np
        >>> import rehmc
        >>> draws = np.random.default_rng(1).normal(size=(4, 500, 2))
        >>> fit = rehmc.sharpen(draws, -draws)
        >>> abs(float((fit.weights * draws[..., 0]).sum())) < 1e-6
        True
        """
        from ._weights import weights

        return weights(self)

    @property
    def effective_states(self) -> float:
        """How many states with equal weights `weights` are worth by themselves; few, if some carry most of the weight.

        Examples
        --------
        >>> import numpy as np
        >>> import rehmc
        >>> draws = np.random.default_rng(1).normal(size=(4, 500, 2))
        >>> 1000 < rehmc.sharpen(draws, -draws).effective_states < 2000
        True
        """
        from ._weights import effective_states

        return effective_states(self.weights)

    def resample(self, count: int, seed: int = 0) -> dict[str, Array]:
        """States with equal weights that carry `weights`: of shape (count, ...) by variable.

        Parameters
        ----------
        count : int
            How many.
        seed : int
            Of the one random number that systematic sampling takes.

        Examples
        --------
        >>> import rehmc
        >>> fit = rehmc.sample(rehmc.built_in("eight-schools"), seed=1, progress=False)
        >>> fit.resample(500)["theta"].shape
        (500, 8)
        """
        from ._weights import systematic

        weights = self.weights
        chosen = systematic(weights.ravel(), count, seed)
        if weights.ndim == 1:
            raise _core.DataError("draws kept different numbers of states; use weights and states(chain)")
        source = self.draws if weights.ndim == 2 else self.recycled
        return {name: values.reshape(-1, *values.shape[weights.ndim :])[chosen] for name, values in source.items()}

    # Plots.

    def plot_gain(self, axes: Any = None) -> Any:
        """How many plain draws one draw is worth for the mean of every parameter, recycled and sharpened. Needs matplotlib.

        Parameters
        ----------
        axes : matplotlib axes, optional
            Where to draw; default: a figure of its own.
        """
        from ._plots import gain

        return gain(self, axes)

    def plot_intervals(self, names: Sequence[str] | None = None, axes: Any = None) -> Any:
        """Medians and 90% intervals, plain and sharpened, with the errors of their ends. Needs matplotlib.

        Parameters
        ----------
        names : sequence of str, optional
            Which parameters, as the summary calls them; default: all.
        axes : matplotlib axes, optional
            Where to draw.
        """
        from ._plots import intervals

        return intervals(self, None if names is None else list(names), axes)

    def plot_trajectory(self, x: str, y: str, chain: int = 0, draw: int = 0, axes: Any = None) -> Any:
        """What was kept of the trajectory of one draw, in the plane of two parameters. Needs matplotlib.

        Parameters
        ----------
        x, y : str
            The parameters, as the summary calls them.
        chain, draw : int
            Which draw.
        axes : matplotlib axes, optional
            Where to draw.
        """
        from ._plots import trajectory

        return trajectory(self, x, y, chain, draw, axes)

    def __getattr__(self, name: str) -> Any:
        """All plots of ArviZ: ``fit.plot_rank()`` is its ``plot_rank(fit.to_arviz())``."""
        if not name.startswith("plot_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        from ._plots import plot_of_arviz

        return plot_of_arviz(self, name)

    # Files and other programs.

    def to_arviz(self, weights: bool = False) -> Any:
        """An InferenceData of ArviZ 0.x, or a DataTree of 1.x, with groups for recycled states and sharpened estimates.

        Parameters
        ----------
        weights : bool
            Whether to add the logarithms of `weights`, as the variable ``log_weight``: in the group
            ``recycled_sample_stats`` for every recycled state, or, of a fit by `rehmc.sharpen`, in ``sample_stats`` for
            every draw.
        """
        from ._arviz import to_arviz

        return to_arviz(self, weights)

    def report(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Writes the page about the run: one HTML file that opens offline.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        Path
            The same.
        """
        sharpen = bool(self._settings.get("sharpen", True))
        target = pathlib.Path(path)
        target.write_text(self._view.report(self.name, sharpen), encoding="utf-8")
        return target

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves the run in a folder, from which `load` and `resume` read it.

        A run that was sampled with ``output`` is copied as it is, and the command can continue it.

        Parameters
        ----------
        path : path
            A folder that does not exist, or is empty.
        """
        target = pathlib.Path(path)
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise _core.FileError(f"{target}: exists and is not an empty folder; choose another")
        source = self._path()
        if source is not None:
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
            return
        target.mkdir(parents=True, exist_ok=True)
        meta = {
            "format": "rehmc fit",
            "name": self.name,
            "settings": self._settings,
            "width": self._width,
            "identity": self._identity if self._model is None else self._model._open(self.seed).identity,
            "variables": [[v.name, v.shape, v.dims] for v in self._variables],
            "coords": {k: [str(each) for each in v] for k, v in self._coords.items()},
        }
        viewed = None if self._view is self._raw else self._view
        _write_whole(target / "states.bin", self._raw.to_bytes())
        if viewed is not None:
            _write_whole(target / "draws.bin", viewed.to_bytes())
        _write_whole(target / "fit.json", json.dumps(meta, indent=1).encode())

    def _path(self) -> pathlib.Path | None:
        if self._folder is None:
            return None
        return self._folder if isinstance(self._folder, pathlib.Path) else pathlib.Path(self._folder.name, "run")

    def extend(self, draws: int, progress: bool = True) -> Fit:
        """Takes this many more draws in every chain, or, of a run that was stopped, first those that are missing.

        The draws are those that one longer run would have given, bit for bit. Returns the same fit.

        Parameters
        ----------
        draws : int
            How many more; 0: only those that are missing.
        progress : bool
            Whether to show progress.

        Examples
        --------
        >>> import rehmc
        >>> model = rehmc.built_in("eight-schools")
        >>> fit = rehmc.sample(model, draws=100, seed=1, progress=False)
        >>> fit.extend(50, progress=False).size
        150
        """
        if isinstance(draws, bool) or not isinstance(draws, (int, np.integer)) or draws < 0:
            raise _core.ConfigError(f"draws: found {draws!r}, expected a whole number")
        self._continue(int(draws), progress)
        return self

    def _continue(self, more: int, progress: bool) -> None:
        from ._sample import run

        if self._model is None:
            raise _core.ConfigError(f"{self.name}: the model is not known; give it to rehmc.resume(path, model)")
        opened = self._model._open(self.seed)
        if self._identity not in (None, opened.identity):
            raise _core.DataError(
                f"{self.name}: the model is not the one that was sampled: its code, its data or its parameters changed; start a new run"
            )
        path = self._path()
        if path is not None:
            self._raw = run(
                lambda control: _core.continue_in_folder(opened, os.fspath(path), control, self._width, more), progress
            )
        else:
            before = self._settings.get("draws")
            if not isinstance(before, (int, np.integer)):
                raise _core.DataError(f"{self.name}: has no settings with which it could be continued")
            longer = {**self._settings, "draws": int(before) + more}
            run(lambda control: _core.extend(self._raw, opened, longer, control, self._width), progress)
            self._settings = longer
        for cached in ("_view", "draws", "recycled", "statistics", "_summary"):
            self.__dict__.pop(cached, None)

    # As text.

    def _head(self) -> str:
        more = "" if self.complete else "; stopped before the end"
        return f"{self.name}: {self.chains} chains x {self.size} draws, seed {self.seed}{more}"

    def __repr__(self) -> str:
        if self.size < 4:
            return f"<{self._head()}>"
        return "\n".join([self._head(), "", repr(self.summary()), *(f"\nWarning: {text}" for text in self.warnings)])

    def _repr_html_(self) -> str:
        import html

        if self.size < 4:
            return f"<p>{html.escape(self._head())}</p>"
        notes = "".join(f"<p><b>Warning:</b> {html.escape(text)}</p>" for text in self.warnings)
        return f"<p>{html.escape(self._head())}</p>{self.summary()._repr_html_()}{notes}"


def _write_whole(path: pathlib.Path, content: bytes) -> None:
    """The file is complete, or as it was before."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_bytes(content)
    os.replace(temporary, path)


def monotone_coordinates(positions: Sequence[Array], values: Sequence[Array]) -> list[int]:
    """For every quantity, the coordinate of which it is a monotone function, or -1: judged by all draws."""
    x, y = np.concatenate(positions), np.concatenate(values)
    found = [-1] * y.shape[1]
    # That a few rows agree by chance has a probability of 2 / 40!; all rows are asked only then.
    few = slice(0, 40)
    for i in range(x.shape[1]):
        order = np.argsort(x[few, i])
        steps = np.diff(y[few][order], axis=0)
        for q in np.flatnonzero((steps > 0).all(axis=0) | (steps < 0).all(axis=0)):
            whole = np.diff(y[np.argsort(x[:, i], kind="stable"), q])
            if len(x) >= 40 and ((whole >= 0).all() or (whole <= 0).all()):
                found[int(q)] = i
    return found


def summary_table(parameters: Sequence[Mapping[str, Any]], kind: str) -> Table:
    """The table of estimates of one kind, or where there are none, of the next best."""
    order = KINDS[: KINDS.index(kind) + 1][::-1]
    columns: dict[str, list[Any]] = {}
    for row in parameters:
        best = next(k for k in order if k in row)
        estimate, plain = row[best], row["plain"]
        mcse, mcse_plain = _fixed(estimate["mcse_mean"]), _fixed(plain["mcse_mean"])
        values = {
            "mean": estimate["mean"], "mcse_mean": mcse, "sd": estimate["sd"], "mcse_sd": estimate["mcse_sd"],
            "q5": estimate.get("q5"), "mcse_q5": estimate.get("mcse_q5"), "q50": estimate.get("q50"),
            "mcse_q50": estimate.get("mcse_q50"), "q95": estimate.get("q95"), "mcse_q95": estimate.get("mcse_q95"),
            "gain": (mcse_plain / mcse) ** 2 if mcse > 0 else math.nan,
            "rhat": plain["rhat"], "ess_bulk": plain["ess_bulk"], "ess_tail": plain["ess_tail"],
        }
        for name, value in values.items():
            columns.setdefault(name, []).append(_fixed(value))
        columns.setdefault("kind", []).append(best)
    return Table([row["name"] for row in parameters], columns)


def load(path: str | os.PathLike[str]) -> Fit:
    """Reads a run that `Fit.save`, `sample(output=...)` or the command wrote. The model is not needed.

    Examples
    --------
    >>> import rehmc, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fit = rehmc.sample(rehmc.built_in("eight-schools"), draws=50, seed=1, output=f"{folder}/run", progress=False)
    ...     again = rehmc.load(f"{folder}/run")
    >>> bool((again.draws["mu"] == fit.draws["mu"]).all())
    True
    """
    return _load(pathlib.Path(path), None)


def _load(folder: pathlib.Path, model: Model | None) -> Fit:
    if os.path.lexists(folder / "fit.json"):
        return _load_saved(folder, model)
    result, name, settings, _ = _core.load_folder(os.fspath(folder))
    return Fit(result, model, settings, folder=folder, name=name)


def _read_saved(path: pathlib.Path) -> bytes:
    """In a folder of somebody else, a link or a device could lead to any file, or never end."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise _core.DataError(f"{path}: is a link, a folder or a device, but a fit is ordinary files; put the file itself there")
        return path.read_bytes()
    except OSError as error:
        raise _core.FileError(f"{error.filename}: {error.strerror}") from error


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)


def _saved_variable(entry: Any) -> Variable:
    name, shape, dims = entry
    numbers = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in shape)
    _require(isinstance(name, str) and numbers and all(isinstance(d, str) for d in dims), "a variable has no such shape")
    return Variable(name, tuple(shape), tuple(dims))


def _describe_columns(variables: Sequence[Variable], names: Sequence[str], in_order: bool) -> bool:
    """Whether every column belongs to one element of one variable."""
    if sum(math.prod(v.shape) for v in variables) != len(names):
        return False
    try:
        columns = [column for v in variables for column in grid_columns(names, v).ravel().tolist()] if not in_order else []
    except (IndexError, ValueError):
        return False
    return in_order or sorted(columns) == list(range(len(names)))


def _load_saved(folder: pathlib.Path, model: Model | None) -> Fit:
    text = _read_saved(folder / "fit.json")
    try:
        meta = json.loads(text)
        variables = [_saved_variable(entry) for entry in meta["variables"]]
        settings, coords, width, name = (meta[key] for key in ("settings", "coords", "width", "name"))
        identity = meta.get("identity")
        _require(identity is None or isinstance(identity, str), "its identity is no hash")
        _require(isinstance(settings, dict) and isinstance(name, str), "its name or its settings are of another kind")
        _require(isinstance(coords, dict) and all(isinstance(c, list) for c in coords.values()), "coords are no lists")
        _require(isinstance(width, int) and 0 <= width < 2**31, "its width is no such number")
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise _core.DataError(f"{folder / 'fit.json'}: is damaged: {error}") from error
    viewed = folder / "draws.bin"
    # With the model, the states suffice; without it, what it read of them was saved.
    reads = model is None and os.path.lexists(viewed)
    states = viewed if reads else folder / "states.bin"
    content = _read_saved(states)
    try:
        result = _core.from_bytes(content)
    except _core.DataError as error:
        raise _core.DataError(f"{states}: {error}") from error
    if model is None and not _describe_columns(variables, result.names, in_order=reads):
        raise _core.DataError(f"{folder / 'fit.json'}: its variables are not those of {states}")
    return Fit(result, model, settings, width=width, name=name, variables=variables, coords=coords, in_order=reads, identity=identity)


def resume(path: str | os.PathLike[str], model: Model, progress: bool = True) -> Fit:
    """Continues a run that was stopped, as if nothing had happened; `model` must be the one that was sampled.

    Examples
    --------
    >>> import rehmc, tempfile
    >>> model = rehmc.built_in("eight-schools")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fit = rehmc.sample(model, draws=50, seed=1, output=f"{folder}/run", progress=False)
    ...     rehmc.resume(f"{folder}/run", model, progress=False).complete
    True
    """
    from ._sample import model_of

    fit = _load(pathlib.Path(path), model_of(model))
    fit._continue(0, progress)
    return fit
