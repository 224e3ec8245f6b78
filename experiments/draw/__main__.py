"""Draws the figures and the page of the paper's experiments from the tables in a folder.

usage: python3 experiments/draw FOLDER

FOLDER holds the CSV files that rehmc-paper writes; figures/ and paper.html are written there. What needs a table
that is missing is left out, and the page says so.
"""

import pathlib
import sys

sys.dont_write_bytecode = True  # the folder may be installed, and not ours to write to

USAGE, UNAVAILABLE = 64, 69  # exit codes of BSD's sysexits, as rehmc uses them


def main(words):
    if words in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    if len(words) != 1 or words[0].startswith("-"):
        print(f"rehmc: expected one folder\n{__doc__.split(chr(10))[2]}", file=sys.stderr)
        return USAGE
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
        import numpy  # noqa: F401
    except ImportError as error:
        print(
            f"rehmc: {sys.executable} has no module {error.name}; install python3-matplotlib, python3-jinja2 and "
            "python3-numpy (scripts/install_dependencies paper), and use /usr/bin/python3",
            file=sys.stderr,
        )
        return UNAVAILABLE

    from page import draw_results
    from tables import TableError

    try:
        draw_results(pathlib.Path(words[0]))
    except TableError as error:
        print(f"rehmc: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
