// Regression whose intercept varies between groups.
data {
  int<lower=0> J;
  int<lower=0> N;
  array[N] int<lower=1, upper=J> group;
  vector[N] x;
  vector[N] y;
}
parameters {
  vector[J] a;
  real b;
  real mu;
  real<lower=0> sigma_a;
  real<lower=0> sigma;
}
model {
  b ~ normal(0, 10);
  mu ~ normal(0, 10);
  sigma_a ~ normal(0, 1);
  sigma ~ normal(0, 1);
  a ~ normal(mu, sigma_a);
  y ~ normal(a[group] + b * x, sigma);
}
