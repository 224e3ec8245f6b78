"""Every block of Python in README.md and docs/python.md runs, statement by statement."""

import ast
import os
import pathlib
import re

import numpy as np
import pytest

import rehmc

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIONAL = {"arviz", "jax", "matplotlib", "numpyro", "pandas", "pymc"}
SCHOOLS = """
data { int J; vector[J] y; vector<lower=0>[J] sigma; }
parameters { real mu; real<lower=0> tau; vector[J] z; }
transformed parameters { vector[J] theta = mu + tau * z; }
model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); z ~ normal(0, 1); y ~ normal(theta, sigma); }
"""
Y, SIGMA = [28, 8, -3, 7, -1, 1, 18, 12], [15, 10, 16, 11, 9, 11, 10, 18]


def given():
    """What the documents take for granted."""
    positions = np.random.default_rng(1).normal(size=(4, 400, 2))
    return {
        "np": np, "rehmc": rehmc, "y": Y, "sigma": SIGMA, "data": {"J": 8, "y": Y, "sigma": SIGMA},
        "draws": positions, "gradients": -positions, "diverging": np.zeros((4, 400), dtype=bool),
    }


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_blocks_of_python_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("eight_schools.stan").write_text(SCHOOLS)
    pathlib.Path("model.stan").write_text("parameters { vector[2] x; } model { x ~ std_normal(); }")
    names, count = given(), 0
    for block in re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL):
        for statement in ast.parse(block).body:
            text = ast.get_source_segment(block, statement)
            try:
                exec(compile(ast.Module([statement], []), text, "exec"), names)
            except ModuleNotFoundError as error:
                assert error.name in OPTIONAL, text  # of an extra that is not installed
                break  # what follows needs it
            except Exception as error:
                raise AssertionError(f"{name}: {text}") from error
            count += 1
    assert count >= 3
    assert not [each for each in os.listdir() if each.endswith(".tmp")]
