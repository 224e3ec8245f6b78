// L-BFGS, and the choice of a point on its path by the ELBO.
#include "rehmc/adapt/start.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "inverse_hessian.hpp"
#include "rehmc/adapt/climb.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"

namespace rehmc {

namespace {

using Eigen::VectorXd;

/// The climb has arrived when this many steps in a row gain less than this.
constexpr int small_gains = 3;
constexpr double small_gain = 0.05;
/// For the top itself: the squared gain is what rounding leaves of a log density of 1.
constexpr double rounding_gain = 1e-6;
constexpr int most_climbs_to_top = 200;
constexpr int most_trials = 25;
/// Of the step that the inverse Hessian proposes: if the density rises by less than this share, it
/// is wrong by orders of magnitude, and is forgotten.
constexpr double telling_length = 1e-3;
/// Where the gradient changes by less than this share of itself, the next step is longer by a
/// factor.
constexpr double straight = 1e-3;
constexpr double lengthening = 8;
constexpr double least_relative_step = 1e-8;
/// Of the gain that the gradient promises (Armijo).
constexpr double least_share = 1e-4;
/// Points of the path that are remembered, and draws from the approximation at each of them.
constexpr std::size_t most_points = 16;
constexpr int draws_per_point = 4;
/// Where logarithms of ratios of density and approximation spread by less, the approximation is
/// good, and earlier points need not be tried.
constexpr double good_spread = 1;
constexpr double good_spread_per_coordinate = 0.02;

/// A climb that has not arrived after one leg goes on if the leg gained more than this for every
/// coordinate.
constexpr double gain_of_far_tail = 10;
constexpr std::uint64_t most_legs = 16;
/// For every coordinate, a spike cannot account for more than this, not even if all scales are
/// smaller by the factor exp(100). From so far below, chains find their way in a few iterations.
constexpr double gain_of_spike = 100;

std::uint64_t gradients_of_leg(std::size_t dimension) {
  return 50 + 2 * std::min<std::uint64_t>(dimension, 200);
}

/// A point of the path with the curvature that was known there.
struct PathPoint {
  VectorXd x;
  VectorXd gradient;
  InverseHessian inverse_hessian;
  double height;  ///< the log density
};

struct Path {
  std::vector<PathPoint> points;  ///< evenly spaced along the path, and the last one
  double foot = -infinity;        ///< the log density where it began
  bool arrived = false;
  std::uint64_t steps = 0;

  void add(const PathPoint& point) {
    if (steps % stride == 0) {
      if (points.size() == most_points) thin();
      if (steps % stride == 0) points.push_back(point);
    }
    ++steps;
  }

 private:
  void thin() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < points.size(); i += 2) std::swap(points[kept++], points[i]);
    points.erase(points.begin() + static_cast<std::ptrdiff_t>(kept), points.end());
    stride *= 2;
  }
  std::uint64_t stride = 1;
};

struct Trial {
  VectorXd x;
  VectorXd gradient;
  double height;
  double length;
};

class Climb {
 public:
  Climb(Guard& guard, std::span<const double> from, double gain = small_gain)
      : guard_(guard),
        gain_(gain),
        leg_(gradients_of_leg(from.size())),
        here_{Eigen::Map<const VectorXd>(from.data(), static_cast<Eigen::Index>(from.size())),
              {},
              InverseHessian(VectorXd()),
              -infinity} {
    here_.gradient.resize(here_.x.size());
    here_.height = evaluate(here_.x, here_.gradient);
    here_.inverse_hessian.reset(here_.gradient);
  }

  double height() const { return here_.height; }

  Path run() {
    Path path;
    int small = 0;
    path.foot = here_.height;
    double foot = here_.height;  // of this leg
    most_ = guard_.evaluations() + leg_;
    for (std::uint64_t leg = 1; std::isfinite(here_.height);) {
      if (guard_.evaluations() >= most_) {
        if (leg++ == most_legs || here_.height - foot < far()) break;
        foot = here_.height;
        most_ += leg_;
        // The curvature of a far tail says nothing about what comes after it.
        here_.inverse_hessian.reset(here_.gradient);
      }
      const double before = here_.height;
      const bool moved = step();
      if (moved) path.add(here_);
      if (!moved && !converged_) break;
      small = here_.height - before < gain_ ? small + 1 : 0;
      if (moved && small < small_gains) continue;
      path.arrived = !rises(path);
      if (path.arrived) break;
      small = 0;
      here_.inverse_hessian.reset(here_.gradient);
    }
    if (path.steps > 0) path.points.push_back(here_);
    return path;
  }

 private:
  double evaluate(const VectorXd& x, VectorXd& gradient) {
    const auto d = static_cast<std::size_t>(x.size());
    return guard_({x.data(), d}, {gradient.data(), d});
  }

