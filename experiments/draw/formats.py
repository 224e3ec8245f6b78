"""Numbers and durations as text."""

import math

NONE = "–"


def cell_text(text):
    """A cell for readers: thousands separated, at most four digits, a dash for nothing, other texts unchanged."""
    if text in ("", "nan"):
        return NONE
    try:
        value = float(text)
    except ValueError:
        return text
    if not math.isfinite(value):
        return text
    if value == round(value) and abs(value) < 1e15:
        return f"{int(value):,}".replace("-", "−")
    return f"{value:.4g}".replace("-", "−")


def duration_text(seconds):
    if not seconds >= 0:
        return NONE
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def signed_text(value, digits):
    return f"{value:+.{digits}f}".replace("-", "−")


def gain_text(gain):
    if gain > 1e6:
        return "more than ×10⁶"
    return f"×{gain:.2f}" if gain < 10 else f"×{gain:.0f}"
