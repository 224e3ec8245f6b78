# Writes reference.csv: draws, and the results of the R package posterior for them. Run: Rscript
# make_reference.R One line per entry: case, quantity, value(s); the draws of a case have one chain
# per line. 17 digits determine every double. Made with R 4.2.2, posterior 1.4.0, matrixStats
# 0.63.0.
suppressMessages(library(posterior))
options(warn = -1)  # posterior warns where it caps an ESS
set.seed(20210621, kind = "Mersenne-Twister", normal.kind = "Inversion")

probabilities <- c(0, 0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975, 1)

autoregression <- function(iterations, chains, phi) {
  one <- function(chain) {
    x <- numeric(iterations)
    x[1] <- rnorm(1)
    for (i in seq_len(iterations - 1)) x[i + 1] <- phi * x[i] + sqrt(1 - phi^2) * rnorm(1)
    x
  }
  sapply(seq_len(chains), one)
}
independent <- function(iterations, chains) matrix(rnorm(iterations * chains), iterations, chains)

cases <- list(
  independent = independent(100, 4),
  independent_odd = independent(101, 4),
  one_chain = independent(200, 1),
  one_chain_odd = autoregression(149, 1, 0.6),
  two_chains = autoregression(120, 2, 0.3),
  eight_chains = autoregression(50, 8, 0.4),
  autoregression_0.5 = autoregression(120, 4, 0.5),
  autoregression_0.95 = autoregression(200, 4, 0.95),
  antithetic_0.25 = autoregression(100, 4, -0.25),
  antithetic_0.7 = autoregression(120, 4, -0.7),
  antithetic_0.95 = autoregression(80, 4, -0.95),
  cauchy = matrix(rcauchy(320), 80, 4),
  skewed = log(matrix(rexp(240), 60, 4)),
  shifted_chain = sweep(independent(60, 4), 2, c(0, 0, 0, 1.5), "+"),
  scaled_chain = sweep(independent(60, 4), 2, c(1, 1, 1, 5), "*"),
  far_from_zero = 1e8 + independent(64, 4),
  small = 1e-9 * independent(64, 4),
  ties = round(2 * autoregression(100, 4, 0.5)) / 2,
  counts = matrix(rpois(400, 1.3), 100, 4),
  coin = matrix(rbinom(240, 1, 0.5), 60, 4),
  even_coin = matrix(rep(c(0, 1, 1, 0), 60), 60, 4),
  rare = matrix(as.numeric(seq_len(240) %% 77 == 0), 60, 4),
  trend = independent(80, 4) + seq_len(80) / 20,
  constant = matrix(3.7, 40, 4),
  below_tolerance = matrix(1e-17 * rnorm(160), 40, 4),
  chains_constant_apart = matrix(rep(c(0.3, 1.1, -2, 5), each = 64), 64, 4),
  one_iteration = independent(1, 4),
  one_draw = independent(1, 1),
  two_draws_one_chain = independent(2, 1),
  three_draws_one_chain = independent(3, 1),
  four_draws_one_chain = independent(4, 1)
)
for (n in c(2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13)) cases[[paste0("short_", n)]] <- independent(n, 4)
for (n in c(5, 6, 7, 8, 12, 14)) cases[[paste0("short_one_chain_", n)]] <- independent(n, 1)
# Chains that end before their correlations do, the last pair of lags being negative and positive
# (lags 6 and 7 of 11 draws): the ESS then takes the negative one as it is.
ends_in_the_middle <- function(x) {
  acov <- rowMeans(apply(x, 2, posterior:::autocovariance))
  rho <- 1 - (acov[1] * 11 / 10 - acov) / (acov[1] + var(colMeans(x)))
  rho[1] <- 1
  rho[7] < 0 && all(rho[c(1, 3, 5, 7)] + rho[c(2, 4, 6, 8)] > 0)
}
repeat {
  x <- autoregression(11, 3, 0.8)
  if (ends_in_the_middle(x)) break
}
cases$last_pair_of_lags <- x
stuck <- independent(80, 4)
stuck[, 2] <- stuck[1, 2]
cases$stuck_chain <- stuck
stuck[, 2] <- 0.01
cases$stuck_in_the_middle <- stuck
stuck <- independent(80, 4)
stuck[41:80, 3] <- stuck[40, 3]
cases$stuck_half <- stuck
for (bad in c(NaN, Inf, -Inf)) {
  x <- independent(40, 4)
  x[17, 3] <- bad
  cases[[paste0("with_", bad)]] <- x
}
x <- independent(21, 3)
x[11, 2] <- NaN  # the draw that splitting leaves out
cases$nan_in_the_middle <- x
x <- independent(20, 2)
x[, 1] <- Inf
cases$half_infinite <- x

number <- function(x) {
  ifelse(is.na(x), "nan", ifelse(is.infinite(x), ifelse(x > 0, "inf", "-inf"), sprintf("%.17g", x)))
}
out <- file("reference.csv", "w")
put <- function(...) cat(paste(..., sep = ","), "\n", sep = "", file = out)
for (name in names(cases)) {
  x <- unname(as.matrix(cases[[name]]))
  for (chain in seq_len(ncol(x))) put(name, "draws", paste(number(x[, chain]), collapse = ","))
  single <- list(
    rhat = rhat, ess_bulk = ess_bulk, ess_tail = ess_tail, ess_mean = ess_mean, ess_sd = ess_sd,
    ess_median = ess_median, mcse_mean = mcse_mean, mcse_sd = mcse_sd, mcse_median = mcse_median,
    rhat_basic = rhat_basic, ess_basic = ess_basic,
    rhat_basic_unsplit = function(x) rhat_basic(x, split = FALSE),
    ess_basic_unsplit = function(x) ess_basic(x, split = FALSE)
  )
  for (quantity in names(single)) put(name, quantity, number(single[[quantity]](x)))
  for (p in probabilities) {
    put(name, "quantile", number(p), number(unname(quantile2(x, p))))
    put(name, "ess_quantile", number(p), number(unname(ess_quantile(x, p))))
    put(name, "mcse_quantile", number(p), number(unname(mcse_quantile(x, p))))
  }
}
close(out)
