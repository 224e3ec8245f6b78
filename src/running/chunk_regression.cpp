// Sharpens without draws: regression of chunk sums on those of Stein features.
#include "chunk_regression.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "pooled_chunks.hpp"

namespace rehmc {

namespace {

using Chunk = ChunkSums::Chunk;

constexpr std::size_t most_features = 3;
/// More features must leave less than this share of the variance that fewer leave.
constexpr double worthwhile = 0.9;
/// Fewer fit tails too poorly: what is left is then too small in most runs, and large in a few.
constexpr std::size_t chunks_per_feature = 8;
constexpr std::size_t fewest_folds = 4;
/// What skewed residuals add to squared errors; set by simulation.
constexpr double by_skewness = 16;
/// Relative to the variance of a feature; too little to be seen in any estimate.
constexpr double ridge = 1e-9;

enum Column : Eigen::Index { masses, stein, first = stein + most_features, second, columns };
using Products = Eigen::Matrix<double, columns, columns>;

/// Full chunks [begin, end), whose coefficients come from all others.
struct ChunkFold {
  std::size_t begin = 0;
  std::size_t end = 0;
  Chunk begun;  ///< the last chunk of the chain, in its last fold; else nothing
};

/// Least squares on the masses and the leading features.
struct Fit {
  /// A column for each of the targets `first` and `second`.
  Eigen::Matrix<double, most_features, 2> coefficients;
  /// The inverse of the matrix of the normal equations, less what the masses explain.
  Eigen::Matrix3d inverse;
  /// Of every feature, what goes with a unit of mass.
  Eigen::Vector3d average;
};

Fit fit(const Products& products, Eigen::Index features) {
  // What the masses explain goes first: their coefficient is the average itself.
  const Products left =
      products - products.col(masses) * products.row(masses) / products(masses, masses);
  Eigen::Vector3d inverse_sd = Eigen::Vector3d::Zero();  // so that others get no coefficient
  for (Eigen::Index k = 0; k < features; ++k) {
    const double variance = left(stein + k, stein + k);
    if (variance > 0) inverse_sd[k] = 1 / std::sqrt(variance);
  }
  Eigen::Matrix3d squares =
      inverse_sd.asDiagonal() * left.block<3, 3>(stein, stein) * inverse_sd.asDiagonal();
  squares.diagonal().array() += ridge;
  const Eigen::Matrix3d diagonal = inverse_sd.asDiagonal();
  const Eigen::Matrix3d inverse = diagonal * squares.ldlt().solve(diagonal);
  return {inverse * left.block<3, 2>(stein, first), inverse,
          products.block<3, 1>(stein, masses) / products(masses, masses)};
}

Eigen::Vector3d features_of(const Chunk& chunk) { return Eigen::Vector3d::Map(chunk.stein.data()); }

/// A target with what some features explain taken out.
struct Residual {
  double average = 0;
  double squared_error = std::numeric_limits<double>::infinity();  ///< from the chunks
  double raise = 1;                                                ///< what few chunks add to it
  double raised_error() const { return raise * squared_error; }
};

class ChunkRegression {
 public:
  ChunkRegression(Summaries chains, std::size_t coordinate, double moved, bool disagree)
      : chunks_(chains, coordinate, &RunningSummary::recycled, moved), disagree_(disagree) {
    make_folds();
    fit_all();
  }

  /// The best average of weight[0] * first + weight[1] * second, and how many features it takes.
  struct Best {
    Residual residual;
    Eigen::Index features = 0;
  };
  Best best(const Eigen::Vector2d& weight) const {
    Best best{residual(0, weight), 0};
    for (Eigen::Index count = 1; count <= usable_; ++count) {
      const Residual more = residual(count, weight);
      if (more.squared_error < worthwhile * best.residual.squared_error) best = {more, count};
    }
    return best;
  }

 private:
  /// Whole chains, or blocks of them where there are few.
  void make_folds() {
    const std::size_t blocks = (fewest_folds + chunks_.ends.size() - 1) / chunks_.ends.size();
    std::size_t begin = 0;
    for (std::size_t c = 0; c < chunks_.ends.size(); ++c) {
      const std::size_t count = chunks_.ends[c] - begin;
      for (std::size_t k = 0; k < blocks; ++k) {
        ChunkFold& fold = folds_.emplace_back();
        fold.begin = begin + k * count / blocks;
        fold.end = begin + (k + 1) * count / blocks;
        if (k + 1 == blocks) fold.begun = chunks_.begun[c];
      }
      begin = chunks_.ends[c];
    }
    std::size_t least = chunks_.full.size();
    for (const ChunkFold& fold : folds_) {
      least = std::min(least, chunks_.full.size() - (fold.end - fold.begin));
    }
    usable_ = static_cast<Eigen::Index>(std::min(most_features, least / chunks_per_feature));
  }

