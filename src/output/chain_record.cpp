// Copies transitions into plain arrays, and those into bytes and back.
#include "rehmc/output/chain_record.hpp"

#include <array>
#include <numeric>
#include <utility>

namespace rehmc {

namespace {

constexpr std::array series_of_numbers{&ChainRecord::log_density,  &ChainRecord::acceptance,
                                       &ChainRecord::step_size,    &ChainRecord::energy,
                                       &ChainRecord::energy_error, &ChainRecord::path_length,
                                       &ChainRecord::mass};

std::vector<std::size_t> all_coordinates(std::size_t dimension) {
  std::vector<std::size_t> all(dimension);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

void append(std::vector<double>& to, std::span<const double> from,
            const std::vector<std::size_t>& columns) {
  if (columns.size() == from.size()) {
    to.insert(to.end(), from.begin(), from.end());
  } else {
    for (const std::size_t column : columns) to.push_back(from[column]);
  }
}

}  // namespace

ChainRecord::ChainRecord(std::span<const double> centre_of_moments, std::size_t expected_draws,
                         std::vector<std::size_t> recorded)
    : columns(recorded.empty() ? all_coordinates(centre_of_moments.size()) : std::move(recorded)) {
  append(centre, centre_of_moments, columns);
  draws.reserve(expected_draws * dimension());
  mean_offset.reserve(expected_draws * dimension());
  mean_square.reserve(expected_draws * dimension());
  for (const auto series : series_of_numbers) (this->*series).reserve(expected_draws);
  depth.reserve(expected_draws);
  leapfrogs.reserve(expected_draws);
  ending.reserve(expected_draws);
  kept_end.reserve(expected_draws);
}

void ChainRecord::add_draw(const Transition& transition) {
  append(draws, transition.state.position, columns);
  log_density.push_back(transition.state.log_density);
  acceptance.push_back(transition.acceptance);
  step_size.push_back(transition.step_size);
  energy.push_back(transition.energy);
  energy_error.push_back(transition.energy_error);
  path_length.push_back(transition.path_length);
  mass.push_back(transition.mass);
  depth.push_back(transition.depth);
  leapfrogs.push_back(transition.leapfrogs);
  ending.push_back(transition.ending);
}

void ChainRecord::add(const Transition& transition) {
  add_draw(transition);
  const std::size_t d = transition.state.position.size();
  append(mean_offset, transition.feature_means.first(d), columns);
  append(mean_square, transition.feature_means.subspan(d, d), columns);
  for (const WeightedState& state : transition.recycled) {
    append(kept, state.state.position, columns);
    kept_weight.push_back(state.weight);
  }
  kept_end.push_back(kept_weight.size());

  if (transition.ending == Ending::diverged) {
    StoredDivergence& stored = divergences.emplace_back();
    stored.draw = size() - 1;
    stored.fault = transition.divergence.fault;
    append(stored.start, transition.divergence.start, columns);
    append(stored.momentum, transition.divergence.momentum, columns);
    append(stored.end, transition.divergence.end, columns);
  }
}

void ChainRecord::archive_draw(ArchiveWriter& archive, std::size_t i) const {
  const std::size_t d = dimension();
  const auto row = [&](const std::vector<double>& matrix, std::size_t begin, std::size_t count) {
    archive.numbers(std::span(matrix).subspan(begin, count));
  };
  for (const auto series : series_of_numbers) archive((this->*series)[i]);
  archive(depth[i], leapfrogs[i], ending[i]);
  row(draws, i * d, d);
  const bool recycles = i < kept_end.size();
  archive(recycles);
  if (!recycles) return;
  row(mean_offset, i * d, d);
  row(mean_square, i * d, d);
  const std::size_t begin = kept_begin(i);
  const std::size_t count = kept_end[i] - begin;
  archive(static_cast<std::uint32_t>(count));
  row(kept_weight, begin, count);
  row(kept, begin * d, count * d);
  for (const StoredDivergence& divergence : divergences) {
    if (divergence.draw == i) archive(divergence);
  }
}

void ChainRecord::add_archived(ArchiveReader& archive) {
  const std::size_t d = dimension();
  const auto row = [&](std::vector<double>& matrix, std::size_t count) {
    archive.numbers(count, matrix);
  };
  for (const auto series : series_of_numbers) row(this->*series, 1);
  depth.push_back(archive.get<int>());
  leapfrogs.push_back(archive.get<std::uint32_t>());
  ending.push_back(archive.get<Ending>());
  row(draws, d);
  if (!archive.get<bool>()) return;
  row(mean_offset, d);
  row(mean_square, d);
  const auto count = archive.get<std::uint32_t>();
  row(kept_weight, count);
  row(kept, count * d);
  kept_end.push_back(kept_weight.size());
  if (ending.back() == Ending::diverged) {
    archive(divergences.emplace_back());
    divergences.back().draw = size() - 1;
  }
}

void ChainRecord::truncate(std::size_t draws_left) {
  if (draws_left >= size()) return;
  const std::size_t d = dimension();
  for (const auto series : series_of_numbers) (this->*series).resize(draws_left);
  depth.resize(draws_left);
  leapfrogs.resize(draws_left);
  ending.resize(draws_left);
  draws.resize(draws_left * d);
  if (kept_end.empty()) return;
  const std::size_t kept_left = kept_begin(draws_left);
  mean_offset.resize(draws_left * d);
  mean_square.resize(draws_left * d);
  kept.resize(kept_left * d);
  kept_weight.resize(kept_left);
  kept_end.resize(draws_left);
  std::erase_if(divergences, [&](const auto& divergence) { return divergence.draw >= draws_left; });
}

}  // namespace rehmc
