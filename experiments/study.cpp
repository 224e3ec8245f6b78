// Chains from stationarity, each compared with the truth at several lengths.
#include "experiments/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/groups.hpp"

namespace rehmc::experiments {

namespace {

/// Everything that a chain of a study needs.
struct Setting {
  const Workshop& workshop;
  const Plan& plan;
  std::string name;  ///< of the study
  Size size;
  std::vector<Arm> arms;
  std::size_t paper_arm;
  std::size_t component_arm;
};

std::array<std::vector<float>, statistics> squared_errors(ArmSums& sums, std::size_t arm,
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

/// The leading component of the plain chain and of one arm; idle in chains without it.
class Components {
 public:
  Components(const Setting& setting, std::size_t chain)
      : truth_(setting.plan.truth), arms_{0, setting.component_arm} {
    const std::size_t in_group = chain % (setting.size.chains / setting.size.groups);
    if (in_group >= setting.size.component_chains) return;
    for (std::size_t a = 0; a < arms_.size(); ++a) products_.emplace_back(truth_.centre);
  }

  void add(const TracedChain& traced, const ArmShares& shares) {
    for (std::size_t a = 0; a < products_.size(); ++a) {
      for (const auto& [state, weight] : shares.of(arms_[a])) {
        products_[a].add(traced.parameters()[state], shares.mass(arms_[a]) * weight);
      }
    }
  }
  void measure(ErrorSums& result) {
    if (products_.empty()) return;
    result.component_chains = 1;
    auto& errors = result.components.emplace_back();
    for (std::size_t a = 0; a < products_.size(); ++a) {
      errors[a] = products_[a].squared_errors(truth_.leading);
    }
  }

 private:
  const Truth& truth_;
  std::array<std::size_t, 2> arms_;
  std::vector<Products> products_;
};

ErrorSums run_chain(const Setting& setting, const Density& density, std::size_t chain) {
  const auto& [workshop, plan, name, size, arms, paper_arm, component_arm] = setting;
  const Truth& truth = plan.truth;
  const double step = step_size(plan.preparation, plan.kind);
  const Address address{workshop.seed_of(name), static_cast<std::uint32_t>(chain), 0};
  TracedChain traced(density, kernel_settings(plan.test_case, plan.preparation, plan.kind),
                     {step, make_unit_metric(density.dimension())},
                     starting_position(plan.test_case, truth, address), address);
  if (!plan.test_case.exact) {
    for (std::size_t n = 0; n < size.burn_in; ++n) {
      workshop.check_stop();
      traced.skip();
    }
  }
  const std::uint64_t before = traced.leapfrogs();

  ErrorSums result;
  ArmShares shares(arms);
  ArmSums sums(arms.size(), truth.centre, truth.bins);
  Components components(setting, chain);
  auto divisor = length_divisors.begin();
  for (std::size_t n = 1; n <= size.iterations; ++n) {
    workshop.check_stop();
    const Transition& transition = traced.step();
    result.acceptance += transition.acceptance;
    result.divergences += transition.ending == Ending::diverged;
    // Of the whole path, also where a divergence cut it short.
    const auto steps = static_cast<std::size_t>(std::llround(transition.path_length / step));
    shares.share({traced.states(), traced.next(), traced.start(), steps, transition.mass},
                 traced.address());
    sums.add(traced.parameters(), shares);
    components.add(traced, shares);
    if (n != size.iterations / *divisor) continue;
    ++divisor;
    result.lengths.push_back({squared_errors(sums, 0, truth), squared_errors(sums, 1, truth),
                              squared_errors(sums, paper_arm, truth)});
    components.measure(result);
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
  component_chains += other.component_chains;
  if (components.empty()) {
    components = other.components;
    return;
  }
  for (std::size_t l = 0; l < other.components.size(); ++l) {
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

Size size_of_study(Scale scale, CaseName name, KernelKind kind, const std::string& variant) {
  Size size = size_of(scale, name);
  const bool other_paths = !variant.empty() && variant != small_steps_variant;
  if (!other_paths && (kind != KernelKind::nuts || scale != Scale::full)) return size;
  const std::size_t each = std::max<std::size_t>(1, size.chains / size.groups / 4);
  size.groups = std::min(size.groups, size.chains / 4 / each);
  size.chains = size.groups * each;
  if (other_paths) size.component_chains = 0;
  return size;
}

namespace {

/// The longest distance between the states of `stride` leaves two of a path.
std::size_t most_of(const Plan& plan) {
  const CaseName name = plan.test_case.name;
  const bool short_paths = name == CaseName::logistic || name == CaseName::cox;
  if (paper_family(plan.kind) == Family::final_state) return short_paths ? 16 : 32;
  return short_paths ? 8 : name == CaseName::volatility ? 64 : 128;
}

std::vector<Arm> arms_of_plan(const Plan& plan, std::size_t paper_count) {
  std::vector<Arm> arms = arms_of(plan.kind, paper_count, most_of(plan));
  if (plan.variant.empty()) return arms;
  std::erase_if(arms, [&](const Arm& arm) {
    const bool paper = arm == Arm{paper_family(plan.kind), paper_count};
    return !paper && arm.family != Family::plain && arm.family != Family::all &&
           arm.family != Family::by_draw;
  });
  return arms;
}

std::size_t place_in(const std::vector<Arm>& arms, const Arm& arm) {
  return static_cast<std::size_t>(std::find(arms.begin(), arms.end(), arm) - arms.begin());
}

}  // namespace

Study run_study(const Workshop& workshop, const Plan& plan) {
  const TestCase& test_case = plan.test_case;
  const std::size_t paper_count = paper_family(plan.kind) == Family::stride
                                      ? test_case.paper_stride_hmc
                                      : test_case.paper_count_nuts;
  std::vector<Arm> arms = arms_of_plan(plan, paper_count);
  const std::size_t paper_arm = place_in(arms, {paper_family(plan.kind), paper_count});
  // Products of thousands of parameters take their time: eight states of a path.
  const std::size_t large = place_in(arms, {Family::spread, 8});
  const bool few = plan.truth.centre.size() > 1000 && large < arms.size();
  const Setting setting{
      workshop,
      plan,
      fmt::format("{} {}{}", describe(test_case.name), describe(plan.kind), plan.variant),
      size_of_study(workshop.scale, test_case.name, plan.kind, plan.variant),
      std::move(arms),
      paper_arm,
      few ? large : paper_arm};
  const std::size_t groups = setting.size.groups;
  return {setting.arms, setting.paper_arm, setting.size.iterations,
          run_groups<ErrorSums>(
              workshop,
              {study_name(test_case.name, plan.kind, plan.variant), groups,
               setting.size.chains / groups},
              [&](std::size_t chains) { return workshop.engine(test_case.density, chains); },
              [&](const Density& density, std::size_t chain) {
                return run_chain(setting, density, chain);
              })};
}

}  // namespace rehmc::experiments
