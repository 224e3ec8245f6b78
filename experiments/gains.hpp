// Gains from recycling, computed from the errors of a study, with Monte Carlo errors.
#pragma once

#include <cstddef>
#include <vector>

#include "experiments/jackknife.hpp"
#include "experiments/study.hpp"

namespace rehmc::experiments {

/// Ratios of effective sample sizes, eq. (5.2) of Nishimura & Dunson (2020), to those of the plain
/// chain, in log2.
class Gains {
 public:
  explicit Gains(const Study& study);

  /// Mean over parameters of the log2 ratio, one per statistic.
  std::vector<Measured> mean_log2(std::size_t arm) const;
  /// The same at a part of the chain: `arm` is 0 for plain, 1 for all, 2 for the paper's.
  std::vector<Measured> mean_log2_at(std::size_t length, std::size_t arm) const;
  /// Per parameter.
  std::vector<Measured> log2_by_parameter(std::size_t arm, Statistic statistic) const;
  std::vector<double> log2_short(Statistic statistic) const;
  /// Effective draws per iteration, per parameter.
  std::vector<double> ess_per_iteration(std::size_t arm, Statistic statistic) const;
  /// Effective sample size of an arm relative to that of another, averaged over parameters and over
  /// the statistics from `first` up to, not including, `end`, which have the same weight.
  Measured share(std::size_t arm, std::size_t of, std::size_t first, std::size_t end) const;
  /// Mean over parameters of the log2 ratio of two arms.
  Measured log2_over(std::size_t arm, std::size_t other, Statistic statistic) const;
  /// log2 ratio of the errors of the leading component, and the root mean squares of both arms.
  struct Component {
    Measured log2;
    double plain;
    double recycled;
  };
  Component component(std::size_t length, ComponentQuantity quantity) const;
  /// Mean log2 ratio over a tenth of the parameters: those that mix worst in the plain chain.
  Measured worst_mixing(std::size_t arm, Statistic statistic) const;
  /// Share of parameters whose log2 ratio is above zero by more than `errors` standard errors, and
  /// below by as much.
  struct Signs {
    double above;
    double below;
  };
  Signs signs(std::size_t arm, Statistic statistic, double errors) const;

  const Study& study() const { return study_; }
  std::size_t arm(Family family, std::size_t count) const;  ///< its index; throws if there is none
  double acceptance() const { return total_.acceptance / total_.draws; }
  double leapfrogs() const { return total_.leapfrogs / total_.draws; }
  double seconds() const { return total_.seconds; }
  double leapfrogs_in_all() const { return total_.leapfrogs; }
  const ErrorSums& total() const { return total_; }

 private:
  const Study& study_;
  ErrorSums total_;
  std::vector<ErrorSums> without_;  ///< all but one group
};

}  // namespace rehmc::experiments
