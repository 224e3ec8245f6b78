"""Stan programs, interpreted or compiled, and libraries by BridgeStan."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._models import Array, Model, data_json


class _Stan(Model):
    def __init__(self, file: pathlib.Path | None, code: str, data: str, data_file: str, backend: str, name: str) -> None:
        super().__init__(name)
        self._file, self._code, self._data, self._data_file, self._backend = file, code, data, data_file, backend
        self._last: tuple[int, _core.Model] | None = None

    def _open(self, seed: int) -> _core.Model:
        seed = seed % 2**32  # of random numbers in transformed data
        if self._last is None or self._last[0] != seed:
            self._last = seed, self._make(seed)
        return self._last[1]

    def _make(self, seed: int) -> _core.Model:
        if self._file is not None:
            return _core.stan_model(str(self._file), self._data, self._data_file, self._backend, seed, "")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, f"{self.name}.stan")
            file.write_text(self._code, encoding="utf-8")
            return _core.stan_model(str(file), self._data, self._data_file, self._backend, seed, self.name)

    def _unconstrain(self, values: Mapping[str, Array]) -> Array:
        opened = self._open(0)
        rows = range(len(next(iter(values.values()))))
        return np.array([opened.unconstrain(json.dumps({k: v[i].tolist() for k, v in values.items()})) for i in rows])

    def _start(self, opened: _core.Model, init: Any) -> list[list[float]]:
        if isinstance(init, Mapping):
            init = [init]
        if isinstance(init, Sequence) and init and all(isinstance(each, Mapping) for each in init):
            return [opened.unconstrain(data_json(each)) for each in init]
        return super()._start(opened, init)


def stan(
    program: str | os.PathLike[str],
    data: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    *,
    backend: str = "auto",
    name: str | None = None,
) -> Model:
    """A Stan program, or a library that BridgeStan built.

    Parameters
    ----------
    program : str or path
        A file NAME.stan or NAME.so, or the code itself.
    data : mapping, str or path, optional
        The data by name, with arrays of numpy; or a JSON file, or JSON text.
    backend : {"auto", "interpret", "compile"}
        How to run the program: see ``docs/stan.md``.
    name : str, optional
        Shown in tables; default: that of the file.

    Examples
    --------
    >>> import rehmc
    >>> code = '''
    ... data { int N; array[N] real y; }
    ... parameters { real mu; }
    ... model { y ~ normal(mu, 1); }
    ... '''
    >>> fit = rehmc.sample(rehmc.stan(code, {"N": 3, "y": [1, 2, 4]}), seed=1, progress=False)
    >>> round(float(fit.draws["mu"].mean()), 1)
    2.3
    """
    text = os.fspath(program)
    is_code = "\n" in text or "{" in text
    file = None if is_code else pathlib.Path(text)
    if file is not None and file.suffix not in {".stan", ".so"}:
        raise _core.ConfigError(f"{text}: is neither a Stan program (.stan), nor a library (.so), nor Stan code")
    data_file = "data"
    if data is None:
        data_text = data_file = ""
    elif isinstance(data, Mapping):
        data_text = data_json(data)
    elif isinstance(data, str) and data.lstrip().startswith("{"):
        data_text = data
    else:
        data_file = os.fspath(data)
        try:
            data_text = pathlib.Path(data_file).read_text(encoding="utf-8")
        except OSError as error:
            raise _core.FileError(f"{data_file}: {error.strerror}") from error
    shown = name or ("model" if file is None else file.stem)
    return _Stan(file, text if is_code else "", data_text, data_file, backend, shown)
