"""Reads the draws of run folders with cmdstanpy.from_csv and prints what it found."""

import logging
import pathlib
import sys

try:
    import cmdstanpy
except ModuleNotFoundError:
    sys.exit(3)


def tell(folder, name, quantity, value):
    print(folder, name, quantity, repr(float(value)), sep="\t")


logging.getLogger("cmdstanpy").setLevel(logging.ERROR)
print("version", f"cmdstanpy {cmdstanpy.__version__}", sep="\t")
for folder in sys.argv[1:]:
    files = sorted(str(file) for file in pathlib.Path(folder).glob("chain-*.csv"))
    fit = cmdstanpy.from_csv(files, method="sample")
    draws = fit.draws()
    for column, name in enumerate(fit.column_names):
        tell(folder, name.replace("[", ".").replace(",", ".").rstrip("]"), "mean", draws[:, :, column].mean())
    tell(folder, "*", "draws", draws.shape[0])
    tell(folder, "*", "divergences", fit.divergences.sum())
    saved = bool(fit.metadata.cmdstan_config["save_warmup"])
    tell(folder, "*", "warmup_rows", fit.draws(inc_warmup=saved).shape[0] - draws.shape[0])
    for chain, step_size in enumerate(fit.step_size):
        tell(folder, f"chain {chain + 1}", "stepsize", step_size)
        for place, number in enumerate(fit.inv_metric[chain].ravel()):
            tell(folder, f"chain {chain + 1} metric {place + 1}", "inv_metric", number)
