"""Samplers that run the targets in JAX: NumPyro and BlackJAX, with the warmup of 1000 iterations that both suggest.

Compilation is not counted: each function is compiled before the clock starts.
"""

import jax
import numpy

import jax_targets
from trial import CHAINS

WARMUP = 1000


def compiled_run(one_chain, parameters, starts):
    """All chains, one after the other in one compiled call."""
    def all_chains(key):
        return jax.lax.map(lambda inputs: one_chain(*inputs), (jax.random.split(key, CHAINS), starts(key)))

    compiled = jax.jit(all_chains).lower(jax.random.key(0)).compile()
    constrained = jax.jit(jax.vmap(jax.vmap(parameters)))

    def run(seed):
        positions, steps = jax.block_until_ready(compiled(jax.random.key(seed)))
        steps = numpy.asarray(steps, dtype=float)
        return {"draws": numpy.asarray(constrained(positions[:, WARMUP:])), "warmup": steps[:, :WARMUP],
                "gradients": steps[:, WARMUP:]}

    return run


def uniform_starts(dimension):
    return lambda key: jax.random.uniform(jax.random.fold_in(key, 1), (CHAINS, dimension), minval=-2.0, maxval=2.0)


class NumPyro:
    def prepare(self, job, draws):
        from numpyro.infer import NUTS

        dimension, log_density, parameters = jax_targets.TARGETS[job.target](job.data)
        kernel = NUTS(potential_fn=lambda z: -log_density(z))

        def one_chain(key, start):
            state = kernel.init(key, WARMUP, start, (), {})

            def advance(state, _):
                state = kernel.sample(state, (), {})
                return state, (state.z, state.num_steps)

            return jax.lax.scan(advance, state, length=WARMUP + draws)[1]

        return compiled_run(one_chain, parameters, uniform_starts(dimension))


class BlackJAX:
    def prepare(self, job, draws):
        import blackjax

        dimension, log_density, parameters = jax_targets.TARGETS[job.target](job.data)

        def one_chain(key, start):
            warmup_key, draw_key = jax.random.split(key)
            warmup = blackjax.window_adaptation(blackjax.nuts, log_density)
            (state, tuning), told = warmup.run(warmup_key, start, num_steps=WARMUP)
            kernel = blackjax.nuts(log_density, **tuning)

            def advance(state, key):
                state, info = kernel.step(key, state)
                return state, (state.position, info.num_integration_steps)

            _, (positions, steps) = jax.lax.scan(advance, state, jax.random.split(draw_key, draws))
            return (jax.numpy.concatenate([told.state.position, positions]),
                    jax.numpy.concatenate([told.info.num_integration_steps, steps]))

        return compiled_run(one_chain, parameters, uniform_starts(dimension))


SAMPLERS = {"NumPyro": NumPyro(), "BlackJAX": BlackJAX()}