  void fit_all() {
    std::vector<Products> of_fold;
    for (const ChunkFold& fold : folds_) {
      Products& products = of_fold.emplace_back(Products::Zero());
      for (std::size_t b = fold.begin; b < fold.end; ++b) {
        const Chunk& chunk = chunks_.full[b];
        const Eigen::Matrix<double, columns, 1> row{chunk.mass,     chunk.stein[0], chunk.stein[1],
                                                    chunk.stein[2], chunk.first,    chunk.second};
        products += row * row.transpose() / chunk.draws;
      }
    }
    for (const Products& own : of_fold) {
      // Summed again: a difference would lose digits if one fold were much larger than the others.
      Products others = Products::Zero();
      for (const Products& products : of_fold) {
        if (&products != &own) others += products;
      }
      auto& fits = fits_.emplace_back();
      for (Eigen::Index count = 1; count <= usable_; ++count) {
        fits[static_cast<std::size_t>(count)] = fit(others, count);
      }
    }
  }

  Residual residual(Eigen::Index features, const Eigen::Vector2d& weight) const {
    std::vector<double> left;
    left.reserve(chunks_.full.size());
    double sum = 0;
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      const Eigen::Vector3d explained =
          features == 0
              ? Eigen::Vector3d::Zero()
              : Eigen::Vector3d(fits_[f][static_cast<std::size_t>(features)].coefficients * weight);
      const auto leave = [&](const Chunk& chunk) {
        return weight[0] * chunk.first + weight[1] * chunk.second -
               explained.dot(features_of(chunk));
      };
      for (std::size_t b = folds_[f].begin; b < folds_[f].end; ++b) {
        left.push_back(leave(chunks_.full[b]));
        sum += left.back();
      }
      sum += leave(folds_[f].begun);
    }
    const double average = sum / chunks_.total.mass;
    for (std::size_t b = 0; b < left.size(); ++b) left[b] -= average * chunks_.full[b].mass;
    if (features > 0) add_effects(features, left);
    return {average, chunks_.squared_error(left, disagree_, Neighbours::counted), raise(left)};
  }

  /// A chunk also changes the coefficients of the other folds: to first order by its residual,
  /// times a factor from its features and the sum of the fold's features.
  void add_effects(Eigen::Index features, std::vector<double>& left) const {
    std::vector<double> share(left.size(), 1.0);
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      const std::size_t begin = folds_[f].begin;
      const std::size_t end = folds_[f].end;
      const Fit& fit = fits_[f][static_cast<std::size_t>(features)];
      Eigen::Vector3d sum = Eigen::Vector3d::Zero();
      for (std::size_t b = begin; b < end; ++b) sum += features_of(chunks_.full[b]);
      const Eigen::Vector3d tilt = fit.inverse * sum;
      for (std::size_t b = 0; b < left.size(); ++b) {
        if (b >= begin && b < end) continue;
        const Chunk& chunk = chunks_.full[b];
        share[b] -= tilt.dot(features_of(chunk) - chunk.mass * fit.average) / chunk.draws;
      }
    }
    for (std::size_t b = 0; b < left.size(); ++b) left[b] *= share[b];
  }

  /// Regression removes the bulk and leaves the tails. If one tail is longer, few chunks carry most
  /// of the residuals, and their estimated variance is more often too small than too large.
  double raise(const std::vector<double>& left) const {
    double second = 0;
    double third = 0;
    const auto count = static_cast<double>(left.size());
    for (std::size_t b = 0; b < left.size(); ++b) {
      const double scaled = left[b] / std::sqrt(chunks_.full[b].draws);
      second += scaled * scaled / count;
      third += scaled * scaled * scaled / count;
    }
    if (!(second > 0)) return 1;
    return 1 + by_skewness * third * third / (second * second * second) / count;
  }

  PooledChunks chunks_;
  bool disagree_;
  std::vector<ChunkFold> folds_;
  Eigen::Index usable_ = 0;
  /// For every fold, by the number of features.
  std::vector<std::array<Fit, most_features + 1>> fits_;
};

}  // namespace

SharpenedEstimate sharpen_chunks(Summaries chains, std::size_t coordinate, const Estimate& recycled,
                                 double spread_of_squares, bool disagree) {
  const double moved = recycled.mean - chains.front()->centre(coordinate);
  const ChunkRegression regression(chains, coordinate, moved, disagree);
  SharpenedEstimate sharpened;
  sharpened.quantile_sets.assign(recycled.quantiles.size(), FeatureSet::none);
  Estimate& result = sharpened.estimate;
  result = recycled;
  const ChunkRegression::Best mean = regression.best({1, 0});
  const double offset = mean.features == 0 ? 0 : mean.residual.average;
  if (mean.features > 0) {
    sharpened.mean_set = FeatureSet::own;
    result.mean = recycled.mean + offset;
    result.mcse_mean = std::sqrt(mean.residual.raised_error());
  }
  // Squares about the mean, less the square of the offset, which is the same for all draws. They
  // are too small by the variance of that mean.
  const ChunkRegression::Best squares = regression.best({-2 * offset, 1});
  const double variance =
      squares.residual.average + offset * offset + std::pow(result.mcse_mean, 2);
  if (squares.features > 0 && variance > 0) {
    sharpened.sd_set = FeatureSet::own;
    result.sd = std::sqrt(variance);
    // The delta method: Var(sd) = Var(variance) / (4 variance).
    result.mcse_sd = std::sqrt(squares.residual.raised_error() / variance / 4);
    result.ess_sd = spread_of_squares / squares.residual.raised_error();
  }
  result.ess_mean = std::pow(result.sd / result.mcse_mean, 2);
  return sharpened;
}
}  // namespace rehmc
