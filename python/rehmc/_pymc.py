"""Models of PyMC, compiled by its own compilers. PyMC is imported only when they are used."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import _core
from ._functions import _CFunction, _Function
from ._models import Array, Model, Variable

BACKENDS = ("auto", "numba", "jax", "c")


def _frozen(model: Any) -> Any:
    """A copy in which dimensions and data are constants. PyMC copies no initial values, which we do not need."""
    from pymc.model.transform.optimization import freeze_dims_and_data

    own = dict(model.rvs_to_initial_values)
    try:
        for rv in own:
            model.rvs_to_initial_values[rv] = None
        return freeze_dims_and_data(model)
    finally:
        model.rvs_to_initial_values.update(own)


class _Parts:
    """The log density of a model of PyMC as a function of one vector, and what users read of it."""

    def __init__(self, model: Any) -> None:
        import pytensor
        import pytensor.tensor as pt
        if not model.free_RVs:
            raise _core.ModelError("the model has no free variables, so there is nothing to sample")
        discrete = [rv.name for rv in model.free_RVs if rv.dtype.startswith(("int", "uint", "bool"))]
        if discrete:
            raise _core.ModelError(f"{discrete[0]} is discrete, and has no gradient; marginalise it")
        frozen = _frozen(model)
        # By name, in the order of the model itself: the frozen copy may list its variables in another.
        free = [frozen[rv.name] for rv in model.free_RVs]
        values = [frozen.rvs_to_values[rv] for rv in free]
        start = frozen.initial_point()
        self.names: list[str] = []
        self.vector = pt.vector("rehmc_vector", dtype="float64", shape=(sum(start[v.name].size for v in values),))
        replace, begin = {}, 0
        for value in values:
            shape = start[value.name].shape
            size = int(np.prod(shape, dtype=int))
            part = self.vector[begin : begin + size].reshape(shape) if shape else self.vector[begin]
            replace[value] = part.astype(value.dtype)
            self.names += [".".join([value.name, *(str(i + 1) for i in index)]) for index in np.ndindex(*shape)]
            begin += size
        self.start = np.concatenate([np.ravel(start[v.name]) for v in values]).astype(np.float64)
        log_density = frozen.logp()
        slopes = pytensor.grad(log_density, values)
        gradient = pt.concatenate([pt.as_tensor(slope).ravel() for slope in slopes])
        read_names = [rv.name for rv in [*model.free_RVs, *model.deterministics]]
        read = frozen.replace_rvs_by_values([frozen[name] for name in read_names])
        graph = pytensor.graph.clone_replace([log_density, gradient, *read], replace=replace)
        self.log_density, self.gradient, self.read = graph[0], graph[1], dict(zip(read_names, graph[2:]))
        # What takes the constraints away, of draws by name.
        inputs = {rv: rv.type(name=rv.name) for rv in free}
        forward = []
        for rv in free:
            transform = frozen.rvs_to_transforms[rv]
            forward.append(rv if transform is None else transform.forward(rv, *rv.owner.inputs))
        self.inputs = list(inputs.values())
        self.forward = pytensor.graph.clone_replace(forward, replace=inputs)
        self.dims = {name: tuple(dims) for name, dims in model.named_vars_to_dims.items() if None not in dims}
        lengths = {name: int(length.eval()) for name, length in model.dim_lengths.items()}
        self.coords = {
            dim: list(range(lengths[dim])) if model.coords.get(dim) is None else list(model.coords[dim]) for dim in lengths
        }

    def unconstrain(self, values: Mapping[str, Array]) -> Array:
        """The vectors of draws by name, one row for each."""
        import pytensor
        import pytensor.tensor as pt
        from pytensor.graph.replace import vectorize_graph

        missing = [each.name for each in self.inputs if each.name not in values]
        if missing:
            raise _core.DataError(f"draws: there is no {missing[0]!r}, which the model samples")
        rows = {each: pt.tensor(each.name, dtype=each.dtype, shape=(None, *each.type.shape)) for each in self.inputs}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = pytensor.function(list(rows.values()), vectorize_graph(self.forward, rows), on_unused_input="ignore")
        found = compiled(*(np.asarray(values[each.name], dtype=each.dtype) for each in self.inputs))
        return np.concatenate([np.reshape(each, (len(each), -1)) for each in found], axis=1).astype(np.float64)

    def reader(self) -> Callable[[Array], list[Array]]:
        """All variables at many positions, one per row, by one call."""
        import pytensor
        import pytensor.tensor as pt
        from pytensor.graph.replace import vectorize_graph

        rows = pt.matrix("rehmc_rows", dtype="float64")
        outputs = list(self.read.values())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled: Callable[[Array], list[Array]] = pytensor.function(
                [rows], vectorize_graph(outputs, {self.vector: rows}), on_unused_input="ignore"
            )
        return compiled


class _PyMC(Model):
    """Adds what users read to a model that computes the log density."""

    def __init__(self, parts: _Parts, density: Model, name: str) -> None:
        super().__init__(name)
        self._density, self._parts = density, parts
        self._pads = density._pads
        self.coords = parts.coords
        self._reader: Callable[[Array], list[Array]] | None = None

    def _open(self, seed: int) -> _core.Model:
        return self._density._open(seed)

    def _unconstrain(self, values: Mapping[str, Array]) -> Array:
        return self._parts.unconstrain(values)

    def _read(self, positions: Array) -> dict[str, Array]:
        if self._reader is None:
            self._reader = self._parts.reader()
        count = len(positions)
        rows = positions if count else self._parts.start[None]
        values = {}
        for (name, scalar), value in zip(self._parts.read.items(), self._reader(rows)):
            # What does not depend on the parameters comes without rows.
            whole = np.asarray(value, dtype=np.float64)
            shape = (len(rows), *whole.shape[whole.ndim - scalar.ndim :])
            values[name] = np.broadcast_to(whole, shape)[:count]
        return values

    def _variables(self, opened: _core.Model) -> list[Variable]:
        found = []
        for name, value in self._read(self._parts.start[None]).items():
            dims = self._parts.dims.get(name, ())
            found.append(Variable(name, value.shape[1:], dims if len(dims) == value.ndim - 1 else ()))
        return found


def _by_numba(parts: _Parts, name: str) -> Model:
    import numba
    import pytensor

    dim = len(parts.names)
    compiled = pytensor.function([parts.vector], [parts.log_density, parts.gradient], mode="NUMBA").vm.jit_fn
    doubles = numba.types.CPointer(numba.types.float64)
    signature = numba.types.int64(numba.types.uint64, doubles, doubles, doubles, numba.types.voidptr)

    def call(size, x, gradient, log_density, user_data):  # type: ignore[no-untyped-def]
        try:
            value, slope = compiled(numba.carray(x, (dim,)))
            numba.carray(log_density, (1,))[0] = value.item()
            numba.carray(gradient, (dim,))[:] = slope
        except Exception:  # noqa: BLE001: of numpy functions that fail at this point, as a Cholesky factor may
            return 1
        return 0

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", numba.NumbaWarning)
        function = numba.cfunc(signature)(call)
    return _CFunction(function.address, 0, (function, compiled), parts.names, name, "")


def _by_jax(parts: _Parts, name: str) -> Model:
    import pytensor

    from ._jax import _require_x64, packed

    jax = _require_x64()
    compiled = packed(pytensor.function([parts.vector], [parts.log_density, parts.gradient], mode="JAX").vm.jit_fn)
    many = jax.jit(jax.vmap(compiled))
    return _Function(
        jax.jit(compiled), len(parts.names), many=many, names=parts.names, name=name, pads=True, packed=True
    )


def _by_c(parts: _Parts, name: str) -> Model:
    import pytensor

    compiled = pytensor.function([parts.vector], [parts.log_density, parts.gradient])
    compiled.trust_input = True
    lock = threading.Lock()  # its storage belongs to one thread at a time

    def call(x: Array) -> tuple[Any, Any]:
        with lock:
            value, slope = compiled(x.copy())
            return value, np.array(slope)

    return _Function(call, len(parts.names), names=parts.names, name=name)


def pymc(model: Any, backend: str = "auto", *, name: str = "pymc") -> Model:
    """A model of PyMC. (For bambi, give ``model.backend.model``.)

    Parameters
    ----------
    model : pymc.Model
        The model. Its dimensions and coordinates carry through by name, its deterministics are computed after the run.
    backend : {"auto", "numba", "jax", "c"}
        Which of PyMC's compilers to use. ``auto``: numba, if it is installed, else C. Only ``jax`` has calls for
        ``engine="batch"``.
    name : str
        Shown in tables, and identifies the model of a run that is resumed.

    Examples
    --------
    >>> import pymc as pm
    >>> import rehmc
    >>> with pm.Model(coords={"school": ["A", "B"]}) as model:
    ...     mu = pm.Normal("mu")
    ...     theta = pm.Normal("theta", mu, 1, dims="school")
    >>> fit = rehmc.sample(rehmc.pymc(model), draws=50, seed=1, progress=False)
    >>> fit.summary().index
    ['mu', 'theta[A]', 'theta[B]']
    """
    if backend not in BACKENDS:
        raise _core.ConfigError(f"backend: found {backend!r}, expected one of {', '.join(BACKENDS)}")
    parts = _Parts(model)
    if backend == "auto":
        from importlib.util import find_spec

        backend = "numba" if find_spec("numba") else "c"
    compilers = {"numba": _by_numba, "jax": _by_jax, "c": _by_c}
    return _PyMC(parts, compilers[backend](parts, name), name)
