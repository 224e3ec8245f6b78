"""Models that are functions: of Python, or compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._models import Array, Model, Variable, grid_variables

#: `f(x)` returns the log density at x and its gradient there.
ValueAndGradient = Callable[[Array], tuple[Any, Any]]


class Reject(Exception):
    """Raised by a model's function, it rejects the point, as a log density of -inf does; the run goes on.

    Any other exception ends the run.

    Examples
    --------
    >>> import numpy as np
    >>> import rehmc
    >>> def positive(x):
    ...     if x[0] <= 0:
    ...         raise rehmc.Reject("x must be positive")
    ...     return -x[0], np.array([-1.0])
    >>> fit = rehmc.sample(rehmc.function(positive, 1), init=[1.0], seed=1, progress=False)
    >>> bool(fit.draws["x"].min() > 0)
    True
    """


def coordinate_names(dim: int, names: Sequence[str] | None) -> list[str]:
    """One name for each coordinate."""
    if isinstance(dim, bool) or not isinstance(dim, (int, np.integer)) or dim < 1:
        raise _core.ConfigError(f"dim: found {dim!r}, expected a whole number of at least 1")
    if names is None:
        return ["x"] if dim == 1 else [f"x.{i + 1}" for i in range(int(dim))]
    given = [str(name) for name in names]
    if len(given) != dim or len(set(given)) != len(given):
        raise _core.ConfigError(f"names: found {len(set(given))} different names, expected {dim}")
    return given


class _Function(Model):
    def __init__(
        self,
        single: ValueAndGradient | Callable[[Array], Any],
        dim: int,
        *,
        many: ValueAndGradient | Callable[[Array], Any] | None = None,
        names: Sequence[str] | None = None,
        transforms: Mapping[str, Callable[[Array], Any]] | None = None,
        name: str = "function",
        version: str = "",
        pads: bool = False,
        packed: bool = False,
    ) -> None:
        super().__init__(name)
        for what, each in {"f": single, **({} if many is None else {"batch": many})}.items():
            if not callable(each):
                raise _core.ConfigError(f"{what}: found {each!r}, expected a function of a point")
        self._names = coordinate_names(dim, names)
        self._transforms = dict(transforms or {})
        unknown = [each for each in self._transforms if each not in {v.name for v in grid_variables(self._names)}]
        if unknown:
            raise _core.ConfigError(f"transforms: there is no parameter {unknown[0]!r}")
        self._pads = pads
        self._opened = _core.function_model(single, many, Reject, self._names, name, version, packed)

    def _open(self, seed: int) -> _core.Model:
        return self._opened

    def _variables(self, opened: _core.Model) -> list[Variable]:
        if not self._transforms:
            return super()._variables(opened)
        return [Variable(name, value.shape[1:]) for name, value in self._transformed(np.zeros((1, opened.dimension))).items()]

    def _read(self, positions: Array) -> dict[str, Array] | None:
        return self._transformed(positions) if self._transforms else None

    def _transformed(self, positions: Array) -> dict[str, Array]:
        from ._models import grid_columns

        values = {}
        for variable in grid_variables(self._names):
            value = positions[:, grid_columns(self._names, variable)]
            transform = self._transforms.get(variable.name)
            values[variable.name] = value if transform is None else np.asarray(transform(value), dtype=np.float64)
            if values[variable.name].shape[:1] != positions.shape[:1]:
                raise _core.ConfigError(
                    f"transforms: that of {variable.name!r} returned an array of shape {values[variable.name].shape} for "
                    f"{len(positions)} states; it must accept many states at once, one per row"
                )
        return values


def function(
    f: ValueAndGradient,
    dim: int,
    names: Sequence[str] | None = None,
    transforms: Mapping[str, Callable[[Array], Any]] | None = None,
    *,
    batch: ValueAndGradient | None = None,
    name: str = "function",
    version: str = "",
) -> Model:
    """A model that is a function of Python.

    Parameters
    ----------
    f : callable
        ``f(x)`` returns the log density at x, up to a constant, and its gradient. The log density may be NaN or -inf
        where there is none; an exception ends the run, except for `Reject`.
    dim : int
        The number of coordinates of x, which are unconstrained.
    names : sequence of str, optional
        One name for each; ``theta.1``, ``theta.2``, ... are the elements of one array.
    transforms : mapping of str to callable, optional
        How parameters are shown, by name: ``{"log_tau": np.exp}``. A transform gets the values of many states at once,
        one per row.
    batch : callable, optional
        ``batch(X)`` returns the log densities and gradients of all rows of X; used by ``engine="batch"``.
    name, version : str, optional
        Identify the model of a run that is resumed: change one of them when you change the function.

    Examples
    --------
    >>> import numpy as np
    >>> import rehmc
    >>> def normal(x):
    ...     return -0.5 * x @ x, -x
    >>> model = rehmc.function(normal, 2, names=["mu", "log_tau"], transforms={"log_tau": np.exp})
    >>> sorted(rehmc.sample(model, draws=100, seed=1, progress=False).draws)
    ['log_tau', 'mu']
    """
    return _Function(f, dim, many=batch, names=names, transforms=transforms, name=name, version=version, pads=batch is not None)


class _CFunction(Model):
    def __init__(self, address: int, data: int, owner: object, names: list[str], name: str, version: str) -> None:
        super().__init__(name)
        self._opened = _core.c_model(address, data, owner, names, name, version)

    def _open(self, seed: int) -> _core.Model:
        return self._opened


def cfunc(
    function: Any, dim: int, user_data: Any = 0, *, names: Sequence[str] | None = None, name: str = "cfunc", version: str = ""
) -> Model:
    """A model that is a compiled function, called without the interpreter.

    Parameters
    ----------
    function : numba cfunc or int
        ``int64 f(uint64 dim, double *x, double *gradient, double *log_density, void *user_data)``, or its address. It
        returns 0; a positive number rejects the point, a negative one ends the run.
    dim : int
        The number of coordinates.
    user_data : numpy array or int, optional
        What the function gets as its last argument: the data of an array, or an address.
    names : sequence of str, optional
        One name for each coordinate.
    name, version : str, optional
        Identify the model of a run that is resumed.

    Examples
    --------
    >>> import ctypes
    >>> import rehmc
    >>> pointer = ctypes.POINTER(ctypes.c_double)
    >>> @ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, pointer, pointer, pointer, ctypes.c_void_p)
    ... def normal(dim, x, gradient, log_density, user_data):
    ...     log_density[0] = -0.5 * x[0] ** 2
    ...     gradient[0] = -x[0]
    ...     return 0
    >>> address = ctypes.cast(normal, ctypes.c_void_p).value
    >>> rehmc.sample(rehmc.cfunc(address, 1), draws=100, seed=1, progress=False).draws["x"].shape
    (4, 100)
    """
    address = getattr(function, "address", function)
    data = user_data.ctypes.data if isinstance(user_data, np.ndarray) else user_data
    for what, value in (("function", address), ("user_data", data)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
            raise _core.ConfigError(f"{what}: found {value!r}, expected a numba cfunc, an array or an address")
    return _CFunction(int(address), int(data), (function, user_data), coordinate_names(dim, names), name, version)