  /// One step up, if there is one; else, `converged_` says whether none is promised.
  bool step() {
    VectorXd direction = here_.inverse_hessian.times(here_.gradient);
    double slope = direction.dot(here_.gradient);
    if (!(slope > 0) || !std::isfinite(slope)) {
      here_.inverse_hessian.reset(here_.gradient);
      direction = here_.inverse_hessian.times(here_.gradient);
      slope = direction.dot(here_.gradient);
    }
    converged_ = slope < gain_ * gain_;
    if (converged_ || !std::isfinite(slope)) return false;
    return climb_along(direction, slope);
  }

  /// The first trial that rises enough; from there on along the same line for as long as the
  /// density gets steeper, for then it is not concave, and an inverse Hessian cannot tell how far
  /// to go.
  bool climb_along(const VectorXd& direction, double slope) {
    VectorXd gradient(here_.x.size());
    std::optional<Trial> best;
    double length = 1;
    for (int trial = 0; trial < most_trials; ++trial) {
      const VectorXd x = here_.x + length * direction;
      const double height = evaluate(x, gradient);
      const double least = here_.height + least_share * length * slope;
      if (height >= std::max(least, best ? best->height : -infinity)) {
        best = Trial{x, gradient, height, length};
        if (!(gradient.dot(direction) > slope)) break;
        length *= lengthening;
      } else if (best) {
        break;
      } else {
        length = shorter(length, slope, height - here_.height, gradient.dot(direction));
      }
    }
    if (!best) return false;
    learn(best->x - here_.x, here_.gradient - best->gradient, best->length);
    here_.x = best->x;
    here_.gradient = best->gradient;
    here_.height = best->height;
    return true;
  }

  void learn(const VectorXd& step, const VectorXd& change, double length) {
    if (length < telling_length) here_.inverse_hessian.reset(here_.gradient);
    if (change.norm() < straight * here_.gradient.norm()) {
      const double variance = step.norm() / here_.gradient.norm();
      here_.inverse_hessian.reset(lengthening * variance, step.size());
    } else {
      here_.inverse_hessian.learn(step, change);
    }
  }

  /// The next length to try after one that does not rise enough. From a far tail, the top of the
  /// parabola through both heights, or of the one through both slopes if that is nearer.
  double shorter(double length, double slope, double rise, double slope_there) const {
    if (rise > -far()) return 0.5 * length;
    if (!std::isfinite(rise) || !std::isfinite(slope_there)) return 0.1 * length;
    double top = 0.5 * slope * length * length / (slope * length - rise);
    if (slope_there < 0) top = std::min(top, length * slope / (slope - slope_there));
    return std::clamp(top, 0.02 * length, 0.5 * length);
  }

  /// More than this is gained or lost in far tails only. In a spike, a leg gains less.
  double far() const { return gain_of_far_tail * static_cast<double>(here_.x.size()); }

  /// Whether the density still rises, along the gradient, along its largest coordinate, or along
  /// the one that moved farthest on the later half of the path: in a spike it runs away, and its
  /// gradient is small next to those of the walls. The inverse Hessian does not know: after a step
  /// down from a cliff it holds the curvature of the cliff, and in a spike that of the walls.
  bool rises(const Path& path) {
    if (rises_along(here_.gradient) || rises_along_largest(here_.gradient)) return true;
    if (path.points.empty()) return false;
    return rises_along_largest(here_.x - path.points[path.points.size() / 2].x);
  }

  /// Along the coordinate in which this vector is largest.
  bool rises_along_largest(const VectorXd& vector) {
    Eigen::Index largest = 0;
    vector.cwiseAbs().maxCoeff(&largest);
    VectorXd coordinate = VectorXd::Zero(here_.x.size());
    coordinate[largest] = here_.gradient[largest];
    return rises_along(coordinate);
  }

  bool rises_along(const VectorXd& direction) {
    const double steepness = direction.norm();
    if (!(steepness > 0)) return false;
    // Where the density is so steep that rounding would hide the step, a step that just shows.
    const double least = least_relative_step * std::max(1.0, here_.x.norm());
    const double length = std::max(least, std::min(1.0, 2 * gain_ / steepness));
    VectorXd gradient(direction.size());
    const double height = evaluate(here_.x + length / steepness * direction, gradient);
    return height - here_.height >= gain_;
  }

  Guard& guard_;
  double gain_;  ///< less than this is none
  std::uint64_t leg_;
  std::uint64_t most_ = 0;
  PathPoint here_;
  bool converged_ = false;
};

/// A normal approximation, and what draws from it say about it.
struct Approximation {
  double elbo = -infinity;
  double spread = infinity;  ///< of the logarithm of the ratio of density and approximation
  /// The ELBO less a standard error: from so few draws, the greatest of many is often a lucky one.
  double sure_elbo() const {
    return elbo - spread / std::sqrt(static_cast<double>(draws_per_point));
  }
  VectorXd draw;  ///< one where the density is not 0
  VectorXd centre;
  std::optional<DiagonalPlusLowRank> covariance;
};

