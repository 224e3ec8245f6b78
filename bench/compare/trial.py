"""One trial: what a sampler did on a target with a seed, and what follows from it."""

import dataclasses

import numpy
from arviz_stats.base import array_stats

#: MCSE of every mean, in posterior sds.
PRECISIONS = (0.02, 0.005)
CHAINS = 4
#: Draws per chain that the effective sample size per gradient is taken from.
DRAWS = 1000


@dataclasses.dataclass
class Trial:
    target: str
    sampler: str
    seed: int
    warmup: float  # gradients of all chains
    ess: float  # least bulk ESS of DRAWS draws per chain, per 1000 gradients of warmup and draws
    answer: list  # gradients to each of PRECISIONS
    seconds: list  # the same for processor time
    means: list
    sds: list
    stopped: list = dataclasses.field(default_factory=list)  # rehmc: the means where it stopped, for each of PRECISIONS


def ess(draws, method):
    return float(array_stats.ess(numpy.ascontiguousarray(draws), chain_axis=0, draw_axis=1, method=method))


def trial_of_draws(target, sampler, seed, run):
    """Of a peer. It may stop, in hindsight, at the draw at which every mean is as precise as asked.

    `run` has `draws` (chains, draws, parameters), `warmup` and `gradients` (chains, iterations), `seconds_warmup` and
    `seconds`: of the whole.
    """
    draws, warmup = run["draws"], float(numpy.sum(run["warmup"]))
    parameters = range(draws.shape[2])
    first = float(numpy.sum(run["gradients"][:, :DRAWS]))
    least = min(ess(draws[:, :DRAWS, p], "bulk") for p in parameters)
    per_draw = min(ess(draws[:, :, p], "mean") for p in parameters) / (draws.shape[0] * draws.shape[1])
    gradients = float(numpy.mean(run["gradients"]))
    answer = [warmup + gradients / (precision**2 * per_draw) for precision in PRECISIONS]
    each = run["seconds"] / (warmup + float(numpy.sum(run["gradients"])))
    return Trial(target, sampler, seed, warmup, 1000 * least / (warmup + first), answer, [each * a for a in answer],
                 draws.mean(axis=(0, 1)).tolist(), draws.std(axis=(0, 1)).tolist())
