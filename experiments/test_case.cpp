// Builds the four test cases from the data available.
#include "experiments/test_case.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <utility>

#include "experiments/csv.hpp"
#include "models/cox_process.hpp"
#include "models/diagonal_normal.hpp"
#include "models/hierarchical_logistic.hpp"
#include "models/stochastic_volatility.hpp"
#include "models/wishart.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"

namespace rehmc::experiments {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view credit_file = "german.data-numeric";
constexpr std::string_view closes_file = "sp500_close_2004_2015.csv";
/// The paper leaves this close out: with it the next day's return is zero, and the density is
/// unbounded.
constexpr std::string_view dropped_day = "2008-01-02";
constexpr std::size_t closes_needed = 3000;
constexpr std::uint64_t cox_seed = 1;

std::string stand_in(const std::string& what, std::string_view file) {
  return fmt::format(
      "NOT THE PAPER'S DATA: {} was simulated, since the data folder has no file {} "
      "(experiments/data/README.md says where to get it)",
      what, file);
}

std::vector<double> read_closes(const fs::path& path) {
  const Table table = Table::read(path);
  std::vector<double> closes;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, "date") != dropped_day) closes.push_back(table.number(row, "close"));
  }
  if (closes.size() != closes_needed) {
    throw DataError(fmt::format("{}: found {} closes without that of {}, expected {}",
                                path.string(), closes.size(), dropped_day, closes_needed));
  }
  return closes;
}

DiagonalNormal normal_of(const Variances& variances) {
  std::vector<double> sds;
  for (const double variance : variances) sds.push_back(std::sqrt(variance));
  return DiagonalNormal(sds);
}

TestCase gaussian() {
  Variances variances = wishart_eigenvalues({.seed = gaussian_seed});
  return {CaseName::gaussian,
          "Multivariate Gaussian, d = 250",
          normal_of(variances),
          PathRule::leading_quarter,
          32,
          8,
          16,
          std::move(variances),
          ""};
}

TestCase logistic(const fs::path& folder) {
  const fs::path path = folder / credit_file;
  const bool there = !folder.empty() && fs::exists(path);
  const AttributeData data =
      there ? read_german_credit(read_file(path), path.string()) : simulate_attributes({});
  return {CaseName::logistic,
          "Hierarchical logistic regression, d = 302",
          HierarchicalLogistic(with_interactions(data)),
          PathRule::greatest_jump,
          8,
          1,
          8,
          {},
          there ? "" : stand_in("the credit data set of the logistic regression", credit_file)};
}

TestCase volatility(const fs::path& folder) {
  const fs::path path = folder / closes_file;
  const bool there = !folder.empty() && fs::exists(path);
  const std::vector<double> returns =
      there ? returns_of_closes(read_closes(path)) : simulate_returns({});
  return {CaseName::volatility,
          "Stochastic volatility, d = 3000",
          StochasticVolatility(returns),
          PathRule::greatest_jump,
          45,
          2,
          8,
          {},
          there ? "" : stand_in("the index of the volatility model", closes_file)};
}

/// In coordinates where the constant metric of Riemannian HMC is the unit metric.
TestCase cox(std::size_t grid) {
  CoxSettings settings;
  const bool smaller = grid != settings.size;
  std::string notice =
      smaller ? fmt::format(
                    "NOT THE PAPER'S SIZE: the Cox process has a grid of {0} x {0} cells "
                    "instead of {1} x {1}, to be quick",
                    grid, settings.size)
              : "";
  settings.size = grid;
  return {CaseName::cox,
          fmt::format("Log-Gaussian Cox process, d = {}", grid * grid),
          WhitenedCoxProcess(settings, simulate_cox_counts(settings, cox_seed)),
          PathRule::up_to_thirty,
          16,
          1,
          8,
          {},
          std::move(notice)};
}

}  // namespace

std::vector<double> exact_draw(const Variances& variances, const Address& address) {
  std::vector<double> position(variances.size());
  Stream stream(address, Purpose::initial_point);
  normal_of(variances).sample(stream, position);
  return position;
}

std::string describe(CaseName name) {
  switch (name) {
    case CaseName::gaussian:
      return "gaussian";
    case CaseName::logistic:
      return "logistic";
    case CaseName::volatility:
      return "volatility";
    case CaseName::cox:
      return "cox";
  }
  return "";
}

TestCase make_test_case(CaseName name, const fs::path& data_folder, std::size_t cox_grid) {
  switch (name) {
    case CaseName::gaussian:
      return gaussian();
    case CaseName::logistic:
      return logistic(data_folder);
    case CaseName::volatility:
      return volatility(data_folder);
    default:
      return cox(cox_grid);
  }
}

std::optional<Density> density_as_read(const TestCase& test_case) {
  if (test_case.name != CaseName::cox) return std::nullopt;
  CoxSettings settings;
  settings.size = static_cast<std::size_t>(
      std::lround(std::sqrt(static_cast<double>(test_case.density.dimension()))));
  return CoxProcess(settings, simulate_cox_counts(settings, cox_seed));
}

}  // namespace rehmc::experiments
