# Reads the draws of run folders with rstan::read_stan_csv and prints what it finds.
for (package in c("rstan", "posterior")) {
  if (!requireNamespace(package, quietly = TRUE)) quit(status = 3)
}
suppressMessages(library(rstan))
options(warn = 2) # rstan merely warns of rows that do not fit the settings

tell <- function(folder, name, quantity, value) {
  line <- sprintf("%s\t%s\t%s\t%.17g\n", folder, name, quantity, value)
  cat(line[is.finite(value)], sep = "")
}
stan_name <- function(name) gsub(",", ".", sub("\\]$", "", sub("\\[", ".", name)))

cat(sprintf("version\trstan %s\n", packageVersion("rstan")))
for (folder in commandArgs(trailingOnly = TRUE)) {
  fit <- read_stan_csv(Sys.glob(file.path(folder, "chain-*.csv")))
  draws <- as.array(fit) # without warmup
  means <- apply(draws, 3, mean)
  tell(folder, stan_name(names(means)), "mean", means)
  tell(folder, "*", "draws", dim(draws)[1])
  tell(folder, "*", "warmup_rows", fit@sim$warmup2[1])
  tell(folder, "*", "divergences", get_num_divergent(fit))
  tell(folder, "*", "seconds", sum(get_elapsed_time(fit)))
}
