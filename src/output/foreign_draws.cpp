// Fills records from arrays.
#include "rehmc/output/foreign_draws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"

namespace rehmc {

namespace {

void require_numbers(std::size_t chain, std::string_view what, std::size_t found,
                     std::size_t expected) {
  if (found == expected) return;
  throw DataError(fmt::format("chain {}: found {} numbers of {}, expected {}", chain + 1, found,
                              what, expected));
}

void require_finite(std::size_t chain, std::string_view what, std::span<const double> values,
                    const std::vector<std::string>& names) {
  const auto wrong = std::ranges::find_if(values, [](double v) { return !std::isfinite(v); });
  if (wrong == values.end()) return;
  const auto place = static_cast<std::size_t>(wrong - values.begin());
  throw DataError(fmt::format("chain {}, draw {}: the {} of {} is {}, expected a finite number",
                              chain + 1, place / names.size() + 1, what,
                              names[place % names.size()], *wrong));
}

void check(std::size_t c, const ForeignChain& chain, const std::vector<std::string>& names) {
  const std::size_t draws = chain.positions.size() / names.size();
  require_numbers(c, "positions", chain.positions.size(), draws * names.size());
  if (!chain.gradients.empty()) {
    require_numbers(c, "gradients", chain.gradients.size(), chain.positions.size());
  }
  if (!chain.log_density.empty()) {
    require_numbers(c, "log densities", chain.log_density.size(), draws);
  }
  if (!chain.diverging.empty()) require_numbers(c, "divergences", chain.diverging.size(), draws);
  require_finite(c, "position", chain.positions, names);
  require_finite(c, "gradient", chain.gradients, names);
}

/// Of states with equal or other weights, per draw: the means of x - centre and its square.
void average_kept(ChainRecord& record) {
  const std::size_t d = record.dimension();
  record.mean_offset.assign(record.size() * d, 0);
  record.mean_square.assign(record.size() * d, 0);
  for (std::size_t i = 0; i < record.size(); ++i) {
    for (std::size_t k = record.kept_begin(i); k < record.kept_begin(i + 1); ++k) {
      for (std::size_t p = 0; p < d; ++p) {
        const double offset = record.kept[k * d + p] - record.centre[p];
        record.mean_offset[i * d + p] += record.kept_weight[k] * offset;
        record.mean_square[i * d + p] += record.kept_weight[k] * offset * offset;
      }
    }
  }
}

void number_columns(ChainRecord& record, std::size_t count) {
  record.columns.resize(count);
  for (std::size_t p = 0; p < count; ++p) record.columns[p] = p;
}

void centre_at_first(ChainRecord& record, std::size_t width) {
  record.centre.assign(width, 0.0);
  if (record.size() == 0) return;
  for (std::size_t p = 0; p < width; ++p) {
    if (std::isfinite(record.draws[p])) record.centre[p] = record.draws[p];
  }
}

ChainResult chain_of(const ForeignChain& chain, std::size_t dimension) {
  ChainResult result;
  result.sampling = true;
  ChainRecord& record = result.record;
  const std::size_t draws = chain.positions.size() / dimension;
  record.draws.assign(chain.positions.begin(), chain.positions.end());
  record.log_density.assign(draws, nan_value);
  std::ranges::copy(chain.log_density, record.log_density.begin());
  for (auto* series : {&record.acceptance, &record.step_size, &record.energy, &record.energy_error,
                       &record.path_length}) {
    series->assign(draws, nan_value);
  }
  record.mass.assign(draws, 1);
  record.depth.assign(draws, 0);
  record.leapfrogs.assign(draws, 0);
  record.ending.assign(draws, Ending::completed);
  for (std::size_t i = 0; i < chain.diverging.size(); ++i) {
    if (!chain.diverging[i]) continue;
    record.ending[i] = Ending::diverged;
    const std::span<const double> at = chain.positions.subspan(i * dimension, dimension);
    const std::vector<double> place(at.begin(), at.end());
    // Only where the draw is, is known.
    record.divergences.push_back({i, place, {}, place, Fault::none});
  }
  number_columns(record, dimension);
  centre_at_first(record, dimension);
  record.kept = record.draws;
  record.kept_weight.assign(draws, 1);
  for (std::size_t i = 0; i < draws; ++i) record.kept_end.push_back(i + 1);
  record.coordinates = dimension;
  if (!chain.gradients.empty()) {
    record.gradients = KeptGradients::yes;
    for (const double entry : chain.gradients) {
      record.kept_gradient.push_back(static_cast<float>(entry));
    }
  }
  average_kept(record);
  return result;
}

/// How many coordinates diagnostic files have: a third of their columns.
std::size_t diagnostic_dimension(const std::vector<std::string>& names) {
  const std::size_t d = names.size() / 3;
  bool fits = d > 0 && names.size() == 3 * d;
  for (std::size_t i = 0; fits && i < d; ++i) {
    fits = names[d + i] == "p_" + names[i] && names[2 * d + i] == "g_" + names[i];
  }
  if (fits) return d;
  throw DataError(
      "the files are no diagnostic files of CmdStan, in which columns p_NAME and g_NAME follow "
      "those "
      "of the parameters: give the Stan program first, or write them with diagnostic_file=FILE");
}

}  // namespace

SampleResult from_diagnostics(const SampleResult& csv) {
  const std::size_t d = diagnostic_dimension(csv.names);
  std::vector<std::vector<double>> positions(csv.chains.size());
  std::vector<std::vector<double>> gradients(csv.chains.size());
  std::vector<ForeignChain> chains;
  for (std::size_t c = 0; c < csv.chains.size(); ++c) {
    const ChainRecord& record = csv.chains[c].record;
    ForeignChain& chain = chains.emplace_back();
    for (std::size_t i = 0; i < record.size(); ++i) {
      const std::span<const double> row = record.draw(i);
      positions[c].insert(positions[c].end(), row.begin(),
                          row.begin() + static_cast<std::ptrdiff_t>(d));
      for (std::size_t k = 0; k < d; ++k) gradients[c].push_back(-row[2 * d + k]);
      chain.diverging.push_back(record.ending[i] == Ending::diverged);
    }
    chain.positions = positions[c];
    chain.gradients = gradients[c];
    chain.log_density = record.log_density;
  }
  const std::vector<std::string> names(csv.names.begin(),
                                       csv.names.begin() + static_cast<std::ptrdiff_t>(d));
  SampleResult result = from_draws(names, chains);
  result.seed = csv.seed;
  return result;
}

SampleResult from_draws(const std::vector<std::string>& names,
                        std::span<const ForeignChain> chains) {
  if (names.empty()) throw DataError("there are no coordinates, expected at least one");
  if (chains.empty()) throw DataError("there are no chains, expected at least one");
  SampleResult result;
  result.names = names;
  result.coordinates = names;
  for (const std::string& name : names) {
    result.quantities.push_back({name, result.quantities.size(), false});
  }
  result.kernel.recycling.kind = RecyclingKind::none;
  for (std::size_t c = 0; c < chains.size(); ++c) {
    check(c, chains[c], names);
    result.chains.push_back(chain_of(chains[c], names.size()));
  }
  return result;
}

void set_quantities(SampleResult& result, std::vector<Quantity> quantities,
                    std::span<const ChainQuantities> values) {
  if (values.size() != result.chains.size()) {
    throw DataError(fmt::format("found quantities of {} chains, expected {}", values.size(),
                                result.chains.size()));
  }
  const std::size_t width = quantities.size();
  for (std::size_t c = 0; c < values.size(); ++c) {
    const ChainRecord& record = result.chains[c].record;
    require_numbers(c, "quantities of draws", values[c].draws.size(), record.size() * width);
    require_numbers(c, "quantities of kept states", values[c].kept.size(),
                    record.kept_weight.size() * width);
  }
  for (std::size_t c = 0; c < values.size(); ++c) {
    ChainRecord& record = result.chains[c].record;
    if (record.gradients == KeptGradients::yes && record.kept_position.empty()) {
      record.kept_position = std::move(record.kept);
    }
    record.draws = values[c].draws;
    record.kept = values[c].kept;
    record.kept_columns.reset();
    record.computed = false;
    for (StoredDivergence& divergence : record.divergences) {
      // Of the ends of the trajectory these quantities are not known, but of the draw.
      const auto row = std::span(values[c].draws).subspan(divergence.draw * width, width);
      divergence.start.assign(row.begin(), row.end());
      divergence.end = divergence.start;
    }
    number_columns(record, width);
    centre_at_first(record, width);
    average_kept(record);
  }
  result.quantities = std::move(quantities);
  result.names = names_of(result.quantities);
}

}  // namespace rehmc
