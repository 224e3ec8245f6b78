// Chooses, fits and applies control variates for every scalar, and checks their known means.
#include "rehmc/estimate/sharpen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "chain_table.hpp"
#include "cross_fit.hpp"
#include "pareto.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/estimate/quantiles.hpp"
#include "stein_features.hpp"
#include "stein_frame.hpp"

namespace rehmc {

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr auto set_count = static_cast<std::size_t>(FeatureSet::quadratic) + 1;

/// Training draws for every feature, lest the noise of the coefficients eat the gain.
constexpr Eigen::Index draws_per_feature = 4;
/// A feature whose tail is heavier has no finite variance, as far as one can tell.
constexpr double heaviest_tail = 0.5;
/// Up to this dimension four folds are cheap; beyond it, two.
constexpr Eigen::Index small_dimension = 100;
/// Up to this dimension all fields that are linear in the state are affordable.
constexpr Eigen::Index quadratic_dimension = 10;
/// Up to this dimension rows are looked at; the best of them take part.
constexpr Eigen::Index row_dimension = 100;
constexpr std::size_t most_rows = 24;
/// Own features of a function of many coordinates: those of so many.
constexpr std::size_t coordinates_of_a_function = 3;
/// A larger set must be better by this factor of the variance: the choice is noisy.
constexpr double worthwhile = 0.98;
constexpr Eigen::Index columns_at_once = 32;

using Index = Eigen::Index;

Index to_index(std::size_t i) { return static_cast<Index>(i); }

/// Series of per-draw numbers and what their mean is worth.
class Errors {
 public:
  explicit Errors(const StateTable& table) {
    series_.chains = table.chains;
    series_.iterations = table.draws_per_chain;
  }
  /// Squared standard error of the mean over all draws; 0 for a series that does not move.
  double squared_error(const Eigen::Ref<const Eigen::VectorXd>& series) {
    const double mean = series.mean();
    const double variance =
        (series.array() - mean).square().sum() / static_cast<double>(series.size() - 1);
    if (!(variance > 0)) return variance;
    // In units of its sd: an effective size is not defined for numbers that hardly differ.
    series_.values.resize(static_cast<std::size_t>(series.size()));
    Eigen::Map<Eigen::VectorXd>(series_.values.data(), series.size()) =
        (series.array() - mean) / std::sqrt(variance);
    return variance / effective_size_.of_split(series_);
  }

 private:
  ChainTable series_;
  EffectiveSize effective_size_;
};

bool too_heavy(const Eigen::Ref<const Eigen::VectorXd>& series) {
  if (!series.allFinite()) return true;
  const Eigen::VectorXd sizes = (series.array() - series.mean()).abs();
  return tail_shape({sizes.data(), static_cast<std::size_t>(sizes.size())}) > heaviest_tail;
}

/// Everything that depends on the states alone.
class Run {
 public:
  Run(std::span<const GradientStates> chains, const SharpenSettings& settings)
      : table(chains), errors(table) {
    cut_folds();
    for (const Fold& fold : folds) frames.push_back(fit_frame(fold));
    usable = std::all_of(frames.begin(), frames.end(), [](const SteinFrame& frame) {
      return frame.scale.allFinite() && frame.centre.allFinite() && frame.scale.minCoeff() > 0;
    });
    if (!usable) return;
    share_columns(settings);
  }

  StateTable table;
  Errors errors;
  std::vector<Fold> folds;
  std::vector<SteinFrame> frames;          ///< one per fold
  std::vector<SharedColumns> shared;       ///< linear and block features, one per fold
  std::vector<Eigen::MatrixXd> blocks;     ///< block features alone, one per fold
  std::vector<Index> linear;               ///< coordinates whose gradients are shared
  std::vector<Index> block_first;          ///< coordinate of each block feature
  std::vector<Eigen::MatrixXd> quadratic;  ///< per draw, one per fold; empty in high dimension
  bool usable = false;

  Index training_draws() const {
    Index least = to_index(table.draws());
    for (const Fold& fold : folds) {
      least = std::min(least, to_index(table.draws()) - (fold.end - fold.begin));
    }
    return least;
  }

  /// One coordinate in the frame of one fold.
  CoordinateStates coordinate(std::size_t fold, Index i) {
    const SteinFrame& frame = frames[fold];
    if (frame.diagonal) {
      const Eigen::VectorXd u = frame.matrix(i, 0) * table.gradients.col(i);
      return {table, frame, i, u};
    }
    products_.resize(folds.size());
    Products& products = products_[fold];
    if (i < products.first || i >= products.first + products.u.cols()) {
      products.first = i;
      const Index count = std::min(columns_at_once, table.dimension() - i);
      products.u.noalias() = table.gradients * frame.matrix.middleRows(i, count).transpose();
    }
    return {table, frame, i, products.u.col(i - products.first)};
  }

