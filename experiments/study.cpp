// Chains from stationarity, each compared with the truth at several lengths.
#include "experiments/study.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "experiments/groups.hpp"

namespace rehmc::experiments {

namespace {

/// The largest eigenvalue of a symmetric matrix and its eigenvector, by Lanczos iterations with
/// full reorthogonalisation: for 250 rows several times faster than computing all of them.
std::pair<double, Eigen::VectorXd> leading_eigenpair(const Eigen::MatrixXd& matrix) {
  const Eigen::Index d = matrix.rows();
  const Eigen::Index steps = std::min<Eigen::Index>(d, 100);
  Eigen::MatrixXd basis(d, steps);
  Eigen::VectorXd diagonal(steps);
  Eigen::VectorXd below(steps - 1);
  Eigen::VectorXd next = matrix.diagonal().cwiseSqrt().normalized();
  for (Eigen::Index k = 0; k < steps; ++k) {
    basis.col(k) = next;
    next = matrix.selfadjointView<Eigen::Lower>() * basis.col(k);
    diagonal(k) = basis.col(k).dot(next);
    const auto seen = basis.leftCols(k + 1);
    for (int pass = 0; pass < 2; ++pass) next -= seen * (seen.transpose() * next);
    if (k + 1 == steps) break;
    below(k) = next.norm();
    next /= below(k);
  }
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(diagonal, below);
  return {solver.eigenvalues()(steps - 1), basis * solver.eigenvectors().col(steps - 1)};
}

/// The leading principal component of the states of an arm so far.
class LeadingComponent {
 public:
  /// Coordinates are the true principal axes, in rising order of these variances.
  explicit LeadingComponent(const Variances& variances)
      : variances_(&variances),
        products_(Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(variances.size()),
                                        static_cast<Eigen::Index>(variances.size()))),
        sum_(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(variances.size()))),
        rows_(static_cast<Eigen::Index>(variances.size()), block) {}

  void add(std::span<const double> x, double weight) {
    const Eigen::Map<const Eigen::VectorXd> state(x.data(), products_.rows());
    sum_ += weight * state;
    rows_.col(filled_++) = std::sqrt(weight) * state;
    if (filled_ == block) flush();
  }

  /// Squared errors: the angle between the leading eigenvector and the plane of the leading true
  /// components (the paper's l = min{j : sigma_j^2 < sigma_1^2 / 2} of them), and the eigenvalue.
  std::array<double, component_quantities> squared_errors(double draws) {
    flush();
    const Eigen::VectorXd mean = sum_ / draws;
    const Eigen::MatrixXd covariance =
        Eigen::MatrixXd(products_.selfadjointView<Eigen::Lower>()) / draws -
        mean * mean.transpose();
    const auto [eigenvalue, eigenvector] = leading_eigenpair(covariance);
    const Eigen::Index d = covariance.rows();
    const double largest = variances_->back();
    const auto first = std::partition_point(variances_->begin(), variances_->end(),
                                            [&](double v) { return v < largest / 2; });
    const auto plane = std::min<Eigen::Index>(d, (variances_->end() - first) + 1);
    const double inside = eigenvector.tail(plane).norm();
    const double angle = std::acos(std::min(1.0, inside));
    const double error = eigenvalue - largest;
    return {angle * angle, error * error};
  }

 private:
  static constexpr Eigen::Index block = 64;

  void flush() {
    if (filled_ == 0) return;
    products_.selfadjointView<Eigen::Lower>().rankUpdate(rows_.leftCols(filled_));
    filled_ = 0;
  }

  const Variances* variances_;
  Eigen::MatrixXd products_;
  Eigen::VectorXd sum_;
  Eigen::MatrixXd rows_;
  Eigen::Index filled_ = 0;
};

/// Everything that a chain of a study needs.
struct Setting {
  const Workshop& workshop;
  const TestCase& test_case;
  const Preparation& preparation;
  const Truth& truth;
  KernelKind kind;
  std::string name;  ///< of the study
  Size size;
  std::vector<Arm> arms;
  std::size_t paper_arm;
};

std::array<std::vector<float>, statistics> squared_errors(const ArmSums& sums, std::size_t arm,
                                                          const Truth& truth) {
  std::array<std::vector<float>, statistics> result;
  std::vector<double> estimate(truth.centre.size());
  for (std::size_t s = 0; s < statistics; ++s) {
    sums.estimate(arm, static_cast<Statistic>(s), estimate);
    for (std::size_t i = 0; i < estimate.size(); ++i) {
      // In units of the truth's own scale, so that floats hold them.
      const double error = estimate[i] - truth.value[s][i];
      result[s].push_back(static_cast<float>(error * error / truth.unit_variance[s][i]));
    }
  }
  return result;
}

