// A line that names the format, checksum, content.
#include "rehmc/output/stored_result.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "rehmc/core/archive.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/hash.hpp"

namespace rehmc {

namespace {

constexpr std::string_view fit_line = "rehmc fit 1\n";

template <class Archive>
void archive_record(Archive& archive, ChainRecord& r) {
  archive(r.columns, r.centre, r.draws, r.log_density, r.acceptance, r.step_size, r.energy,
          r.energy_error, r.path_length, r.mass, r.depth, r.leapfrogs, r.mean_offset, r.mean_square,
          r.kept, r.kept_weight, r.kept_end, r.coordinates, r.kept_position, r.kept_gradient);
}

void archive_chain(ArchiveWriter& archive, const ChainResult& chain) {
  ChainResult copy = chain;
  const bool tuned = copy.tuning.metric != nullptr;
  archive(tuned);
  if (tuned) archive(copy.facts());
  archive_record(archive, copy.record);
  archive(copy.record.gradients == KeptGradients::yes, copy.record.computed,
          copy.record.kept_failures, copy.record.kept_columns);
  std::vector<int> endings;
  for (const Ending ending : copy.record.ending) endings.push_back(static_cast<int>(ending));
  archive(endings, static_cast<std::uint64_t>(copy.record.divergences.size()));
  for (const StoredDivergence& divergence : copy.record.divergences) {
    archive(divergence.draw, divergence);
  }
}

ChainResult restore_chain(ArchiveReader& archive) {
  ChainResult chain;
  if (archive.get<bool>()) archive(chain.facts());
  archive_record(archive, chain.record);
  if (archive.get<bool>()) chain.record.gradients = KeptGradients::yes;
  archive(chain.record.computed, chain.record.kept_failures, chain.record.kept_columns);
  for (const int ending : archive.get<std::vector<int>>()) {
    if (ending < 0 || ending > static_cast<int>(greatest(Ending{}))) {
      throw DataError("a stored value is none of those that it can have");
    }
    chain.record.ending.push_back(static_cast<Ending>(ending));
  }
  const auto divergences = archive.get<std::uint64_t>();
  for (std::uint64_t k = 0; k < divergences; ++k) {
    StoredDivergence& divergence = chain.record.divergences.emplace_back();
    archive(divergence.draw, divergence);
  }
  return chain;
}

/// A chain that never began has nothing, and is not shown.
void require_fitting(const SampleResult& result) {
  const std::size_t d = result.coordinates.size();
  std::size_t tuned = 0;
  std::size_t begun = 0;
  for (const ChainResult& chain : result.chains) {
    const ChainRecord& record = chain.record;
    record.require_whole();
    if (record.size() == 0) continue;
    const bool with_tuning = chain.tuning.metric != nullptr;
    ++begun;
    tuned += with_tuning ? 1 : 0;
    if (record.dimension() == result.names.size() && record.coordinates == d &&
        record.kept_end.size() == record.size() &&
        (!with_tuning || chain.tuning.metric->dimension() == d)) {
      continue;
    }
    throw DataError("a chain does not fit its parameters and coordinates");
  }
  const auto known = [&](const Quantity& q) { return !q.coordinate || *q.coordinate < d; };
  const auto one_each = [](const auto& values, std::size_t count) {
    return values.empty() || values.size() == count;
  };
  if (d > 0 && !result.chains.empty() && (tuned == 0 || tuned == begun) &&
      one_each(result.quantities, result.names.size()) &&
      one_each(result.stored_chains, result.chains.size()) &&
      std::ranges::all_of(result.quantities, known)) {
    return;
  }
  throw DataError("its chains, parameters and coordinates do not fit together");
}

}  // namespace

std::string archive_result(const SampleResult& result) {
  ArchiveWriter archive;
  archive(result.names, result.coordinates, result.seed, result.recycle_generated, result.stopped,
          describe(result.kernel.recycling), result.kernel.kind, result.kernel.nuts.max_depth,
          result.kernel.hmc.path_steps, result.kernel.hmc.path_steps_most,
          result.kernel.hmc.weight_by_draws, result.kernel.hmc.jitter_least,
          result.kernel.hmc.jitter_most);
  archive(static_cast<std::uint64_t>(result.quantities.size()));
  for (const Quantity& quantity : result.quantities) {
    archive(quantity.name, quantity.coordinate, quantity.generated, quantity.determined,
            quantity.transformed, quantity.map);
  }
  archive(result.stored_chains, static_cast<std::uint64_t>(result.chains.size()));
  for (const ChainResult& chain : result.chains) archive_chain(archive, chain);
  return std::string(fit_line) + content_hash(archive.bytes()) + archive.bytes();
}

SampleResult restore_result(std::string_view bytes) {
  const std::size_t hash_size = content_hash("").size();
  if (!bytes.starts_with(fit_line) || bytes.size() < fit_line.size() + hash_size) {
    throw DataError("is not a fit that this version of rehmc saved");
  }
  bytes.remove_prefix(fit_line.size());
  const std::string_view hash = bytes.substr(0, hash_size);
  bytes.remove_prefix(hash_size);
  if (content_hash(bytes) != hash) throw DataError("is damaged: its checksum does not match");
  ArchiveReader archive(bytes);
  SampleResult result;
  archive(result.names, result.coordinates, result.seed, result.recycle_generated, result.stopped);
  result.kernel.recycling = parse_recycling(archive.get<std::string>());
  archive(result.kernel.kind, result.kernel.nuts.max_depth, result.kernel.hmc.path_steps,
          result.kernel.hmc.path_steps_most, result.kernel.hmc.weight_by_draws,
          result.kernel.hmc.jitter_least, result.kernel.hmc.jitter_most);
  const auto quantities = archive.get<std::uint64_t>();
  for (std::uint64_t q = 0; q < quantities; ++q) {
    Quantity& quantity = result.quantities.emplace_back();
    archive(quantity.name, quantity.coordinate, quantity.generated, quantity.determined,
            quantity.transformed, quantity.map);
  }
  archive(result.stored_chains);
  const auto chains = archive.get<std::uint64_t>();
  for (std::uint64_t c = 0; c < chains; ++c) result.chains.push_back(restore_chain(archive));
  require_fitting(result);
  return result;
}

}  // namespace rehmc
