// One chain, iteration by iteration: warmup, then sampling. It can be stored after any iteration.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "rehmc/adapt/pooled_warmup.hpp"
#include "rehmc/adapt/warmup.hpp"
#include "rehmc/core/archive.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/model/log_density.hpp"
#include "rehmc/output/chain_facts.hpp"
#include "rehmc/recycle/features.hpp"
#include "rehmc/run/sample_settings.hpp"

namespace rehmc {

/// What transitions of sampling carry the means of, over all states of their trajectory.
enum class SummedFeatures {
  moments,           ///< MomentFeatures
  gradient_moments,  ///< GradientMomentFeatures: for sharpening where no states are stored
};

/// How a start is found.
struct StartSearch {
  InitialPointSettings initial;
  bool climbs = false;
};

class Chain {
 public:
  /// Finds a starting position; the address gives seed and chain.
  Chain(const Density& density, const SampleSettings& settings, const Address& address,
        SummedFeatures summed = SummedFeatures::moments);
  /// Continues a stored chain with the same summed features, bit for bit.
  Chain(const Density& density, const SampleSettings& settings, const Address& address,
        ArchiveReader& stored, SummedFeatures summed = SummedFeatures::moments);
  // The kernel points at the features.
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;
  /// Stores the chain: its facts first, which can be read without the model.
  void archive(ArchiveWriter& archive) const;

  /// Seed, chain and the iteration that step() took last.
  const Address& address() const { return address_; }
  /// Iterations done, including warmup.
  std::uint64_t iteration() const { return facts_.iterations; }
  /// Those of warmup, once sampling has begun.
  std::uint64_t warmup_iterations() const { return facts_.warmup_iterations; }
  /// Whether the tuning may still change.
  bool warming_up() const { return !facts_.sampling; }
  /// Whether all of warmup is done: time to begin sampling.
  bool warm() const;
  /// The warmup that this chain shares with its group; nullptr if there is none, or no longer.
  const PooledWarmup* pooled() const { return std::get_if<PooledWarmup>(&phase_); }
  /// Whether the chain can do nothing until its group has pooled.
  bool waiting() const { return pooled() != nullptr && pooled()->waiting(); }
  /// Continues with what the group has agreed on.
  void adopt(const SharedTuning& shared);
  /// Freezes the tuning; from now on transitions carry features of all states about centre().
  void begin_sampling();

  /// One iteration. A chain that is warm must have begun sampling.
  const Transition& step();

  const Tuning& tuning() const;
  const Guard& guard() const { return kernel().guard(); }
  /// All so far, those of the searches for a start and for a path length included.
  std::uint64_t gradients() const { return gradients(guard()); }
  StateView state() const { return kernel().state(); }
  /// The point that moments are taken about, once sampling has begun.
  std::span<const double> centre() const { return centre_; }

  /// Everything known about the chain so far, except its draws.
  ChainFacts facts() const;
  /// Time spent in the current phase, and quantities that could not be computed: reported by the
  /// code that runs the chain, and kept in the facts.
  void add_seconds(double seconds);
  void add_failures(const QuantityFailures& failures) { facts_.quantity_failures += failures; }

 private:
  const Kernel& kernel() const;
  void restart(PooledWarmup& warmup);
  void tell_stage(const SharedTuning& shared);
  void tell_end(const Tuning& tuning);
  FrozenKernel with_path_length(FrozenKernel frozen);
  std::uint64_t gradients(const Guard& guard) const;
  void check_gradient(const FrozenKernel& frozen);
  void use_features(FrozenKernel& frozen);

  Address address_;
  std::size_t chains_;                 ///< of the run
  std::optional<StartSearch> search_;  ///< none: the user gave the start
  ChainFacts facts_;                   ///< except what the kernel knows: see facts()
  SummedFeatures summed_;
  bool search_path_length_;
  std::vector<double> centre_;
  std::unique_ptr<Features> features_;
  std::variant<Warmup, PooledWarmup, FrozenKernel> phase_;
};

}  // namespace rehmc
