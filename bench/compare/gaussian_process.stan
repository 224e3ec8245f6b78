// A Gaussian process with noise, integrated out.
data {
  int<lower=1> N;
  vector[N] x;
  vector[N] y;
}
parameters {
  real<lower=0> rho;
  real<lower=0> alpha;
  real<lower=0> sigma;
}
model {
  matrix[N, N] covariance;
  for (i in 1:N) {
    for (j in 1:N) covariance[i, j] = square(alpha) * exp(-0.5 * square((x[i] - x[j]) / rho));
    covariance[i, i] += square(sigma);
  }
  rho ~ lognormal(0, 1);
  alpha ~ normal(0, 2);
  sigma ~ normal(0, 1);
  y ~ multi_normal_cholesky(rep_vector(0, N), cholesky_decompose(covariance));
}
