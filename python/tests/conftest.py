"""Models that the tests share."""

import numpy as np
import pytest

import rehmc


def normal(x):
    """Standard normals."""
    return -0.5 * x @ x, -x


@pytest.fixture
def model():
    return rehmc.function(normal, 3)


@pytest.fixture
def schools():
    return rehmc.built_in("eight-schools")


def same(a, b):
    """Whether two fits have the same draws and recycled states, to the bit."""
    return a.draws.keys() == b.draws.keys() and all(
        np.array_equal(a.draws[k], b.draws[k]) for k in a.draws
    ) and all(np.array_equal(a.recycled[k], b.recycled[k]) for k in a.recycled)
