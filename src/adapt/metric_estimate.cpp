// Shrunken covariance estimates from weighted sums.
#include "rehmc/adapt/metric_estimate.hpp"

#include <algorithm>
#include <cmath>

#include "rehmc/core/error.hpp"

namespace rehmc {

namespace {

std::unique_ptr<const Features> make_features(MetricKind kind, std::span<const double> centre) {
  std::vector<double> c(centre.begin(), centre.end());
  if (kind == MetricKind::dense) return std::make_unique<CovarianceFeatures>(std::move(c));
  return std::make_unique<MomentFeatures>(std::move(c));
}

}  // namespace

MetricEstimate::MetricEstimate(MetricKind kind, MetricSource source, std::span<const double> centre)
    : kind_(kind),
      source_(source),
      centre_(centre.begin(), centre.end()),
      features_(make_features(kind, centre)),
      sums_(features_->size(), 0.0) {
  if (kind != MetricKind::diagonal && kind != MetricKind::dense) {
    throw ConfigError("metric: warmup estimates a diagonal or a dense metric");
  }
}

const Features* MetricEstimate::features() const {
  return source_ == MetricSource::recycled ? features_.get() : nullptr;
}

void MetricEstimate::add(const Transition& transition) {
  ++count_;
  if (source_ == MetricSource::draws) {
    features_->add(1.0, transition.state, sums_);
  } else {
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += transition.feature_means.all[i];
  }
}

std::shared_ptr<const Metric> MetricEstimate::metric() const {
  if (count_ < 2) return nullptr;
  const std::size_t d = centre_.size();
  const double n = static_cast<double>(count_);
  // Every draw has weight 1, however many states it has; n - 1 as for a sample variance.
  const auto covariance = [&](double sum_i, double sum_j, double sum_ij) {
    return (sum_ij - sum_i * sum_j / n) / (n - 1);
  };
  const double keep = n / (n + 5);
  const double ridge = 1e-3 * 5 / (n + 5);
  const FeatureMeans sums = features_->by_name(sums_);

  if (kind_ == MetricKind::diagonal) {
    std::vector<double> inverse_mass(d);
    for (std::size_t i = 0; i < d; ++i) {
      inverse_mass[i] = keep * covariance(sums.first[i], sums.first[i], sums.second[i]) + ridge;
    }
    const bool usable =
        std::ranges::all_of(inverse_mass, [](double v) { return std::isfinite(v) && v > 0; });
    return usable ? make_diagonal_metric(inverse_mass) : nullptr;
  }
  std::vector<double> inverse_mass(d * d);
  const double* sum_products = sums.covariance.data();
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double entry = keep * covariance(sums.first[i], sums.first[j], *sum_products++);
      inverse_mass[i * d + j] = entry;
      inverse_mass[j * d + i] = entry;
    }
    inverse_mass[i * d + i] += ridge;
  }
  try {
    return make_dense_metric(d, inverse_mass);
  } catch (const ConfigError&) {
    return nullptr;  // fewer draws than dimensions, and a ridge that is negligible on this scale
  }
}

}  // namespace rehmc
