// One parameter of every constrained type, with data for some of them.
data {
  int<lower=2> K;
  array[K] int<lower=0> counts;
  int<lower=1> N;
  array[N] vector[3] z;
}
parameters {
  simplex[K] share;
  ordered[K] cut;
  positive_ordered[3] level;
  unit_vector[3] direction;
  cholesky_factor_corr[3] correlation_factor;
  cov_matrix[2] covariance;
  real<lower=-1, upper=1> bounded;
  real<upper=3> capped;
  vector<lower=0>[3] scale;
}
model {
  share ~ dirichlet(rep_vector(2, K));
  counts ~ multinomial(share);
  cut ~ normal(0, 2);
  level ~ exponential(1);
  direction[1] ~ normal(0.5, 1);
  correlation_factor ~ lkj_corr_cholesky(2);
  covariance ~ wishart(5, identity_matrix(2));
  bounded ~ normal(0.3, 0.5);
  capped ~ normal(2, 1);
  scale ~ lognormal(0, 0.5);
  z ~ multi_normal_cholesky(rep_vector(0, 3), diag_pre_multiply(scale, correlation_factor));
}
generated quantities {
  corr_matrix[3] correlation = multiply_lower_tri_self_transpose(correlation_factor);
}
