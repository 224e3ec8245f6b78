# Calls an executable of `rehmc cmdstan-exe` in the way of cmdstanr, which no Debian package has, and reads its files as
# cmdstanr does: Rscript use_cmdstan.R EXECUTABLE DATA
arguments <- commandArgs(trailingOnly = TRUE)
executable <- normalizePath(arguments[1])
data <- normalizePath(arguments[2])

check <- function(what, holds) {
  if (!isTRUE(holds)) stop("use_cmdstan.R: ", what)
  cat("  R:", what, "\n")
}

# Which options the executable was built with: `exe info`, lines KEY=VALUE.
info <- system2(executable, "info", stdout = TRUE)
pairs <- strsplit(info, "=", fixed = TRUE)
values <- sapply(pairs[lengths(pairs) == 2], function(pair) trimws(pair[2]))
names(values) <- sapply(pairs[lengths(pairs) == 2], function(pair) tolower(trimws(pair[1])))
check("info", all(c("stan_version_major", "stan_version_minor", "stan_version_patch", "stan_threads") %in% names(values)) &&
        as.integer(values[["stan_version_major"]]) == 2L)

# Every chain is a process of its own with the same seed and its own id; words come in this order.
folder <- tempfile("cmdstanr-")
dir.create(folder)
outputs <- file.path(folder, sprintf("model-202601011200-%d-a1b2c3.csv", 1:4))
invisible(file.create(outputs)) # cmdstanr creates them first
processes <- lapply(1:4, function(id) {
  words <- c(
    paste0("id=", id), "random", "seed=2", "init=1.5", "data", paste0("file=", data),
    "output", paste0("file=", outputs[id]), "refresh=200", paste0("profile_file=", folder, "/profile-", id, ".csv"),
    "method=sample", "num_samples=300", "num_warmup=400", "save_warmup=1", "thin=1", "algorithm=hmc", "metric=diag_e",
    "engine=nuts", "max_depth=9", "adapt", "delta=0.9", "engaged=1"
  )
  pipe(paste(c(shQuote(executable), shQuote(words), "2>&1"), collapse = " "), open = "r")
})
printed <- lapply(processes, readLines)
invisible(lapply(processes, close))
check("progress as lines of iterations", all(sapply(printed, function(lines) {
  any(grepl("^Chain \\[[0-9]+\\] Iteration: +[0-9]+ / 700 \\[ *[0-9]+%\\]  \\((Warmup|Sampling)\\)", lines)) ||
    any(grepl("^Iteration: +[0-9]+ / 700 \\[ *[0-9]+%\\]  \\((Warmup|Sampling)\\)", lines))
})))

# The comments: `key = value`, the metric below its own line, three times.
read_comments <- function(file) {
  lines <- grep("^#", readLines(file), value = TRUE)
  found <- list()
  metric <- grep("Diagonal elements of inverse mass matrix:", lines, fixed = TRUE)
  found$inv_metric <- as.numeric(strsplit(sub("# ", "", lines[metric + 1]), ",")[[1]])
  for (line in lines) {
    pair <- trimws(strsplit(gsub("#|\\(Default\\)", "", line), "=", fixed = TRUE)[[1]])
    if (length(pair) == 2 && nzchar(pair[2])) found[[pair[1]]] <- pair[2]
  }
  found$seconds <- sapply(c("Warm-up", "Sampling", "Total"), function(part) {
    line <- grep(sprintf("seconds (%s)", part), lines, fixed = TRUE, value = TRUE)
    as.numeric(sub(".*?([0-9.e-]+) seconds.*", "\\1", line))
  })
  found
}
comments <- lapply(outputs, read_comments)
asked <- c(num_samples = "300", num_warmup = "400", save_warmup = "1", thin = "1", max_depth = "9", delta = "0.9",
           method = "sample", algorithm = "hmc", metric = "diag_e", engaged = "1", seed = "2")
for (key in names(asked)) check(paste("comments:", key), all(sapply(comments, `[[`, key) == asked[[key]]))
check("comments: metric, step size, times", all(sapply(comments, function(c) {
  length(c$inv_metric) == 10 && all(c$inv_metric > 0) && as.numeric(c[["Step size"]]) > 0 &&
    length(c$seconds) == 3 && all(is.finite(c$seconds))
})))
rows <- lapply(outputs, read.csv, comment.char = "#", check.names = FALSE)
check("rows of warmup and of sampling", all(sapply(rows, nrow) == 700))
check("columns of the sampler", identical(
  names(rows[[1]])[1:7],
  c("lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__")
))
check("chains differ", length(unique(sapply(rows, function(chain) chain$mu[700]))) == 4)
draws <- posterior::as_draws_array(aperm(
  array(unlist(lapply(rows, function(chain) as.matrix(chain[401:700, ]))), c(300, ncol(rows[[1]]), 4),
        list(NULL, names(rows[[1]]), NULL)), c(1, 3, 2)
))
summary <- posterior::summarise_draws(posterior::subset_draws(draws, c("mu", "tau")))
check("draws of one posterior", all(summary$rhat < 1.05) && abs(summary$mean[1] - 4.4) < 1)

# A wrong argument ends with a status that cmdstanr sees, and says why.
status <- suppressWarnings(system2(executable, c("id=1", "method=sample", "num_samples=-1"), stdout = FALSE, stderr = FALSE))
check("a bad argument fails", status != 0)

# fit$generate_quantities() and fit$optimize(): the other methods that it calls.
optimum <- file.path(folder, "optimum.csv")
system2(executable, c("id=1", "random", "seed=1", "data", paste0("file=", data), "output", paste0("file=", optimum),
                      "method=optimize", "jacobian=1"), stdout = FALSE)
check("optimize", nrow(read.csv(optimum, comment.char = "#")) == 1)
predicted <- file.path(folder, "predicted.csv")
system2(executable, c("id=1", "random", "seed=1", "data", paste0("file=", data), "output", paste0("file=", predicted),
                      "method=generate_quantities", paste0("fitted_params=", outputs[1])), stdout = FALSE)
check("generate_quantities", nrow(read.csv(predicted, comment.char = "#")) >= 300)
