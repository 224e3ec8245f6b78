"""The programs once more, in JAX: log densities on the coordinates that Stan samples, and the parameters of a state.

Constants that do not depend on the state are left out.
"""

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def normal(x, mean, sd):
    return jnp.sum(-0.5 * ((x - mean) / sd) ** 2 - jnp.log(sd) + 0 * x)


def positive(z):
    """A parameter that must be positive, and the logarithm of the Jacobian."""
    return jnp.exp(z), z


def between(z, least, most):
    share = jax.nn.sigmoid(z)
    log_jacobian = jnp.log(most - least) + jax.nn.log_sigmoid(z) + jax.nn.log_sigmoid(-z)
    return least + (most - least) * share, log_jacobian


def eight_schools(data):
    y, sigma = jnp.array(data["y"], float), jnp.array(data["sigma"], float)

    def parameters(z):
        return jnp.concatenate([z[:1], jnp.exp(z[1:2]), z[2:]])

    def log_density(z):
        mu, theta = z[0], z[2:]
        tau, log_jacobian = positive(z[1])
        return (normal(mu, 0, 5) - jnp.log1p((tau / 5) ** 2) + normal(theta, 0, 1) + normal(y, mu + tau * theta, sigma)
                + log_jacobian)

    return 2 + len(y), log_density, parameters


def german_credit(data):
    x, y = jnp.array(data["x"]), jnp.array(data["y"], float)

    def log_density(z):
        logit = z[0] + x @ z[1:]
        return normal(z, 0, 10) + jnp.sum(y * logit - jax.nn.softplus(logit))

    return 1 + x.shape[1], log_density, lambda z: z


def autoregression(data):
    y = jnp.array(data["y"])
    size = len(y)
    time = jnp.arange(6, size + 1) / size
    lagged = jnp.stack([y[5 - k : size - k] for k in range(1, 6)], axis=1)

    def log_density(z):
        sigma, log_jacobian = positive(z[7])
        mean = z[0] + z[1] * time + lagged @ z[2:7]
        return (normal(z[:2], 0, 10) + normal(z[2:7], 0, 1) - jnp.log1p((sigma / 2.5) ** 2) + normal(y[5:], mean, sigma)
                + log_jacobian)

    return 8, log_density, lambda z: z.at[7].set(jnp.exp(z[7]))


def gaussian_process(data):
    x, y = jnp.array(data["x"]), jnp.array(data["y"])
    distances = (x[:, None] - x) ** 2

    def log_density(z):
        rho, alpha, sigma = jnp.exp(z)
        covariance = alpha**2 * jnp.exp(-0.5 * distances / rho**2) + sigma**2 * jnp.eye(len(y))
        root = jnp.linalg.cholesky(covariance)
        white = jax.scipy.linalg.solve_triangular(root, y, lower=True)
        prior = -0.5 * z[0] ** 2 - z[0] + normal(alpha, 0, 2) + normal(sigma, 0, 1)
        return prior - 0.5 * white @ white - jnp.sum(jnp.log(jnp.diag(root))) + jnp.sum(z)

    return 3, log_density, jnp.exp


def volatility(data):
    y = jnp.array(data["y"])

    def parts(z):
        alpha0, first = positive(z[1])
        alpha1, second = between(z[2], 0, 1)
        beta1, third = between(z[3], 0, 1 - alpha1)
        return jnp.stack([z[0], alpha0, alpha1, beta1]), first + second + third

    def log_density(z):
        (mu, alpha0, alpha1, beta1), log_jacobian = parts(z)

        def advance(variance, value):
            return alpha0 + alpha1 * (value - mu) ** 2 + beta1 * variance, variance

        _, variances = jax.lax.scan(advance, data["sigma1"] ** 2, y)
        return normal(y, mu, jnp.sqrt(variances)) + log_jacobian

    return 4, log_density, lambda z: parts(z)[0]


def uncentred_regression(data):
    height, group, y = (jnp.array(data[name]) for name in ("height", "group", "y"))

    def log_density(z):
        sigma, log_jacobian = positive(z[4])
        return normal(y, z[0] + z[1] * height + z[2] * group + z[3] * height * group, sigma) + log_jacobian

    return 5, log_density, lambda z: z.at[4].set(jnp.exp(z[4]))


def varying_intercepts(data):
    group, x, y = jnp.array(data["group"]) - 1, jnp.array(data["x"]), jnp.array(data["y"])
    groups = data["J"]

    def log_density(z):
        a, b, mu = z[:groups], z[groups], z[groups + 1]
        sigma_a, first = positive(z[groups + 2])
        sigma, second = positive(z[groups + 3])
        return (normal(b, 0, 10) + normal(mu, 0, 10) + normal(sigma_a, 0, 1) + normal(sigma, 0, 1)
                + normal(a, mu, sigma_a) + normal(y, a[group] + b * x, sigma) + first + second)

    return groups + 4, log_density, lambda z: jnp.concatenate([z[:-2], jnp.exp(z[-2:])])


TARGETS = {
    build.__name__: build
    for build in (eight_schools, german_credit, autoregression, gaussian_process, volatility, uncentred_regression,
                  varying_intercepts)
}
