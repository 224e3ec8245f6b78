// Which pieces the sections consist of, and roughly how many core-seconds each takes.
#include "experiments/agenda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace rehmc::experiments {

namespace {

/// Rough core-seconds.
struct Costs {
  std::array<double, std::size(all_kernels)> iteration;  ///< by kernel
  double tuning = 0;                                     ///< one metric and the chain that uses it
  double gradients;                                      ///< one run
};

Costs costs_of(CaseName name) {
  switch (name) {
    case CaseName::gaussian:
      return {{1.5e-4, 2.5e-4, 2.7e-4}, 0.33, 8};
    case CaseName::logistic:
      return {{4e-4, 6e-4, 6e-4}, 4.8, 12};
    case CaseName::volatility:
      return {{1.3e-3, 2.7e-3, 3e-3}, 0, 70};
    default:
      return {{7e-3, 6e-3, 6e-3}, 0, 100};
  }
}

constexpr double overhead_round = 0.4;

}  // namespace

Agenda::Agenda(Scale scale, const WantedParts& wanted) : scale_(scale) {
  for (const CaseName name : all_cases) {
    plan_studies(name, wanted);
    if (wanted.contains("tuning")) plan_tuning(name);
    if (wanted.contains("gradients")) plan_gradients(name);
    if (wanted.contains("overhead")) plan_overhead(name);
  }
}

void Agenda::plan_groups(const std::string& study, std::size_t groups, double each) {
  for (std::size_t g = 0; g < groups; ++g) costs_[fmt::format("{}-{}", study, g)] = each;
}

void Agenda::plan_foundation(CaseName name) {
  const Size size = size_of(scale_, name);
  const double iteration = costs_of(name).iteration.back();
  const std::string prefix = describe(name) + "-";
  costs_[prefix + "preparation"] =
      iteration *
      static_cast<double>(size.pilot_chains * (size.pilot_warmup * 2 + size.tuning_iterations * 5));
  if (name == CaseName::gaussian) return;
  plan_groups(prefix + "truth", Size::truth_groups,
              iteration * static_cast<double>(size.truth_chains * size.truth_iterations) /
                  static_cast<double>(Size::truth_groups));
}

void Agenda::plan_studies(CaseName name, const WantedParts& wanted) {
  for (const StudyPart& part : studies_of(name)) {
    if (!is_wanted(wanted, name, part)) continue;
    plan_foundation(name);
    const Size size = size_of_study(scale_, name, part.kind, part.variant);
    const auto iterations =
        static_cast<double>(size.chains * size.iterations) / static_cast<double>(size.groups);
    plan_groups(part.name, size.groups, iterations * costs_of(name).iteration[place_of(part.kind)]);
  }
}

void Agenda::plan_tuning(CaseName name) {
  const TuningSize size = tuning_size_of(scale_, name);
  if (size.lengths.empty()) return;
  plan_foundation(name);
  plan_groups(describe(name) + "-tuning", size.groups,
              costs_of(name).tuning * static_cast<double>(size.lengths.size() * size.repetitions) /
                  static_cast<double>(size.groups));
}

void Agenda::plan_gradients(CaseName name) {
  const std::size_t runs = sharpening_runs_of(scale_, name);
  if (runs == 0) return;
  plan_foundation(name);
  plan_groups(describe(name) + "-sharpening", runs, costs_of(name).gradients);
}

void Agenda::plan_overhead(CaseName name) {
  plan_foundation(name);
  const auto [builds, rounds] = overhead_size_of(scale_);
  costs_[describe(name) + "-overhead"] =
      overhead_round * static_cast<double>(builds * (rounds + 1));
}

void Agenda::forget_finished(const std::filesystem::path& folder) {
  std::erase_if(costs_, [&](const auto& piece) {
    return std::filesystem::exists(folder / (piece.first + ".bin"));
  });
}

void Agenda::finish(const std::string& piece) {
  const auto found = costs_.find(piece);
  if (found != costs_.end()) done_ += found->second;
}

double Agenda::done() const {
  double total = 0;
  for (const auto& [name, cost] : costs_) total += cost;
  return total > 0 ? std::min(1.0, done_ / total) : 1;
}

}  // namespace rehmc::experiments
