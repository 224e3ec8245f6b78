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
/// A growing feature must look lighter than this to go with a bounded function.
constexpr double lightest_tail = 0.3;
/// A coordinate with a heavier tail than this has a power law, as far as one can tell; then only
/// bounded fields go well with bounded functions, such as indicators.
constexpr double power_law_tail = 0.12;
/// So has a run whose coordinates have heavier tails than this on average, which is known better.
constexpr double typical_power_law = 0.07;
/// A growing feature with a heavier tail has hardly a mean.
constexpr double heaviest_growing = 1.0;
/// Moments whose tail is heavier than this get a warning. Shapes are underrated where chains take
/// long to come from the tails, so it must be less than the 0.5 of theory.
constexpr double surely_heavy = 0.4;
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
constexpr double worthwhile = 0.9;
constexpr Eigen::Index columns_at_once = 32;
/// What the precision of stored gradients may do to an estimate, in sds.
constexpr double single_precision = 1e-5;

using Index = Eigen::Index;

Index to_index(std::size_t i) { return static_cast<Index>(i); }

/// Series of per-draw numbers and what their mean is worth.
class Errors {
 public:
  explicit Errors(const StateTable& table) {
    series_.chains = table.chains;
    series_.iterations = table.draws_per_chain;
  }
  /// Squared standard error of the mean over all draws; 0 for a series that does not move. Raised
  /// for series of which few draws carry most of the variance, such as remainders that are small
  /// but for the tails: their variance is more often seen too small than too large. The factor was
  /// chosen by simulation, for the variance of error / MCSE over laws from normal to Student-t(5).
  double squared_error(const Eigen::Ref<const Eigen::VectorXd>& series) {
    const double mean = series.mean();
    const double variance =
        (series.array() - mean).square().sum() / static_cast<double>(series.size() - 1);
    if (!(variance > 0)) return variance;
    // In units of its sd: an effective size is not defined for numbers that hardly differ.
    series_.values.resize(static_cast<std::size_t>(series.size()));
    Eigen::Map<Eigen::VectorXd>(series_.values.data(), series.size()) =
        (series.array() - mean) / std::sqrt(variance);
    const auto values = Eigen::Map<const Eigen::ArrayXd>(series_.values.data(), series.size());
    const double kurtosis = values.square().square().mean();
    constexpr double per_draw = 30;
    const double raised = 1 + per_draw * kurtosis / static_cast<double>(series.size());
    return raised * variance / effective_size_.of_split(series_);
  }

 private:
  ChainTable series_;
  EffectiveSize effective_size_;
};

