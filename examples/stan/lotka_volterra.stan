// Predators and prey: a differential equation, solved for every gradient.
functions {
  vector change(real t, vector z, real birth, real hunt, real death, real feed) {
    vector[2] dz;
    dz[1] = (birth - hunt * z[2]) * z[1];
    dz[2] = (feed * z[1] - death) * z[2];
    return dz;
  }
}
data {
  int<lower=1> N;
  array[N] real<lower=0> times;
  array[N] vector<lower=0>[2] counts;
}
parameters {
  real<lower=0> birth;
  real<lower=0> hunt;
  real<lower=0> death;
  real<lower=0> feed;
  vector<lower=0>[2] initial;
  real<lower=0> sigma;
}
transformed parameters {
  array[N] vector[2] z = ode_rk45_tol(change, initial, 0.0, times, 1e-7, 1e-7, 10000,
                                      birth, hunt, death, feed);
}
model {
  birth ~ normal(1, 0.5);
  death ~ normal(1, 0.5);
  hunt ~ normal(0.05, 0.05);
  feed ~ normal(0.05, 0.05);
  initial ~ lognormal(log(10), 1);
  sigma ~ lognormal(-1, 1);
  for (n in 1 : N) {
    counts[n] ~ lognormal(log(z[n]), sigma);
  }
}
