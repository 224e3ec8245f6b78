# Finds and runs the command rehmc.

rehmc_command <- function() {
  for (candidate in c(getOption("rehmc.command", ""), Sys.getenv("REHMC"), Sys.which("rehmc"))) {
    if (nzchar(candidate)) return(normalizePath(unname(candidate), mustWork = FALSE))
  }
  stop("the command rehmc was not found on the PATH; set options(rehmc.command = \"/path/to/rehmc\") ",
       "or the environment variable REHMC", call. = FALSE)
}

rehmc_available <- function() {
  command <- tryCatch(rehmc_command(), error = function(e) "")
  nzchar(command) && file.access(command, 1) == 0
}

# What the command prints; an error with its message if it fails.
run_command <- function(words) {
  errors <- tempfile("rehmc-")
  on.exit(unlink(errors))
  printed <- suppressWarnings(
    system2(rehmc_command(), vapply(words, shQuote, ""), stdout = TRUE, stderr = errors)
  )
  status <- attr(printed, "status")
  if (!is.null(status) && status != 0) {
    message <- if (file.exists(errors)) readLines(errors, warn = FALSE) else character()
    stop(paste(c(message, sprintf("(rehmc ended with exit code %s)", status)), collapse = "\n"), call. = FALSE)
  }
  enc2utf8(as.character(printed))
}

# Settings as options: target_accept = 0.95 is --target-accept 0.95, a TRUE is a flag.
option_words <- function(settings) {
  if (length(settings) == 0) return(character())
  if (is.null(names(settings)) || any(!nzchar(names(settings)))) {
    stop("settings must be named, as in target_accept = 0.95", call. = FALSE)
  }
  words <- lapply(names(settings), function(name) {
    value <- settings[[name]]
    option <- paste0("--", gsub("_", "-", name, fixed = TRUE))
    if (is.null(value) || isFALSE(value)) return(character())
    if (isTRUE(value)) return(option)
    if (length(value) != 1 || !(is.numeric(value) || is.character(value))) {
      stop("setting ", name, ": expected one number or one string", call. = FALSE)
    }
    c(option, if (is.character(value)) value else format(value, digits = 17, scientific = FALSE, trim = TRUE))
  })
  unlist(words)
}
