// A regression whose intercept varies by group, partially pooled.
data {
  int<lower=1> N;
  int<lower=1> G;
  array[N] int<lower=1, upper=G> group;
  vector[N] x;
  vector[N] y;
}
parameters {
  real intercept;
  real slope;
  real<lower=0> group_sd;
  real<lower=0> sigma;
  vector<multiplier=group_sd>[G] offset_of_group;
}
model {
  intercept ~ normal(0, 5);
  slope ~ normal(0, 2);
  group_sd ~ normal(0, 2);
  sigma ~ normal(0, 2);
  offset_of_group ~ normal(0, group_sd);
  y ~ normal(intercept + offset_of_group[group] + slope * x, sigma);
}
generated quantities {
  real y_new_group = normal_rng(intercept + normal_rng(0, group_sd), sigma);
}
