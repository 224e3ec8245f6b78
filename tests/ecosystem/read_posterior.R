# Reads the draws of run folders with R itself and prints what the package posterior computes from them.
if (!requireNamespace("posterior", quietly = TRUE)) quit(status = 3)

tell <- function(folder, name, quantity, value) {
  line <- sprintf("%s\t%s\t%s\t%.17g\n", folder, name, quantity, value)
  cat(line[is.finite(value)], sep = "")
}

read_chain <- function(file) {
  settings <- grep("^# *(num_samples|thin) *=", readLines(file), value = TRUE)
  numbers <- as.numeric(sub(".*= *", "", settings))
  rows <- read.csv(file, comment.char = "#", check.names = FALSE)
  as.matrix(tail(rows, ceiling(numbers[1] / numbers[2]))) # warmup comes first, if it was saved
}

cat(sprintf("version\tposterior %s\n", packageVersion("posterior")))
for (folder in commandArgs(trailingOnly = TRUE)) {
  files <- Sys.glob(file.path(folder, "chain-*.csv"))
  chains <- lapply(files, read_chain)
  draws <- array(unlist(chains), dim = c(dim(chains[[1]]), length(chains)))
  draws <- aperm(draws, c(1, 3, 2))
  dimnames(draws) <- list(NULL, NULL, colnames(chains[[1]]))
  summary <- posterior::summarise_draws(posterior::as_draws_array(draws))
  for (quantity in c("mean", "sd", "q5", "median", "q95", "rhat", "ess_bulk", "ess_tail")) {
    tell(folder, summary$variable, quantity, summary[[quantity]])
  }
  tell(folder, "*", "draws", nrow(chains[[1]]))
  tell(folder, "*", "divergences", sum(draws[, , "divergent__"]))
}
