// A smooth curve with noise: a Gaussian process with unknown scales.
data {
  int<lower=1> N;
  array[N] real x;
  vector[N] y;
}
parameters {
  real<lower=0> length_scale;
  real<lower=0> amplitude;
  real<lower=0> sigma;
}
model {
  matrix[N, N] covariance = add_diag(gp_exp_quad_cov(x, amplitude, length_scale), square(sigma));
  length_scale ~ inv_gamma(5, 5);
  amplitude ~ normal(0, 1);
  sigma ~ normal(0, 1);
  y ~ multi_normal_cholesky(rep_vector(0, N), cholesky_decompose(covariance));
}
