// Kernels that take turns on one thread.
#include "experiments/overhead.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "experiments/csv.hpp"
#include "rehmc/recycle/recycling.hpp"

namespace rehmc::experiments {

namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

enum class Storing { no, yes };

/// One kernel of those that take turns.
class Contender {
 public:
  Contender(const Density& density, const KernelSettings& settings, const Tuning& tuning,
            Storing storing, const Address& address)
      : kernel_(make_kernel(density, settings)),
        tuning_(tuning),
        storing_(storing),
        address_(address) {}

  void set_position(std::span<const double> start) { kernel_->set_position(start); }

  /// Goes on for so many leapfrog steps; CPU seconds.
  double turn(std::uint64_t leapfrogs) {
    stored_.clear();
    const double begin = cpu_seconds();
    for (std::uint64_t done = 0; done < leapfrogs;) {
      const Transition& transition = kernel_->transition(tuning_, address_);
      ++address_.iteration;
      done += transition.leapfrogs;
      ++draws_;
      kept_ += static_cast<double>(transition.recycled.size());
      if (storing_ == Storing::no) continue;
      for (const WeightedState& entry : transition.recycled) {
        const auto position = entry.state.position;
        stored_.insert(stored_.end(), position.begin(), position.end());
        stored_.push_back(entry.weight);
      }
    }
    return cpu_seconds() - begin;
  }

  double kept_states() const { return kept_ / draws_; }

 private:
  std::unique_ptr<Kernel> kernel_;
  Tuning tuning_;
  Storing storing_;
  Address address_;
  std::vector<double> stored_;
  double draws_ = 0;
  double kept_ = 0;
};

/// About three hundredths of a second.
std::uint64_t leapfrogs_of_turn(CaseName name) {
  switch (name) {
    case CaseName::gaussian:
      return 60'000;
    case CaseName::logistic:
      return 200;
    case CaseName::volatility:
      return 1000;
    case CaseName::cox:
      break;
  }
  return 16;
}

std::vector<OverheadRow> measure(const Workshop& workshop, const TestCase& test_case,
                                 const Preparation& preparation, const Truth& truth,
                                 KernelKind kind) {
  const std::size_t count =
      kind == KernelKind::hmc ? test_case.paper_count_hmc : test_case.paper_count_nuts;
  std::vector<Recycling> choices{
      {RecyclingKind::none, 1}, {RecyclingKind::spread, count}, {RecyclingKind::all, 1}};
  // The paper's own way: steps of a path are accepted or rejected one by one.
  if (kind == KernelKind::hmc) choices.push_back({RecyclingKind::stride, count});
  const Address address{workshop.seed_of(describe(test_case.name) + " overhead"), 0, 0};
  const std::vector<double> start = starting_position(test_case, truth, address);
  const Tuning tuning{step_size(preparation, kind),
                      make_unit_metric(test_case.density.dimension())};
  std::vector<Contender> contenders;
  for (const Storing storing : {Storing::no, Storing::yes}) {
    for (const Recycling& recycling : choices) {
      KernelSettings settings = kernel_settings(test_case, preparation, kind);
      settings.recycling = recycling;
      contenders.emplace_back(test_case.density, settings, tuning, storing, address);
      contenders.back().set_position(start);
    }
  }

  const std::uint64_t leapfrogs = leapfrogs_of_turn(test_case.name);
  for (Contender& contender : contenders) contender.turn(leapfrogs);  // not counted
  std::vector<std::vector<double>> percent(contenders.size());
  for (std::size_t round = 0; round < overhead_rounds_of(workshop.scale); ++round) {
    workshop.check_stop();
    std::vector<double> seconds(contenders.size());
    for (std::size_t k = 0; k < contenders.size(); ++k) {
      const std::size_t c = (round + k) % contenders.size();  // nobody is always the first
      seconds[c] = contenders[c].turn(leapfrogs);
    }
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      const std::size_t none = c < choices.size() ? 0 : choices.size();
      percent[c].push_back(100 * (seconds[c] / seconds[none] - 1));
    }
  }

  std::vector<OverheadRow> rows;
  for (std::size_t c = 0; c < choices.size(); ++c) {
    const double kept = contenders[c].kept_states();
    const auto numbers = static_cast<double>(test_case.density.dimension() + 1);
    rows.push_back({test_case.name, kind, choices[c].kind, choices[c].count, median_of(percent[c]),
                    median_of(percent[c + choices.size()]), kept, kept * numbers * sizeof(double)});
  }
  return rows;
}

}  // namespace

Measured median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(place);
    const std::size_t high = std::min(low + 1, values.size() - 1);
    return values[low] + (place - static_cast<double>(low)) * (values[high] - values[low]);
  };
  constexpr double quartiles_of_normal = 1.349;  // apart, in sds
  const double sd = (at(0.75) - at(0.25)) / quartiles_of_normal;
  return {at(0.5), 1.2533 * sd / std::sqrt(static_cast<double>(values.size()))};
}

std::vector<OverheadRow> run_overhead(const Workshop& workshop, const TestCase& test_case,
                                      const Preparation& preparation, const Truth& truth) {
  return workshop.load_or_make(describe(test_case.name) + "-overhead", [&] {
    std::vector<OverheadRow> rows;
    for (const KernelKind kind : {KernelKind::nuts_slice, KernelKind::hmc}) {
      const std::vector<OverheadRow> more = measure(workshop, test_case, preparation, truth, kind);
      rows.insert(rows.end(), more.begin(), more.end());
    }
    return rows;
  });
}

void write_overhead(std::span<const OverheadRow> rows, const std::filesystem::path& folder) {
  Table table({"case", "kernel", "recycling", "time_percent", "time_error", "stored_percent",
               "stored_error", "kept_states", "bytes_per_draw"});
  for (const OverheadRow& row : rows) {
    table.append({describe(row.name), describe(row.kernel),
                  describe(Recycling{row.recycling, row.count}), row.time_percent.value,
                  row.time_percent.error, row.stored_percent.value, row.stored_percent.error,
                  row.kept_states, row.bytes_per_draw});
  }
  table.write(folder / "overhead.csv");
}

}  // namespace rehmc::experiments
