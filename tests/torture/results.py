"""Keeps the figures of the last full run of each part, from which scripts/write_reliability makes docs/reliability.md."""

import datetime
import json
import pathlib
import time


def keep_result(options, part, begin, **figures):
    """Writes one part into the JSON file of all parts; nothing without --results."""
    if not options.results:
        return
    path = pathlib.Path(options.results)
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    results[part] = {"date": date, "minutes": round((time.monotonic() - begin) / 60, 1), **figures}
    path.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n", encoding="utf-8")
