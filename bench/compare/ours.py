"""rehmc itself: the command, on the libraries of `rehmc compile`, and what its summary says."""

import json
import re
import resource
import subprocess
import tempfile

from trial import CHAINS, DRAWS, PRECISIONS, Trial

#: Enough for the precisions; `--until` stops before.
MOST_DRAWS = 1_000_000


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def sample(command, job, seed, words, settings):
    """The summary of a run, and the seconds that it took of the processor, all files included."""
    with tempfile.TemporaryDirectory() as folder:
        data = f"{folder}/data.json"
        with open(data, "w", encoding="utf-8") as file:
            json.dump(job.data, file)
        begin = processor_seconds()
        subprocess.run([command, "sample", job.library, "--data", data, "--chains", str(CHAINS), "--threads", "1", "--seed",
                        str(seed), *words, *settings, "--quiet", "--output", f"{folder}/run"],
                       check=True, capture_output=True, text=True)
        seconds = processor_seconds() - begin
        with open(f"{folder}/run/summary.json", encoding="utf-8") as file:
            return json.load(file), seconds


def gradients(told):
    """Every evaluation of the density counts."""
    diagnostics = told["diagnostics"]
    return diagnostics["gradients_warmup"] + diagnostics["gradients_sampling"] + told["warmup"]["gradients_check"]


def best(parameter):
    return parameter.get("sharpened") or parameter.get("recycled") or parameter["plain"]


def run_ours(command, job, seed, settings):
    told, _ = sample(command, job, seed, ["--draws", str(DRAWS)], settings)
    least = min(parameter["plain"]["ess_bulk"] for parameter in told["parameters"])
    per_thousand = 1000 * least / gradients(told)
    answers, seconds, means_there = [], [], []
    for precision in PRECISIONS:
        until = f"rhat<=healthy,stein,mcse(mean)<={precision}*sd"
        stopped, took = sample(command, job, seed, ["--until", until, "--draws", str(MOST_DRAWS)], settings)
        answers.append(gradients(stopped))
        seconds.append(took)
        means_there.append([best(parameter)["mean"] for parameter in stopped["parameters"]])
    means = [best(parameter)["mean"] for parameter in told["parameters"]]
    sds = [best(parameter)["sd"] for parameter in told["parameters"]]
    warmup = told["diagnostics"]["gradients_warmup"] + told["warmup"]["gradients_check"]
    return Trial(job.target, "rehmc", seed, warmup, per_thousand, answers, seconds, means, sds, means_there)


def parameters_of(program):
    """The names of the parameters of a program."""
    block = re.search(r"^parameters \{(.*?)^\}", program.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL).group(1)
    return re.findall(r"(\w+);", block)
