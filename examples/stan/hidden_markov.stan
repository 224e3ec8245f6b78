// A hidden Markov model with two states: the forward algorithm by hand.
data {
  int<lower=1> T;
  vector[T] y;
}
parameters {
  array[2] simplex[2] transition;
  ordered[2] mu;
  real<lower=0> sigma;
}
model {
  vector[2] forward;
  vector[2] next;
  transition[1] ~ dirichlet([8, 2]');
  transition[2] ~ dirichlet([2, 8]');
  mu ~ normal(0, 3);
  sigma ~ normal(0, 1);
  for (k in 1 : 2) {
    forward[k] = -log(2) + normal_lpdf(y[1] | mu[k], sigma);
  }
  for (t in 2 : T) {
    for (k in 1 : 2) {
      next[k] = log_sum_exp(forward[1] + log(transition[1][k]), forward[2] + log(transition[2][k]))
                + normal_lpdf(y[t] | mu[k], sigma);
    }
    forward = next;
  }
  target += log_sum_exp(forward);
}
