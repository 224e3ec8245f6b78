// Copies transitions into plain arrays, and those into bytes and back.
#include "rehmc/output/chain_record.hpp"

#include <array>
#include <utility>

namespace rehmc {

namespace {

constexpr std::array series_of_numbers{&ChainRecord::log_density,  &ChainRecord::acceptance,
                                       &ChainRecord::step_size,    &ChainRecord::energy,
                                       &ChainRecord::energy_error, &ChainRecord::path_length,
                                       &ChainRecord::mass};

void append(std::vector<double>& to, std::span<const double> from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

ChainRecord::ChainRecord(const QuantityReader& reader, std::size_t expected_draws,
                         KeptGradients with_gradients)
    : columns(reader.columns()),
      centre(reader.centre().begin(), reader.centre().end()),
      gradients(with_gradients),
      coordinates(reader.dimension()) {
  draws.reserve(expected_draws * dimension());
  mean_offset.reserve(expected_draws * dimension());
  mean_square.reserve(expected_draws * dimension());
  for (const auto series : series_of_numbers) (this->*series).reserve(expected_draws);
  depth.reserve(expected_draws);
  leapfrogs.reserve(expected_draws);
  ending.reserve(expected_draws);
  kept_end.reserve(expected_draws);
}

void ChainRecord::add_draw(const Transition& transition, std::span<const double> values) {
  append(draws, values);
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

void ChainRecord::add(const ReadDraw& draw, QuantityReader& reader) {
  const Transition& transition = *draw.transition;
  add_draw(transition, draw.values);
  append(mean_offset, draw.first);
  append(mean_square, draw.second);
  for (const WeightedState& state : draw.kept) {
    append(kept, state.state.position);
    kept_weight.push_back(state.weight);
  }
  kept_end.push_back(kept_weight.size());
  if (gradients == KeptGradients::yes) {
    for (const WeightedState& state : transition.recycled) {
      if (!reader.reads_positions()) append(kept_position, state.state.position);
      for (const double entry : state.state.gradient) {
        kept_gradient.push_back(static_cast<float>(entry));
      }
    }
  }

  if (transition.ending == Ending::diverged) {
    StoredDivergence& stored = divergences.emplace_back();
    stored.draw = size() - 1;
    stored.fault = transition.divergence.fault;
    append(stored.start, reader.read(transition.divergence.start, nullptr));
    append(stored.momentum, transition.divergence.momentum);
    append(stored.end, reader.read(transition.divergence.end, nullptr));
  }
}

void ChainRecord::forget_gradients() {
  gradients = KeptGradients::no;
  kept_position = {};
  kept_gradient = {};
}

void ChainRecord::archive_draw(ArchiveWriter& archive, std::size_t i,
                               KeptGradients with_gradients) const {
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
  const bool stored = with_gradients == KeptGradients::yes && gradients == KeptGradients::yes;
  archive(stored, !kept_position.empty());
  if (stored) {
    const std::size_t first = begin * coordinates;
    const std::size_t numbers = count * coordinates;
    if (!kept_position.empty()) row(kept_position, first, numbers);
    archive.numbers(std::span(kept_gradient).subspan(first, numbers));
  }
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
  const auto stored = archive.get<bool>();
  const auto positions_apart = archive.get<bool>();
  if (stored) {
    if (positions_apart) row(kept_position, count * coordinates);
    archive.numbers(count * coordinates, kept_gradient);
  } else {
    forget_gradients();
  }
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
  if (gradients == KeptGradients::yes) {
    if (!kept_position.empty()) kept_position.resize(kept_left * coordinates);
    kept_gradient.resize(kept_left * coordinates);
  }
  kept_end.resize(draws_left);
  std::erase_if(divergences, [&](const auto& divergence) { return divergence.draw >= draws_left; });
}

}  // namespace rehmc
