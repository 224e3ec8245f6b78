"""Sampling: settings, the thread that runs it, Ctrl-C."""

from __future__ import annotations

import atexit
import os
import pathlib
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from . import _core
from ._fit import Fit
from ._models import Model
from ._progress import Bar

Value = TypeVar("Value")

#: After Ctrl-C, a model of Python that has not returned by then is made to, and later given up.
SECONDS_UNTIL_RAISED = 0.3
SECONDS_UNTIL_GIVEN_UP = 0.9


#: Runs that have not ended: only of models that were given up does any outlive its call.
_running: set[_core.Control] = set()


@atexit.register
def _stop_all() -> None:
    """The interpreter cannot end while threads of ours call it."""
    for control in list(_running):
        control.interrupt()
        control.interrupt_model()
    end = time.monotonic() + SECONDS_UNTIL_GIVEN_UP
    while _running and time.monotonic() < end:
        time.sleep(0.01)


def run(work: Callable[[_core.Control], Value], progress: bool) -> Value:
    """Runs `work` in a thread of its own, so that Ctrl-C reaches us, and shows its progress.

    After Ctrl-C it returns what there is. A model that does not come back within a second is given up, with a
    KeyboardInterrupt; its thread ends when the model returns.
    """
    control = _core.Control()
    _running.add(control)
    bar = Bar(control, progress)
    outcome: dict[str, Any] = {}
    ended = threading.Event()

    def target() -> None:
        try:
            outcome["value"] = work(control)
        except BaseException as error:  # noqa: BLE001: raised again by the caller's thread
            outcome["error"] = error
        finally:
            _running.discard(control)
            ended.set()

    try:
        threading.Thread(target=target, name="rehmc", daemon=True).start()
        while not ended.wait(0.1):
            bar.show()
        bar.end()
    except KeyboardInterrupt:
        _stop(control, ended)
    if "error" in outcome:
        raise outcome["error"]
    value: Value = outcome["value"]
    return value


def _stop(control: _core.Control, ended: threading.Event) -> None:
    control.interrupt()
    if ended.wait(SECONDS_UNTIL_RAISED):
        return
    control.interrupt_model()
    if not ended.wait(SECONDS_UNTIL_GIVEN_UP - SECONDS_UNTIL_RAISED):
        raise KeyboardInterrupt("the model did not return within a second; its thread ends when it does")


def settings_of(draws: int, warmup: str | int, chains: int, threads: int | None, recycle: str, more: dict[str, Any]) -> dict[str, Any]:
    """All settings in one dictionary, by the names of the library."""
    settings: dict[str, Any] = {"draws": draws, "chains": chains, "threads": threads or 0, "recycle": recycle, **more}
    if isinstance(warmup, str):
        if warmup not in {"auto", "pooled", "stan"}:
            raise _core.ConfigError(f"warmup: found {warmup!r}, expected 'auto', 'pooled', 'stan' or a number of iterations")
        settings["warmup_schedule"] = "stan" if warmup == "stan" else "pooled"
    else:
        settings["warmup"] = warmup
    return settings


def model_of(model: Any) -> Model:
    """The model itself, or the one that was meant."""
    if isinstance(model, Model):
        return model
    if isinstance(model, (str, os.PathLike)):
        from ._stan import stan

        return stan(model)
    if type(model).__module__.startswith("pymc."):
        from ._pymc import pymc

        return pymc(model)
    raise _core.ConfigError(
        f"model: found {model!r}, expected a model that rehmc.function, cfunc, stan, jax, numpyro, pymc or built_in made"
    )


def sample(
    model: Model | str | os.PathLike[str] | Any,
    draws: int = 1000,
    warmup: str | int = "auto",
    chains: int = 4,
    threads: int | None = None,
    seed: int | None = None,
    recycle: str = "spread:8",
    until: str | None = None,
    output: str | os.PathLike[str] | None = None,
    progress: bool = True,
    *,
    init: Any = None,
    force: bool = False,
    **settings: Any,
) -> Fit:
    """Draws from the posterior of a model.

    Parameters
    ----------
    model : Model, str or path
        What to sample; a file NAME.stan or a PyMC model is fine as it is.
    draws : int
        Draws of each chain.
    warmup : {"auto", "pooled", "stan"} or int
        How the chains are tuned: together, until it suffices, or by Stan's schedule; or the most iterations of it.
    chains : int
        The number of chains.
    threads : int, optional
        Threads that run chains; default: one for each core. The draws do not depend on it.
    seed : int, optional
        Of all random numbers. The same seed gives the same draws, also by the command ``rehmc sample``.
    recycle : str
        What to keep of every trajectory, as ``--recycle`` of the command.
    until : str, optional
        Stop when this holds, as ``--until`` of the command; `draws` is then the most.
    output : path, optional
        A folder in which the run is kept, so that it survives a crash; see ``docs/files.md``.
    progress : bool
        Whether to show progress.
    init : number or array or mapping, optional
        Where to start: a number r for random points in (-r, r); one row, or one for each chain; of Stan programs,
        parameters by name, or a list of those.
    force : bool
        Replace the run that is in `output`.
    **settings
        All other settings of the command, with underscores: ``target_accept=0.95``, ``engine="batch"``,
        ``max_depth=12``, ``kernel="hmc"``, ...

    Returns
    -------
    Fit
        Draws and recycled states. After Ctrl-C it holds what there was, and `Fit.complete` is False.

    Raises
    ------
    ConfigError, DataError, ModelError, FileError
        With a message that says what was found, what was expected and what to do. What the function of a model raises
        ends the run and comes through as it is.

    Examples
    --------
    >>> import rehmc
    >>> fit = rehmc.sample(rehmc.built_in("eight-schools"), draws=200, seed=1, progress=False)
    >>> fit.draws["theta"].shape
    (4, 200, 8)
    """
    model = model_of(model)
    if seed is None:
        seed = _core.fresh_seed()
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or not 0 <= int(seed) < 2**64:
        raise _core.ConfigError(f"seed: found {seed!r}, expected a whole number from 0 to 2^64 - 1")
    seed = int(seed)
    if until is not None:
        settings["until"] = until
    all_settings = settings_of(draws, warmup, chains, threads, recycle, settings)
    opened = model._open(seed)
    if init is not None:
        if isinstance(init, (int, float)) and not isinstance(init, bool) and init != 0:
            all_settings["initial_radius"] = float(init)
        else:
            all_settings["init"] = model._start(opened, [0.0] * opened.dimension if isinstance(init, (int, float)) else init)
    _core.check_settings(all_settings)
    width = int(all_settings.get("batch", 32)) if model._pads else 0
    folder: Any = None
    if output is None and until is None:
        result = run(lambda control: _core.sample(opened, all_settings, seed, control, width), progress)
    else:
        # Only a run in a folder looks at its estimates along the way.
        folder = tempfile.TemporaryDirectory(prefix="rehmc-") if output is None else pathlib.Path(output)
        path = os.fspath(pathlib.Path(folder.name, "run") if output is None else folder)
        result = run(
            lambda control: _core.sample_in_folder(opened, all_settings, seed, control, width, path, force), progress
        )
    return Fit(result, model, all_settings, width=width, folder=folder)
