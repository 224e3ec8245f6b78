// Private to estimate/: what all scalars of a run share: folds, frames, and features of all states.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "chain_table.hpp"
#include "cross_fit.hpp"
#include "pareto.hpp"
#include "rehmc/estimate/recycled.hpp"
#include "rehmc/estimate/sharpen.hpp"
#include "stein_features.hpp"
#include "stein_frame.hpp"

namespace rehmc::stein {

using Index = Eigen::Index;
inline Index to_index(std::size_t i) { return static_cast<Index>(i); }
/// Training draws for every feature, lest the noise of the coefficients eat the gain.
inline constexpr Eigen::Index draws_per_feature = 4;
/// A feature whose tail is heavier has no finite variance, as far as one can tell.
inline constexpr double heaviest_tail = 0.5;
/// Up to this dimension four folds are cheap; beyond it, two.
inline constexpr Eigen::Index small_dimension = 100;
/// Up to this dimension all fields that are linear in the state are affordable.
inline constexpr Eigen::Index quadratic_dimension = 10;
inline constexpr Eigen::Index columns_at_once = 32;

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

inline double shape_of(const Eigen::Ref<const Eigen::VectorXd>& values) {
  const Eigen::VectorXd sizes = values.cwiseAbs();
  return tail_shape({sizes.data(), static_cast<std::size_t>(sizes.size())});
}

inline bool too_heavy(const Eigen::Ref<const Eigen::VectorXd>& series) {
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

}  // namespace rehmc::stein
