"""Hamiltonian Monte Carlo that throws no gradient away.

`sample` draws from the posterior of a model, which `function`, `cfunc`, `stan`, `jax`, `numpyro`, `pymc` and
`built_in` make. The result, a `Fit`, holds draws and recycled states, and summarises both.

>>> import numpy as np
>>> import rehmc
>>> model = rehmc.function(lambda x: (-0.5 * x @ x, -x), dim=3)
>>> fit = rehmc.sample(model, draws=500, seed=1, progress=False)
>>> fit.draws["x"].shape
(4, 500, 3)
>>> bool(abs(fit.summary()["mean"]).max() < 0.2)
True
"""

from ._core import ConfigError, DataError, Error, FileError, ModelError, __version__
from ._fit import Fit, load, resume
from ._functions import Reject, cfunc, function
from ._jax import jax, numpyro
from ._models import Model, built_in
from ._pymc import pymc
from ._sample import sample
from ._sharpen import sharpen
from ._stan import stan
from ._table import Table

__all__ = [
    "ConfigError", "DataError", "Error", "FileError", "Fit", "Model", "ModelError", "Reject", "Table", "__version__",
    "built_in", "cfunc", "function", "jax", "load", "numpyro", "pymc", "resume", "sample", "sharpen", "stan",
]
