"""The data of the targets: simulated with fixed seeds, except for eight schools and, if given, German credit."""

import numpy


def eight_schools(_):
    return {"J": 8, "y": [28, 8, -3, 7, -1, 1, 18, 12], "sigma": [15, 10, 16, 11, 9, 11, 10, 18]}


def german_credit(credit):
    """The file `german.data-numeric` of the UCI repository, standardised; else data of the same size."""
    if credit is not None:
        table = numpy.loadtxt(credit)
        x, y = table[:, :-1], (table[:, -1] == 2).astype(int)
    else:
        random = numpy.random.default_rng(102)
        x = random.normal(size=(1000, 24))
        y = (random.uniform(size=1000) < 1 / (1 + numpy.exp(1.2 - x @ random.normal(0, 0.3, size=24)))).astype(int)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    return {"N": len(y), "K": x.shape[1], "x": x.tolist(), "y": y.tolist()}


def autoregression(_):
    random = numpy.random.default_rng(103)
    size, beta = 300, numpy.array([0.5, 0.2, -0.1, 0.1, 0.05])
    y = [8.0] * 5
    for n in range(5, size):
        y.append(2 + 0.8 * (n + 1) / size + beta @ y[: -6 : -1] + random.normal(0, 0.5))
    return {"N": size, "y": y}


def gaussian_process(_):
    random = numpy.random.default_rng(104)
    x = numpy.linspace(-4, 4, 40)
    covariance = 2.0 * numpy.exp(-0.5 * (x[:, None] - x) ** 2 / 1.2**2) + 0.09 * numpy.eye(40)
    return {"N": 40, "x": x.tolist(), "y": random.multivariate_normal(numpy.zeros(40), covariance).tolist()}


def volatility(_):
    random = numpy.random.default_rng(105)
    y, variance = [], 1.0
    for _ in range(200):
        y.append(5 + random.normal(0, variance**0.5))
        variance = 1.2 + 0.4 * (y[-1] - 5) ** 2 + 0.3 * variance
    return {"T": 200, "y": y, "sigma1": 1.0}


def uncentred_regression(_):
    random = numpy.random.default_rng(106)
    group = random.integers(0, 2, size=1000).astype(float)
    height = random.normal(64 + 5 * group, 3)
    y = 6.5 + 0.03 * height + 0.2 * group + 0.004 * height * group + random.normal(0, 0.9, size=1000)
    return {"N": 1000, "height": height.tolist(), "group": group.tolist(), "y": y.tolist()}


def varying_intercepts(_):
    random = numpy.random.default_rng(107)
    groups = 85
    group = numpy.concatenate([numpy.arange(groups), random.integers(0, groups, size=919 - groups)])
    a = random.normal(1.5, 0.35, size=groups)
    x = random.integers(0, 2, size=919).astype(float)
    y = a[group] - 0.7 * x + random.normal(0, 0.75, size=919)
    return {"J": groups, "N": 919, "group": (group + 1).tolist(), "x": x.tolist(), "y": y.tolist()}


TARGETS = {
    "eight_schools": eight_schools,
    "german_credit": german_credit,
    "autoregression": autoregression,
    "gaussian_process": gaussian_process,
    "volatility": volatility,
    "uncentred_regression": uncentred_regression,
    "varying_intercepts": varying_intercepts,
}
