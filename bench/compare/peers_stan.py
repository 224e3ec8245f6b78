"""Samplers that run the Stan programs: nutpie, on libraries of `rehmc compile`, and Stan's own, in stanli."""

import json
import os

import numpy

from trial import CHAINS


def values_of(posterior, parameters):
    """Draws as (chains, draws, parameters), in the order of the program."""
    columns = [numpy.asarray(posterior[name]).reshape(CHAINS, -1, int(numpy.prod(posterior[name].shape[2:], dtype=int)))
               for name in parameters]
    return numpy.concatenate(columns, axis=2)


class Nutpie:
    def __init__(self, **settings):
        self.settings = settings

    def prepare(self, job, draws):
        import nutpie
        from nutpie.compile_stan import CompiledStanModel

        library = nutpie._lib.StanLibrary(str(job.library))
        model = CompiledStanModel(code="", library=library, dims={}, _coords={}, model_name=job.target, model=None, data=None)
        model = model.with_data(**job.data)

        def run(seed):
            trace = nutpie.sample(model, draws=draws, chains=CHAINS, cores=1, seed=seed, progress_bar=False,
                                  save_warmup=True, **self.settings)
            return {"draws": values_of(trace["posterior"].dataset if hasattr(trace["posterior"], "dataset")
                                       else trace["posterior"], job.parameters),
                    "warmup": numpy.asarray(trace["warmup_sample_stats"]["n_steps"]),
                    "gradients": numpy.asarray(trace["sample_stats"]["n_steps"])}

        return run


class StanSampler:
    def prepare(self, job, draws):
        import stanli

        model = stanli.Model(stan_file=str(job.program), data=json.loads(json.dumps(job.data)))
        steps = stanli.SAMPLER_COLUMNS.index("n_leapfrog__")
        warmup = 1000

        def run(seed):
            fit = model.sample(chains=CHAINS, seed=seed, warmup=warmup, samples=draws, save_warmup=True,
                               parallel_chains=1, refresh=0)
            columns = [numpy.asarray(fit.draws(name)).reshape(CHAINS, warmup + draws, -1) for name in job.parameters]
            return {"draws": numpy.concatenate(columns, axis=2)[:, warmup:],
                    "warmup": fit.sampler_stats[:, :warmup, steps],
                    "gradients": fit.sampler_stats[:, warmup:, steps]}

        return run


os.environ.setdefault("RAYON_NUM_THREADS", "1")

SAMPLERS = {
    "Stan": StanSampler(),
    "nutpie": Nutpie(),
    "nutpie low rank 800": Nutpie(low_rank_modified_mass_matrix=True, tune=800),
    "nutpie low rank 200": Nutpie(low_rank_modified_mass_matrix=True, tune=200),
}
