// Private to sharpen/: what all scalars of a run share: folds, frames and features of all states.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

#include "columns.hpp"
#include "cross_fit.hpp"
#include "mean_errors.hpp"
#include "rehmc/sharpen/sharpen.hpp"
#include "stein_features.hpp"
#include "stein_frame.hpp"

namespace rehmc::stein {

/// Training draws per feature, so that the noise of the coefficients does not cost more than the
/// feature gains.
inline constexpr Eigen::Index draws_per_feature = 4;
/// Up to this dimension four folds are cheap if there are few draws; else there are two.
inline constexpr Eigen::Index small_dimension = 100;

/// Everything that depends on the states alone.
class Run {
 public:
  Run(std::span<const GradientStates> chains, const SharpenSettings& settings);

  StateTable table;
  MeanErrors errors;
  std::vector<Fold> folds;
  // One per fold:
  std::vector<SteinFrame> frames;
  std::vector<SharedGroups> groups;      ///< which columns are shared
  std::vector<SharedColumns> shared;     ///< linear and virial features
  std::vector<SharedColumns> quadratic;  ///< those and quadratic ones; none in high dimension
  std::vector<Eigen::MatrixXd> blocks;   ///< virial features of all blocks, whatever their tails
  std::vector<Eigen::VectorXd> shape_z;  ///< tails of the coordinates, 0 if light
  std::vector<Eigen::VectorXd> shape_u;  ///< tails of their (C g), likewise
  /// Tails of (x_i - m_i) g_i, averaged over some coordinates; a power law bounds those.
  std::vector<double> shape_virial;
  std::vector<Index> block_first;  ///< the first coordinate of each block
  bool usable = false;

  Index training_draws() const;
  /// How many fields of powers a fold uses: those up to z^2. Higher powers leave remainders that
  /// depend on rare states in the tails, and look small until one is seen. Only if gradients vanish
  /// in the tails, as for a power law, z^3 grows as z^2 does elsewhere, and cancels squares.
  Index powers(std::size_t fold) const;

  /// One coordinate in the frame of one fold.
  CoordinateStates coordinate(std::size_t fold, Index i);
  /// Its u = (C g) alone, which is much cheaper.
  Eigen::VectorXd along_c(std::size_t fold, Index i);

  /// The shape of the tail of a function of states, from states outside a fold: which features a
  /// fold uses must not depend on its own draws, or their means would not be 0.
  double training_shape(std::size_t fold, const Eigen::VectorXd& values) const;
  /// One state of every draw outside a fold.
  const std::vector<Index>& training_rows(std::size_t fold) const { return training_rows_[fold]; }

  /// Whether the values of a scalar are the coordinate's own memory, which need not be gathered
  /// again.
  bool is_coordinate(const ScalarStates& scalar) const;

  /// A matrix that another scalar no longer needs, or an empty one: fresh memory is slow.
  Eigen::MatrixXd spare();
  void give_back(Eigen::MatrixXd matrix);

  /// One state of a draw: states of one trajectory are too similar to estimate a tail from.
  Index state_of(std::size_t n) const;

  /// The fold of a draw.
  std::size_t fold_of(Index draw) const;

  /// Evenly spread states outside a fold: about `enough` of them, or all.
  std::vector<Index> training_states(const Fold& fold, std::size_t enough) const;

  /// The coordinates k for which z_k u_i has a finite variance.
  std::vector<Index> light_rows(std::size_t fold, Index i) const;

  /// The features of the fields z_k C e_i of one coordinate i, for the light rows k. `u`: its
  /// along_c().
  Eigen::MatrixXd row_features(std::size_t fold, Index i, const Eigen::VectorXd& u) const;

  /// One series in which the draws of each fold f come from of_fold(f).
  template <class OfFold>
  Eigen::VectorXd across_folds(OfFold&& of_fold) const {
    Eigen::VectorXd series(to_index(table.draws()));
    for (std::size_t f = 0; f < folds.size(); ++f) {
      folds[f].of(series) = folds[f].of(of_fold(f));
    }
    return series;
  }

 private:
  struct Products {
    Eigen::MatrixXd shared;  ///< the part that all coordinates have in common
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
  Eigen::MatrixXd light_row_features(std::size_t fold, Index i, const Eigen::VectorXd& u) const;

  std::span<const GradientStates> chains_;
  std::vector<Products> products_;
  /// By fold and coordinate, where the row features are among the quadratic ones.
  std::vector<std::vector<ColumnRange>> rows_of_quadratic_;
  std::vector<Eigen::MatrixXd> spares_;
  std::vector<std::vector<Index>> training_rows_;
};

}  // namespace rehmc::stein
