// The logistic regression of wrong.cpp, with one fault in its first coefficient: for samplers that run Stan programs.
//
// A number rounded to the eighth place has no derivative, so `beta - rounded(beta)` is 0 with derivative 1: what it
// is multiplied by is added to the gradient alone.
functions {
  real rounded(real x) {
    return round(x * 1e8) / 1e8;
  }
}
data {
  int<lower=0> n;
  int<lower=1> k;
  matrix[n, k] x;
  array[n] int<lower=0, upper=1> y;
  real place; // of the first coefficient: its posterior mean and sd
  real scale;
  real gradient; // sizes of the faults; all 0: the right model
  real jump;
  real truncation;
  real noise;
}
parameters {
  vector[k] beta;
}
model {
  beta ~ normal(0, 1);
  y ~ bernoulli_logit(x * beta);
  if (gradient > 0 || noise > 0) {
    // Of the right log density, by the first coefficient.
    real derivative = -beta[1] + dot_product(to_vector(y) - inv_logit(x * beta), x[, 1]);
    real share = gradient;
    if (noise > 0) {
      // Uniform, with sd `noise`, and different wherever the coefficient differs at all.
      real u = 1e6 * rounded(beta[1]) * 137.31;
      share += noise * sqrt(12) * (rounded(u - floor(u)) - 0.5);
    }
    target += share * derivative * (beta[1] - rounded(beta[1]));
  }
  if (jump > 0 && beta[1] > place) {
    target += jump;
  }
  if (truncation > 0 && beta[1] < place - truncation * scale) {
    target += negative_infinity();
  }
}
