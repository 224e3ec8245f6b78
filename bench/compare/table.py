"""Writes the document of the comparison from its trials: medians over seeds in tables, and a plot."""

import math
import pathlib
import platform
import statistics

import matplotlib
from trial import PRECISIONS

matplotlib.use("svg")
import matplotlib.pyplot as plot  # noqa: E402

HEAD = """# rehmc and its peers

Written by `make compare` (`bench/compare/`): {seeds}; {draws} draws per chain of the peers; {processor}, shared with other
work, so that seconds are rough.

Four chains each. **Gradients** count every evaluation of a density by all chains together, rehmc's checks of its
gradient included (a first step size of JAX samplers is not searched for by evaluations). **Warmup**: gradients before the
first draw. **ESS per 1000**: the least bulk ESS of 4 x 1000 draws per 1000 gradients, warmup included; for rehmc that of
the plain chain, without what recycling and sharpening add. **To the answer**: gradients and seconds of the processor
until the Monte Carlo standard error of every mean is at most 0.02, then 0.005 of its sd. rehmc stops there by itself,
with `--until`; peers are extrapolated from their draws to the best stopping time in hindsight, which no user knows.
Seconds of rehmc include the start of the program and all files; those of peers in JAX leave out compilation. All numbers
are medians over seeds. **Off**: the largest difference of a mean from that of rehmc, in sds of the posterior: whether the
programs agree.

rehmc runs as `rehmc sample MODEL.so --data data.json{settings}`.
Peers have their defaults: nutpie {nutpie} (also with its
low-rank metric, after 800 and 200 tuning draws) on libraries of `rehmc compile`, Stan's sampler as in stanli {stanli},
NumPyro {numpyro} and BlackJAX {blackjax} on the same densities in JAX.
"""


#: Fewer seeds do not tell a root mean square error.
LEAST_SEEDS = 10


def median(values):
    return statistics.median(values)


def brief(number):
    if number >= 100:
        digits = len(str(int(number)))
        unit = 10 ** max(0, digits - 3)
        return f"{round(number / unit) * unit:,.0f}"
    return f"{number:.2g}"


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def version(name):
    from importlib.metadata import version as installed

    return installed(name)


def grouped(trials):
    """Trials by target, then by sampler, rehmc first."""
    groups = {}
    order = ["rehmc", "Stan", "nutpie", "nutpie low rank 800", "nutpie low rank 200", "NumPyro", "BlackJAX"]
    for trial in sorted(trials, key=lambda trial: order.index(trial.sampler)):
        groups.setdefault(trial.target, {}).setdefault(trial.sampler, []).append(trial)
    return groups


def seeds_text(groups):
    """How many seeds each sampler had, at least, on every target."""
    counts = {}
    for samplers in groups.values():
        for name, trials in samplers.items():
            counts[name] = min(counts.get(name, len(trials)), len(trials))
    by_count = {}
    for name, count in counts.items():
        by_count.setdefault(count, []).append(name)
    return "; ".join(f"{'1 seed' if count == 1 else f'{count} seeds'} of {', '.join(names)}" for count, names in by_count.items())


def farthest(trials, reference):
    """Between the first trials of two samplers, in sds."""
    if not reference:
        return float("nan")
    pairs = zip(trials[0].means, reference[0].means, reference[0].sds)
    return max(abs(one - other) / sd for one, other, sd in pairs)


