// Hierarchical Bayesian logistic regression, and predictors with all two-way interactions.
#include "models/hierarchical_logistic.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "models/data_reader.hpp"
#include "models/entry.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/core/settings.hpp"
#include "rehmc/model/log_density.hpp"

namespace rehmc {
namespace {

constexpr std::size_t german_attributes = 24;

/// False if the column hardly varies.
bool standardise(std::vector<double>& column) {
  const auto n = static_cast<double>(column.size());
  double mean = 0;
  double largest = 0;
  for (const double value : column) {
    mean += value / n;
    largest = std::max(largest, std::abs(value));
  }
  double variance = 0;
  for (double& value : column) {
    value -= mean;
    variance += value * value / n;
  }
  const double sd = std::sqrt(variance);
  // Rounding alone gives a constant column a tiny spread. The condition also catches NaN.
  if (!(sd > 1e-12 * largest)) return false;
  for (double& value : column) value /= sd;
  return true;
}

void check(const AttributeData& data) {
  if (data.observations == 0 || data.attributes == 0 ||
      data.values.size() != data.observations * data.attributes ||
      data.y.size() != data.observations) {
    throw DataError(fmt::format(
        "attributes: found {} values and {} entries of y, must be {} observations of {} attributes "
        "and as many entries of y, at least one of each",
        data.values.size(), data.y.size(), data.observations, data.attributes));
  }
  for (std::size_t i = 0; i < data.values.size(); ++i) {
    if (std::isfinite(data.values[i])) continue;
    throw DataError(fmt::format("attributes: found {} in row {}, column {}, must be finite",
                                data.values[i], i / data.attributes + 1, i % data.attributes + 1));
  }
}

/// The integers of a line; anything else is an error.
std::vector<int> integers(std::string_view line, const std::string& place) {
  std::vector<int> values;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return values;
    line.remove_prefix(begin);
    const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
    int value = 0;
    const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (fault != std::errc{} || end != word.data() + word.size()) {
      throw DataError(fmt::format("{}: found '{}' as number {}, expected a whole number", place,
                                  word, values.size() + 1));
    }
    values.push_back(value);
    line.remove_prefix(word.size());
  }
}

}  // namespace

HierarchicalLogistic::HierarchicalLogistic(const LogisticData& data) : likelihood_(data) {}

double HierarchicalLogistic::operator()(std::span<const double> x, std::span<double> gradient) {
  const double value = prior(x, gradient);
  return likelihood_.add(x.subspan(1), gradient.subspan(1)) + value;
}

void HierarchicalLogistic::evaluate_batch(const Batch& batch) {
  const std::size_t d = dimension();
  for (std::size_t c = 0; c < batch.columns; ++c) {
    batch.log_densities[c] =
        prior({batch.positions + c * batch.stride, d}, {batch.gradients + c * batch.stride, d});
  }
  likelihood_.add_batch(
      {batch.columns, batch.stride, batch.positions + 1, batch.log_densities, batch.gradients + 1});
}

double HierarchicalLogistic::prior(std::span<const double> x, std::span<double> gradient) const {
  const double log_sigma = x[0];
  const double precision = std::exp(-2 * log_sigma);
  const std::span<const double> beta = x.subspan(1);
  const std::span<double> beta_slope = gradient.subspan(1);
  double squares = 0;
  for (std::size_t j = 0; j < beta.size(); ++j) {
    squares += beta[j] * beta[j];
    beta_slope[j] = -precision * beta[j];
  }
  const double fewer = static_cast<double>(beta.size()) - 1;
  gradient[0] = precision * squares - fewer;
  return -fewer * log_sigma - 0.5 * precision * squares;
}

std::vector<std::string> HierarchicalLogistic::names() const {
  std::vector<std::string> names{"log_sigma"};
  for (std::size_t j = 1; j < dimension(); ++j) names.push_back("beta." + std::to_string(j));
  return names;
}

LogisticData with_interactions(const AttributeData& data) {
  check(data);
  std::vector<std::vector<double>> columns{std::vector<double>(data.observations, 1.0)};
  for (std::size_t k = 0; k < data.attributes; ++k) {
    std::vector<double> column;
    for (std::size_t i = 0; i < data.observations; ++i) {
      column.push_back(data.values[i * data.attributes + k]);
    }
    if (!standardise(column)) {
      throw DataError(
          fmt::format("attributes: column {} is the same in every row, leave it out", k + 1));
    }
    columns.push_back(std::move(column));
  }
  for (std::size_t k = 1; k <= data.attributes; ++k) {
    for (std::size_t other = k + 1; other <= data.attributes; ++other) {
      std::vector<double> product;
      for (std::size_t i = 0; i < data.observations; ++i) {
        product.push_back(columns[k][i] * columns[other][i]);
      }
      if (!standardise(product)) {
        throw DataError(fmt::format(
            "attributes: the product of columns {} and {}, standardised, is the same in every row, "
            "leave one of them out",
            k, other));
      }
      columns.push_back(std::move(product));
    }
  }
  LogisticData result{
      .observations = data.observations, .predictors = columns.size(), .x = {}, .y = data.y};
  result.x.reserve(data.observations * columns.size());
  for (std::size_t i = 0; i < data.observations; ++i) {
    for (const std::vector<double>& column : columns) result.x.push_back(column[i]);
  }
  return result;
}

