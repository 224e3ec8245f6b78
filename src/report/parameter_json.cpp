// Writes what the page shows of one parameter.
#include "parameter_json.hpp"

#include <cmath>
#include <utility>

#include "bounds.hpp"
#include "plots.hpp"

namespace rehmc::report {

namespace {

constexpr int location_digits = 9;  // the page rounds these by their error

const QuantileEstimate* quantile_at(const Estimate& estimate, double probability) {
  for (const QuantileEstimate& quantile : estimate.quantiles) {
    if (std::abs(quantile.probability - probability) < 1e-9) return &quantile;
  }
  return nullptr;
}

Json quantiles_of(const Estimate& estimate) {
  Json values = Json::array();
  for (const double p : standard_probabilities) {
    const QuantileEstimate* quantile = quantile_at(estimate, p);
    values.push_back(quantile == nullptr ? Json(nullptr) : number(quantile->value));
  }
  return values;
}

/// How many times as many plain draws would be as precise, for mean, sd and 97.5% quantile. Means
/// and sds compare MCSEs, since recycled states define their ESS differently; the MCSE of a plain
/// quantile is too noisy for that, but its ESS has the same definition.
Json gains_of(const Estimate& plain, const Estimate& better) {
  const auto by_error = [](double before, double after) {
    return number(std::pow(before / after, 2), 4);
  };
  const QuantileEstimate* before = quantile_at(plain, 0.975);
  const QuantileEstimate* after = quantile_at(better, 0.975);
  const bool both = before != nullptr && after != nullptr;
  return {by_error(plain.mcse_mean, better.mcse_mean), by_error(plain.mcse_sd, better.mcse_sd),
          both ? number(after->ess / before->ess, 4) : Json(nullptr)};
}

/// Values and errors of mean, sd and quantiles.
Json estimate_json(const Estimate& estimate) {
  Json pairs{{number(estimate.mean, location_digits), number(estimate.mcse_mean, 3)},
             {number(estimate.sd, location_digits), number(estimate.mcse_sd, 3)}};
  for (const double p : standard_probabilities) {
    const QuantileEstimate* quantile = quantile_at(estimate, p);
    pairs.push_back(quantile == nullptr ? Json{nullptr, nullptr}
                                        : Json{number(quantile->value, location_digits),
                                               number(quantile->mcse, 3)});
  }
  return pairs;
}

/// All estimates of a parameter, and the features that sharpened each.
Json estimates_json(const ParameterSummary& row) {
  Json json{{"plain", estimate_json(row.plain)}};
  if (row.recycled) json["recycled"] = estimate_json(*row.recycled);
  if (row.sharpened) {
    json["sharpened"] = estimate_json(row.sharpened->estimate);
    Json features{describe(row.sharpened->mean_set), describe(row.sharpened->sd_set)};
    for (const FeatureSet set : row.sharpened->quantile_sets) features.push_back(describe(set));
    json["features"] = std::move(features);
  }
  return json;
}

Json values_json(const QuantisedValues& values) {
  Json parts = Json::array();
  for (const auto& part : values.parts) parts.push_back(part ? Json(*part) : Json(nullptr));
  return {{"least", number(values.least, 12)},
          {"most", number(values.most, 12)},
          {"parts", std::move(parts)}};
}

Json density_json(const std::optional<DensityPair>& density) {
  if (!density) return nullptr;
  Json json{{"least", number(density->grid.least, 12)},
            {"most", number(density->grid.most, 12)},
            {"plain", numbers(density->first, 4)}};
  if (!density->second.empty()) json["recycled"] = numbers(density->second, 4);
  return json;
}

}  // namespace

Json table_row(const SampleResult& result, const ParameterSummary& row, std::size_t parameter,
               std::size_t spark_stride) {
  Json json;
  json["name"] = shortened(row.name, most_name_bytes);
  if (row.plain.condition == DrawsCondition::constant) json["constant"] = true;
  if (row.generated) json["generated"] = true;
  json["plain"] = {number(row.plain.mean, location_digits), number(row.plain.mcse_mean, 4),
                   number(row.plain.sd)};
  json["quantiles"] = quantiles_of(row.plain);
  json["convergence"] = {number(row.convergence.ess_bulk, 5), number(row.convergence.ess_tail, 5),
                         number(row.convergence.rhat)};
  if (row.recycled) {
    json["recycled"] = {number(row.recycled->mean, location_digits),
                        number(row.recycled->mcse_mean, 4), number(row.recycled->ess_mean, 5)};
    json["gain"] = gains_of(row.plain, *row.recycled);
  }
  if (row.sharpened) {
    const Estimate& sharpened = row.sharpened->estimate;
    const QuantileEstimate* tail = quantile_at(sharpened, 0.975);
    json["sharpened"] = {number(sharpened.mean, location_digits), number(sharpened.mcse_mean, 4),
                         number(sharpened.ess_mean, 5), number(sharpened.ess_sd, 5),
                         tail == nullptr ? Json(nullptr) : number(tail->ess, 5)};
    json["sharpened_gain"] = gains_of(row.plain, sharpened);
  } else if (!row.not_sharpened.empty()) {
    json["not_sharpened"] = row.not_sharpened;
  }
  if (std::string spark = sparkline(result, parameter, spark_stride); !spark.empty()) {
    json["spark"] = std::move(spark);
  }
  return json;
}

void add_plots(Json& json, const SampleResult& result, const ParameterSummary& row,
               const ShownDraws& shown, std::size_t parameter, std::size_t curve_stride) {
  json["values"] = values_json(quantised(shown_values(result, shown, parameter)));
  json["ranks"] = rank_histograms(result, parameter, curve_stride);
  json["density"] =
      density_json(parameter_densities(result, parameter, row.recycled.has_value(), curve_stride));
  json["estimates"] = estimates_json(row);
}

}  // namespace rehmc::report
