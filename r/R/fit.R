# Runs: sampling, and what came of it.

rehmc_sample <- function(model, data = NULL, ..., output = tempfile("rehmc-run-")) {
  folder <- tempfile("rehmc-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  file <- data_file(data, folder)
  run_command(c("sample", model_file(model, folder), if (!is.null(file)) c("--data", file), "--output", output,
                "--quiet", option_words(list(...))))
  rehmc_load(output)
}

rehmc_load <- function(folder) {
  file <- file.path(folder, "summary.json")
  if (!file.exists(file)) stop(folder, ": is not the folder of a finished run", call. = FALSE)
  structure(
    list(folder = normalizePath(folder), summary = jsonlite::fromJSON(file, simplifyVector = FALSE),
         manifest = jsonlite::fromJSON(file.path(folder, "manifest.json"), simplifyVector = FALSE)),
    class = "rehmc_fit"
  )
}

rehmc_extend <- function(fit, draws = 1000) {
  run_command(c("extend", fit$folder, option_words(list(draws = draws)), "--quiet"))
  rehmc_load(fit$folder)
}

print.rehmc_fit <- function(x, ...) {
  cat(run_command(c("summary", x$folder)), sep = "\n")
  invisible(x)
}

summary.rehmc_fit <- function(object, kind = c("sharpened", "recycled", "plain"), ...) {
  estimates(object$summary, match.arg(kind))
}

# theta.1.2 as theta[1,2].
stan_names <- function(names) {
  parts <- regmatches(names, regexec("^(.*?)((?:\\.[0-9]+)+)$", names, perl = TRUE))
  mapply(function(name, part) {
    if (length(part) == 0) return(name)
    sprintf("%s[%s]", part[2], gsub(".", ",", substring(part[3], 2), fixed = TRUE))
  }, names, parts, USE.NAMES = FALSE)
}

chain_files <- function(fit, pattern = "chain") {
  files <- list.files(fit$folder, sprintf("^%s-[0-9]+\\.csv$", pattern), full.names = TRUE)
  if (length(files) == 0) stop(fit$folder, ": holds no draws", call. = FALSE)
  files[order(as.integer(gsub("[^0-9]", "", basename(files))))]
}

# An array of (iteration, chain, variable), warmup left out.
read_chains <- function(fit) {
  chains <- lapply(chain_files(fit), function(file) {
    rows <- read.csv(file, comment.char = "#", check.names = FALSE)
    settings <- grep("^# *(num_samples|thin) *=", readLines(file, n = 200), value = TRUE)
    numbers <- as.numeric(sub(".*= *", "", settings))
    as.matrix(utils::tail(rows, ceiling(numbers[1] / numbers[2])))
  })
  least <- min(vapply(chains, nrow, 1L))
  array(unlist(lapply(chains, function(chain) chain[seq_len(least), ])), c(least, ncol(chains[[1]]), length(chains)),
        list(NULL, colnames(chains[[1]]), NULL)) |>
    aperm(c(1, 3, 2))
}

as_draws_array.rehmc_fit <- function(x, ...) {
  all <- read_chains(x)
  known <- !endsWith(dimnames(all)[[3]], "__")
  draws <- all[, , known, drop = FALSE]
  dimnames(draws)[[3]] <- stan_names(dimnames(draws)[[3]])
  posterior::as_draws_array(draws)
}

as_draws.rehmc_fit <- function(x, ...) as_draws_array.rehmc_fit(x, ...)
as_draws_df.rehmc_fit <- function(x, ...) posterior::as_draws_df(as_draws_array.rehmc_fit(x, ...))
as_draws_matrix.rehmc_fit <- function(x, ...) posterior::as_draws_matrix(as_draws_array.rehmc_fit(x, ...))
as_draws_rvars.rehmc_fit <- function(x, ...) posterior::as_draws_rvars(as_draws_array.rehmc_fit(x, ...))

rehmc_statistics <- function(fit) {
  all <- read_chains(fit)
  posterior::as_draws_array(all[, , endsWith(dimnames(all)[[3]], "__"), drop = FALSE])
}

rehmc_recycled <- function(fit, calibrated = FALSE) {
  folder <- tempfile("rehmc-recycled-")
  on.exit(unlink(folder, recursive = TRUE))
  run_command(c("export", fit$folder, "--recycled", "csv", if (calibrated) "--calibrated", "--output", folder))
  masses <- rehmc_statistics(fit)[, , "mass__"]
  chains <- lapply(chain_files(list(folder = folder), "recycled"), read.csv, check.names = FALSE)
  rows <- do.call(rbind, lapply(seq_along(chains), function(chain) {
    rows <- chains[[chain]]
    draw <- match(rows$iter__, unique(rows$iter__))
    weights <- if (calibrated) exp(rows$calibrated_log_weight__) else exp(rows$log_weight__) * as.numeric(masses[, chain, 1])[draw]
    values <- rows[!endsWith(names(rows), "__")]
    names(values) <- stan_names(names(values))
    known <- !vapply(values, function(value) all(is.nan(value)), NA)
    data.frame(values[known], .weight = weights, .chain = chain, .iteration = seq_len(nrow(rows)), check.names = FALSE)
  }))
  # As posterior::weight_draws() does, which in version 1.4.0 needs testthat.
  rows$.log_weight <- log(rows$.weight / sum(rows$.weight))
  rows$.weight <- NULL
  posterior::as_draws_df(rows)
}
