// Private to sharpen/: what all scalars of a run share: folds, frames, and features of all states.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "cross_fit.hpp"
#include "rehmc/estimate/chain_table.hpp"
#include "rehmc/estimate/recycled.hpp"
#include "rehmc/sharpen/sharpen.hpp"
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

/// Series of per-draw numbers and what their mean is worth.
class Errors {
 public:
  explicit Errors(const StateTable& table) {
    series_.chains = table.chains;
    series_.iterations = table.draws_per_chain;
  }
  /// Squared standard error of the mean over all draws; 0 for a series that does not move.
  double squared_error(const Eigen::Ref<const Eigen::VectorXd>& series);
  /// The same, raised for a mean whose law is skewed, as those of remainders are that few draws on
  /// one side carry: without such draws both the mean and its error come out too small. To first
  /// order, error / MCSE has the mean square 1 + 2 s^2, with s the skewness of the mean.
  double raised_error(const Eigen::Ref<const Eigen::VectorXd>& series);
  /// The raised error of an estimate that is reported: also for what few draws have not seen of a
  /// heavy tail to one side.
  double reported_error(const Eigen::Ref<const Eigen::VectorXd>& series);
  /// How many standard errors the mean is from 0, as a normal score without its sign: corrected for
  /// a skewed law of the mean, and for the few degrees of freedom of an error that few draws carry.
  double score(const Eigen::Ref<const Eigen::VectorXd>& series);

 private:
  /// Of the mean of the series that was looked at last, from sums of its batches.
  double skewness_of_mean() const;

  ChainTable series_;  ///< about its mean, in units of its sd
  EffectiveSize effective_size_;
  double effective_ = 0;
};

/// A remainder with a heavier tail has no fourth moment, so that its variance is hardly known.
inline constexpr double surely_known = 0.25;

/// The shape of the tail of |values|.
double shape_of(const Eigen::Ref<const Eigen::VectorXd>& values);
/// And about their mean.
double shape_about_mean(const Eigen::Ref<const Eigen::VectorXd>& values);
/// Whether a series has no finite variance, as far as one can tell.
bool too_heavy(const Eigen::Ref<const Eigen::VectorXd>& series);

/// Everything that depends on the states alone.
class Run {
 public:
  Run(std::span<const GradientStates> chains, const SharpenSettings& settings);

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
  /// Of the tails of (x_i - m_i) g_i, the mean over some coordinates; one per fold. A power law
  /// bounds those.
  std::vector<double> shape_virial;
  bool usable = false;

  Index training_draws() const;
  /// How many fields of powers a fold uses: those up to z^2. Higher ones leave remainders that rare
  /// states of the tails decide: small but for what was not seen. Only where gradients vanish in
  /// the tails, as those of a power law do, z^3 grows as z^2 does elsewhere, and is what cancels
  /// squares.
  Index powers(std::size_t fold) const;

  /// One coordinate in the frame of one fold.
  CoordinateStates coordinate(std::size_t fold, Index i);

  /// The shape of the tail of a function of states, by states outside a fold: which features a fold
  /// uses must not depend on its own draws, or their means would not be 0.
  double training_shape(std::size_t fold, const Eigen::VectorXd& values) const;
  /// The same by all draws.
  double shape(const Eigen::VectorXd& values) const;
  /// One state of every draw outside a fold.
  const std::vector<Index>& training_rows(std::size_t fold) const { return training_rows_[fold]; }

  /// Whether the values of a scalar are those of its coordinate, by where they lie: there is no
  /// need to gather them from afar.
  bool is_coordinate(const ScalarStates& scalar) const;

  /// A matrix that scalars are done with, or an empty one: the system hands out fresh memory
  /// slowly.
  Eigen::MatrixXd spare();
  void give_back(Eigen::MatrixXd matrix);

  /// One state of a draw: those of one trajectory are too much alike to tell a tail by.
  Index state_of(std::size_t n) const;

  /// Evenly spread states outside a fold, about so many or all.
  std::vector<Index> training_states(const Fold& fold, std::size_t enough) const;

  /// The coordinates k for which z_k u_i has a finite variance.
  std::vector<Index> light_rows(std::size_t fold, Index i) const;

  /// The features of the fields z_k C e_i of one coordinate i, for all k.
  Eigen::MatrixXd row_features(std::size_t fold, Index i, const CoordinateStates& own) const;

  /// Puts what each fold computed for its own draws, of_fold(f), into one series.
  template <class OfFold>
  Eigen::VectorXd across_folds(OfFold&& of_fold) const {
    Eigen::VectorXd series(to_index(table.draws()));
    for (std::size_t f = 0; f < folds.size(); ++f) {
      const Index count = folds[f].end - folds[f].begin;
      series.segment(folds[f].begin, count) = of_fold(f).segment(folds[f].begin, count);
    }
    return series;
  }

 private:
  struct Products {
    Eigen::MatrixXd shared;  ///< what those of all coordinates share
    Index first = 0;
    Eigen::MatrixXd u;
  };

  void cut_folds();

  SteinFrame fit_frame(const Fold& fold) const;

  void measure_tails();

  std::vector<Index> one_state_per_draw(const Fold& left_out) const;

  void share_columns(const SharpenSettings& settings);

  static Eigen::VectorXd outside(const Fold& fold, const Eigen::VectorXd& series);

  /// The scale of every block: the sum over its coordinates of z g + 1 (the virial).
  Eigen::MatrixXd block_features(const SteinFrame& frame, const SharpenSettings& settings);

  /// The features of all fields z_k C e_i: z_k (C g)_i + C_ki.
  Eigen::MatrixXd quadratic_features(std::size_t fold);

  std::span<const GradientStates> chains_;
  std::vector<Products> products_;
  std::vector<Eigen::MatrixXd> spares_;
  std::vector<std::vector<Index>> training_rows_;
};

}  // namespace rehmc::stein
