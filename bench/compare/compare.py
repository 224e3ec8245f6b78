#!/usr/bin/env python3
"""Runs rehmc and its peers on the same targets with several seeds, one after the other, and writes docs/compare.md.

`make compare` calls it. Finished trials are kept in a file: an interrupted comparison continues.
"""

import argparse
import dataclasses
import json
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import data  # noqa: E402
from ours import parameters_of, run_ours  # noqa: E402
from trial import Trial, trial_of_draws  # noqa: E402


@dataclasses.dataclass
class Job:
    """A target, ready to be sampled."""

    target: str
    program: pathlib.Path
    library: pathlib.Path
    data: dict
    parameters: list


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rehmc", default="build/release/rehmc", help="the command")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds of the peers")
    parser.add_argument("--our-seeds", type=int, default=0, help="number of seeds of rehmc, if more")
    parser.add_argument("--targets", default=",".join(data.TARGETS), help="comma-separated")
    parser.add_argument("--samplers", default="", help="comma-separated; default: all")
    parser.add_argument("--credit", help="the German credit data, german.data-numeric; default: data of that size")
    parser.add_argument("--peer-draws", type=int, default=4000, help="draws per chain of the peers")
    parser.add_argument("--settings", default="", help="more options of `rehmc sample`")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/compare"), help="folder for libraries and trials")
    parser.add_argument("--table", type=pathlib.Path, help="write this document from the trials, and a plot next to it")
    return parser.parse_args()


def prepared_job(target, chosen):
    program = HERE / f"{target}.stan"
    library = chosen.output / f"{target}.so"
    if not library.exists() or library.stat().st_mtime < program.stat().st_mtime:
        subprocess.run([chosen.rehmc, "compile", program, "-o", library], check=True)
    return Job(target, program, library.resolve(), data.TARGETS[target](chosen.credit), parameters_of(program))


def samplers(chosen, seed):
    if chosen.samplers == "rehmc" or seed > chosen.seeds:  # peers take seconds to import
        return {"rehmc": None}
    import peers_jax
    import peers_stan

    known = {"rehmc": None, **peers_stan.SAMPLERS, **peers_jax.SAMPLERS}
    names = chosen.samplers.split(",") if chosen.samplers else list(known)
    return {name: known[name] for name in names}


def run_trial(job, name, sampler, seed, chosen, runs):
    if sampler is None:
        return run_ours(chosen.rehmc, job, seed, chosen.settings.split())
    if (job.target, name) not in runs:
        runs[job.target, name] = sampler.prepare(job, chosen.peer_draws)
    begin = time.process_time()
    run = runs[job.target, name](seed)
    run["seconds"] = time.process_time() - begin
    return trial_of_draws(job.target, name, seed, run)


def read_trials(path):
    if not path.exists():
        return []
    return [Trial(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def main():
    chosen = options()
    chosen.output.mkdir(parents=True, exist_ok=True)
    store = chosen.output / "trials.jsonl"
    done = {(trial.target, trial.sampler, trial.seed) for trial in read_trials(store)}
    runs = {}
    jobs = [prepared_job(target, chosen) for target in chosen.targets.split(",")]
    for seed in range(1, max(chosen.seeds, chosen.our_seeds) + 1):
        for job in jobs:
            for name, sampler in samplers(chosen, seed).items():
                if (job.target, name, seed) in done:
                    continue
                trial = run_trial(job, name, sampler, seed, chosen, runs)
                with open(store, "a", encoding="utf-8") as file:
                    file.write(json.dumps(dataclasses.asdict(trial)) + "\n")
                print(f"{job.target}, {name}, seed {seed}: {trial.warmup:.0f} gradients in warmup, ESS {trial.ess:.3g} per "
                      f"1000, {trial.answer[0]:.0f} and {trial.answer[1]:.0f} gradients to the answer", flush=True)
    if chosen.table:
        import table

        table.write(chosen.table, read_trials(store), chosen)


if __name__ == "__main__":
    main()
