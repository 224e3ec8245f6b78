// Keeps a momentum, and recognises the metric it belongs to.
#include "momentum_memory.hpp"

#include <fmt/format.h>

#include <string_view>

#include "rehmc/core/error.hpp"
#include "rehmc/core/hash.hpp"

namespace rehmc {

namespace {

std::uint64_t hash_of(const Metric& metric) {
  StreamedHash hash;
  hash.add(describe(metric.kind()));
  const std::vector<double> numbers = metric.numbers();
  hash.add({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)});
  return hash.value();
}

}  // namespace

MomentumMemory::MomentumMemory(double share, std::size_t dimension)
    : share_(share), momentum_(share > 0 ? dimension : 0) {}

std::optional<KeptMomentum> MomentumMemory::use(const Tuning& tuning) {
  if (share_ == 0) return std::nullopt;
  if (tuning.metric != metric_ && tuning.metric != nullptr) {
    const std::uint64_t hash = hash_of(*tuning.metric);
    known_ = known_ && hash == metric_hash_;
    metric_ = tuning.metric;
    metric_hash_ = hash;
  }
  if (!known_) return std::nullopt;
  return KeptMomentum{momentum_, share_};
}

void MomentumMemory::keep(const double* momentum, double sign) {
  for (std::size_t i = 0; i < momentum_.size(); ++i) momentum_[i] = sign * momentum[i];
  known_ = true;
}

void MomentumMemory::archive(ArchiveWriter& archive) const {
  if (share_ == 0) return;
  archive(known_, metric_hash_, momentum_);
}

void MomentumMemory::archive(ArchiveReader& archive) {
  if (share_ == 0) return;
  const std::size_t dimension = momentum_.size();
  archive(known_, metric_hash_, momentum_);
  metric_ = nullptr;
  if (momentum_.size() != dimension) {
    throw DataError(fmt::format("stored momentum: has {} coordinates, the model has {}",
                                momentum_.size(), dimension));
  }
}

}  // namespace rehmc