double shape_of(const Eigen::Ref<const Eigen::VectorXd>& values) {
  const Eigen::VectorXd sizes = values.cwiseAbs();
  return tail_shape({sizes.data(), static_cast<std::size_t>(sizes.size())});
}

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
    measure_tails();
    share_columns(settings);
  }

  StateTable table;
  Errors errors;
  std::vector<Fold> folds;
  std::vector<SteinFrame> frames;          ///< one per fold
  std::vector<SharedColumns> shared;       ///< linear and block features, one per fold
  std::vector<Eigen::MatrixXd> blocks;     ///< block features alone, one per fold
  std::vector<std::vector<Index>> linear;  ///< coordinates whose gradients a fold shares
  std::vector<Index> block_first;          ///< coordinate of each block feature
  std::vector<SharedColumns> quadratic;    ///< those and quadratic ones; empty in high dimension
  /// Of the tails of every coordinate and of its (C g), 0 for light tails; one per fold.
  std::vector<Eigen::VectorXd> shape_z;
  std::vector<Eigen::VectorXd> shape_u;
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
      // Those who go from one coordinate to the next get many at once.
      if (i != products.first + products.u.cols()) {
        const Eigen::VectorXd u = table.gradients * frame.matrix.row(i).transpose();
        return {table, frame, i, u};
      }
      products.first = i;
      const Index count = std::min(columns_at_once, table.dimension() - i);
      products.u.noalias() = table.gradients * frame.matrix.middleRows(i, count).transpose();
    }
    return {table, frame, i, products.u.col(i - products.first)};
  }

  /// The shape of the tail of a function of states, by states outside a fold: which features a fold
  /// uses must not depend on its own draws, or their means would not be 0.
  double training_shape(std::size_t fold, const Eigen::VectorXd& values) const {
    return shape_of(values(training_rows_[fold]));
  }
  /// The same by all draws.
  double shape(const Eigen::VectorXd& values) const {
    return shape_of(values(one_state_per_draw({0, 0})));
  }
  /// One state of every draw outside a fold.
  const std::vector<Index>& training_rows(std::size_t fold) const { return training_rows_[fold]; }

  /// One state of a draw: those of one trajectory are too much alike to tell a tail by.
  Index state_of(std::size_t n) const {
    return to_index((table.begins[n] + table.begins[n + 1]) / 2);
  }

  /// Evenly spread states outside a fold, about so many or all.
  std::vector<Index> training_states(const Fold& fold, std::size_t enough) const {
    const std::size_t first = table.begins[static_cast<std::size_t>(fold.begin)];
    const std::size_t last = table.begins[static_cast<std::size_t>(fold.end)];
    const auto states = static_cast<std::size_t>(table.states());
    const std::size_t stride = std::max<std::size_t>(1, (states - (last - first)) / enough);
    std::vector<Index> rows;
    for (std::size_t s = 0; s < states; s += stride) {
      if (s < first || s >= last) rows.push_back(to_index(s));
    }
    return rows;
  }

  /// The coordinates k for which z_k u_i has a finite variance.
  std::vector<Index> light_rows(std::size_t fold, Index i) const {
    std::vector<Index> light;
    for (Index k = 0; k < table.dimension(); ++k) {
      if (shape_z[fold][k] + shape_u[fold][i] <= heaviest_tail) light.push_back(k);
    }
    return light;
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
    const std::size_t enough =
        std::max<std::size_t>(4000, 10 * static_cast<std::size_t>(table.dimension()));
    const std::vector<Index> rows = training_states(fold, enough);
    return SteinFrame::fit(table.positions(rows, Eigen::all), table.gradients(rows, Eigen::all),
                           table.weights(rows), static_cast<double>(training_draws()));
  }

  void measure_tails() {
    const Index d = table.dimension();
    for (std::size_t f = 0; f < folds.size(); ++f) {
      shape_z.emplace_back(d);
      shape_u.emplace_back(d);
      const std::vector<Index>& rows = training_rows_.emplace_back(one_state_per_draw(folds[f]));
      const Eigen::MatrixXd gradients = table.gradients(rows, Eigen::all);
      const Eigen::MatrixXd u =
          frames[f].diagonal ? Eigen::MatrixXd(gradients * frames[f].matrix.col(0).asDiagonal())
                             : Eigen::MatrixXd(gradients * frames[f].matrix.transpose());
      for (Index i = 0; i < d; ++i) {
        const Eigen::VectorXd offset = table.positions.col(i)(rows).array() - frames[f].centre[i];
        shape_z[f][i] = std::max(0.0, shape_of(offset));
        shape_u[f][i] = std::max(0.0, shape_of(u.col(i)));
      }
    }
  }

  std::vector<Index> one_state_per_draw(const Fold& left_out) const {
    std::vector<Index> rows;
    for (std::size_t n = 0; n < table.draws(); ++n) {
      const bool inside = to_index(n) >= left_out.begin && to_index(n) < left_out.end;
      if (!inside) rows.push_back(state_of(n));
    }
    return rows;
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
    for (std::size_t f = 0; f < folds.size(); ++f) {
      auto& coordinates = linear.emplace_back();
      if (d + blocks[f].cols() <= room) {
        for (Index i = 0; i < d; ++i) {
          if (shape_u[f][i] <= heaviest_tail) coordinates.push_back(i);
        }
      }
      Eigen::MatrixXd columns(to_index(table.draws()),
                              to_index(coordinates.size()) + blocks[f].cols());
      Index used = 0;
      for (const Index i : coordinates) columns.col(used++) = linear_means[f].col(i);
      for (Index b = 0; b < blocks[f].cols(); ++b) {
        if (!too_heavy(outside(folds[f], blocks[f].col(b)))) columns.col(used++) = blocks[f].col(b);
      }
      columns.conservativeResize(Eigen::NoChange, used);
      shared.emplace_back(std::move(columns), folds[f]);
    }
    if (d <= quadratic_dimension && d * d + d <= room) {
      for (std::size_t f = 0; f < folds.size(); ++f) {
        const Eigen::MatrixXd more = quadratic_features(f);
        Eigen::MatrixXd columns(more.rows(), shared[f].size() + more.cols());
        columns << shared[f].columns(), more;
        quadratic.emplace_back(std::move(columns), folds[f]);
      }
    }
  }

  static Eigen::VectorXd outside(const Fold& fold, const Eigen::VectorXd& series) {
    Eigen::VectorXd rest(series.size() - (fold.end - fold.begin));
    rest << series.head(fold.begin), series.tail(series.size() - fold.end);
    return rest;
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
    Index used = 0;
    for (Index i = 0; i < d; ++i) {
      const std::vector<Index> light = light_rows(fold, i);
      features.middleCols(used, to_index(light.size())) =
          row_features(fold, i, coordinate(fold, i))(Eigen::all, light);
      used += to_index(light.size());
    }
    features.conservativeResize(Eigen::NoChange, used);
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
  std::vector<std::vector<Index>> training_rows_;
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

/// The shape of a tail, estimated in two ways that may overrate it.
struct Shape {
  /// From the function itself. Powers of light tails look heavy.
  double direct = 0;
  /// j k(z) + k(u) for z^j u, as if the tails of z and u went together.
  double bound = 0;

  double least() const { return std::min(direct, bound); }
};

/// The own features of a scalar in every fold.
struct OwnFeatures {
  std::vector<Eigen::MatrixXd> of_folds;
  std::vector<std::vector<Shape>> shapes;  ///< of the columns of every fold
};

/// Thresholds have bounded fields, which fall as 1 / z: their tails are those of u.
std::vector<Shape> shapes_of(const Run& run, std::size_t fold, Index i,
                             const CoordinateStates& states, std::size_t thresholds) {
  const double shape_z = run.shape_z[fold][i];
  const double shape_u = run.shape_u[fold][i];
  const CoordinateStates some = states.some(run.training_rows(fold));
  const double shape_g = std::max(0.0, shape_of(some.g));
  std::vector<Shape> shapes{{shape_u, shape_u}};
  for (Index field = 1; field < power_fields; ++field) {
    const double along = field <= highest_power ? shape_u : shape_g;
    shapes.push_back({shape_of(power_feature(some, field)),
                      static_cast<double>(power_of(field)) * shape_z + along});
  }
  shapes.resize(static_cast<std::size_t>(power_fields) + thresholds, shapes.front());
  return shapes;
}

/// The same powers with other thresholds.
template <class Thresholds>
OwnFeatures with_thresholds(const Run& run, Index i, const std::vector<CoordinateStates>& states,
                            const OwnFeatures& powers, Thresholds&& thresholds) {
  OwnFeatures own;
  for (std::size_t f = 0; f < run.folds.size(); ++f) {
    const std::vector<double> of_fold = thresholds(f);
    const auto count = to_index(of_fold.size());
    Eigen::MatrixXd& features =
        own.of_folds.emplace_back(to_index(run.table.draws()), power_fields + count);
    features.leftCols(power_fields) = powers.of_folds[f].leftCols(power_fields);
    features.rightCols(count) = threshold_features(run.table, run.frames[f], i, states[f], of_fold);
    own.shapes.push_back(powers.shapes[f]);
    own.shapes.back().resize(static_cast<std::size_t>(power_fields) + of_fold.size(),
                             own.shapes.back().front());
  }
  return own;
}

/// The own features of a coordinate, with thresholds as each fold has them.
template <class Thresholds>
OwnFeatures own_at(const Run& run, Index i, const std::vector<CoordinateStates>& states,
                   Thresholds&& thresholds) {
  OwnFeatures own;
  for (std::size_t f = 0; f < run.folds.size(); ++f) {
    Eigen::MatrixXd& features =
        own.of_folds.emplace_back(to_index(run.table.draws()), power_fields);
    for (Index field = 0; field < power_fields; ++field) {
      const Eigen::VectorXd feature = power_feature(states[f], field);
      features.col(field) = run.table.draw_means([&](Index s) { return feature[s]; });
    }
    own.shapes.push_back(shapes_of(run, f, i, states[f], 0));
  }
  return with_thresholds(run, i, states, own, thresholds);
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
  /// Where the fields of a fold's thresholds lie.
  const std::vector<double>& thresholds(std::size_t fold) const { return fold_thresholds_[fold]; }

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
    measured_sd_ = std::sqrt((measured_.array() - measured_.mean()).square().mean());
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
    for (const Fold& fold : run_.folds) {
      fold_thresholds_.push_back(follows_coordinate() ? training_quantiles(fold) : thresholds_);
    }
  }

  double measured_probability(double probability) const {
    return falling_ ? 1 - probability : probability;
  }

  /// Roughly the quantiles of the draws outside a fold. Thresholds that depended on a draw would
  /// not leave its features the mean 0: by as little as Bahadur's remainder, which is a lot here.
  std::vector<double> training_quantiles(const Fold& fold) const {
    constexpr std::size_t enough = 4000;
    std::vector<double> values;
    std::vector<double> weights;
    for (const Index s : run_.training_states(fold, enough)) {
      values.push_back(measured_[s]);
      weights.push_back(run_.table.weights[s]);
    }
    const EmpiricalDistribution distribution(std::move(values), weights);
    std::vector<double> quantiles;
    for (const QuantileEstimate& quantile : scalar_.known.quantiles) {
      quantiles.push_back(distribution.quantile(measured_probability(quantile.probability)));
    }
    return quantiles;
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
    shape_ = std::max(0.0, run_.shape((values_.array() - centre_).matrix()));
    result_.mean_has_error = !(shape_ > surely_heavy);
    result_.sd_has_error = !(2 * shape_ > surely_heavy);
  }

  /// Summaries that share their features: a feature must not have a heavier tail than what it is to
  /// explain, or it spoils the error bar.
  enum Group : std::size_t { of_mean, of_sd, of_quantiles, groups };
  /// Feature columns for each group.
  using Columns = std::array<std::vector<Index>, groups>;

  /// Feature columns of the sets, as they stand in the table that fit_all() makes.
  struct Layout {
    Columns constant;  ///< of constant fields: the gradients themselves
    Columns bounded;   ///< of thresholds, and what the states that were not kept add
    Columns growing;   ///< those, and of growing fields
    Index own = 0;     ///< number of own columns
    bool power_law = false;
  };

  static Index largest(const Columns& columns) {
    std::size_t most = 0;
    for (const auto& of_group : columns) most = std::max(most, of_group.size());
    return to_index(most);
  }

  static Columns joined(const Columns& a, const Columns& b) {
    Columns both = a;
    for (std::size_t g = 0; g < groups; ++g)
      both[g].insert(both[g].end(), b[g].begin(), b[g].end());
    return both;
  }

  Layout lay_out(const OwnFeatures& own, std::size_t fold) const {
    Layout layout;
    layout.own = own.of_folds[fold].cols();
    const Index block = power_fields + to_index(thresholds_.size());
    const double shape = run_.training_shape(fold, (values_.array() - centre_).matrix());
    layout.power_law = shape > power_law_tail || run_.shape_z[fold].mean() > typical_power_law;
    // Moments have tails of their own, which growing fields may well cancel: the choice by the
    // error that is left decides. Indicators are bounded.
    const std::array<double, groups> limits{heaviest_growing, heaviest_growing,
                                            layout.power_law ? -1.0 : lightest_tail};
    Columns powers;
    for (Index column = 0; column < layout.own; ++column) {
      const Shape& tail = own.shapes[fold][static_cast<std::size_t>(column)];
      const Index place = column % block;
      for (std::size_t g = 0; g < groups; ++g) {
        if (place == 0 || place >= power_fields) {
          if (tail.least() > heaviest_tail) continue;
          (place == 0 ? layout.constant : layout.bounded)[g].push_back(column);
        } else if ((g == of_quantiles ? tail.direct : tail.least()) <= limits[g]) {
          powers[g].push_back(column);
        }
      }
    }
    for (Index k = 0; k < differences_.cols(); ++k) {
      if (shape <= heaviest_tail) layout.bounded[of_mean].push_back(layout.own + k);
      if (2 * shape <= heaviest_tail) layout.bounded[of_sd].push_back(layout.own + k);
    }
    layout.growing = joined(layout.bounded, powers);
    return layout;
  }

  void fit_all(const OwnFeatures& own, const std::vector<CoordinateStates>& states) {
    const Index rows = targets_.rows();
    const Index room = run_.training_draws() / draws_per_feature;
    left_[index(FeatureSet::none)] = targets_;
    if (differences_.cols() > 0) {
      left_[index(FeatureSet::none)].leftCols(moment_targets) += differences_;
    }
    slopes_.assign(run_.folds.size(), {});
    for (std::size_t f = 0; f < run_.folds.size(); ++f) {
      const Layout layout = lay_out(own, f);
      const Fold& fold = run_.folds[f];
      const SharedColumns& shared = run_.shared[f];
      const bool shares = shared.size() > 0;
      Eigen::MatrixXd columns(rows, layout.own + differences_.cols() + targets_.cols());
      columns << own.of_folds[f], differences_, fold_targets(f);
      move_thresholds(f, columns, states);
      const CrossFit regression(columns, targets_.cols(), fold, shared, shares);

      std::vector<Planned> plans;
      const auto use = [&](FeatureSet set, const Columns& features, bool with_shared) {
        const Index count = largest(features) + (with_shared ? shared.size() : 0);
        if (count > 0 && count <= room) plans.push_back({set, features, with_shared});
      };
      use(FeatureSet::bounded, joined(layout.constant, layout.bounded), false);
      use(FeatureSet::own, joined(layout.constant, layout.growing), false);
      if (!shares) {
        keep(plans, f, regression, layout);
        continue;
      }
      // The gradients themselves are shared already.
      const Columns firsts = run_.linear[f].empty() ? layout.constant : Columns();
      // Costs much in high dimension, and is of use for heavy tails alone.
      if (run_.table.dimension() <= small_dimension || layout.power_law) {
        use(FeatureSet::bounded_linear, joined(firsts, layout.bounded), true);
      }
      const Columns all = joined(firsts, layout.growing);
      use(FeatureSet::linear, all, true);
      keep(plans, f, regression, layout);
      if (largest(all) + shared.size() > room) continue;
      if (!states.empty() && run_.table.dimension() <= row_dimension) {
        fit_more(FeatureSet::row, f, rows_of(f, states[f], regression, all), columns, all, layout);
      }
      if (!run_.quadratic.empty() && largest(all) + run_.quadratic[f].size() <= room) {
        const CrossFit quadratic(columns, targets_.cols(), fold, run_.quadratic[f], true);
        keep({{FeatureSet::quadratic, all, true}}, f, quadratic, layout);
        if (layout.power_law) {
          left_[index(FeatureSet::quadratic)]
              .rightCols(to_index(thresholds_.size()))
              .setConstant(nan_value);
        }
      }
    }
  }

  Eigen::MatrixXd fold_targets(std::size_t f) const {
    Eigen::MatrixXd targets = targets_;
    if (!follows_coordinate()) return targets;
    for (std::size_t t = 0; t < thresholds_.size(); ++t) {
      targets.col(moment_targets + to_index(t)) = below(fold_thresholds_[f][t]);
    }
    return targets;
  }

  /// What the indicator and the own feature of every threshold change by, in the draws of a fold,
  /// if the threshold moves from where the fold has it to where all have it.
  void move_thresholds(std::size_t f, const Eigen::MatrixXd& columns,
                       const std::vector<CoordinateStates>& states) {
    indicator_moves_.setZero(targets_.rows(), to_index(thresholds_.size()));
    feature_moves_ = indicator_moves_;
    if (states.empty()) return;
    const Fold& fold = run_.folds[f];
    const Index count = fold.end - fold.begin;
    for (std::size_t t = 0; t < thresholds_.size(); ++t) {
      const Index column = to_index(t);
      const ThresholdSeries at(*this, f, states[f], thresholds_[t]);
      const Index target = columns.cols() - targets_.cols() + moment_targets + column;
      indicator_moves_.col(column).segment(fold.begin, count) =
          at.indicator - columns.col(target).segment(fold.begin, count);
      feature_moves_.col(column).segment(fold.begin, count) =
          at.feature - columns.col(power_fields + column).segment(fold.begin, count);
    }
  }

  /// The indicator of a threshold and its own feature, in the draws of a fold.
  struct ThresholdSeries {
    Eigen::VectorXd indicator;
    Eigen::VectorXd feature;

    ThresholdSeries(const ScalarFit& fit, std::size_t f, const CoordinateStates& own, double x)
        : indicator(fit.run_.folds[f].end - fit.run_.folds[f].begin), feature(indicator.size()) {
      const Run& run = fit.run_;
      const Fold& fold = run.folds[f];
      const auto i = to_index(*fit.scalar_.coordinate);
      const double threshold = (x - run.frames[f].centre[i]) / run.frames[f].scale[i];
      const bool usable = std::abs(threshold) < ThresholdField::largest;
      const ThresholdField field(threshold);
      for (Index n = fold.begin; n < fold.end; ++n) {
        double below_sum = 0;
        double feature_sum = 0;
        for (std::size_t k = run.table.begins[static_cast<std::size_t>(n)];
             k < run.table.begins[static_cast<std::size_t>(n) + 1]; ++k) {
          const Index s = to_index(k);
          const bool below = fit.measured_[s] <= x;
          const double weight = run.table.weights[s];
          below_sum += below ? weight : 0.0;
          feature_sum += weight * field.feature(below, own.z[s], own.u[s], own.mills_below[s],
                                                own.mills_above[s]);
        }
        indicator[n - fold.begin] = below_sum;
        feature[n - fold.begin] = usable ? feature_sum : 0.0;
      }
    }
  };

  /// Further columns beside all others.
  void fit_more(FeatureSet set, std::size_t f, const Eigen::MatrixXd& more,
                const Eigen::MatrixXd& columns, const Columns& others, const Layout& layout) {
    const Index room = run_.training_draws() / draws_per_feature;
    if (largest(others) + run_.shared[f].size() + more.cols() > room) return;
    Eigen::MatrixXd wider(columns.rows(), columns.cols() + more.cols());
    const Index before = columns.cols() - targets_.cols();
    wider << columns.leftCols(before), more, columns.rightCols(targets_.cols());
    std::vector<Index> added(static_cast<std::size_t>(more.cols()));
    std::iota(added.begin(), added.end(), before);
    const CrossFit regression(std::move(wider), targets_.cols(), run_.folds[f], run_.shared[f],
                              true);
    const Columns wanted{added, added, layout.power_law ? std::vector<Index>() : added};
    keep({{set, joined(others, wanted), true}}, f, regression, layout);
  }

  /// The features of fields that grow with other coordinates: those that go best with what is left
  /// in the draws that fits are made on.
  Eigen::MatrixXd rows_of(std::size_t f, const CoordinateStates& states, const CrossFit& regression,
                          const Columns& features) const {
    const auto i = to_index(*scalar_.coordinate);
    Eigen::MatrixXd rows = run_.row_features(f, i, states)(Eigen::all, run_.light_rows(f, i));
    if (static_cast<std::size_t>(rows.cols()) <= most_rows) return rows;
    const Fold& fold = run_.folds[f];
    std::vector<CrossFit::Fit> fits{regression.fit(features[of_sd], true, {0, targets_.cols()})};
    Eigen::MatrixXd left = std::move(regression.residuals(fits).front());
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

  /// A set of features to fit by.
  struct Planned {
    FeatureSet set;
    Columns features;
    bool with_shared;
  };

  /// Fits a fold by several sets and keeps what is left of its draws.
  void keep(const std::vector<Planned>& plans, std::size_t f, const CrossFit& regression,
            const Layout& layout) {
    const Index quantiles = to_index(thresholds_.size());
    std::vector<CrossFit::Fit> fits;
    std::vector<FeatureSet> sets;
    for (const Planned& plan : plans) {
      const auto fit = [&](const std::vector<Index>& columns, const CrossFit::Targets& targets) {
        fits.push_back(regression.fit(columns, plan.with_shared, targets));
        sets.push_back(plan.set);
      };
      if (plan.features[of_mean] == plan.features[of_sd]) {
        fit(plan.features[of_mean], {0, moment_targets});
      } else {
        fit(plan.features[of_mean], {0, 1});
        fit(plan.features[of_sd], {1, 1});
      }
      fit(plan.features[of_quantiles], {moment_targets, quantiles});
    }
    const std::vector<Eigen::MatrixXd> residuals = regression.residuals(fits);
    const Fold& fold = run_.folds[f];
    const Index count = fold.end - fold.begin;
    for (std::size_t k = 0; k < fits.size(); ++k) {
      const CrossFit::Targets& targets = fits[k].targets;
      Eigen::MatrixXd& left = left_[index(sets[k])];
      if (left.size() == 0) left.setConstant(targets_.rows(), targets_.cols(), nan_value);
      left.block(fold.begin, targets.first, count, targets.count) =
          residuals[k].middleRows(fold.begin, count);
      count_dependence(sets[k], fold, fits[k], residuals[k]);
      if (targets.first == moment_targets) keep_slopes(sets[k], f, fits[k], layout);
    }
  }

  /// The coefficient of each quantile's own threshold, which is then moved to where all have it.
  void keep_slopes(FeatureSet set, std::size_t f, const CrossFit::Fit& fit, const Layout& layout) {
    Eigen::VectorXd slopes = Eigen::VectorXd::Zero(to_index(thresholds_.size()));
    if (follows_coordinate()) {
      for (std::size_t a = 0; a < fit.features.size(); ++a) {
        const Index t = fit.features[a] - power_fields;
        if (fit.features[a] < layout.own && t >= 0) slopes[t] = fit.own(to_index(a), t);
      }
    }
    slopes_[f][index(set)] = slopes;
    if (!follows_coordinate()) return;
    const Fold& fold = run_.folds[f];
    const Index count = fold.end - fold.begin;
    for (Index t = 0; t < slopes.size(); ++t) {
      left_[index(set)].col(moment_targets + t).segment(fold.begin, count) +=
          indicator_moves_.col(t).segment(fold.begin, count) -
          slopes[t] * feature_moves_.col(t).segment(fold.begin, count);
    }
  }

  /// The draws of a fold depend on all others through the coefficients. Their first-order effect
  /// belongs to the error: without it, error bars of folds that share an outlier are too small.
  void count_dependence(FeatureSet set, const Fold& fold, const CrossFit::Fit& fit,
                        const Eigen::MatrixXd& residuals) {
    Eigen::MatrixXd& effect = effects_[index(set)];
    if (effect.size() == 0) effect.setZero(targets_.rows(), targets_.cols());
    const Index after = targets_.rows() - fold.end;
    const auto inside = static_cast<double>(fold.end - fold.begin);
    const double outside = static_cast<double>(targets_.rows()) - inside;
    const Eigen::RowVectorXd mean = TrainingMoments::mean(residuals, fold);
    const auto add = [&](Index first, Index count) {
      effect.block(first, fit.targets.first, count, fit.targets.count).array() -=
          (residuals.middleRows(first, count).rowwise() - mean).array().colwise() *
          (fit.dependence.segment(first, count).array() * (inside / outside));
    };
    add(0, fold.begin);
    add(fold.end, after);
  }

  /// The squared error of a target that a set leaves.
  double squared_error(std::size_t set, Index target) {
    if (effects_[set].size() == 0) return run_.errors.squared_error(left_[set].col(target));
    return run_.errors.squared_error(left_[set].col(target) + effects_[set].col(target));
  }

  static std::size_t index(FeatureSet set) { return static_cast<std::size_t>(set); }

  /// The set that leaves the least long-run variance of a target.
  FeatureSet best_set(Index target, double& squared_error) {
    FeatureSet best = FeatureSet::none;
    squared_error = this->squared_error(index(best), target);
    for (std::size_t s = 1; s < set_count; ++s) {
      if (left_[s].size() == 0 || !left_[s].col(target).allFinite()) continue;
      const double error = this->squared_error(s, target);
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
      const Eigen::VectorXd influence = (second + effect_of(result_.sd_set, 1) -
                                         2 * mean * (first + effect_of(result_.mean_set, 0))) /
                                        (2 * sd);
      estimate.sd = scale_ * sd;
      estimate.mcse_sd = floored(scale_ * std::sqrt(run_.errors.squared_error(influence)));
    }
    count_effective_draws(estimate);
    for (std::size_t t = 0; t < thresholds_.size(); ++t) sharpen_quantile(t, states);
  }

  Eigen::VectorXd effect_of(FeatureSet set, Index target) const {
    const Eigen::MatrixXd& effect = effects_[index(set)];
    if (effect.size() == 0) return Eigen::VectorXd::Zero(targets_.rows());
    return effect.col(target);
  }

  /// No error is smaller than what rounding makes of it.
  double floored(double error) const {
    constexpr double few = 8;
    const double rounding =
        few * std::numeric_limits<double>::epsilon() * std::abs(scalar_.known.mean) +
        single_precision * scalar_.known.sd;
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
        if (states_.empty()) {
          all.segment(fold.begin, fold.end - fold.begin) =
              fit_.below(x).segment(fold.begin, fold.end - fold.begin);
          continue;
        }
        const ThresholdSeries at(fit_, f, states_[f], x);
        all.segment(fold.begin, fold.end - fold.begin) = at.indicator - slopes_[f] * at.feature;
      }
      return all;
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
    const double width = 0.1 * measured_sd_;
    const double start = thresholds_[t];
    const double density =
        (distribution(start + width) - distribution(start - width)) / (2 * width);
    if (!(density > 0)) return;
    const double error = std::sqrt(squared_error);
    double off = left_[index(set)].col(moment_targets + to_index(t)).mean() - probability;
    const double allowed = 10 * (error + std::abs(off)) / density;
    double x = start;
    Eigen::VectorXd series;
    constexpr int most_steps = 6;
    constexpr double close = 1e-3;
    for (int step = 0; step < most_steps; ++step) {
      x -= off / density;
      if (!(std::abs(x - start) <= allowed)) return;
      series = distribution.series(x);
      off = series.mean() - probability;
      if (std::abs(off) <= close * error) break;
    }
    squared_error =
        run_.errors.squared_error(series + effect_of(set, moment_targets + to_index(t)));
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
  double measured_sd_ = 0;
  bool identical_ = false;
  bool falling_ = false;
  std::vector<Index> order_;        ///< states by what is measured, if values differ from it
  std::vector<double> thresholds_;  ///< where quantiles are looked for
  std::vector<std::vector<double>> fold_thresholds_;  ///< where a fold's fields have theirs
  Eigen::MatrixXd indicator_moves_;                   ///< from those to these, in one fold
  Eigen::MatrixXd feature_moves_;
  double centre_ = 0;
  double scale_ = 1;
  double shape_ = 0;             ///< of the tails
  Eigen::MatrixXd targets_;      ///< y, y^2, indicators
  Eigen::MatrixXd differences_;  ///< of y and y^2: all states less the kept ones
  std::array<Eigen::MatrixXd, set_count> left_;
  std::array<Eigen::MatrixXd, set_count> effects_;  ///< of every draw on the coefficients
  std::vector<std::array<Eigen::VectorXd, set_count>> slopes_;  ///< by fold
};

/// The coordinates whose gradients go best with a function, in the draws a fit is made on.
std::vector<Index> best_coordinates(const Run& run, std::size_t f,
                                    const Eigen::Ref<const Eigen::VectorXd>& series) {
  const Fold& fold = run.folds[f];
  const SharedColumns& shared = run.shared[f];
  const Index count = to_index(run.linear[f].size());
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
  for (Index& k : order) k = run.linear[f][static_cast<std::size_t>(k)];
  return order;
}

SharpenedEstimate sharpen_function(Run& run, const ScalarStates& scalar) {
  ScalarFit fit(run, scalar);
  const Eigen::VectorXd series = run.table.draw_means([&](Index s) { return fit.values()[s]; });
  std::vector<Eigen::MatrixXd> of_folds;
  std::vector<std::vector<Shape>> shapes(run.folds.size());
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
      const CoordinateStates states = run.coordinate(f, i);
      parts.push_back(own_features(run.table, run.frames[f], i, states, thresholds));
      const std::vector<Shape> of_part = shapes_of(run, f, i, states, thresholds.size());
      shapes[f].insert(shapes[f].end(), of_part.begin(), of_part.end());
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
  return fit.estimate({std::move(of_folds), std::move(shapes)}, {});
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
    const OwnFeatures checked = own_at(run, i, states, [&](std::size_t f) {
      return std::vector<double>{run.frames[f].centre[i]};
    });
    // The fields 1, z, z^2 and that of the median; z^3 has too heavy a tail to judge by.
    for (const Index column : {Index{0}, Index{1}, Index{2}, power_fields}) {
      const bool heavy =
          std::any_of(checked.shapes.begin(), checked.shapes.end(), [&](auto& shapes) {
            return shapes[static_cast<std::size_t>(column)].least() > heaviest_tail;
          });
      if (heavy) continue;
      check.add(run.across_folds(checked.of_folds, column), i);
    }
    for (const std::size_t k : of_coordinate[static_cast<std::size_t>(i)]) {
      ScalarFit fit(run, scalars[k]);
      const OwnFeatures own = with_thresholds(run, i, states, checked,
                                              [&](std::size_t f) { return fit.thresholds(f); });
      result.scalars[k] = fit.estimate(own, states);
    }
  }
  for (Index b = 0; b < to_index(run.block_first.size()); ++b) {
    const Eigen::VectorXd series = run.across_folds(run.blocks, b);
    if (!too_heavy(series)) check.add(series, run.block_first[static_cast<std::size_t>(b)]);
  }
  for (const std::size_t k : functions) result.scalars[k] = sharpen_function(run, scalars[k]);
  result.check = check.finish();
  return result;
}

}  // namespace rehmc
