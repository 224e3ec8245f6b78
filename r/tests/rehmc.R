# Tests of the package with the command itself: sampling, draws, recycled states, sharpening, errors.
library(rehmc)

check <- function(what, holds) if (!isTRUE(holds)) stop("rehmc.R: ", what)
error_of <- function(expression) tryCatch({ expression; "" }, error = conditionMessage)

check("the command is found", rehmc_available())

# A run of a program with data, and what posterior makes of it.
program <- "
data { int<lower=1> N; vector[N] y; array[1] int<lower=0> k; }
parameters { real mu; real<lower=0> sigma; matrix[2, 2] z; }
model { mu ~ normal(0, 5); sigma ~ exponential(1); y ~ normal(mu, sigma); to_vector(z) ~ normal(k[1], 1); }
"
data <- list(N = 5L, y = c(1.5, 2.5, 3.1, 0.7, 2.2), k = as.array(TRUE))
fit <- rehmc_sample(program, data, seed = 3, draws = 300, chains = 3, target_accept = 0.9)
draws <- posterior::as_draws_array(fit)
check("shape of the draws", identical(dim(draws), c(300L, 3L, 6L)))
check("names as in Stan", identical(posterior::variables(draws), c("mu", "sigma", "z[1,1]", "z[2,1]", "z[1,2]", "z[2,2]")))
table <- summary(fit, "plain")
theirs <- posterior::summarise_draws(draws)
check("names of the table", identical(table$variable, theirs$variable))
for (column in c("mean", "sd", "q5", "q95", "rhat", "ess_bulk", "ess_tail")) {
  check(paste(column, "is that of posterior"), all.equal(table[[column]], as.numeric(theirs[[column]]), tolerance = 1e-6))
}
sharpened <- summary(fit)
check("means are sharpened", all(sharpened$kind == "sharpened") && min(sharpened$gain) > 1)
check("as the command says", identical(sharpened$mean, vapply(fit$summary$parameters, function(p) p$sharpened$mean, 1)))
for (class in c("draws_df", "draws_matrix", "draws_rvars")) {
  convert <- getExportedValue("posterior", paste0("as_", class))
  check(class, inherits(convert(fit), class) && posterior::ndraws(convert(fit)) == 900)
}
check("as_draws", identical(posterior::as_draws(fit), draws))

# Recycled states: the default keeps eight of equal weight; "all" weighs them.
for (rule in c("spread:4", "all")) {
  run <- rehmc_sample(program, data, seed = 3, draws = 300, recycle = rule)
  states <- rehmc_recycled(run)
  weights <- stats::weights(states)
  recycled <- summary(run, "recycled")
  check("weights", length(weights) == posterior::ndraws(states) && abs(sum(weights) - 1) < 1e-12)
  mean <- sum(weights * states$mu)
  if (rule == "all") check("the recycled mean", abs(mean - recycled$mean[1]) < 1e-9)
  check("close to the recycled mean", abs(mean - recycled$mean[1]) < recycled$mcse_mean[1])
  check("they resample", posterior::ndraws(posterior::resample_draws(states)) == posterior::ndraws(states))
}
calibrated <- rehmc_recycled(fit, calibrated = TRUE)
share <- stats::weights(calibrated)
check("calibrated weights", abs(sum(share) - 1) < 1e-9 && max(share) > 1.01 * min(share))
# Of this run, the recycled mean of mu is off by two MCSEs, which makes it visible.
error_with <- function(weights) abs(sum(weights * calibrated$mu) - sharpened$mean[1])
check("they sharpen", error_with(share) < 0.8 * error_with(stats::weights(rehmc_recycled(fit))))
check("the states are the same", identical(calibrated$mu, rehmc_recycled(fit)$mu))
check("statistics", all(c("lp__", "divergent__", "energy__") %in% posterior::variables(rehmc_statistics(fit))))

# A flag; rows of warmup are no draws.
warm <- rehmc_sample(program, data, seed = 3, draws = 100, save_warmup = TRUE)
rows <- read.csv(file.path(warm$folder, "chain-1.csv"), comment.char = "#")
check("warmup is saved", nrow(rows) > 100 && dim(posterior::as_draws_array(warm))[1] == 100)
check("and left out", all.equal(summary(warm, "plain")$mean, as.numeric(posterior::summarise_draws(warm, "mean")$mean)))

# Folders: longer, read again.
longer <- rehmc_extend(rehmc_load(fit$folder), draws = 50)
check("extended", dim(posterior::as_draws_array(longer))[1] == 350)
check("the first draws stay", identical(unclass(posterior::as_draws_array(longer))[1:300, , ], unclass(draws)[1:300, , ]))

# Draws that others made.
old <- rehmc_sample(program, data, seed = 4, recycle = "none", sharpen = "none", warmup_schedule = "stan")
files <- Sys.glob(file.path(old$folder, "chain-*.csv"))
sharper <- rehmc_sharpen(program, files, data)
check("sharper", all(summary(sharper)$gain > 1) && identical(summary(sharper)$kind[1], "sharpened"))
check("the plain means are those of the draws", all.equal(summary(sharper, "plain")$mean, summary(old, "plain")$mean))
cmdstanr_fit <- list2env(list(output_files = function() files))
check("a fit of cmdstanr", identical(summary(rehmc_sharpen(program, cmdstanr_fit, data)), summary(sharper)))
weighted <- rehmc_sharpen(program, files, data, weights = TRUE)
share <- weights(weighted)
mu <- posterior::as_draws_df(old)$mu
check("weights of draws", length(share) == length(mu) && all(share > 0) && abs(sum(share) - 1) < 1e-9)
check("they belong to the draws", abs(sum(share * mu) - summary(weighted)$mean[1]) < 2 * summary(weighted, "plain")$mcse_mean[1])
check("and are not all equal", max(share) > 1.01 * min(share))
check("none unless asked for", grepl("weights = TRUE", error_of(weights(sharper))))
check("it prints", any(grepl("mu", utils::capture.output(print(sharper)))))
check("it prints a run", any(grepl("Stein check", utils::capture.output(print(fit)))))

# Errors come with the words of the command.
other <- replace(data, "y", list(c(9, 9, 9, 9, 8)))
check("other data", grepl("log density", error_of(rehmc_sharpen(program, files, other))))
check("a bad value", grepl("--target-accept", error_of(rehmc_sample(program, data, target_accept = 2))))
check("no such option", grepl("--traget-accept", error_of(rehmc_sample(program, data, traget_accept = 0.9))))
check("no such folder", grepl("not the folder", error_of(rehmc_load(tempfile()))))
check("missing values", grepl("missing", error_of(rehmc_sample(program, replace(data, "y", list(c(1, NA, 2, 3, 4)))))))
check("no numbers", grepl("not numeric", error_of(rehmc_sample(program, list(N = "five")))))
check("unnamed", grepl("named", error_of(rehmc_sample(program, data, 5))))
