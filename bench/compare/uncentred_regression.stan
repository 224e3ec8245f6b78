// Regression on an uncentred predictor, a group and their product.
data {
  int<lower=0> N;
  vector[N] height;
  vector[N] group;
  vector[N] y;
}
parameters {
  vector[4] beta;
  real<lower=0> sigma;
}
model {
  y ~ normal(beta[1] + beta[2] * height + beta[3] * group + beta[4] * height .* group, sigma);
}
