// Sinks: what receives the draws of one chain, in memory or in files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rehmc/core/random.hpp"
#include "rehmc/kernel/kernel.hpp"
#include "rehmc/output/chain_facts.hpp"
#include "rehmc/output/quantity_reader.hpp"

namespace rehmc {

/// What is known when warmup has ended and sampling begins.
struct SamplingStart {
  const Tuning& tuning;
  std::span<const double> position;  ///< where the chain is; the reader's centre is there
  QuantityReader& reader;
  Address address;  ///< seed and chain
};

/// Receives the draws of one chain: those of warmup if they are recorded, then, after begin(),
/// those of sampling. A sink that resumes a stored chain in its sampling phase gets no begin().
class Sink {
 public:
  Sink() = default;
  virtual ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  /// Sampling begins.
  virtual void begin(const SamplingStart& start) = 0;
  /// The next draw; `index` counts the draws of warmup, and then those of sampling, from 0.
  virtual void add(const ReadDraw& draw, std::uint64_t index) = 0;
  /// Writes everything added so far to the disk.
  virtual void sync() {}
  /// Ends the output after a sync(), so that others can read it; more draws may still follow.
  virtual void finish(const ChainFacts& /*facts*/) {}
  /// Bytes in memory that wait for sync().
  virtual std::size_t waiting() const { return 0; }
};

}  // namespace rehmc
