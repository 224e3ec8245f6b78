// Puts draws into the records of a result.
#include "rehmc/output/memory_sinks.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "rehmc/core/error.hpp"

namespace rehmc {

namespace {

std::unique_lock<std::mutex> locked(std::mutex* mutex) {
  return mutex == nullptr ? std::unique_lock<std::mutex>() : std::unique_lock(*mutex);
}

/// A rough standard deviation of every recorded quantity: that of a few points about the centre,
/// drawn with the variances of the metric.
std::vector<double> rough_scale(const SamplingStart& start) {
  constexpr int points = 32;
  std::vector<double> sd = start.tuning.metric->inverse_diagonal();
  for (double& value : sd) value = std::sqrt(value);
  QuantityReader& reader = start.reader;
  if (reader.reads_positions()) return sd;
  Stream stream(start.address, Purpose::estimate);
  std::vector<double> squares(reader.columns().size(), 0.0);
  std::vector<double> point(sd.size());
  for (int k = 0; k < points; ++k) {
    for (std::size_t i = 0; i < sd.size(); ++i) {
      point[i] = start.position[i] + sd[i] * stream.normal();
    }
    const std::span<const double> values = reader.read(point, &stream);
    for (std::size_t i = 0; i < squares.size(); ++i) {
      const double offset = values[i] - reader.centre()[i];
      if (std::isfinite(offset)) squares[i] += offset * offset / points;
    }
  }
  for (double& value : squares) value = value > 0 ? std::sqrt(value) : 1.0;
  return squares;
}

}  // namespace

void RecordSink::begin(const SamplingStart& start) {
  const auto lock = locked(mutex_);
  result_.record = ChainRecord(start.reader, expected_draws_, gradients_);
}

void RecordSink::add(const ReadDraw& draw, std::uint64_t /*index*/) {
  if (draw.of_warmup) {
    result_.warmup.add(draw);
  } else {
    const auto lock = locked(mutex_);
    result_.record.add(draw);
    if (result_.record.size() == 1) result_.record.reserve_kept(expected_draws_);
  }
}

RunningSink::RunningSink(ChainResult& result, bool recycling, bool gradients,
                         std::shared_ptr<RunningRecord> stored)
    : result_(result), recycling_(recycling), gradients_(gradients) {
  if (!stored) return;
  const RunningSummary& summary = stored->summary();
  if (summary.recycling() != recycling || summary.gradients() != gradients) {
    throw DataError("stored running summaries are of other states or gradients than the run has");
  }
  use(std::move(stored));
}

void RunningSink::use(std::shared_ptr<RunningRecord> record) {
  record_ = std::move(record);
  result_.running = record_;
}

void RunningSink::begin(const SamplingStart& start) {
  use(std::make_shared<RunningRecord>(start.reader.centre(), rough_scale(start), recycling_,
                                      gradients_));
}

void RunningSink::add(const ReadDraw& draw, std::uint64_t /*index*/) { record_->add(draw); }

}  // namespace rehmc
