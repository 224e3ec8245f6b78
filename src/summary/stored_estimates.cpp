// One function for each struct both stores and restores it.
#include "rehmc/summary/stored_estimates.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "rehmc/core/archive.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/hash.hpp"

namespace rehmc {

namespace {

constexpr std::uint32_t format = 1;

template <class Archive>
constexpr bool restores = std::is_same_v<Archive, ArchiveReader>;

/// Enumerations whose last value is `last`.
template <class Archive, class Enum>
void visit_enum(Archive& archive, Enum& value, Enum last) {
  auto number = static_cast<std::uint8_t>(value);
  archive(number);
  if (number > static_cast<std::uint8_t>(last)) throw DataError("unknown value");
  value = static_cast<Enum>(number);
}

/// What was restored is trusted only as far as it fits together.
template <class Archive>
void require(bool fits, const char* what) {
  if (restores<Archive> && !fits) throw DataError(what);
}

template <class Archive, class T, class Visit>
void visit_all(Archive& archive, std::vector<T>& values, const Visit& visit) {
  auto count = static_cast<std::uint64_t>(values.size());
  archive(count);
  if constexpr (restores<Archive>) {
    if (count > archive.left()) throw DataError("too many values");
    values.resize(static_cast<std::size_t>(count));
  }
  for (T& value : values) visit(value);
}

template <class Archive, class T, class Visit>
void visit_optional(Archive& archive, std::optional<T>& value, const Visit& visit) {
  bool there = value.has_value();
  archive(there);
  if constexpr (restores<Archive>) {
    value.reset();
    if (there) value.emplace();
  }
  if (there) visit(*value);
}

template <class Archive>
void visit_estimate(Archive& archive, Estimate& e) {
  archive(e.mean, e.mcse_mean, e.ess_mean, e.sd, e.mcse_sd, e.ess_sd, e.degrees_mean, e.degrees_sd);
  visit_enum(archive, e.condition, DrawsCondition::stuck);
  visit_all(archive, e.quantiles, [&](QuantileEstimate& q) {
    archive(q.probability, q.value, q.mcse, q.ess, q.degrees);
  });
  const auto same =
      std::ranges::equal(e.quantiles, standard_probabilities, {}, &QuantileEstimate::probability);
  require<Archive>(same, "other quantiles than those of a summary");
}

template <class Archive>
void visit_sharpened(Archive& archive, SharpenedEstimate& s) {
  constexpr FeatureSet last = FeatureSet::quadratic;
  visit_estimate(archive, s.estimate);
  visit_enum(archive, s.mean_set, last);
  visit_enum(archive, s.sd_set, last);
  visit_all(archive, s.quantile_sets, [&](FeatureSet& set) { visit_enum(archive, set, last); });
  require<Archive>(s.quantile_sets.size() == s.estimate.quantiles.size(),
                   "not one set of features for each quantile");
  archive(s.mean_tail_seen, s.sd_tail_seen);
}

template <class Archive>
void visit_row(Archive& archive, ParameterSummary& row) {
  Convergence& c = row.convergence;
  visit_estimate(archive, row.plain);
  archive(c.rhat, c.ess_bulk, c.ess_tail, c.ess_within, c.degrees_within, c.check.chains);
  visit_enum(archive, c.check.condition, DrawsCondition::stuck);
  visit_optional(archive, row.recycled, [&](Estimate& e) { visit_estimate(archive, e); });
  visit_optional(archive, row.sharpened,
                 [&](SharpenedEstimate& s) { visit_sharpened(archive, s); });
  archive(row.not_sharpened);
}

template <class Archive>
void visit(Archive& archive, std::vector<ParameterSummary>& rows, Sharpening& sharpening) {
  for (ParameterSummary& row : rows) visit_row(archive, row);
  archive(sharpening.spot_check, sharpening.worst_name, sharpening.refused);
  visit_optional(archive, sharpening.check, [&](SteinCheck& check) {
    archive(check.features, check.worst, check.limit, check.refusal_limit, check.coordinate);
  });
}

template <class Archive>
void visit_loo(Archive& archive, std::optional<LooSummary>& stored) {
  visit_optional(archive, stored, [&](LooSummary& summary) {
    Loo& loo = summary.loo;
    archive(summary.refused, loo.elpd, loo.error, loo.p_loo, loo.good_shape,
            loo.relative_efficiency);
    visit_all(archive, summary.names, [&](std::string& name) { archive(name); });
    visit_all(archive, loo.points,
              [&](LooPoint& point) { archive(point.elpd, point.lppd, point.shape); });
    require<Archive>(!summary.refused.empty() || summary.names.size() == loo.points.size(),
                     "not one name for each observation");
  });
}

/// A checksum follows.
std::string sealed(std::string bytes) { return bytes + content_hash(bytes); }

std::optional<std::string_view> unsealed(std::string_view bytes) {
  const std::size_t hash = content_hash("").size();
  if (bytes.size() < hash) return std::nullopt;
  const std::string_view content = bytes.substr(0, bytes.size() - hash);
  if (content_hash(content) != bytes.substr(content.size())) return std::nullopt;
  return content;
}

}  // namespace

std::string archive_estimates(const RunSummary& summary, const SampleResult& result,
                              std::string_view key) {
  ArchiveWriter archive;
  std::vector<std::uint64_t> failures;
  for (const ChainResult& chain : result.chains) failures.push_back(chain.quantity_failures.kept);
  archive(format, std::string(key), failures);
  RunSummary copy = summary;  // the same function stores and restores, so it cannot be const
  visit(archive, copy.parameters, copy.sharpening);
  visit_loo(archive, copy.loo);
  return sealed(std::move(archive).take());
}

std::optional<RunSummary> restore_summary(std::string_view bytes, std::string_view key,
                                          SampleResult& result) {
  const std::optional<std::string_view> content = unsealed(bytes);
  if (!content) return std::nullopt;
  try {
    ArchiveReader archive(*content);
    if (archive.get<std::uint32_t>() != format) return std::nullopt;
    if (archive.get<std::string>() != key) return std::nullopt;
    const auto failures = archive.get<std::vector<std::uint64_t>>();
    if (failures.size() != result.chains.size()) return std::nullopt;
    for (std::size_t c = 0; c < failures.size(); ++c) {
      result.chains[c].quantity_failures.kept = failures[c];
    }
    std::vector<ParameterSummary> rows = unknown_parameters(result);
    Sharpening sharpening;
    visit(archive, rows, sharpening);
    RunSummary summary = summarise_run(result, {std::move(rows), std::move(sharpening)});
    visit_loo(archive, summary.loo);
    return summary;
  } catch (const DataError&) {
    return std::nullopt;
  }
}

}  // namespace rehmc