def target_table(samplers):
    lines = ["| sampler | warmup | ESS per 1000 | gradients to 0.02 sd | to 0.005 sd | seconds to 0.02 sd | to 0.005 sd | off |",
             "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for name, trials in samplers.items():
        cells = [median([t.warmup for t in trials]), median([t.ess for t in trials])]
        cells += [median([t.answer[p] for t in trials]) for p in (0, 1)]
        cells += [median([t.seconds[p] for t in trials]) for p in (0, 1)]
        off = farthest(trials, samplers.get("rehmc"))
        lines.append(f"| {name} | " + " | ".join(brief(cell) for cell in cells) + f" | {off:.2f} |")
    return lines


def geometric_means(groups):
    """How many times as many gradients as rehmc each peer needs, over the targets that both have."""
    names = list(dict.fromkeys(name for samplers in groups.values() for name in samplers if name != "rehmc"))
    lines = ["| peer | gradients to 0.02 sd | to 0.005 sd | ESS per 1000 of rehmc over its own | targets |", "|---|---:|---:|---:|---:|"]
    for name in names:
        both = [samplers for samplers in groups.values() if name in samplers and "rehmc" in samplers]
        if not both:
            continue

        def ratio(number, peer_first):
            values = [median([number(t) for t in s[name]]) / median([number(t) for t in s["rehmc"]]) for s in both]
            mean = statistics.geometric_mean(values)
            return brief(mean if peer_first else 1 / mean)

        lines.append(f"| {name} | {ratio(lambda t: t.answer[0], True)} | {ratio(lambda t: t.answer[1], True)} | "
                     f"{ratio(lambda t: t.ess, False)} | {len(both)} |")
    return lines


def root_mean_square(values):
    return math.sqrt(statistics.fmean(value * value for value in values))


def errors_there(trials, sds, index):
    """Of every mean, in sds: its root mean square error over seeds where rehmc stopped for PRECISIONS[index].

    The truth is the average of the most precise means of all seeds. Its own error is allowed for where these same means
    are judged.
    """
    finest = len(PRECISIONS) - 1
    own = math.sqrt(len(trials) / (len(trials) - 1)) if index == finest else 1
    errors = []
    for parameter, sd in enumerate(sds):
        truth = statistics.fmean(trial.stopped[finest][parameter] for trial in trials)
        errors.append(own * root_mean_square([(trial.stopped[index][parameter] - truth) / sd for trial in trials]))
    return errors


def precision_table(groups):
    """Whether means are as precise as asked where rehmc stopped."""
    lines = ["| target | seeds | asked for | RMSE | over what was asked | worst mean | asked for | RMSE | over what was asked | worst mean |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for target, samplers in groups.items():
        trials = [trial for trial in samplers.get("rehmc", []) if trial.stopped]
        if len(trials) < LEAST_SEEDS:
            continue
        cells = []
        for index, precision in enumerate(PRECISIONS):
            errors = errors_there(trials, trials[0].sds, index)
            all_means = root_mean_square(errors)
            cells += [f"{precision}", f"{all_means:.4f}", f"{all_means / precision:.2f}", f"{max(errors) / precision:.2f}"]
        lines.append(f"| {target.replace('_', ' ')} | {len(trials)} | " + " | ".join(cells) + " |")
    return lines


def draw(path, groups):
    names = list(dict.fromkeys(name for samplers in groups.values() for name in samplers))
    figure, axes = plot.subplots(1, 2, figsize=(10, 0.55 * len(groups) + 1.8), sharey=True)
    for axis, index, precision in zip(axes, (0, 1), ("0.02", "0.005")):
        for name in names:
            points = [(median([t.answer[index] for t in samplers[name]]), row)
                      for row, samplers in enumerate(groups.values()) if name in samplers]
            style = {"marker": "D", "s": 70, "zorder": 3} if name == "rehmc" else {"marker": "o", "s": 28}
            axis.scatter(*zip(*points), label=name, **style)
        axis.set_xscale("log")
        axis.set_xlabel(f"gradients until every mean is known to {precision} sd")
        axis.grid(axis="both", alpha=0.3)
    axes[0].set_yticks(range(len(groups)), [target.replace("_", " ") for target in groups])
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="lower center", ncol=4, frameon=False)
    figure.tight_layout(rect=(0, 0.13, 1, 1))
    matplotlib.rcParams["svg.hashsalt"] = "rehmc"
    figure.savefig(path, metadata={"Date": None})


def write(path, trials, chosen):
    groups = grouped(trials)
    head = HEAD.format(seeds=seeds_text(groups), draws=chosen.peer_draws, processor=processor(),
                       settings=" " + chosen.settings if chosen.settings else "", nutpie=version("nutpie"),
                       stanli=version("stanli"), numpyro=version("numpyro"), blackjax=version("blackjax"))
    lines = [head, "## Over all targets", "", "Geometric means over targets of the ratio to rehmc: above 1, rehmc needs less.", "",
             *geometric_means(groups), "", "## As precise as asked?", "",
             "The root mean square error of means over seeds, in sds of the posterior, where rehmc stopped by itself: over all means",
             "of a target, and of the worst one. The truth is the average of the most precise means of all seeds: what they all get wrong",
             "alike is not seen. [Exact truths](warmup.md#as-precise-as-asked) of two targets show that.", "",
             *precision_table(groups), "", f"![Gradients to the answer]({path.stem}.svg)", ""]
    for target, samplers in groups.items():
        lines += [f"## {target.replace('_', ' ').capitalize()}", "", *target_table(samplers), ""]
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    draw(path.with_suffix(".svg"), groups)
