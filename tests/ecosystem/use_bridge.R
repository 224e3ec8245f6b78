# Calls the functions that BridgeStan's client for R calls, in the way it does: Rscript use_bridge.R LIBRARY DATA
arguments <- commandArgs(trailingOnly = TRUE)
package <- tools::file_path_sans_ext(basename(arguments[1]))
dyn.load(arguments[1])

call <- function(name, ...) .C(paste0("bs_", name, "_R"), ..., PACKAGE = package, NAOK = TRUE)
outcome <- function() list(code = 0L, message = "", place = raw(8))
check <- function(what, holds) {
  if (!isTRUE(holds)) stop("use_bridge.R: ", what)
  cat("  R:", what, "\n")
}

version <- call("version", 0L, 0L, 0L)
check("version", identical(unlist(version), c(2L, 9L, 0L)))
wrong <- call("model_construct", "{}", 1L, model = raw(8), message = "", place = raw(8))
check("a message for data that are missing", all(wrong$model == 0) && nchar(wrong$message) > 0)
invisible(call("free_error_msg", wrong$place))
data <- paste(readLines(arguments[2], warn = FALSE), collapse = "\n")
model <- call("model_construct", data, 1L, model = raw(8), message = "", place = raw(8))$model
check("a model", any(model != 0))
dimension <- call("param_unc_num", model, number = 0L)$number
names <- strsplit(call("param_names", model, TRUE, TRUE, names = "")$names, ",")[[1]]
check("names", dimension == 10 && length(names) == 26 && identical(names[1:2], c("mu", "tau")))

x <- seq(-1, 1, length.out = dimension)
density <- function(x) do.call(call, c(list("log_density", model, TRUE, TRUE, x, value = 0), outcome()))$value
gradient <- do.call(
  call, c(list("log_density_gradient", model, TRUE, TRUE, x, value = 0, gradient = double(dimension)), outcome())
)$gradient
differences <- sapply(seq_along(x), function(i) {
  step <- replace(double(dimension), i, 1e-6)
  (density(x + step) - density(x - step)) / 2e-6
})
check("the gradient is that of the log density", isTRUE(all.equal(gradient, differences, tolerance = 1e-6)))
rng <- call("rng_construct", 1L, rng = raw(8), message = "", place = raw(8))$rng
values <- do.call(
  call, c(list("param_constrain", model, TRUE, TRUE, x, values = double(26), rng), outcome())
)$values
check("quantities", isTRUE(all.equal(values[2], exp(x[2]))) && all(is.finite(values)))
# Without generated quantities the client passes an integer in the place of a generator.
parameters <- do.call(
  call, c(list("param_constrain", model, FALSE, FALSE, x, values = double(10), 0L), outcome())
)$values
back <- do.call(call, c(list("param_unconstrain", model, parameters, x = double(10)), outcome()))$x
check("and back", isTRUE(all.equal(back, x)))
invisible(call("rng_destruct", rng))
invisible(call("model_destruct", model))