  /// Puts what each fold computed for its own draws into one series.
  Eigen::VectorXd across_folds(const std::vector<Eigen::MatrixXd>& of_folds, Index column) const {
    Eigen::VectorXd series(to_index(table.draws()));
    for (std::size_t f = 0; f < folds.size(); ++f) {
      const Index count = folds[f].end - folds[f].begin;
      series.segment(folds[f].begin, count) =
          of_folds[f].col(column).segment(folds[f].begin, count);
    }
    return series;
  }

 private:
  struct Products {
    Index first = 0;
    Eigen::MatrixXd u;
  };

  void cut_folds() {
    constexpr std::size_t most = 4;
    const std::size_t wanted = table.dimension() <= small_dimension ? most : 2;
    // Whole chains, if there are several; else blocks of the one.
    const std::size_t pieces = table.chains > 1 ? table.chains : table.draws();
    const std::size_t length = table.draws() / pieces;
    const std::size_t count = std::min(wanted, pieces);
    for (std::size_t f = 0; f < count; ++f) {
      folds.push_back(
          {to_index(f * pieces / count * length), to_index((f + 1) * pieces / count * length)});
    }
  }

  SteinFrame fit_frame(const Fold& fold) const {
    const std::size_t first = table.begins[static_cast<std::size_t>(fold.begin)];
    const std::size_t last = table.begins[static_cast<std::size_t>(fold.end)];
    const std::size_t others = static_cast<std::size_t>(table.states()) - (last - first);
    const std::size_t enough =
        std::max<std::size_t>(4000, 10 * static_cast<std::size_t>(table.dimension()));
    const std::size_t stride = std::max<std::size_t>(1, others / enough);
    std::vector<Index> rows;
    for (std::size_t s = 0; s < static_cast<std::size_t>(table.states()); s += stride) {
      if (s < first || s >= last) rows.push_back(to_index(s));
    }
    return SteinFrame::fit(table.positions(rows, Eigen::all), table.gradients(rows, Eigen::all),
                           table.weights(rows), static_cast<double>(training_draws()));
  }

  void share_columns(const SharpenSettings& settings) {
    const Index d = table.dimension();
    const Eigen::MatrixXd gradient_means = table.draw_means_of(table.gradients);
    std::vector<Eigen::MatrixXd> linear_means;
    for (const SteinFrame& frame : frames) {
      linear_means.push_back(
          frame.diagonal ? Eigen::MatrixXd(gradient_means * frame.matrix.col(0).asDiagonal())
                         : Eigen::MatrixXd(gradient_means * frame.matrix.transpose()));
      blocks.push_back(block_features(frame, settings));
    }
    const Index room = training_draws() / draws_per_feature - power_fields -
                       to_index(standard_probabilities.size());
    for (Index b = 0; b < blocks.front().cols(); ++b) {
      block_heavy_.push_back(too_heavy(across_folds(blocks, b)));
    }
    if (d + blocks.front().cols() <= room) {
      for (Index i = 0; i < d; ++i) {
        if (!too_heavy(across_folds(linear_means, i))) linear.push_back(i);
      }
    }
    for (std::size_t f = 0; f < folds.size(); ++f) {
      Eigen::MatrixXd columns(to_index(table.draws()), to_index(linear.size()) + blocks[f].cols());
      Index used = 0;
      for (const Index i : linear) columns.col(used++) = linear_means[f].col(i);
      for (Index b = 0; b < blocks[f].cols(); ++b) {
        if (!block_heavy_[static_cast<std::size_t>(b)]) columns.col(used++) = blocks[f].col(b);
      }
      columns.conservativeResize(Eigen::NoChange, used);
      shared.emplace_back(std::move(columns), folds[f]);
    }
    if (d <= quadratic_dimension && d * d + d <= room) {
      for (std::size_t f = 0; f < folds.size(); ++f) quadratic.push_back(quadratic_features(f));
    }
  }

  /// The scale of every block: the sum over its coordinates of z g + 1 (the virial).
  Eigen::MatrixXd block_features(const SteinFrame& frame, const SharpenSettings& settings) {
    constexpr std::size_t most_blocks = 50;
    const std::size_t count = settings.blocks.size() <= most_blocks ? settings.blocks.size() : 0;
    Eigen::MatrixXd features(to_index(table.draws()), to_index(count));
    block_first.clear();
    for (std::size_t b = 0; b < count; ++b) {
      const std::vector<std::size_t>& block = settings.blocks[b];
      block_first.push_back(to_index(block.front()));
      Eigen::VectorXd of_states =
          Eigen::VectorXd::Constant(table.states(), static_cast<double>(block.size()));
      for (const std::size_t k : block) {
        const Index i = to_index(k);
        of_states.array() +=
            (table.positions.col(i).array() - frame.centre[i]) * table.gradients.col(i).array();
      }
      features.col(to_index(b)) = table.draw_means([&](Index s) { return of_states[s]; });
    }
    return features;
  }

