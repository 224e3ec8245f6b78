"""The command: `python -m rehmc` is `rehmc`."""

import os
import pathlib
import shutil
import sys
import sysconfig


def command() -> str:
    """Where the command is: with this Python, or else on the path."""
    own = pathlib.Path(sysconfig.get_path("scripts"), "rehmc")
    found = str(own) if own.exists() else os.environ.get("REHMC") or shutil.which("rehmc")
    if found is None:
        sys.exit("rehmc: the command is not installed; install the package with pip install . in a clone of rehmc")
    return found


if __name__ == "__main__":
    os.execv(command(), ["rehmc", *sys.argv[1:]])