ErrorSums run_chain(const Setting& setting, const Density& density, std::size_t chain) {
  const auto& [workshop, test_case, preparation, truth, kind, name, size, arms, paper_arm] =
      setting;
  const Address address{workshop.seed_of(name), static_cast<std::uint32_t>(chain), 0};
  TracedChain traced(density, kernel_settings(test_case, preparation, kind),
                     {step_size(preparation, kind), make_unit_metric(density.dimension())},
                     starting_position(test_case, truth, address), address);
  if (!test_case.exact) {
    for (std::size_t n = 0; n < size.burn_in; ++n) {
      workshop.check_stop();
      traced.skip();
    }
  }
  const std::uint64_t before = traced.leapfrogs();

  ErrorSums result;
  ArmShares shares(arms);
  ArmSums sums(arms.size(), truth.centre, truth.bins);
  std::vector<LeadingComponent> components;
  const std::size_t component_arms[] = {0, paper_arm};
  if (test_case.exact) components = std::vector(2, LeadingComponent(*test_case.exact));
  auto divisor = length_divisors.begin();
  for (std::size_t n = 1; n <= size.iterations; ++n) {
    workshop.check_stop();
    const Transition& transition = traced.step();
    result.acceptance += transition.acceptance;
    result.divergences += transition.ending == Ending::diverged;
    shares.share(traced.states(), traced.next(), traced.start(), transition.leapfrogs,
                 traced.address());
    sums.add(traced.parameters(), shares);
    for (std::size_t c = 0; c < components.size(); ++c) {
      for (const auto& [state, weight] : shares.of(component_arms[c])) {
        components[c].add(traced.parameters()[state], weight);
      }
    }
    if (n != size.iterations / *divisor) continue;
    ++divisor;
    result.lengths.push_back({squared_errors(sums, 0, truth), squared_errors(sums, 1, truth),
                              squared_errors(sums, paper_arm, truth)});
    if (components.empty()) continue;
    auto& errors = result.components.emplace_back();
    for (std::size_t c = 0; c < 2; ++c) {
      errors[c] = components[c].squared_errors(static_cast<double>(n));
    }
  }
  for (std::size_t a = 0; a < arms.size(); ++a) {
    result.arms.push_back(squared_errors(sums, a, truth));
  }
  result.chains = 1;
  result.draws = static_cast<double>(size.iterations);
  result.leapfrogs = static_cast<double>(traced.leapfrogs() - before);
  return result;
}

void add_to(std::array<std::vector<float>, statistics>& sum,
            const std::array<std::vector<float>, statistics>& term) {
  for (std::size_t s = 0; s < statistics; ++s) {
    std::transform(sum[s].begin(), sum[s].end(), term[s].begin(), sum[s].begin(), std::plus<>());
  }
}

}  // namespace

void ErrorSums::add(const ErrorSums& other) {
  if (chains == 0) {
    *this = other;
    return;
  }
  chains += other.chains;
  draws += other.draws;
  acceptance += other.acceptance;
  leapfrogs += other.leapfrogs;
  divergences += other.divergences;
  seconds += other.seconds;
  for (std::size_t a = 0; a < arms.size(); ++a) add_to(arms[a], other.arms[a]);
  for (std::size_t l = 0; l < lengths.size(); ++l) {
    for (std::size_t a = 0; a < lengths[l].size(); ++a) add_to(lengths[l][a], other.lengths[l][a]);
  }
  for (std::size_t l = 0; l < components.size(); ++l) {
    for (std::size_t a = 0; a < components[l].size(); ++a) {
      for (std::size_t q = 0; q < component_quantities; ++q) {
        components[l][a][q] += other.components[l][a][q];
      }
    }
  }
}

std::string study_name(CaseName name, KernelKind kind, const std::string& variant) {
  return fmt::format("{}-{}{}", describe(name), describe(kind), variant);
}

Study run_study(const Workshop& workshop, const TestCase& test_case, const Preparation& preparation,
                const Truth& truth, KernelKind kind, const std::string& variant) {
  const bool hmc = traits(kind).shape == TrajectoryShape::path;
  const bool short_paths = test_case.name == CaseName::logistic || test_case.name == CaseName::cox;
  const std::size_t most = short_paths ? 16 : hmc ? 64 : 32;
  const std::size_t paper_count = hmc ? test_case.paper_count_hmc : test_case.paper_count_nuts;
  Setting setting{workshop,
                  test_case,
                  preparation,
                  truth,
                  kind,
                  fmt::format("{} {}{}", describe(test_case.name), describe(kind), variant),
                  size_of(workshop.scale, test_case.name),
                  arms_of(kind, paper_count, most),
                  0};
  setting.paper_arm = static_cast<std::size_t>(
      std::find(setting.arms.begin(), setting.arms.end(), Arm{Family::final_state, paper_count}) -
      setting.arms.begin());

  const std::size_t groups = setting.size.groups;
  return {setting.arms, setting.paper_arm, setting.size.iterations,
          run_groups<ErrorSums>(
              workshop,
              {study_name(test_case.name, kind, variant), groups, setting.size.chains / groups},
              [&](std::size_t chains) { return workshop.engine(test_case.density, chains); },
              [&](const Density& density, std::size_t chain) {
                return run_chain(setting, density, chain);
              })};
}

}  // namespace rehmc::experiments
