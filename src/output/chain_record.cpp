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

template <class Number>
void append(std::vector<Number>& to, std::span<const double> from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Room for as much of every draw as there is of the first.
template <class Number>
void reserve_like_first(std::vector<Number>& numbers, std::size_t draws) {
  constexpr std::size_t most_bytes = std::size_t{16} << 20;  // beyond that, it grows as it must
  if (numbers.empty()) return;
  const std::size_t most_draws = most_bytes / sizeof(Number) / numbers.size();
  numbers.reserve(numbers.size() * std::min(draws, most_draws));
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
      coordinates(reader.dimension()),
      computed(reader.computes()) {
  if (computed) kept_columns.emplace();
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
  if (draw.computed) mark_as_computed();
  append(mean_offset, draw.computed ? std::span<const double>() : draw.first);
  append(mean_square, draw.computed ? std::span<const double>() : draw.second);
  for (const WeightedState& state : draw.kept) {
    if (!computed) append(kept, state.state.position);
    kept_weight.push_back(state.weight);
  }
  kept_end.push_back(kept_weight.size());
  const bool apart = computed || (gradients == KeptGradients::yes && !draw.positions_are_values);
  for (const WeightedState& state : transition.recycled) {
    if (apart) append(kept_position, state.state.position);
    if (gradients == KeptGradients::yes) append(kept_gradient, state.state.gradient);
  }
  if (transition.ending == Ending::diverged) {
    divergences.push_back(stored_divergence(draw, size() - 1));
  }
}

void ChainRecord::reserve_kept(std::size_t expected_draws) {
  reserve_like_first(kept, expected_draws);
  reserve_like_first(kept_weight, expected_draws);
  reserve_like_first(kept_position, expected_draws);
  reserve_like_first(kept_gradient, expected_draws);
}

void ChainRecord::mark_as_computed() {
  if (computed) return;
  computed = true;
  kept_columns.emplace();
}

void ChainRecord::forget_gradients() {
  gradients = KeptGradients::no;
  if (!computed) kept_position = {};
  kept_gradient = {};
}

std::optional<std::size_t> ChainRecord::kept_place(std::size_t column) const {
  if (!kept_columns) return column;
  const auto found = std::find(kept_columns->begin(), kept_columns->end(), column);
  if (found == kept_columns->end()) return std::nullopt;
  return static_cast<std::size_t>(found - kept_columns->begin());
}

void archive_draw(ArchiveWriter& archive, const ReadDraw& draw, KeptGradients gradients) {
  const Transition& transition = *draw.transition;
  // In the order of series_of_numbers.
  archive(transition.state.log_density, transition.acceptance, transition.step_size,
          transition.energy, transition.energy_error, transition.path_length, transition.mass);
  archive(transition.depth, transition.leapfrogs, transition.ending);
  archive.numbers(draw.values);
  archive(!draw.of_warmup);
  if (draw.of_warmup) return;
  const bool stored = gradients == KeptGradients::yes;
  const bool positions = draw.computed || draw.positions_are_values || stored;
  archive(draw.computed, positions, stored);
  if (!draw.computed) {
    archive.numbers(draw.first);
    archive.numbers(draw.second);
  }
  archive(static_cast<std::uint32_t>(draw.kept.size()));
  for (const WeightedState& state : draw.kept) archive(state.weight);
  for (const WeightedState& state : positions ? transition.recycled : draw.kept) {
    archive.numbers(state.state.position);
  }
  for (const WeightedState& state : transition.recycled) {
    if (stored) archive_as_float(archive, state.state.gradient);
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
  if (archive.get<bool>()) mark_as_computed();
  const auto positions = archive.get<bool>();
  const auto stored = archive.get<bool>();
  if (!stored) forget_gradients();
  if (!computed) {
    row(mean_offset, d);
    row(mean_square, d);
  }
  const auto count = archive.get<std::uint32_t>();
  row(kept_weight, count);
  add_archived_kept(archive, count, positions);
  kept_end.push_back(kept_weight.size());
  if (stored) archive.numbers(count * coordinates, kept_gradient);
  if (ending.back() == Ending::diverged) {
    archive(divergences.emplace_back());
    divergences.back().draw = size() - 1;
  }
}

/// Positions of kept states if they were stored, else the recorded columns of them.
void ChainRecord::add_archived_kept(ArchiveReader& archive, std::size_t count, bool positions) {
  if (!positions || (!computed && columns.size() == coordinates)) {
    archive.numbers(count * dimension(), kept);
    return;
  }
  const std::size_t begin = kept_position.size();
  archive.numbers(count * coordinates, kept_position);
  if (computed) return;
  for (std::size_t k = 0; k < count; ++k) {
    for (const std::size_t column : columns) {
      kept.push_back(kept_position[begin + k * coordinates + column]);
    }
  }
}

void ChainRecord::require_whole() const {
  const auto n = size();
  const auto d = dimension();
  const auto states = kept_weight.size();
  // What was not recorded, or not read yet, is missing as a whole.
  const auto fits = [](const auto& values, std::size_t rows, std::size_t width) {
    return width == 0 ? values.empty()
                      : values.size() % width == 0 && values.size() / width == rows;
  };
  const auto is_column = [&](std::size_t column) { return column < d; };
  const bool of_draws = columns.size() == d && fits(draws, n, d) && depth.size() == n &&
                        leapfrogs.size() == n && ending.size() == n &&
                        std::ranges::all_of(series_of_numbers, [&](const auto series) {
                          return (this->*series).size() == n;
                        });
  const bool counted = kept_end.empty() ? states == 0
                                        : kept_end.size() == n && kept_end.back() == states &&
                                              std::ranges::is_sorted(kept_end);
  const std::size_t width = kept_end.empty() ? 0 : kept_dimension();
  const bool of_kept = (!kept_columns || std::ranges::all_of(*kept_columns, is_column)) &&
                       fits(kept, states, width) && fits(mean_offset, n, width) &&
                       fits(mean_square, n, width);
  const bool apart = !kept_position.empty();
  const bool needs_positions = states > 0 && (computed || gradients == KeptGradients::yes);
  const bool positions = (!apart || fits(kept_position, states, coordinates)) &&
                         (!needs_positions || fits(kept_positions(), states, coordinates));
  const bool with_gradients =
      fits(kept_gradient, gradients == KeptGradients::yes ? states : 0, coordinates);
  const bool of_divergences = std::ranges::all_of(divergences, [&](const auto& divergence) {
    return divergence.draw < n && divergence.start.size() == d && divergence.end.size() == d;
  });
  if (of_draws && counted && of_kept && positions && with_gradients && of_divergences) return;
  throw DataError("stored draws and states do not fit together");
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
  // What was not read or stored is shorter already.
  const auto shorten = [](auto& matrix, std::size_t size) {
    if (matrix.size() > size) matrix.resize(size);
  };
  shorten(mean_offset, draws_left * kept_dimension());
  shorten(mean_square, draws_left * kept_dimension());
  shorten(kept, kept_left * kept_dimension());
  shorten(kept_weight, kept_left);
  shorten(kept_position, kept_left * coordinates);
  shorten(kept_gradient, kept_left * coordinates);
  kept_end.resize(draws_left);
  std::erase_if(divergences, [&](const auto& divergence) { return divergence.draw >= draws_left; });
}

}  // namespace rehmc
