"""Reads the netCDF files of run folders with ArviZ and prints what it found."""

import pathlib
import sys
import warnings

warnings.simplefilter("ignore")  # ArviZ announces its next version at every import
try:
    import arviz
except ModuleNotFoundError:
    sys.exit(3)


def tell(folder, name, quantity, value):
    print(folder, name, quantity, repr(float(value)), sep="\t")


def elements(variable):
    """Stan names of the elements of a variable, with their draws."""
    dimensions = [dimension for dimension in variable.dims if "_dim_" in dimension]
    if not dimensions:
        yield variable.name, variable
        return
    for _, element in variable.stack(element=dimensions).groupby("element"):
        index = [int(element[dimension].item()) + 1 for dimension in dimensions]
        yield ".".join([variable.name, *map(str, index)]), element


print("version", f"arviz {arviz.__version__}", sep="\t")
for folder in sys.argv[1:]:
    for engine in ["h5netcdf", "netcdf4"]:
        data = arviz.from_netcdf(str(pathlib.Path(folder) / "posterior.nc"), engine=engine)
    summary = arviz.summary(data, round_to="none")
    for label, row in summary.iterrows():
        base, _, index = label.partition("[")
        name = ".".join([base, *(str(int(i) + 1) for i in index.rstrip("]").split(",") if i)])
        for quantity, column in [("mean", "mean"), ("sd", "sd"), ("rhat", "r_hat"), ("ess_bulk", "ess_bulk"),
                                 ("ess_tail", "ess_tail")]:
            tell(folder, name, quantity, row[column])
    tell(folder, "*", "draws", data.posterior.sizes["draw"])
    if data.sample_stats["diverging"].dtype != bool:
        sys.exit("arviz: diverging is not a flag")
    tell(folder, "*", "divergences", data.sample_stats["diverging"].sum())
    tell(folder, "*", "depth_limit", data.sample_stats["reached_max_treedepth"].sum())
    tell(folder, "lp__", "mean", data.sample_stats["lp"].mean())
    tell(folder, "n_leapfrog__", "mean", data.sample_stats["n_steps"].mean())
    tell(folder, "*", "warmup_rows", data.warmup_posterior.sizes["draw"] if "warmup_posterior" in data else 0)
    for chain, ebfmi in enumerate(arviz.bfmi(data)):
        tell(folder, f"chain {chain + 1}", "ebfmi", ebfmi)
    if "recycled_posterior" in data:
        for variable in data.recycled_posterior.data_vars.values():
            for name, states in elements(variable):
                tell(folder, name, "recycled_mean", states.mean())
        tell(folder, "*", "recycled_per_draw", data.recycled_posterior.sizes["recycle"])