  /// The features of all fields z_k C e_i: z_k (C g)_i + C_ki.
  Eigen::MatrixXd quadratic_features(std::size_t fold) {
    const Index d = table.dimension();
    Eigen::MatrixXd features(to_index(table.draws()), d * d);
    for (Index i = 0; i < d; ++i) {
      const CoordinateStates own = coordinate(fold, i);
      features.middleCols(i * d, d) = row_features(fold, i, own);
    }
    return features;
  }

 public:
  /// The features of the fields z_k C e_i of one coordinate i, for all k.
  Eigen::MatrixXd row_features(std::size_t fold, Index i, const CoordinateStates& own) const {
    const Index d = table.dimension();
    const SteinFrame& frame = frames[fold];
    Eigen::MatrixXd features(to_index(table.draws()), d);
    for (Index k = 0; k < d; ++k) {
      const double covariance =
          frame.diagonal ? (k == i ? 1.0 : 0.0) : frame.matrix(k, i) / frame.scale[i];
      const double* x = table.positions.col(k).data();
      const double centre = frame.centre[k];
      const double inverse = 1 / frame.scale[k];
      features.col(k) = table.draw_means(
          [&](Index s) { return (x[s] - centre) * inverse * own.u[s] + covariance; });
    }
    return features;
  }

 private:
  std::vector<Products> products_;
  std::vector<bool> block_heavy_;

 public:
  const std::vector<bool>& block_heavy() const { return block_heavy_; }
};

/// Averages whose mean should be 0.
class Check {
 public:
  explicit Check(Run& run) : run_(run) {}

  void add(const Eigen::Ref<const Eigen::VectorXd>& series, Index coordinate) {
    const double squared_error = run_.errors.squared_error(series);
    if (!(squared_error > 0)) return;
    ++result_.features;
    const double z = std::abs(series.mean()) / std::sqrt(squared_error);
    if (!(z <= result_.worst)) {
      result_.worst = z;
      result_.coordinate = static_cast<std::size_t>(coordinate);
    }
  }
  SteinCheck finish() {
    const auto count = static_cast<double>(std::max<std::size_t>(1, result_.features));
    result_.limit = -normal_quantile(SteinCheck::false_alarm_rate / 2 / count);
    return result_;
  }

 private:
  Run& run_;
  SteinCheck result_;
};

/// The own features of a scalar in every fold, and which of them may be used.
struct OwnFeatures {
  std::vector<Eigen::MatrixXd> of_folds;
  std::vector<bool> heavy;  ///< by column
};

OwnFeatures gather_own(Run& run, std::vector<Eigen::MatrixXd> of_folds) {
  OwnFeatures own{std::move(of_folds), {}};
  for (Index column = 0; column < own.of_folds.front().cols(); ++column) {
    own.heavy.push_back(too_heavy(run.across_folds(own.of_folds, column)));
  }
  return own;
}

/// One scalar: targets, features, choice.
class ScalarFit {
 public:
  ScalarFit(Run& run, const ScalarStates& scalar) : run_(run), scalar_(scalar) {
    result_.estimate = scalar.known;
    result_.quantile_sets.assign(scalar.known.quantiles.size(), FeatureSet::none);
    gather_values();
  }

  /// Whether its quantiles are those of a coordinate, carried over.
  bool follows_coordinate() const { return scalar_.coordinate.has_value(); }
  const std::vector<double>& thresholds() const { return thresholds_; }

  /// `states`: the own coordinate in every fold; none for a function of many.
  SharpenedEstimate estimate(const OwnFeatures& own, const std::vector<CoordinateStates>& states) {
    make_targets();
    judge_tails();
    fit_all(own, states);
    choose(states);
    return std::move(result_);
  }

  const Eigen::VectorXd& values() const { return values_; }

 private:
  static constexpr Index moment_targets = 2;

  void gather_values() {
    values_.resize(run_.table.states());
    Index s = 0;
    for (const Series& chain : scalar_.values) {
      for (std::size_t k = 0; k < chain.size; ++k) values_[s++] = chain[k];
    }
    if (s != run_.table.states()) {
      throw DataError(fmt::format("a scalar has {} values for {} states", s, run_.table.states()));
    }
    measured_ =
        follows_coordinate() ? run_.table.positions.col(to_index(*scalar_.coordinate)) : values_;
    identical_ = measured_ == values_;
    if (follows_coordinate() && !identical_) {
      order_.resize(static_cast<std::size_t>(values_.size()));
      std::iota(order_.begin(), order_.end(), Index{0});
      std::sort(order_.begin(), order_.end(),
                [&](Index a, Index b) { return measured_[a] < measured_[b]; });
      falling_ = values_[order_.front()] > values_[order_.back()];
    }
    for (const QuantileEstimate& quantile : scalar_.known.quantiles) {
      thresholds_.push_back(identical_ ? quantile.value : measured_quantile(quantile.probability));
    }
  }

