// The sinks in memory: all draws of a chain, or running summaries of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "rehmc/output/sample_result.hpp"
#include "rehmc/output/sink.hpp"

namespace rehmc {

/// Keeps all draws in the records of a result.
class RecordSink final : public Sink {
 public:
  /// The result must outlive the sink, and its records must have their columns. The mutex, if
  /// there is one, is locked while the record of sampling changes, so that others can read it.
  RecordSink(ChainResult& result, std::size_t expected_draws, KeptGradients gradients,
             std::mutex* mutex = nullptr)
      : result_(result), expected_draws_(expected_draws), gradients_(gradients), mutex_(mutex) {}

  void begin(const SamplingStart& start) override;
  void add(const ReadDraw& draw, std::uint64_t index) override;

 private:
  ChainResult& result_;
  std::size_t expected_draws_;
  KeptGradients gradients_;
  std::mutex* mutex_;
};

/// Keeps running summaries in a result, and no draws.
class RunningSink final : public Sink {
 public:
  /// With `gradients`, draws must carry the means of their gradients. `stored` is the record of a
  /// chain that is resumed while sampling: DataError if it was summed otherwise. The result must
  /// outlive the sink.
  RunningSink(ChainResult& result, bool recycling, bool gradients,
              std::shared_ptr<RunningRecord> stored = nullptr);

  void begin(const SamplingStart& start) override;
  void add(const ReadDraw& draw, std::uint64_t index) override;

  /// None before sampling begins.
  const std::shared_ptr<RunningRecord>& record() const { return record_; }

 private:
  void use(std::shared_ptr<RunningRecord> record);

  ChainResult& result_;
  bool recycling_;
  bool gradients_;
  std::shared_ptr<RunningRecord> record_;
};

}  // namespace rehmc
