// Logistic regression by one function for likelihood and gradient.
data {
  int<lower=1> N;
  int<lower=1> K;
  matrix[N, K] x;
  array[N] int<lower=0, upper=1> y;
  real<lower=0> prior_sd;
}
parameters {
  vector[K] beta;
}
model {
  beta ~ normal(0, prior_sd);
  y ~ bernoulli_logit_glm(x, 0, beta);
}
