// A series whose variance depends on its past: GARCH(1, 1).
data {
  int<lower=2> T;
  vector[T] r;
  real<lower=0> sigma_first;
}
parameters {
  real mu;
  real<lower=0> alpha0;
  real<lower=0, upper=1> alpha1;
  real<lower=0, upper=1 - alpha1> beta1;
}
transformed parameters {
  vector<lower=0>[T] sigma;
  sigma[1] = sigma_first;
  for (t in 2 : T) {
    sigma[t] = sqrt(alpha0 + alpha1 * square(r[t - 1] - mu) + beta1 * square(sigma[t - 1]));
  }
}
model {
  mu ~ normal(0, 1);
  alpha0 ~ normal(0, 1);
  r ~ normal(mu, sigma);
}
generated quantities {
  real r_next = normal_rng(mu, sqrt(alpha0 + alpha1 * square(r[T] - mu) + beta1 * square(sigma[T])));
}