  double measured_probability(double probability) const {
    return falling_ ? 1 - probability : probability;
  }

  double measured_quantile(double probability) const {
    const EmpiricalDistribution distribution(
        std::vector<double>(measured_.begin(), measured_.end()),
        {run_.table.weights.data(), static_cast<std::size_t>(run_.table.weights.size())});
    return distribution.quantile(measured_probability(probability));
  }

  void make_targets() {
    const StateTable& table = run_.table;
    scale_ = scalar_.known.sd;
    centre_ = scalar_.known.mean;
    const auto y = [&](Index s) { return (values_[s] - centre_) / scale_; };
    targets_.resize(to_index(table.draws()), moment_targets + to_index(thresholds_.size()));
    targets_.col(0) = table.draw_means(y);
    targets_.col(1) = table.draw_means([&](Index s) { return y(s) * y(s); });
    for (std::size_t t = 0; t < thresholds_.size(); ++t) {
      targets_.col(moment_targets + to_index(t)) = below(thresholds_[t]);
    }
    if (scalar_.first.empty()) return;
    // What the states that were not kept would add: it has the mean 0 as well.
    differences_.resize(targets_.rows(), moment_targets);
    Index n = 0;
    const double shift = scalar_.centre - centre_;
    for (std::size_t c = 0; c < scalar_.first.size(); ++c) {
      for (std::size_t i = 0; i < scalar_.first[c].size; ++i, ++n) {
        const double offset = scalar_.first[c][i];
        const double square = scalar_.second[c][i] + shift * (2 * offset + shift);
        differences_(n, 0) = (offset + shift) / scale_ - targets_(n, 0);
        differences_(n, 1) = square / (scale_ * scale_) - targets_(n, 1);
      }
    }
  }

  Eigen::VectorXd below(double threshold) const {
    return run_.table.draw_means([&](Index s) { return measured_[s] <= threshold ? 1.0 : 0.0; });
  }

  void judge_tails() {
    result_.mean_has_error = !too_heavy(targets_.col(0));
    result_.sd_has_error = !too_heavy(targets_.col(1));
  }

  /// Feature columns of the sets, as they stand in the table that fit_all() makes.
  struct Layout {
    std::vector<Index> bounded;
    std::vector<Index> growing;
    std::vector<Index> differences;
    std::vector<Index> first_powers;  ///< of fields that are constant: shared as linear ones, too
    Index own = 0;                    ///< number of own columns
  };

  Layout lay_out(const OwnFeatures& own) const {
    Layout layout;
    layout.own = own.of_folds.front().cols();
    const Index block = power_fields + to_index(standard_count());
    for (Index column = 0; column < layout.own; ++column) {
      if (own.heavy[static_cast<std::size_t>(column)]) continue;
      const Index place = column % block;
      if (place == 0) {
        layout.first_powers.push_back(column);
      } else if (place < power_fields) {
        layout.growing.push_back(column);
      } else {
        layout.bounded.push_back(column);
      }
    }
    for (Index k = 0; k < differences_.cols(); ++k) {
      if (!too_heavy(differences_.col(k))) layout.differences.push_back(layout.own + k);
    }
    return layout;
  }

  std::size_t standard_count() const { return thresholds_.size(); }

  static std::vector<Index> joined(std::initializer_list<const std::vector<Index>*> parts) {
    std::vector<Index> all;
    for (const auto* part : parts) all.insert(all.end(), part->begin(), part->end());
    return all;
  }

  void fit_all(const OwnFeatures& own, const std::vector<CoordinateStates>& states) {
    const Layout layout = lay_out(own);
    const Index rows = targets_.rows();
    const Index room = run_.training_draws() / draws_per_feature;
    for (auto& left : left_) left.resize(0, 0);
    left_[index(FeatureSet::none)] = targets_;
    if (differences_.cols() > 0) {
      left_[index(FeatureSet::none)].leftCols(moment_targets) += differences_;
    }
    slopes_.assign(run_.folds.size(), {});
    for (std::size_t f = 0; f < run_.folds.size(); ++f) {
      const Fold& fold = run_.folds[f];
      const SharedColumns& shared = run_.shared[f];
      const bool shares = shared.size() > 0;
      Eigen::MatrixXd columns(rows, layout.own + differences_.cols() + targets_.cols());
      columns << own.of_folds[f], differences_, targets_;
      const CrossFit regression(columns, targets_.cols(), fold, shared, shares);

      const auto use = [&](FeatureSet set, const CrossFit& with, std::vector<Index> features,
                           bool with_shared) {
        const Index count = to_index(features.size()) + (with_shared ? shared.size() : 0);
        if (count == 0 || count > room) return;
        keep(set, f, with, with.fit(std::move(features), with_shared), layout);
      };
      use(FeatureSet::bounded, regression,
          joined({&layout.first_powers, &layout.bounded, &layout.differences}), false);
      use(FeatureSet::own, regression,
          joined({&layout.first_powers, &layout.bounded, &layout.growing, &layout.differences}),
          false);
      if (!shares) continue;
      const std::vector<Index> firsts =
          run_.linear.empty() ? layout.first_powers : std::vector<Index>();
      use(FeatureSet::bounded_linear, regression,
          joined({&firsts, &layout.bounded, &layout.differences}), true);
      const std::vector<Index> all =
          joined({&firsts, &layout.bounded, &layout.growing, &layout.differences});
      use(FeatureSet::linear, regression, all, true);
      if (states.empty() || to_index(all.size()) + shared.size() > room) continue;
      if (run_.table.dimension() <= row_dimension) {
        fit_more(FeatureSet::row, f, rows_of(f, states[f], regression, all), columns, all, layout);
      }
      if (!run_.quadratic.empty()) {
        fit_more(FeatureSet::quadratic, f, run_.quadratic[f], columns, all, layout);
      }
    }
  }

