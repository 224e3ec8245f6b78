# Sharper summaries of draws that CmdStan took.

rehmc_sharpen <- function(model, files, data = NULL, ..., weights = FALSE) {
  folder <- tempfile("rehmc-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  if (is.environment(files) && is.function(files$output_files)) files <- files$output_files()
  if (!is.character(files) || length(files) == 0) {
    stop("files: expected the names of CSV files, or a fit of cmdstanr", call. = FALSE)
  }
  file <- data_file(data, folder)
  of_draws <- file.path(folder, "weights.csv")
  printed <- run_command(c("sharpen", model_file(model, folder), files, if (!is.null(file)) c("--data", file), "--json",
                           if (weights) c("--weights", of_draws), option_words(list(...))))
  structure(list(summary = jsonlite::fromJSON(paste(printed, collapse = "\n"), simplifyVector = FALSE),
                 weights = if (weights) exp(read.csv(of_draws)$log_weight)),
            class = "rehmc_sharpened")
}

weights.rehmc_sharpened <- function(object, ...) {
  if (is.null(object$weights)) stop("there are no weights; ask for them by rehmc_sharpen(..., weights = TRUE)", call. = FALSE)
  object$weights
}

print.rehmc_sharpened <- function(x, digits = 3, ...) {
  print(summary.rehmc_sharpened(x), digits = digits, row.names = FALSE)
  if (!is.null(x$summary$not_sharpened)) cat("\nNot sharpened: ", x$summary$not_sharpened, "\n", sep = "")
  for (warning in x$summary$diagnostics$warnings) cat("\nWarning: ", warning$text, "\n", sep = "")
  invisible(x)
}

summary.rehmc_sharpened <- function(object, kind = c("sharpened", "plain"), ...) {
  estimates(object$summary, match.arg(kind))
}

# A row for every parameter, with the best estimate that is not better than `kind`.
estimates <- function(summary, kind) {
  kinds <- c("plain", "recycled", "sharpened")
  order <- rev(kinds[seq_len(match(kind, kinds))])
  number <- function(value) if (is.null(value)) NA_real_ else as.numeric(value)
  rows <- lapply(summary$parameters, function(row) {
    best <- order[order %in% names(row)][1]
    estimate <- row[[best]]
    plain <- row$plain
    measures <- c("mean", "sd", "q5", "q50", "q95")
    columns <- c(rbind(measures, paste0("mcse_", measures)))
    data.frame(
      variable = row$name,
      as.list(setNames(vapply(columns, function(name) number(estimate[[name]]), 1), columns)),
      gain = (number(plain$mcse_mean) / number(estimate$mcse_mean))^2,
      rhat = number(plain$rhat), ess_bulk = number(plain$ess_bulk), ess_tail = number(plain$ess_tail),
      kind = best
    )
  })
  do.call(rbind, rows)
}
