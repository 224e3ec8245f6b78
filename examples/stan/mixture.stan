// A mixture of two normals; the means are ordered so that the components are identified.
data {
  int<lower=1> N;
  vector[N] y;
}
parameters {
  real<lower=0, upper=1> share;
  ordered[2] mu;
  vector<lower=0>[2] sigma;
}
model {
  share ~ beta(2, 2);
  mu ~ normal(0, 3);
  sigma ~ normal(0, 2);
  for (n in 1 : N) {
    target += log_mix(share, normal_lpdf(y[n] | mu[1], sigma[1]), normal_lpdf(y[n] | mu[2], sigma[2]));
  }
}
