// Puts every draw back onto the program's own coordinates, and evaluates it there.
#include "rehmc/job/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/core/stan_name.hpp"
#include "rehmc/output/variable_grids.hpp"

namespace rehmc {

namespace {

using Json = nlohmann::json;

/// The columns of a result that hold the parameters of a program, in its order.
std::vector<std::size_t> columns_of(const std::vector<std::string>& parameters,
                                    const SampleResult& result) {
  std::vector<std::size_t> columns;
  for (const std::string& name : parameters) {
    const auto found = std::find(result.names.begin(), result.names.end(), name);
    if (found == result.names.end()) {
      throw DataError(fmt::format("the program has the parameter {}, of which the run has no draws",
                                  stan_name(name)));
    }
    columns.push_back(static_cast<std::size_t>(found - result.names.begin()));
  }
  for (std::size_t k = 0; k < result.quantities.size(); ++k) {
    if (!result.quantities[k].is_parameter() ||
        std::find(columns.begin(), columns.end(), k) != columns.end()) {
      continue;
    }
    throw DataError(fmt::format("the run has the parameter {}, but the program has not",
                                stan_name(result.names[k])));
  }
  return columns;
}

Json array_of(const VariableGrid& grid, std::span<const double> values, std::size_t depth,
              std::size_t& next) {
  if (depth == grid.shape.size()) return values[grid.columns[next++]];
  Json array = Json::array();
  for (std::size_t i = 0; i < grid.shape[depth]; ++i) {
    array.push_back(array_of(grid, values, depth + 1, next));
  }
  return array;
}

/// Parameters as CmdStan's files of initial values have them.
std::string json_of(const std::vector<VariableGrid>& grids, std::span<const double> values) {
  Json json = Json::object();
  for (const VariableGrid& grid : grids) {
    std::size_t next = 0;
    json[grid.name] = array_of(grid, values, 0, next);
  }
  return json.dump();
}

}  // namespace

GeneratedQuantities generate(BridgeDensity& program, const SampleResult& result) {
  const std::vector<Quantity> quantities = program.quantities();
  GeneratedQuantities generated;
  std::vector<std::string> parameters;
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < quantities.size(); ++k) {
    if (quantities[k].is_parameter()) parameters.push_back(quantities[k].name);
    if (!quantities[k].generated) continue;
    generated.names.push_back(quantities[k].name);
    places.push_back(k);
  }
  if (places.empty()) throw DataError("the program has no generated quantities");
  const std::vector<std::size_t> columns = columns_of(parameters, result);
  const std::vector<VariableGrid> grids = variable_grids(parameters);
  std::vector<double> at(columns.size());
  std::vector<double> all(quantities.size());
  for (std::size_t c = 0; c < result.chains.size(); ++c) {
    const ChainRecord& record = result.chains[c].record;
    std::vector<double>& rows = generated.chains.emplace_back();
    for (std::size_t i = 0; i < record.size(); ++i) {
      for (std::size_t k = 0; k < columns.size(); ++k) at[k] = record.draw(i)[columns[k]];
      std::fill(all.begin(), all.end(), nan_value);
      Stream stream(
          {result.seed, static_cast<std::uint32_t>(c), result.chains[c].warmup_iterations + i},
          Purpose::generated);
      try {
        program.evaluate_quantities(program.unconstrain(json_of(grids, at)), all, &stream);
      } catch (const std::domain_error&) {
        ++generated.failures;
      }
      for (const std::size_t place : places) rows.push_back(all[place]);
    }
  }
  return generated;
}

}  // namespace rehmc
