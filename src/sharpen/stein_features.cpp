// Evaluates Stein features (docs/sharpening.md) at the states of a run.
#include "stein_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "rehmc/core/error.hpp"
#include "rehmc/core/instructions.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/shares_below.hpp"

namespace rehmc {

namespace {

const double root_two_pi = std::sqrt(2 * std::numbers::pi);

/// Beyond this, the ratios of a threshold leave the range of numbers.
constexpr double farthest_threshold = 30;

constexpr Eigen::Index states_at_once = 1024;

/// Mills' ratio R(t) = (1 - Phi(t)) / phi(t) for t >= 0, which every state needs: by Taylor's
/// series about the nearest of many nodes, cut off where rounding begins.
class MillsRatio {
 public:
  MillsRatio() {
    for (std::size_t node = 0; node < series_.size(); ++node) {
      const double t = static_cast<double>(node) / per_unit;
      auto& c = series_[node];
      c[0] = 0.5 * std::erfc(t / std::numbers::sqrt2) * root_two_pi * std::exp(t * t / 2);
      // R' = t R - 1, and its derivatives.
      c[1] = t * c[0] - 1;
      for (std::size_t n = 2; n < terms; ++n) {
        c[n] = (t * c[n - 1] + c[n - 2]) / static_cast<double>(n);
      }
    }
  }
  double operator()(double t) const noexcept {
    if (!(t < far)) return far_out(t);
    // NOLINTNEXTLINE(bugprone-incorrect-roundings): half way between two nodes either one serves
    const auto node = static_cast<std::size_t>(t * per_unit + 0.5);
    const double step = t - static_cast<double>(node) / per_unit;
    const auto& c = series_[node];
    double sum = c[terms - 1];
    for (std::size_t n = terms - 1; n > 0; --n) sum = sum * step + c[n - 1];
    return sum;
  }

 private:
  static constexpr int far = 5;
  static constexpr int per_unit = 16;
  static constexpr std::size_t terms = 10;

  /// Laplace's continued fraction 1/(t + 1/(t + 2/(t + 3/(t + ...)))), which converges fast here.
  static double far_out(double t) noexcept {
    double tail = t;
    for (int k = 40; k >= 1; --k) tail = t + k / tail;
    return 1 / tail;
  }