AttributeData read_german_credit(std::string_view text, const std::string& name) {
  AttributeData data;
  data.attributes = german_attributes;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    const std::string place = fmt::format("{}, line {}", name, line);
    const std::vector<int> values = integers(text.substr(0, length), place);
    text.remove_prefix(std::min(length + 1, text.size()));
    if (values.empty()) continue;
    if (values.size() != german_attributes + 1) {
      throw DataError(fmt::format("{}: found {} numbers, expected {} attributes and the class",
                                  place, values.size(), german_attributes));
    }
    if (values.back() != 1 && values.back() != 2) {
      throw DataError(
          fmt::format("{}: found class {}, expected 1 (good) or 2 (bad)", place, values.back()));
    }
    data.values.insert(data.values.end(), values.begin(), values.end() - 1);
    data.y.push_back(values.back() - 1);
    ++data.observations;
  }
  if (data.observations == 0) {
    throw DataError(fmt::format("{}: found no lines, expected one per observation", name));
  }
  return data;
}

AttributeData simulate_attributes(const AttributeSimulation& simulation) {
  require_setting("observations", static_cast<double>(simulation.observations), at_least(2));
  require_setting("attributes", static_cast<double>(simulation.attributes), at_least(1));
  const double correlation = 0.3;
  const double fresh = std::sqrt(1 - correlation * correlation);
  const double intercept = -1.1;
  const double effect = 0.5;
  AttributeData data{.observations = simulation.observations,
                     .attributes = simulation.attributes,
                     .values = std::vector<double>(simulation.observations * simulation.attributes),
                     .y = {}};
  Stream stream({.seed = simulation.seed}, Purpose::test);
  stream.fill_normal(data.values);
  for (std::size_t i = 0; i < data.observations; ++i) {
    const std::span<double> row(data.values.data() + i * data.attributes, data.attributes);
    double linear = intercept;
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (k > 0) row[k] = correlation * row[k - 1] + fresh * row[k];
      // One attribute in four matters, with alternating sign.
      if (k % 4 == 0) linear += (k % 8 == 0 ? effect : -effect) * row[k];
    }
    for (std::size_t k = 2; k < row.size(); k += 3) row[k] = row[k] > 0 ? 1 : 0;
    data.y.push_back(stream.chance(1 / (1 + std::exp(-linear))) ? 1 : 0);
  }
  return data;
}

namespace {

Density make_hierarchical_logistic(DataReader& data) {
  for (const std::string key : {"x", "attributes"}) {
    data.exclude(key, {"observations", "number_of_attributes", "seed"});
  }
  data.exclude("x", {"attributes"});
  if (data.has("attributes")) {
    data.all_or_none({"attributes", "y"});
    DataMatrix values = data.matrix("attributes", between(-1e100, 1e100));
    std::vector<int> y = data.zeros_and_ones("y");
    data.require_length("y", y.size(), values.rows);
    return data.with_file([&] {
      return HierarchicalLogistic(
          with_interactions({values.rows, values.columns, std::move(values.values), std::move(y)}));
    });
  }
  if (!data.all_or_none({"x", "y"})) {
    AttributeSimulation simulation;
    simulation.observations =
        data.integer("observations", simulation.observations, between(10, 1e6));
    simulation.attributes =
        data.integer("number_of_attributes", simulation.attributes, between(1, 100));
    simulation.seed = data.seed(simulation.seed);
    return HierarchicalLogistic(with_interactions(simulate_attributes(simulation)));
  }
  return HierarchicalLogistic(read_logistic_data(data));
}

}  // namespace

ModelEntries hierarchical_logistic_entries() {
  const std::string description =
      "y_i ~ Bernoulli(1 / (1 + exp(-x_i' beta))), beta_j ~ N(0, sigma^2), a flat prior on sigma:\n"
      "the second test case of Nishimura and Dunson (2020), with its size by default.\n"
      "Improper if a plane separates the two classes of y.\n"
      "Parameters: log_sigma, beta.1, ..., beta.p.";
  const std::string help =
      "x                     n rows of p predictors; add a column of ones for an intercept; or\n"
      "attributes            n rows of k numbers: the predictors are an intercept, these numbers\n"
      "                      standardised, and all products of two of them, standardised again\n"
      "y                     n numbers, 0 or 1\n"
      "Without these the data are simulated, similar to the German credit data:\n"
      "observations          n, default 1000\n"
      "number_of_attributes  k, default 24: p = 301\n"
      "seed                  of the simulation, default 1";
  return {{.place = 130,
           .info = {.name = "hierarchical-logistic",
                    .summary = "logistic regression whose coefficients share an unknown scale",
                    .description = description,
                    .data_help = help,
                    .data_example =
                        R"({"attributes": [[1, 2.5], [3, 0], [2, 1], [4, 7]], "y": [1, 0, 0, 1]})"},
           .keys = {"x", "attributes", "y", "observations", "number_of_attributes", "seed"},
           .version = 1,
           .make = make_hierarchical_logistic}};
}

}  // namespace rehmc