  /// Further columns beside all others.
  void fit_more(FeatureSet set, std::size_t f, const Eigen::MatrixXd& more,
                const Eigen::MatrixXd& columns, const std::vector<Index>& others,
                const Layout& layout) {
    const Index room = run_.training_draws() / draws_per_feature;
    if (to_index(others.size()) + run_.shared[f].size() + more.cols() > room) return;
    Eigen::MatrixXd wider(columns.rows(), columns.cols() + more.cols());
    const Index before = columns.cols() - targets_.cols();
    wider << columns.leftCols(before), more, targets_;
    std::vector<Index> features = others;
    for (Index k = 0; k < more.cols(); ++k) features.push_back(before + k);
    const CrossFit regression(std::move(wider), targets_.cols(), run_.folds[f], run_.shared[f],
                              true);
    keep(set, f, regression, regression.fit(std::move(features), true), layout);
  }

  /// The features of fields that grow with other coordinates: those that go best with what is left
  /// in the draws that fits are made on.
  Eigen::MatrixXd rows_of(std::size_t f, const CoordinateStates& states, const CrossFit& regression,
                          const std::vector<Index>& features) const {
    const auto i = to_index(*scalar_.coordinate);
    Eigen::MatrixXd rows = run_.row_features(f, i, states);
    if (static_cast<std::size_t>(rows.cols()) <= most_rows) return rows;
    const Fold& fold = run_.folds[f];
    Eigen::MatrixXd left = regression.residuals(regression.fit(features, true), 0, targets_.rows());
    left.middleRows(fold.begin, fold.end - fold.begin).setZero();
    Eigen::VectorXd relevance = Eigen::VectorXd::Zero(rows.cols());
    for (Index t = 0; t < left.cols(); ++t) {
      const double norm = left.col(t).squaredNorm();
      if (norm > 0) {
        relevance += (rows.transpose() * left.col(t)).cwiseAbs2() / norm;
      }
    }
    relevance.array() /= rows.colwise().squaredNorm().transpose().array();
    std::vector<Index> best(static_cast<std::size_t>(rows.cols()));
    std::iota(best.begin(), best.end(), Index{0});
    std::partial_sort(best.begin(), best.begin() + most_rows, best.end(),
                      [&](Index a, Index b) { return relevance[a] > relevance[b]; });
    best.resize(most_rows);
    return rows(Eigen::all, best);
  }

  void keep(FeatureSet set, std::size_t f, const CrossFit& regression, const CrossFit::Fit& fit,
            const Layout& layout) {
    Eigen::MatrixXd& left = left_[index(set)];
    if (left.size() == 0) left.setConstant(targets_.rows(), targets_.cols(), nan_value);
    const Fold& fold = run_.folds[f];
    left.middleRows(fold.begin, fold.end - fold.begin) = regression.residuals(fit);
    // The coefficient of each quantile's own threshold.
    Eigen::VectorXd slopes = Eigen::VectorXd::Zero(to_index(thresholds_.size()));
    if (follows_coordinate()) {
      for (std::size_t a = 0; a < fit.features.size(); ++a) {
        const Index t = fit.features[a] - power_fields;
        if (fit.features[a] < layout.own && t >= 0) {
          slopes[t] = fit.own(to_index(a), moment_targets + t);
        }
      }
    }
    slopes_[f][index(set)] = slopes;
  }

  static std::size_t index(FeatureSet set) { return static_cast<std::size_t>(set); }

  /// The set that leaves the least long-run variance of a target.
  FeatureSet best_set(Index target, double& squared_error) {
    FeatureSet best = FeatureSet::none;
    squared_error = run_.errors.squared_error(left_[index(best)].col(target));
    for (std::size_t s = 1; s < set_count; ++s) {
      if (left_[s].size() == 0 || !left_[s].col(target).allFinite()) continue;
      const double error = run_.errors.squared_error(left_[s].col(target));
      if (error < worthwhile * squared_error || !(squared_error >= 0)) {
        squared_error = error;
        best = static_cast<FeatureSet>(s);
      }
    }
    return best;
  }

