# Models and data as files that the command reads.

# A file for the program: the file itself, a library, the name of a built-in model, or code.
model_file <- function(model, folder) {
  if (!is.character(model) || length(model) != 1 || is.na(model)) {
    stop("model: expected a file NAME.stan or NAME.so, the name of a built-in model, or Stan code", call. = FALSE)
  }
  if (!grepl("[\n{]", model)) return(model)
  file <- file.path(folder, "model.stan")
  writeLines(model, file)
  file
}

data_file <- function(data, folder) {
  if (is.null(data)) return(NULL)
  if (is.character(data) && length(data) == 1 && is.null(names(data))) return(data)
  if (!is.list(data) || is.data.frame(data) || is.null(names(data)) || any(!nzchar(names(data)))) {
    stop("data: expected a named list, or the name of a JSON file", call. = FALSE)
  }
  file <- file.path(folder, "data.json")
  writeLines(jsonlite::toJSON(lapply(names(data), function(name) stan_value(name, data[[name]])) |> setNames(names(data)),
                              digits = NA, null = "null", na = "string"), file)
  file
}

# Numbers as Stan sees them: one number is a scalar; as.array(x) is an array of one.
stan_value <- function(name, value) {
  if (is.data.frame(value)) value <- data.matrix(value)
  if (is.factor(value) || is.logical(value)) {
    shape <- dim(value)
    value <- as.integer(value)
    dim(value) <- shape
  }
  if (is.list(value)) return(lapply(value, function(each) stan_value(name, each)))
  if (!is.numeric(value)) stop("data: ", name, " is not numeric", call. = FALSE)
  if (anyNA(value) && !any(is.nan(value))) stop("data: ", name, " has missing values (NA)", call. = FALSE)
  if (length(value) == 1 && is.null(dim(value))) jsonlite::unbox(value) else value
}
