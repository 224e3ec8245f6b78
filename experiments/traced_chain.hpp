// A chain of a study with the parameters of all states of its trajectories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "experiments/preparation.hpp"
#include "rehmc/kernel/kernel.hpp"

namespace rehmc::experiments {

class TracedChain {
 public:
  /// The density is the engine's for this chain, and must outlive it.
  TracedChain(const Density& density, const KernelSettings& settings, Tuning tuning,
              std::span<const double> start, const Address& address);

  /// One iteration whose trajectory is not used.
  const Transition& skip();
  /// One iteration; the views below are valid until the next.
  const Transition& step();

  std::span<const WeightedState> states() const { return transition_->recycled; }
  std::span<const std::span<const double>> parameters() const { return parameters_; }
  std::size_t next() const { return next_; }    ///< which state the chain went to
  std::size_t start() const { return start_; }  ///< where it came from; states().size() if not kept
  const Address& address() const { return address_; }
  std::span<const double> position() const { return kernel_->state().position; }
  std::uint64_t leapfrogs() const { return leapfrogs_; }

 private:
  std::size_t find(std::span<const double> position) const;

  std::unique_ptr<Kernel> kernel_;
  Tuning tuning_;
  Address address_;
  ParameterReader reader_;
  std::vector<double> before_;
  const Transition* transition_ = nullptr;
  std::span<const std::span<const double>> parameters_;
  std::size_t next_ = 0;
  std::size_t start_ = 0;
  std::uint64_t leapfrogs_ = 0;
};

}  // namespace rehmc::experiments