  void choose(const std::vector<CoordinateStates>& states) {
    Estimate& estimate = result_.estimate;
    double squared_error = 0;
    result_.mean_set = best_set(0, squared_error);
    const Eigen::VectorXd first = left_[index(result_.mean_set)].col(0);
    const double mean = first.mean();
    if (result_.mean_set != FeatureSet::none) {
      estimate.mean = centre_ + scale_ * mean;
      estimate.mcse_mean = floored(scale_ * std::sqrt(squared_error));
    }

    result_.sd_set = best_set(1, squared_error);
    const Eigen::VectorXd second = left_[index(result_.sd_set)].col(1);
    const double variance = second.mean() - mean * mean;
    if (result_.sd_set != FeatureSet::none && variance > 0) {
      const double sd = std::sqrt(variance);
      const Eigen::VectorXd influence = (second - 2 * mean * first) / (2 * sd);
      estimate.sd = scale_ * sd;
      estimate.mcse_sd = floored(scale_ * std::sqrt(run_.errors.squared_error(influence)));
    }
    count_effective_draws(estimate);
    for (std::size_t t = 0; t < thresholds_.size(); ++t) sharpen_quantile(t, states);
  }

  /// No error is smaller than what rounding makes of it.
  double floored(double error) const {
    constexpr double few = 8;
    const double rounding = few * std::numeric_limits<double>::epsilon() *
                            (std::abs(scalar_.known.mean) + scalar_.known.sd);
    return std::max(error, rounding);
  }

  void count_effective_draws(Estimate& estimate) const {
    const double variance = estimate.sd * estimate.sd;
    estimate.ess_mean = variance / (estimate.mcse_mean * estimate.mcse_mean);
    double fourth = 0;
    for (Index s = 0; s < values_.size(); ++s) {
      const double offset = values_[s] - estimate.mean;
      fourth += run_.table.weights[s] * offset * offset * offset * offset;
    }
    fourth /= static_cast<double>(run_.table.draws());
    estimate.ess_sd =
        (fourth - variance * variance) / (4 * variance) / (estimate.mcse_sd * estimate.mcse_sd);
  }

  /// The sharpened distribution function near a threshold, with coefficients as they are: any
  /// coefficient leaves it unbiased, so they need not be fitted anew for every threshold.
  class Distribution {
   public:
    Distribution(const ScalarFit& fit, std::size_t t, FeatureSet set,
                 const std::vector<CoordinateStates>& states)
        : fit_(fit),
          states_(states),
          start_(fit.thresholds_[t]),
          column_(moment_targets + to_index(t)) {
      rest_ = fit.left_[index(set)].col(column_);
      for (const auto& of_fold : fit.slopes_) {
        const auto& slopes = of_fold[index(set)];
        slopes_.push_back(slopes.size() > 0 ? slopes[to_index(t)] : 0.0);
      }
      rest_ -= part(start_);
    }
    /// Per draw; their mean is the distribution function at x.
    Eigen::VectorXd series(double x) const { return rest_ + part(x); }
    double operator()(double x) const { return series(x).mean(); }

   private:
    /// What depends on the threshold: the indicator and its own feature.
    Eigen::VectorXd part(double x) const {
      const Run& run = fit_.run_;
      Eigen::VectorXd all(fit_.targets_.rows());
      for (std::size_t f = 0; f < run.folds.size(); ++f) {
        const Fold& fold = run.folds[f];
        const double slope = slopes_[f];
        if (slope == 0 || states_.empty()) {
          add_fold(all, fold, [&](Index s) { return fit_.measured_[s] <= x ? 1.0 : 0.0; });
          continue;
        }
        const CoordinateStates& own = states_[f];
        const auto i = to_index(*fit_.scalar_.coordinate);
        const ThresholdField field((x - run.frames[f].centre[i]) / run.frames[f].scale[i]);
        add_fold(all, fold, [&](Index s) {
          const bool below = fit_.measured_[s] <= x;
          return (below ? 1.0 : 0.0) - slope * field.feature(below, own.z[s], own.u[s],
                                                             own.mills_below[s],
                                                             own.mills_above[s]);
        });
      }
      return all;
    }
    template <class Function>
    void add_fold(Eigen::VectorXd& all, const Fold& fold, Function&& function) const {
      const StateTable& table = fit_.run_.table;
      for (Index n = fold.begin; n < fold.end; ++n) {
        double sum = 0;
        for (std::size_t k = table.begins[static_cast<std::size_t>(n)];
             k < table.begins[static_cast<std::size_t>(n) + 1]; ++k) {
          sum += table.weights[to_index(k)] * function(to_index(k));
        }
        all[n] = sum;
      }
    }