  std::array<std::array<double, terms>, far * per_unit + 1> series_;
};
const MillsRatio mills_ratio;

void check_chain(const GradientStates& chain, std::size_t c, std::size_t dimension,
                 std::size_t draws) {
  const std::size_t states = chain.weights.size();
  if (chain.begins.size() != draws + 1 || chain.begins.empty() || chain.begins.back() != states ||
      !std::is_sorted(chain.begins.begin(), chain.begins.end())) {
    throw DataError(fmt::format(
        "chain {}: {} begins for {} states; give one per draw, rising, followed by the number of "
        "states, for as many draws as the first chain has ({})",
        c, chain.begins.size(), states, draws));
  }
  if (chain.positions.size() != states * dimension ||
      chain.gradients.size() != states * dimension) {
    throw DataError(fmt::format(
        "chain {}: {} states, but {} numbers of positions and {} of gradients; each state needs {}",
        c, states, chain.positions.size(), chain.gradients.size(), dimension));
  }
}

}  // namespace

StateTable::StateTable(std::span<const GradientStates> given) : chains(given.size()) {
  if (given.empty() || given.front().weights.empty() || given.front().positions.empty()) {
    throw DataError("states with gradients: there are none");
  }
  const std::size_t d = given.front().positions.size() / given.front().weights.size();
  draws_per_chain = given.front().begins.size() - 1;
  std::size_t total = 0;
  for (std::size_t c = 0; c < chains; ++c) {
    check_chain(given[c], c, d, draws_per_chain);
    total += given[c].weights.size();
  }
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using RowMajorFloat = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto columns = static_cast<Eigen::Index>(d);
  positions.resize(static_cast<Eigen::Index>(total), columns);
  gradients.resize(static_cast<Eigen::Index>(total), columns);
  weights.resize(static_cast<Eigen::Index>(total));
  begins.push_back(0);
  std::size_t first = 0;
  for (const GradientStates& chain : given) {
    const auto rows = static_cast<Eigen::Index>(chain.weights.size());
    const auto at = static_cast<Eigen::Index>(first);
    positions.middleRows(at, rows) =
        Eigen::Map<const RowMajor>(chain.positions.data(), rows, columns);
    gradients.middleRows(at, rows) =
        Eigen::Map<const RowMajorFloat>(chain.gradients.data(), rows, columns).cast<double>();
    weights.segment(at, rows) = Eigen::Map<const Eigen::VectorXd>(chain.weights.data(), rows);
    for (std::size_t n = 1; n < chain.begins.size(); ++n) begins.push_back(first + chain.begins[n]);
    first += chain.weights.size();
  }
  weigh_draws(given);
}

void StateTable::weigh_draws(std::span<const GradientStates> given) {
  masses = Eigen::VectorXd::Ones(static_cast<Eigen::Index>(draws()));
  if (given.front().masses.empty()) return;
  const auto length = static_cast<Eigen::Index>(draws_per_chain);
  for (std::size_t c = 0; c < chains; ++c) {
    if (given[c].masses.size() != draws_per_chain) {
      throw DataError(fmt::format("chain {}: {} masses for {} draws; give one per draw", c,
                                  given[c].masses.size(), draws_per_chain));
    }
    masses.segment(static_cast<Eigen::Index>(c) * length, length) =
        Eigen::Map<const Eigen::VectorXd>(given[c].masses.data(), length);
  }
  masses /= masses.mean();
  for (std::size_t n = 0; n < draws(); ++n) {
    const auto first = static_cast<Eigen::Index>(begins[n]);
    weights.segment(first, static_cast<Eigen::Index>(begins[n + 1]) - first) *=
        masses[static_cast<Eigen::Index>(n)];
  }
}

Eigen::MatrixXd StateTable::shares_below(const Eigen::Ref<const Eigen::VectorXd>& values,
                                         std::span<const double> thresholds) const {
  const auto count = static_cast<std::size_t>(states());
  const std::vector<double> shares = rehmc::shares_below(
      {values.data(), count}, {weights.data(), count}, std::span(begins).subspan(1), thresholds);
  return Eigen::Map<const Eigen::MatrixXd>(shares.data(), static_cast<Eigen::Index>(draws()),
                                           static_cast<Eigen::Index>(thresholds.size()));
}

Eigen::MatrixXd StateTable::draw_means_of(const Eigen::Ref<const Eigen::MatrixXd>& columns) const {
  Eigen::MatrixXd means(static_cast<Eigen::Index>(draws()), columns.cols());
  for (Eigen::Index i = 0; i < columns.cols(); ++i) {
    const double* column = columns.col(i).data();
    means.col(i) = draw_means([&](Eigen::Index s) { return column[s]; });
  }
  return means;
}

CoordinateStates::CoordinateStates(const StateTable& table, const SteinFrame& frame,
                                   Eigen::Index coordinate,
                                   const Eigen::Ref<const Eigen::VectorXd>& u_of_states)
    : z((table.positions.col(coordinate).array() - frame.centre[coordinate]) /
        frame.scale[coordinate]),
      u(u_of_states),
      g(table.gradients.col(coordinate) * frame.scale[coordinate]),
      below(root_two_pi * (z.array().square() / 2).exp()),
      above(z.size()) {
  for (Eigen::Index s = 0; s < z.size(); ++s) {
    const double t = std::abs(z[s]);
    // The two ratios add up to 1 / phi. Infinite beyond all thresholds, where it is not used.
    const double inverse_density = below[s];
    const double along = table.weights[s] * (u[s] + z[s]);
    const double outer = mills_ratio(t) * along;
    const double inner = inverse_density * along - outer;
    below[s] = z[s] < 0 ? outer : inner;
    above[s] = z[s] < 0 ? inner : outer;
  }
}

Eigen::VectorXd power_feature(const CoordinateStates& states, Eigen::Index field) {
  const Eigen::Index power = power_of(field);
  const Eigen::VectorXd& along = is_along_c(field) ? states.u : states.g;
  if (power == 0) return along;
  // z^(j-1) (z u + j)
  Eigen::VectorXd feature = states.z.cwiseProduct(along);
  feature.array() += static_cast<double>(power);
  for (Eigen::Index k = 1; k < power; ++k) feature.array() *= states.z.array();
  return feature;
}

CoordinateStates CoordinateStates::some(const std::vector<Eigen::Index>& rows) const {
  CoordinateStates few;
  few.z = z(rows);
  few.u = u(rows);
  few.g = g(rows);
  return few;
}

Eigen::MatrixXd power_features(const StateTable& table, const CoordinateStates& states,
                               Eigen::Index count) {
  Eigen::MatrixXd means(static_cast<Eigen::Index>(table.draws()), count);
  for (Eigen::Index field = 0; field < count; ++field) {
    const Eigen::VectorXd feature = power_feature(states, field);
    means.col(field) = table.draw_means([&](Eigen::Index s) { return feature[s]; });
  }
  return means;
}

Threshold::Threshold(const StateTable& table, const SteinFrame& frame, Eigen::Index coordinate,
                     const CoordinateStates& states, double threshold)
    : table_(table), states_(states), coordinate_(coordinate), threshold_(threshold) {
  const double q = (threshold - frame.centre[coordinate]) / frame.scale[coordinate];
  usable_ = std::abs(q) < farthest_threshold;
  lower_ = normal_cdf(q);
  upper_ = normal_cdf(-q);
}

void Threshold::of_mix(const Mix& mix, Eigen::Index first,
                       Eigen::Ref<Eigen::ArrayXd> of_states) const {
  const Eigen::Index count = of_states.size();
  const double* const x = table_.positions.col(coordinate_).data() + first;
  const double* const weight = table_.weights.data() + first;
  double* const to = of_states.data();
  if (!usable_ || mix.feature == 0) {
    hot_loop([=, threshold = threshold_, indicator = mix.indicator] {
#pragma omp simd
      for (Eigen::Index s = 0; s < count; ++s) {
        to[s] = x[s] <= threshold ? indicator * weight[s] : 0.0;
      }
    });
    return;
  }
  const double* const below = states_.below.data() + first;
  const double* const above = states_.above.data() + first;
  const double of_weight = mix.indicator + mix.feature;
  const double of_below = mix.feature * upper_;
  const double of_above = mix.feature * lower_;
  hot_loop([=, threshold = threshold_] {
#pragma omp simd
    for (Eigen::Index s = 0; s < count; ++s) {
      const double if_below = of_weight * weight[s] + of_below * below[s];
      const double if_above = of_above * above[s];
      to[s] = x[s] <= threshold ? if_below : if_above;
    }
  });
}

Eigen::VectorXd Threshold::means(const Mix& mix, Eigen::Index begin, Eigen::Index end) const {
  // For some states first, so that the machine can take several at once; then for their draws.
  Eigen::VectorXd result(end - begin);
  Eigen::ArrayXd of_states(states_at_once);
  for (Eigen::Index n = begin; n < end;) {
    Eigen::Index next = n + 1;
    while (next < end && begin_of(next + 1) - begin_of(n) <= states_at_once) ++next;
    const Eigen::Index first = begin_of(n);
    const Eigen::Index count = begin_of(next) - first;
    if (count > of_states.size()) of_states.resize(count);
    of_mix(mix, first, of_states.head(count));
    for (; n < next; ++n) {
      double sum = constant(mix, table_.masses[n]);
      for (Eigen::Index s = begin_of(n); s < begin_of(n + 1); ++s) sum += of_states[s - first];
      result[n - begin] = sum;
    }
  }
  return result;
}

double Threshold::sum_of_means(const Mix& mix, Eigen::Index begin, Eigen::Index end) const {
  double sum = 0;
  for (Eigen::Index n = begin; n < end; ++n) sum += constant(mix, table_.masses[n]);
  Eigen::ArrayXd of_states(states_at_once);
  for (Eigen::Index s = begin_of(begin); s < begin_of(end); s += states_at_once) {
    const Eigen::Index count = std::min(states_at_once, begin_of(end) - s);
    of_mix(mix, s, of_states.head(count));
    sum += of_states.head(count).sum();
  }
  return sum;
}

}  // namespace rehmc
