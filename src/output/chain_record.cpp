// Copies transitions into plain arrays, and those into bytes and back.
#include "rehmc/output/chain_record.hpp"

#include <algorithm>
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

void archive_as_float(ArchiveWriter& archive, std::span<const double> numbers) {
  std::array<float, 64> part;
  while (!numbers.empty()) {
    const std::size_t count = std::min(part.size(), numbers.size());
    for (std::size_t i = 0; i < count; ++i) part[i] = static_cast<float>(numbers[i]);
    archive.numbers(std::span<const float>(part.data(), count));
    numbers = numbers.subspan(count);
  }
}

StoredDivergence stored_divergence(const ReadDraw& draw, std::size_t index) {
  const ReadDivergence read = draw.divergence();
  StoredDivergence stored;
  stored.draw = index;
  stored.fault = draw.transition->divergence.fault;
  append(stored.start, read.start);
  append(stored.momentum, draw.transition->divergence.momentum);
  append(stored.end, read.end);
  return stored;
}

}  // namespace

ChainRecord::ChainRecord(const QuantityReader& reader, std::size_t expected_draws,
                         KeptGradients with_gradients)
    : columns(reader.columns()),
      centre(reader.centre().begin(), reader.centre().end()),
      gradients(with_gradients),
      coordinates(reader.dimension()) {
  centre.resize(columns.size());
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

void ChainRecord::add(const ReadDraw& draw) {
  const Transition& transition = *draw.transition;
  add_draw(transition, draw.values);
  if (draw.of_warmup) return;
  append(mean_offset, draw.first);
  append(mean_square, draw.second);
  for (const WeightedState& state : draw.kept) {
    append(kept, state.state.position);
    kept_weight.push_back(state.weight);
  }
  kept_end.push_back(kept_weight.size());
  if (gradients == KeptGradients::yes) {
    for (const WeightedState& state : transition.recycled) {
      if (!draw.positions_are_values) append(kept_position, state.state.position);
      for (const double entry : state.state.gradient) {
        kept_gradient.push_back(static_cast<float>(entry));
      }
    }
  }

  if (transition.ending == Ending::diverged) {
    divergences.push_back(stored_divergence(draw, size() - 1));
  }
}

void ChainRecord::forget_gradients() {
  gradients = KeptGradients::no;
  kept_position = {};
  kept_gradient = {};
}

void archive_draw(ArchiveWriter& archive, const ReadDraw& draw, KeptGradients gradients,
                  bool has_kept) {
  const Transition& transition = *draw.transition;
  // In the order of series_of_numbers.
  archive(transition.state.log_density, transition.acceptance, transition.step_size,
          transition.energy, transition.energy_error, transition.path_length, transition.mass);
  archive(transition.depth, transition.leapfrogs, transition.ending);
  archive.numbers(draw.values);
  archive(!draw.of_warmup);
  if (draw.of_warmup) return;
  archive.numbers(draw.first);
  archive.numbers(draw.second);
  archive(static_cast<std::uint32_t>(draw.kept.size()));
  for (const WeightedState& state : draw.kept) archive(state.weight);
  for (const WeightedState& state : draw.kept) archive.numbers(state.state.position);
  const bool stored = gradients == KeptGradients::yes;
  const bool positions_apart = has_kept && !draw.positions_are_values;
  archive(stored, positions_apart);
  if (stored) {
    if (positions_apart) {
      for (const WeightedState& state : transition.recycled) {
        archive.numbers(state.state.position);
      }
    }
    for (const WeightedState& state : transition.recycled) {
      archive_as_float(archive, state.state.gradient);
    }
  }
  if (transition.ending == Ending::diverged) archive(stored_divergence(draw, 0));
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
