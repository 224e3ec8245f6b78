// A series with level and trend that depends on its last five values.
data {
  int<lower=6> N;
  vector[N] y;
}
parameters {
  real alpha;
  real trend;
  vector[5] beta;
  real<lower=0> sigma;
}
model {
  vector[N - 5] mu;
  for (n in 1:(N - 5)) mu[n] = alpha + trend * (n + 5.0) / N;
  for (k in 1:5) mu += beta[k] * y[(6 - k):(N - k)];
  alpha ~ normal(0, 10);
  trend ~ normal(0, 10);
  beta ~ normal(0, 1);
  sigma ~ cauchy(0, 2.5);
  y[6:N] ~ normal(mu, sigma);
}
