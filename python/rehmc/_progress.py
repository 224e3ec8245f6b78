"""One line that says how far a run is: in terminals and notebooks it moves, elsewhere it comes now and then."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from . import _core


def in_notebook() -> bool:
    """Whether this is a kernel of Jupyter."""
    kernel = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return kernel is not None and hasattr(kernel, "kernel")


class Bar:
    """Shows the progress of a run.

    Parameters
    ----------
    control : Control
        Of the run.
    shown : bool
        False: nothing is shown.
    stream : file, optional
        Default: standard error.
    """

    seconds_between_lines = 10.0

    def __init__(self, control: _core.Control, shown: bool, stream: TextIO | None = None) -> None:
        self._control = control
        self._shown = shown
        self._stream = stream or sys.stderr
        self._moves = in_notebook() or self._stream.isatty()
        self._begun = time.monotonic()
        self._last = self._begun
        self._width = 0

    def text(self) -> str:
        """What there is to say now."""
        rows = self._control.rows()
        if not rows:
            return ""
        draws = self._control.draws
        done = sum(min(iteration, warmup + draws) for iteration, warmup, *_ in rows)
        # Pooled warmup mostly ends long before its most iterations.
        warming = sum(iteration < warmup for iteration, warmup, *_ in rows)
        goal = sum(warmup + draws for _, warmup, *_ in rows)
        gradients = sum(row[2] for row in rows)
        divergences = sum(row[3] for row in rows)
        elapsed = time.monotonic() - self._begun
        share = done / goal if goal else 1.0
        bar = "#" * round(20 * share)
        left = f"{elapsed * (1 - share) / share:.0f} s left" if share > 0 and not warming else "warming up"
        text = f"[{bar:<20}] {100 * share:3.0f}%  {gradients:,} gradients  {elapsed:.0f} s, {left if share < 1 else 'done'}"
        return text + (f"  {divergences} divergences" if divergences else "")

    def show(self) -> None:
        """Shows it, if it is time."""
        now = time.monotonic()
        if not self._shown or (not self._moves and now - self._last < self.seconds_between_lines):
            return
        self._last = now
        self._write(self.text())

    def end(self) -> None:
        """The run is over."""
        if self._shown and self._moves:
            self._write(self.text())
            self._stream.write("\n")
            self._stream.flush()

    def _write(self, text: str) -> None:
        if self._moves:
            self._stream.write("\r" + text.ljust(self._width))
            self._width = len(text)
        elif text:
            self._stream.write(text + "\n")
        self._stream.flush()
