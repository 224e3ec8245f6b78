"""Runs the command rehmc, whose path the environment variable REHMC gives, as a user would."""

import os
import subprocess


def rehmc(*words, **options):
    """The finished process, with its output as text."""
    given = {"timeout": 300, **options}
    return subprocess.run([os.environ["REHMC"], *map(str, words)], capture_output=True, text=True, check=False, **given)
