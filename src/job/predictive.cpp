// Matches the names of variables with patterns.
#include "rehmc/job/predictive.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "rehmc/core/error.hpp"
#include "rehmc/core/stan_name.hpp"

namespace rehmc {

namespace {

std::vector<std::size_t> matching(const std::vector<std::string>& patterns,
                                  const std::vector<Quantity>& recorded, std::string_view option) {
  std::set<std::size_t> columns;
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      if (fnmatch(pattern.c_str(), csv_variable(recorded[i].name).c_str(), 0) != 0) continue;
      columns.insert(i);
      any = true;
    }
    if (any) continue;
    throw ConfigError(
        fmt::format("{}: '{}' matches no recorded variable of the model", option, pattern));
  }
  return {columns.begin(), columns.end()};
}

/// Whether a variable bears one of the usual names.
std::vector<std::size_t> usual(const std::vector<Quantity>& recorded,
                               const std::vector<const char*>& patterns) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const std::string variable = csv_variable(recorded[i].name);
    const auto fits = [&](const char* p) { return fnmatch(p, variable.c_str(), 0) == 0; };
    if (recorded[i].generated && std::any_of(patterns.begin(), patterns.end(), fits)) {
      columns.push_back(i);
    }
  }
  return columns;
}

}  // namespace

PredictiveColumns predictive_columns(const RunSettings& settings,
                                     const std::vector<Quantity>& recorded) {
  PredictiveColumns columns;
  columns.log_likelihood = settings.log_lik.empty()
                               ? usual(recorded, {"log_lik"})
                               : matching(settings.log_lik, recorded, "log-lik");
  columns.predictive = settings.predictive.empty()
                           ? usual(recorded, {"y_rep", "*_rep", "y_pred"})
                           : matching(settings.predictive, recorded, "predictive");
  return columns;
}

std::string predicted_name(const std::string& variable) {
  for (const std::string_view ending : {"_rep", "_pred"}) {
    if (variable.ends_with(ending)) return variable.substr(0, variable.size() - ending.size());
  }
  return variable;
}

}  // namespace rehmc
