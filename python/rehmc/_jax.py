"""Models in JAX and NumPyro. JAX is imported only when they are used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import _core
from ._functions import _Function, coordinate_names
from ._models import Array, Model, Variable


def _require_x64() -> Any:
    import jax

    if not jax.config.jax_enable_x64:
        raise _core.ConfigError(
            "JAX computes with 32 bits, too few for the energies of trajectories; before all else, run "
            'jax.config.update("jax_enable_x64", True), or set JAX_ENABLE_X64=1'
        )
    return jax


def packed(value_and_gradient: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same as one vector, since every array that JAX returns costs microseconds."""
    import jax.numpy as jnp

    def joined(x: Any) -> Any:
        value, slope = value_and_gradient(x)
        return jnp.concatenate([jnp.reshape(value, 1), slope])

    return joined


def _leaf_name(path: Any) -> str:
    return ".".join(str(getattr(key, "key", getattr(key, "name", getattr(key, "idx", key)))) for key in path)


class _Tree(_Function):
    """A log density of a pytree, in JAX."""

    def __init__(
        self, log_density: Callable[[Any], Any], example: Any, read: Callable[[Any], Any] | None, name: str, version: str
    ) -> None:
        jax = _require_x64()
        from jax.flatten_util import ravel_pytree

        if isinstance(example, (int, np.integer)) and not isinstance(example, bool):
            flat = np.zeros(int(example)) if example > 0 else np.zeros(0)
            self._unravel: Callable[[Any], Any] = lambda x: {"x": x}
            names = coordinate_names(int(example), None)

            def of_vector(x: Any) -> Any:
                return log_density(x)
        else:
            floats = jax.tree_util.tree_map(lambda leaf: jax.numpy.asarray(leaf, dtype="float64"), example)
            flat, self._unravel = ravel_pytree(floats)
            names = []
            for path, leaf in jax.tree_util.tree_flatten_with_path(floats)[0]:
                base = _leaf_name(path) or "x"
                names += [".".join([base, *(str(i + 1) for i in index)]) for index in np.ndindex(*leaf.shape)]

            def of_vector(x: Any) -> Any:
                return log_density(self._unravel(x))

        value_and_gradient = packed(jax.value_and_grad(of_vector))
        self._read_many = jax.jit(jax.vmap(lambda x: (read or (lambda tree: tree))(self._unravel(x))))
        many = jax.jit(jax.vmap(value_and_gradient))
        # XLA rounds differently for different numbers of rows, so calls of a batch are padded.
        super().__init__(
            jax.jit(value_and_gradient), len(flat), many=many, names=names, name=name, version=version, pads=True, packed=True
        )

    def _read(self, positions: Array) -> dict[str, Array]:
        import jax

        count = len(positions)
        # At least one row, of which the shapes are seen.
        rows = positions if count else np.zeros((1, positions.shape[1]))
        leaves = jax.tree_util.tree_flatten_with_path(self._read_many(rows))[0]
        return {_leaf_name(path) or "x": np.asarray(leaf, dtype=np.float64)[:count] for path, leaf in leaves}

    def _variables(self, opened: _core.Model) -> list[Variable]:
        read = self._read(np.zeros((1, opened.dimension)))
        return [Variable(name, value.shape[1:]) for name, value in read.items()]


def jax(
    log_density: Callable[[Any], Any],
    example: Any,
    *,
    read: Callable[[Any], Any] | None = None,
    name: str = "jax",
    version: str = "",
) -> Model:
    """A log density in JAX; it is compiled, differentiated, and, for ``engine="batch"``, vectorised.

    Parameters
    ----------
    log_density : callable
        Of a pytree like `example`, or of a vector if that is a number. Parameters are unconstrained.
    example : pytree or int
        A pytree with the shapes of the parameters, or the dimension of a vector.
    read : callable, optional
        What to show of a pytree: another pytree, such as the parameters on their own scales.
    name, version : str, optional
        Identify the model of a run that is resumed.

    Examples
    --------
    >>> import jax
    >>> jax.config.update("jax_enable_x64", True)
    >>> import jax.numpy as jnp
    >>> import rehmc
    >>> def log_density(p):
    ...     return -0.5 * p["mu"] ** 2 - 0.5 * jnp.sum((p["theta"] - p["mu"]) ** 2)
    >>> model = rehmc.jax(log_density, {"mu": 0.0, "theta": jnp.zeros(3)})
    >>> rehmc.sample(model, draws=50, seed=1, progress=False).draws["theta"].shape
    (4, 50, 3)
    """
    return _Tree(log_density, example, read, name, version)


class _NumPyro(_Tree):
    def __init__(self, model: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> None:
        jax = _require_x64()
        from numpyro.infer.util import initialize_model

        info = initialize_model(
            jax.random.PRNGKey(0), model, model_args=args, model_kwargs=kwargs, dynamic_args=False, validate_grad=False
        )
        super().__init__(lambda z: -info.potential_fn(z), info.param_info.z, info.postprocess_fn, name, "")
        self._given = model, args, kwargs
        self._sites = list(info.param_info.z)
        self._dims: dict[str, tuple[str, ...]] = {}
        for site, trace in info.model_trace.items():
            if trace["type"] == "plate":
                continue
            frames = sorted(trace.get("cond_indep_stack") or [], key=lambda frame: frame.dim)
            self._dims[site] = tuple(frame.name for frame in frames)
            for frame in frames:
                self.coords.setdefault(frame.name, list(range(frame.size)))

    def _variables(self, opened: _core.Model) -> list[Variable]:
        found = []
        for variable in super()._variables(opened):
            dims = self._dims.get(variable.name, ())
            # Dimensions of plates come first; those of events follow.
            events = tuple(f"{variable.name}_dim_{k}" for k in range(len(dims), len(variable.shape)))
            fits = len(dims) <= len(variable.shape) and all(
                len(self.coords[dim]) == size for dim, size in zip(dims, variable.shape)
            )
            found.append(Variable(variable.name, variable.shape, (*dims, *events) if fits and dims else ()))
        return found

    def _unconstrain(self, values: Mapping[str, Array]) -> Array:
        import jax
        from jax.flatten_util import ravel_pytree
        from numpyro.infer.util import unconstrain_fn

        missing = [site for site in self._sites if site not in values]
        if missing:
            raise _core.DataError(f"draws: there is no {missing[0]!r}, which the model samples")
        known = {site: np.asarray(values[site], dtype=np.float64) for site in self._sites}
        model, args, kwargs = self._given
        one: Callable[[Any], Any] = lambda row: ravel_pytree(unconstrain_fn(model, args, kwargs, row))[0]
        return np.asarray(jax.jit(jax.vmap(one))(known), dtype=np.float64)


def numpyro(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Model:
    """A model of NumPyro.

    Parameters
    ----------
    model : callable
        The model.
    *args, **kwargs
        Its arguments, data included. Plates become dimensions of the same names.

    Examples
    --------
    >>> import jax
    >>> jax.config.update("jax_enable_x64", True)
    >>> import numpyro, numpyro.distributions as dist
    >>> import rehmc
    >>> def model(y):
    ...     mu = numpyro.sample("mu", dist.Normal(0, 5))
    ...     numpyro.sample("y", dist.Normal(mu, 1), obs=y)
    >>> fit = rehmc.sample(rehmc.numpyro(model, 2.0), draws=50, seed=1, progress=False)
    >>> fit.draws["mu"].shape
    (4, 50)
    """
    return _NumPyro(model, args, kwargs, getattr(model, "__name__", "numpyro"))