Approximation approximate(Guard& guard, const PathPoint& point, Stream stream) {
  Approximation result;
  try {
    result.covariance.emplace(point.inverse_hessian.as_operator());
  } catch (const ConfigError&) {
    return result;  // curvatures differ by more than rounding allows
  }
  const auto d = static_cast<std::size_t>(point.x.size());
  const VectorXd centre = point.x + point.inverse_hessian.times(point.gradient);
  result.centre = centre;
  VectorXd z(point.x.size());
  VectorXd x(point.x.size());
  VectorXd gradient(point.x.size());
  double sum = 0;
  double squares = 0;
  for (int draw = 0; draw < draws_per_point; ++draw) {
    stream.fill_normal({z.data(), d});
    const double square = z.squaredNorm();
    result.covariance->apply_inverse_root({z.data(), d}, {z.data(), d});
    result.covariance->apply({z.data(), d}, {x.data(), d});
    x += centre;
    const double height = guard({x.data(), d}, {gradient.data(), d});
    const double ratio = height + 0.5 * square + 0.5 * result.covariance->log_determinant();
    sum += ratio;
    squares += ratio * ratio;
    if (std::isfinite(height) && result.draw.size() == 0) result.draw = x;
  }
  result.elbo = sum / draws_per_point;
  result.spread = std::sqrt(std::max(0.0, squares / draws_per_point - result.elbo * result.elbo));
  return result;
}

/// The best approximation on a path that arrived; without a draw if none can be used.
Approximation best_on(const Path& path, Guard& guard, const Address& address) {
  Approximation best;
  const auto d = static_cast<double>(path.points.empty() ? 0 : path.points.front().x.size());
  const double good = good_spread + good_spread_per_coordinate * d;
  for (std::size_t i = path.points.size(); i-- > 0;) {
    // The same random numbers at every point: then differences are less noisy.
    Approximation here = approximate(guard, path.points[i], Stream(address, Purpose::start));
    if (here.draw.size() > 0 && (best.draw.size() == 0 || here.sure_elbo() > best.sure_elbo())) {
      best = std::move(here);
    }
    if (best.spread < good) break;
  }
  return best;
}

/// Moves a start that is too low for a spike alone to account for: to the first point of the path
/// from which the climb gained no more than spikes offer.
void leave_far_tail(FoundStart& start, const Path& path) {
  if (path.points.empty()) return;
  const PathPoint& last = path.points.back();
  const double enough = last.height - gain_of_spike * static_cast<double>(last.x.size());
  if (path.foot >= enough) return;
  const auto first =
      std::ranges::find_if(path.points, [&](const PathPoint& p) { return p.height >= enough; });
  start.position.assign(first->x.begin(), first->x.end());
}

}  // namespace

std::uint64_t most_start_gradients(std::size_t dimension) {
  return most_legs * gradients_of_leg(dimension) + most_trials + 1 +
         (most_points + 1) * draws_per_point + 1;
}

FoundStart find_start(Guard& guard, std::span<const double> from, const Address& address) {
  const Path path = Climb(guard, from).run();
  FoundStart start{{from.begin(), from.end()}, nullptr, path.steps};
  // A climb that does not arrive may be in a spike, where differences of the ELBO are mostly noise.
  if (!path.arrived) {
    leave_far_tail(start, path);
    return start;
  }
  Approximation best = best_on(path, guard, address);
  if (best.draw.size() == 0) return start;
  start.position.assign(best.draw.begin(), best.draw.end());
  start.metric = make_low_rank_metric(std::move(*best.covariance));
  return start;
}

Top find_top(Guard& guard, std::span<const double> from) {
  Top top{{from.begin(), from.end()}, -infinity, false};
  for (int climb = 0; climb < most_climbs_to_top && !top.arrived; ++climb) {
    const double size = std::isfinite(top.log_density) ? std::abs(top.log_density) : 1;
    Climb again(guard, top.position, rounding_gain * std::sqrt(std::max(1.0, size)));
    const Path path = again.run();
    const bool higher = again.height() > top.log_density;
    if (!path.points.empty()) {
      const VectorXd& last = path.points.back().x;
      top.position.assign(last.begin(), last.end());
    }
    top.log_density = again.height();
    // Where no step can be told from rounding, this is the top as far as the density tells.
    top.arrived = path.arrived || (climb > 0 && !higher);
  }
  return top;
}

std::optional<NormalApproximation> find_approximation(Guard& guard, std::span<const double> from,
                                                      const Address& address) {
  const Path path = Climb(guard, from).run();
  if (!path.arrived) return std::nullopt;
  Approximation best = best_on(path, guard, address);
  if (best.draw.size() == 0) return std::nullopt;
  return NormalApproximation{{best.centre.begin(), best.centre.end()}, std::move(*best.covariance)};
}

}  // namespace rehmc