    const ScalarFit& fit_;
    const std::vector<CoordinateStates>& states_;
    double start_;
    Index column_;
    std::vector<double> slopes_;  ///< by fold
    Eigen::VectorXd rest_;
  };

  void sharpen_quantile(std::size_t t, const std::vector<CoordinateStates>& states) {
    double squared_error = 0;
    const FeatureSet set = best_set(moment_targets + to_index(t), squared_error);
    if (set == FeatureSet::none) return;
    QuantileEstimate& quantile = result_.estimate.quantiles[t];
    const double probability = measured_probability(quantile.probability);
    const Distribution distribution(*this, t, set, states);

    // Newton's method with a slope that is a difference quotient: the density changes little over a
    // tenth of an sd, and the start is off by a standard error.
    const double measured_sd = std::sqrt((measured_.array() - measured_.mean()).square().mean());
    const double width = 0.1 * measured_sd;
    double x = thresholds_[t];
    double density = (distribution(x + width) - distribution(x - width)) / (2 * width);
    const double allowed = 10 * std::sqrt(squared_error) / density +
                           10 * std::abs(distribution(x) - probability) / density;
    constexpr int steps = 6;
    for (int step = 0; step < steps && density > 0; ++step) {
      x -= (distribution(x) - probability) / density;
      if (!(std::abs(x - thresholds_[t]) <= allowed)) return;
    }
    density = (distribution(x + width) - distribution(x - width)) / (2 * width);
    if (!(density > 0)) return;
    squared_error = run_.errors.squared_error(distribution.series(x));
    result_.quantile_sets[t] = set;
    double slope = 1;
    quantile.value = identical_ ? x : carried_over(x, slope);
    quantile.mcse = floored(std::sqrt(squared_error) / density * slope);
    const double own_error = quantile.mcse * density / slope;
    quantile.ess = probability * (1 - probability) / (own_error * own_error);
  }

  /// The value of a monotone function at x, between those of its neighbours; and its slope there.
  double carried_over(double x, double& slope) const {
    if (!follows_coordinate()) return x;
    const auto at = std::partition_point(order_.begin(), order_.end(),
                                         [&](Index s) { return measured_[s] <= x; });
    const auto clamp = [&](std::ptrdiff_t k) {
      return order_[static_cast<std::size_t>(
          std::clamp<std::ptrdiff_t>(k, 0, static_cast<std::ptrdiff_t>(order_.size()) - 1))];
    };
    const std::ptrdiff_t k = at - order_.begin();
    const auto quotient = [&](Index low, Index high) {
      const double run = measured_[high] - measured_[low];
      return run > 0 ? (values_[high] - values_[low]) / run : 0.0;
    };
    const Index low = clamp(k - 1);
    constexpr std::ptrdiff_t some = 20;
    slope = std::abs(quotient(clamp(k - 1 - some), clamp(k + some)));
    return values_[low] + quotient(low, clamp(k)) * (x - measured_[low]);
  }

  Run& run_;
  const ScalarStates& scalar_;
  SharpenedEstimate result_;
  Eigen::VectorXd values_;
  Eigen::VectorXd measured_;  ///< what quantiles are taken of: the coordinate, or the values
  bool identical_ = false;
  bool falling_ = false;
  std::vector<Index> order_;  ///< states by what is measured, if values differ from it
  std::vector<double> thresholds_;
  double centre_ = 0;
  double scale_ = 1;
  Eigen::MatrixXd targets_;      ///< y, y^2, indicators
  Eigen::MatrixXd differences_;  ///< of y and y^2: all states less the kept ones
  std::array<Eigen::MatrixXd, set_count> left_;
  std::vector<std::array<Eigen::VectorXd, set_count>> slopes_;  ///< by fold
};

/// The coordinates whose gradients go best with a function, in the draws a fit is made on.
std::vector<Index> best_coordinates(const Run& run, std::size_t f,
                                    const Eigen::Ref<const Eigen::VectorXd>& series) {
  const Fold& fold = run.folds[f];
  const SharedColumns& shared = run.shared[f];
  const Index count = to_index(run.linear.size());
  Eigen::VectorXd left = series.array() - series.mean();
  left.segment(fold.begin, fold.end - fold.begin).setZero();
  Eigen::VectorXd relevance(count);
  for (Index k = 0; k < count; ++k) {
    const auto column = shared.columns().col(k);
    relevance[k] = std::abs(column.dot(left)) / column.norm();
  }
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return relevance[a] > relevance[b]; });
  order.resize(std::min(order.size(), coordinates_of_a_function));
  for (Index& k : order) k = run.linear[static_cast<std::size_t>(k)];
  return order;
}

