// Kernels that take turns on one thread.
#include "experiments/overhead.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <iterator>
#include <memory>
#include <utility>

#include "experiments/csv.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/recycle/recycling.hpp"

namespace rehmc::experiments {

namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Unused memory of random size, which moves what is allocated next.
using Gap = std::unique_ptr<std::byte[]>;
Gap make_gap(Stream& stream) {
  constexpr std::uint64_t widest = 1 << 20;
  return std::make_unique_for_overwrite<std::byte[]>(stream.below(widest));
}

enum class Storing { no, yes };

/// One of the kernels that take turns.
class Contender {
 public:
  Contender(Gap gap, const Density& density, const KernelSettings& settings, const Tuning& tuning,
            Storing storing, const Address& address)
      : gap_(std::move(gap)),
        kernel_(make_kernel(density, settings)),
        tuning_(tuning),
        storing_(storing),
        address_(address) {}

  void set_position(std::span<const double> start) { kernel_->set_position(start); }

  /// Runs for this many leapfrog steps; returns CPU seconds.
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

  double draws() const { return draws_; }
  double kept() const { return kept_; }  ///< states, of all draws

 private:
  Gap gap_;
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

/// The kernels of one comparison: with every recycling, first those that store nothing.
class Comparison {
 public:
  Comparison(const Workshop& workshop, const TestCase& test_case, const Preparation& preparation,
             const Truth& truth, KernelKind kind)
      : workshop_(workshop),
        test_case_(test_case),
        settings_(kernel_settings(test_case, preparation, kind)),
        tuning_{step_size(preparation, kind), make_unit_metric(test_case.density.dimension())},
        address_{workshop.seed_of(describe(test_case.name) + " overhead"), 0, 0},
        truth_(truth) {
    const std::size_t count = traits(kind).shape == TrajectoryShape::path
                                  ? test_case.paper_count_hmc
                                  : test_case.paper_count_nuts;
    choices_ = {{RecyclingKind::none, 1}, {RecyclingKind::spread, count}, {RecyclingKind::all, 1}};
    // The paper's own method: steps of a path are accepted or rejected one by one.
    if (traits(kind).accepts_each_step) choices_.push_back({RecyclingKind::stride, count});
    percent_.resize(2 * choices_.size());
    draws_.resize(choices_.size());
    kept_.resize(choices_.size());
  }

  /// Builds all kernels again, for a new chain, and lets them take turns.
  void run_build(const Density& density, std::size_t rounds, Stream& gaps) {
    std::vector<Contender> contenders;
    ++address_.chain;
    for (const Storing storing : {Storing::no, Storing::yes}) {
      for (const Recycling& recycling : choices_) {
        settings_.recycling = recycling;
        contenders.emplace_back(make_gap(gaps), density, settings_, tuning_, storing, address_);
        contenders.back().set_position(starting_position(test_case_, truth_, address_));
        // Not measured. It runs here so that its buffers are allocated right after its gap.
        contenders.back().turn(leapfrogs_of_turn(test_case_.name));
      }
    }
    std::vector<std::vector<double>> percent(contenders.size());
    for (std::size_t round = 0; round < rounds; ++round) {
      workshop_.check_stop();
      std::vector<double> seconds(contenders.size());
      for (std::size_t k = 0; k < contenders.size(); ++k) {
        const std::size_t c = (round + k) % contenders.size();  // none is always the first
        seconds[c] = contenders[c].turn(leapfrogs_of_turn(test_case_.name));
      }
      for (std::size_t c = 0; c < contenders.size(); ++c) {
        const std::size_t none = c < choices_.size() ? 0 : choices_.size();
        percent[c].push_back(100 * (seconds[c] / seconds[none] - 1));
      }
    }
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      percent_[c].push_back(median_of(percent[c]).value);
    }
    for (std::size_t c = 0; c < choices_.size(); ++c) {
      draws_[c] += contenders[c].draws();
      kept_[c] += contenders[c].kept();
    }
  }

  std::vector<OverheadRow> rows() const {
    std::vector<OverheadRow> rows;
    for (std::size_t c = 0; c < choices_.size(); ++c) {
      const double kept = kept_[c] / draws_[c];
      const auto numbers = static_cast<double>(test_case_.density.dimension() + 1);
      rows.push_back({test_case_.name, settings_.kind, choices_[c].kind, choices_[c].count,
                      median_of(percent_[c]), median_of(percent_[c + choices_.size()]), kept,
                      kept * numbers * sizeof(double)});
    }
    return rows;
  }

 private:
  const Workshop& workshop_;
  const TestCase& test_case_;
  KernelSettings settings_;
  Tuning tuning_;
  Address address_;
  const Truth& truth_;
  std::vector<Recycling> choices_;
  std::vector<std::vector<double>> percent_;  ///< by contender and build
  std::vector<double> draws_;                 ///< by choice, like what follows
  std::vector<double> kept_;
};

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
                                      const Preparation& preparation, const Truth& truth,
                                      const std::function<Density()>& make_density) {
  return workshop.load_or_make(describe(test_case.name) + "-overhead", [&] {
    Comparison nuts(workshop, test_case, preparation, truth, KernelKind::nuts_slice);
    Comparison hmc(workshop, test_case, preparation, truth, KernelKind::hmc);
    const auto [builds, rounds] = overhead_size_of(workshop.scale);
    Stream gaps({workshop.seed_of("gaps"), 0, 0}, Purpose::test);
    for (std::size_t b = 0; b < builds; ++b) {
      const Gap gap = make_gap(gaps);
      const Density density = make_density();
      nuts.run_build(density, rounds, gaps);
      hmc.run_build(density, rounds, gaps);
    }
    std::vector<OverheadRow> rows = nuts.rows();
    std::ranges::move(hmc.rows(), std::back_inserter(rows));
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
