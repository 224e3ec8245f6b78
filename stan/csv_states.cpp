// Rebuilds the parameters of every draw as JSON, which the model takes back.
#include "stan/csv_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/output/foreign_draws.hpp"

namespace rehmc::stan {

namespace {

using Json = nlohmann::json;

/// Where in the JSON of all parameters a name like theta.2.1 or pair:2.1 stands, and its column.
struct Place {
  std::vector<std::string> keys;
  std::size_t column = 0;
};

std::vector<std::string> keys_of(const std::string& name) {
  std::vector<std::string> keys{""};
  for (const char c : name) {
    if (c == '.' || c == ':') {
      keys.emplace_back(1, c);
    } else {
      keys.back() += c;
    }
  }
  return keys;
}

std::vector<Place> places_of(const SampleResult& csv, const BridgeDensity& model) {
  std::vector<Place> places;
  const std::vector<Quantity> quantities = model.quantities();
  for (std::size_t q = 0; q < model.parameters(); ++q) {
    const std::string& name = quantities[q].name;
    const auto found = std::ranges::find(csv.names, name);
    if (found == csv.names.end()) {
      throw DataError(fmt::format(
          "the files have no column {}, a parameter of {}: they are not draws of this program",
          name, model.model_name()));
    }
    places.push_back({keys_of(name), static_cast<std::size_t>(found - csv.names.begin())});
  }
  return places;
}

/// Rounding breaks what Stan checks more strictly than files have digits: that simplexes sum to 1,
/// that rows of Cholesky factors of correlations and unit vectors have length 1, that others sum to
/// 0. Corrects rows that nearly do.
void correct_rounding(Json& json) {
  constexpr double most_rounding = 1e-4;
  const bool numbers =
      json.is_array() && std::ranges::all_of(json, [](const Json& v) { return v.is_number(); });
  if (!numbers) {
    if (json.is_structured()) {
      for (Json& part : json) correct_rounding(part);
    }
    return;
  }
  double sum = 0;
  double squares = 0;
  for (const Json& each : json) {
    sum += each.get<double>();
    squares += each.get<double>() * each.get<double>();
  }
  const auto near = [](double value, double wanted) {
    return std::abs(value - wanted) < most_rounding;
  };
  const double factor = near(sum, 1) ? 1 / sum : near(squares, 1) ? 1 / std::sqrt(squares) : 1;
  const double shift = near(sum, 0) ? sum / static_cast<double>(json.size()) : 0;
  for (Json& each : json) each = each.get<double>() * factor - shift;
}

Json parameters_json(const std::vector<Place>& places, std::span<const double> row) {
  Json json = Json::object();
  for (const Place& place : places) {
    Json* at = &json[place.keys.front()];
    for (std::size_t k = 1; k < place.keys.size(); ++k) {
      const std::string index = place.keys[k].substr(1);
      // Slots of tuples are keys, elements of arrays are places.
      at = place.keys[k].front() == ':' ? &(*at)[index]
                                        : &(*at)[static_cast<std::size_t>(std::stoul(index) - 1)];
    }
    *at = row[place.column];
  }
  return json;
}

std::vector<double> taken_back(const BridgeDensity& model, Json parameters) {
  try {
    return model.unconstrain(parameters.dump());
  } catch (const DataError&) {
    correct_rounding(parameters);
    return model.unconstrain(parameters.dump());
  }
}

/// The states of one chain.
struct States {
  std::vector<double> positions;
  std::vector<double> gradients;
  std::vector<double> log_density;
};

States states_of(const ChainRecord& record, std::size_t chain, const std::vector<Place>& places,
                 BridgeDensity model) {
  States states;
  const std::size_t d = model.dimension();
  std::vector<double> gradient(d);
  for (std::size_t i = 0; i < record.size(); ++i) {
    const auto refuse = [&](const std::string& why) {
      throw DataError(fmt::format(
          "chain {}, draw {}: cannot be taken back to unconstrained parameters: {}. Files with few "
          "digits round values onto bounds: sample with sig_figs=18",
          chain + 1, i + 1, why));
    };
    try {
      const std::vector<double> x = taken_back(model, parameters_json(places, record.draw(i)));
      if (!std::ranges::all_of(x, [](double v) { return std::isfinite(v); })) {
        refuse("a value is on a bound");
      }
      states.log_density.push_back(model(x, gradient));
      states.positions.insert(states.positions.end(), x.begin(), x.end());
      states.gradients.insert(states.gradients.end(), gradient.begin(), gradient.end());
    } catch (const std::domain_error& error) {
      refuse(error.what());
    } catch (const DataError& error) {
      refuse(error.what());
    }
  }
  return states;
}

/// Both drop constants, so they may differ by one number, and by the rounding of the file.
void require_same_density(const ChainRecord& record, const States& states, std::size_t chain) {
  constexpr double most_rounding = 0.05;
  constexpr double most_relative = 1e-4;
  std::vector<double> differences;
  for (std::size_t i = 0; i < record.size(); ++i) {
    differences.push_back(record.log_density[i] - states.log_density[i]);
  }
  if (differences.empty() || std::isnan(differences.front())) return;  // the files have no lp__
  const double middle = median(differences);
  std::vector<double> apart;
  for (const double difference : differences) apart.push_back(std::abs(difference - middle));
  std::ranges::sort(apart);
  const double typical = apart[apart.size() * 9 / 10];
  const double limit = most_rounding + most_relative * std::abs(median(record.log_density));
  if (typical <= limit) return;
  throw DataError(fmt::format(
      "chain {}: lp__ is not the log density of this program with these data: they differ by "
      "{:.3g} "
      "beyond a constant, expected at most {:.2g}. Give the program and the data of these draws",
      chain + 1, typical, limit));
}

void copy_statistics(const ChainRecord& from, ChainRecord& to) {
  for (const auto series :
       {&ChainRecord::log_density, &ChainRecord::acceptance, &ChainRecord::step_size,
        &ChainRecord::energy, &ChainRecord::energy_error, &ChainRecord::path_length}) {
    to.*series = from.*series;
  }
  to.depth = from.depth;
  to.leapfrogs = from.leapfrogs;
  to.ending = from.ending;
}

}  // namespace

SampleResult with_states(const SampleResult& csv, const BridgeDensity& model) {
  const std::vector<Place> places = places_of(csv, model);
  std::vector<States> all;
  std::vector<ForeignChain> chains;
  std::vector<ChainQuantities> columns;
  for (std::size_t c = 0; c < csv.chains.size(); ++c) {
    const ChainRecord& record = csv.chains[c].record;
    all.push_back(states_of(record, c, places, model));
    require_same_density(record, all.back(), c);
    columns.push_back({record.draws, record.draws});
  }
  for (std::size_t c = 0; c < csv.chains.size(); ++c) {
    ForeignChain& chain = chains.emplace_back();
    chain.positions = all[c].positions;
    chain.gradients = all[c].gradients;
    for (const Ending ending : csv.chains[c].record.ending) {
      chain.diverging.push_back(ending == Ending::diverged);
    }
  }
  SampleResult result = from_draws(model.names(), chains);
  std::vector<Quantity> quantities;
  const std::vector<Quantity> known = model.quantities();
  for (const std::string& name : csv.names) {
    const auto found = std::ranges::find(known, name, &Quantity::name);
    quantities.push_back(found == known.end() ? Quantity{name, std::nullopt, true} : *found);
  }
  set_quantities(result, std::move(quantities), columns);
  result.seed = csv.seed;
  for (std::size_t c = 0; c < csv.chains.size(); ++c) {
    copy_statistics(csv.chains[c].record, result.chains[c].record);
    result.chains[c].facts() = csv.chains[c];
  }
  return result;
}

}  // namespace rehmc::stan