SharpenedEstimate sharpen_function(Run& run, const ScalarStates& scalar) {
  ScalarFit fit(run, scalar);
  const Eigen::VectorXd series = run.table.draw_means([&](Index s) { return fit.values()[s]; });
  std::vector<Eigen::MatrixXd> of_folds;
  for (std::size_t f = 0; f < run.folds.size(); ++f) {
    const std::vector<Index> coordinates = best_coordinates(run, f, series);
    std::vector<Eigen::MatrixXd> parts;
    Index columns = 0;
    for (const Index i : coordinates) {
      std::vector<double> thresholds;
      for (const QuantileEstimate& quantile : scalar.known.quantiles) {
        thresholds.push_back(run.frames[f].centre[i] +
                             run.frames[f].scale[i] * normal_quantile(quantile.probability));
      }
      parts.push_back(own_features(run.table, run.frames[f], i, run.coordinate(f, i), thresholds));
      columns += parts.back().cols();
    }
    Eigen::MatrixXd own(to_index(run.table.draws()), columns);
    Index first = 0;
    for (const Eigen::MatrixXd& part : parts) {
      own.middleCols(first, part.cols()) = part;
      first += part.cols();
    }
    of_folds.push_back(std::move(own));
  }
  return fit.estimate(gather_own(run, std::move(of_folds)), {});
}

SharpenedEstimate unsharpened(const ScalarStates& scalar) {
  SharpenedEstimate result;
  result.estimate = scalar.known;
  result.quantile_sets.assign(scalar.known.quantiles.size(), FeatureSet::none);
  return result;
}

bool ordinary(const ScalarStates& scalar) {
  return scalar.known.condition == DrawsCondition::ordinary && scalar.known.sd > 0;
}

}  // namespace

std::string_view describe(FeatureSet set) noexcept {
  constexpr std::array<std::string_view, set_count> names{
      "none", "bounded", "own", "bounded_linear", "linear", "row", "quadratic"};
  return names[static_cast<std::size_t>(set)];
}

std::vector<std::vector<std::size_t>> blocks_of(std::span<const std::string> names) {
  std::vector<std::vector<std::size_t>> blocks;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [place, fresh] =
        known.try_emplace(names[i].substr(0, names[i].find_first_of(".[")), blocks.size());
    if (fresh) blocks.emplace_back();
    blocks[place->second].push_back(i);
  }
  return blocks;
}

SharpenResult sharpen(std::span<const GradientStates> chains, std::span<const ScalarStates> scalars,
                      const SharpenSettings& settings) {
  SharpenResult result;
  for (const ScalarStates& scalar : scalars) result.scalars.push_back(unsharpened(scalar));
  Run run(chains, settings);
  if (!run.usable) return result;

  std::vector<std::vector<std::size_t>> of_coordinate(
      static_cast<std::size_t>(run.table.dimension()));
  std::vector<std::size_t> functions;
  for (std::size_t k = 0; k < scalars.size(); ++k) {
    if (settings.check_only || !ordinary(scalars[k])) continue;
    if (scalars[k].coordinate) {
      of_coordinate.at(*scalars[k].coordinate).push_back(k);
    } else {
      functions.push_back(k);
    }
  }

  Check check(run);
  for (Index i = 0; i < run.table.dimension(); ++i) {
    std::vector<CoordinateStates> states;
    for (std::size_t f = 0; f < run.folds.size(); ++f) states.push_back(run.coordinate(f, i));
    const auto features_at = [&](auto&& thresholds_of) {
      std::vector<Eigen::MatrixXd> of_folds;
      for (std::size_t f = 0; f < run.folds.size(); ++f) {
        of_folds.push_back(
            own_features(run.table, run.frames[f], i, states[f], thresholds_of(run.frames[f])));
      }
      return gather_own(run, std::move(of_folds));
    };
    const OwnFeatures checked =
        features_at([&](const SteinFrame& frame) { return std::vector<double>{frame.centre[i]}; });
    // The fields 1, z, z^2 and that of the median; z^3 has too heavy a tail to judge by.
    for (const Index column : {Index{0}, Index{1}, Index{2}, power_fields}) {
      if (checked.heavy[static_cast<std::size_t>(column)]) continue;
      check.add(run.across_folds(checked.of_folds, column), i);
    }
    for (const std::size_t k : of_coordinate[static_cast<std::size_t>(i)]) {
      ScalarFit fit(run, scalars[k]);
      const OwnFeatures own = features_at([&](const SteinFrame&) { return fit.thresholds(); });
      result.scalars[k] = fit.estimate(own, states);
    }
  }
  for (Index b = 0; b < to_index(run.block_first.size()); ++b) {
    if (run.block_heavy()[static_cast<std::size_t>(b)]) continue;
    check.add(run.across_folds(run.blocks, b), run.block_first[static_cast<std::size_t>(b)]);
  }
  for (const std::size_t k : functions) result.scalars[k] = sharpen_function(run, scalars[k]);
  result.check = check.finish();
  return result;
}

}  // namespace rehmc
