// Reads starting points, and lets the model transform them.
#include "stan/starts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "rehmc/core/error.hpp"
#include "rehmc/core/json_depth.hpp"
#include "rehmc/core/stan_name.hpp"
#include "rehmc/core/suggest.hpp"

namespace rehmc::stan {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int most_tries = 100;

void check_keys(const OrderedJson& object, const std::string& file, const BridgeDensity& model) {
  if (!object.is_object()) {
    throw DataError(fmt::format(
        "{}: found {}, expected an object such as {{\"{}\": 0.5}}, or an array of objects", file,
        object.type_name(), csv_variable(model.quantities().front().name)));
  }
  std::vector<std::string> known;
  for (const Quantity& quantity : model.quantities()) {
    if (known.empty() || known.back() != csv_variable(quantity.name)) {
      known.push_back(csv_variable(quantity.name));
    }
  }
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw DataError(
          fmt::format("{}: the model has no parameter {}{}", file, key, did_you_mean(key, known)));
    }
  }
}

/// Puts a number at the position in its name: "a.2.1" into an array of arrays, "a:1" into a tuple.
void put(OrderedJson& tree, const std::string& name, double value) {
  OrderedJson* place = &tree[csv_variable(name)];
  std::size_t at = csv_variable(name).size();
  while (at < name.size()) {
    const std::size_t end = std::min(name.find_first_of(".:", at + 1), name.size());
    const std::string index = name.substr(at + 1, end - at - 1);
    place = name[at] == ':' ? &(*place)[index] : &(*place)[std::stoul(index) - 1];
    at = end;
  }
  *place = value;
}

/// The parameters of a random position, as JSON.
OrderedJson random_parameters(BridgeDensity& model, double radius, Stream& stream) {
  std::vector<double> x(model.dimension());
  for (double& each : x) each = radius * (2 * stream.uniform() - 1);
  const std::vector<Quantity> quantities = model.quantities();
  std::vector<double> values(quantities.size());
  model.evaluate_quantities(x, values, nullptr);
  OrderedJson tree = OrderedJson::object();
  for (std::size_t k = 0; k < model.parameters(); ++k) put(tree, quantities[k].name, values[k]);
  return tree;
}

/// A start from the given values; the others are drawn until the density is finite.
std::vector<double> start_from(const OrderedJson& given, BridgeDensity model, double radius,
                               Stream& stream) {
  std::string reason;
  std::vector<double> gradient(model.dimension());
  for (int attempt = 0; attempt < most_tries; ++attempt) {
    try {
      OrderedJson all = random_parameters(model, radius, stream);
      for (const auto& [key, value] : given.items()) {
        if (all.contains(key)) all[key] = value;
      }
      std::vector<double> x = model.unconstrain(all.dump());
      if (std::isfinite(model(x, gradient))) return x;
      reason = "the log density is not finite";
    } catch (const std::domain_error& error) {
      reason = error.what();  // at this point; another one may work
    }
  }
  throw DataError(fmt::format("{} tries to draw the missing parameters failed; the last one: {}",
                              most_tries, reason));
}

}  // namespace

std::vector<std::vector<double>> read_starts(const std::string& text, const std::string& file,
                                             const BridgeDensity& model,
                                             const StartSettings& settings) {
  require_json_depth(text, file);
  OrderedJson json;
  try {
    json = OrderedJson::parse(text);
  } catch (const OrderedJson::exception& error) {
    throw DataError(fmt::format("{}: is not JSON: {}", file, error.what()));
  }
  std::vector<OrderedJson> objects;
  if (json.is_array()) {
    objects.assign(json.begin(), json.end());
    if (objects.size() != settings.chains) {
      throw DataError(
          fmt::format("{}: has starting points for {} chains, expected {}, one for each", file,
                      objects.size(), settings.chains));
    }
  } else {
    objects.assign(settings.chains, json);
  }
  std::vector<std::vector<double>> starts;
  for (const OrderedJson& object : objects) {
    check_keys(object, file, model);
    Stream stream({.seed = settings.seed, .chain = static_cast<std::uint32_t>(starts.size())},
                  Purpose::initial_point);
    try {
      starts.push_back(start_from(object, model, settings.radius, stream));
    } catch (const DataError& error) {
      throw DataError(fmt::format("{}: the model cannot start there: {}", file, error.what()));
    }
  }
  return starts;
}

}  // namespace rehmc::stan
