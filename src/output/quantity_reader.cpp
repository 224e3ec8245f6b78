// Reads quantities: coordinates, which cost nothing, or what the model computes from a state.
#include "rehmc/output/quantity_reader.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>
#include <utility>

#include "rehmc/core/numerics.hpp"

namespace rehmc {

namespace {

bool any_generated(const Density& density) {
  const std::vector<Quantity> quantities = density.quantities();
  return std::ranges::any_of(quantities, [](const Quantity& q) { return q.generated; });
}

std::vector<std::size_t> all_of(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace

QuantityReader::QuantityReader(const Density& density, std::vector<std::size_t> columns,
                               GeneratedOfKept generated_of_kept, KeptQuantities kept)
    : dimension_(density.dimension()),
      quantities_(density.quantities().size()),
      generates_(any_generated(density)),
      columns_(columns.empty() ? all_of(quantities_) : std::move(columns)),
      generated_of_kept_(generated_of_kept),
      kept_quantities_(kept) {
  if (!density.reads_coordinates()) model_ = density;
}

void QuantityReader::set_centre(std::span<const double> position) {
  // Any value of a generated quantity is a better centre than 0.
  Stream stream(Address{}, Purpose::generated_of_kept);
  read_into(position, generated_of_kept_ == GeneratedOfKept::yes ? &stream : nullptr, centre_);
  for (double& value : centre_) {
    if (!std::isfinite(value)) value = 0;
  }
}

void QuantityReader::copy_recorded(std::span<const double> all, std::vector<double>& to) const {
  to.clear();
  for (const std::size_t column : columns_) to.push_back(all[column]);
}

bool QuantityReader::read_into(std::span<const double> position, Stream* stream,
                               std::vector<double>& to) {
  if (!model_) {
    copy_recorded(position, to);
    return true;
  }
  all_.assign(quantities_, nan_value);
  bool computed = true;
  try {
    model_->evaluate_quantities(position, all_, stream);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    computed = false;
  }
  copy_recorded(all_, to);
  return computed;
}

std::span<const double> QuantityReader::read(std::span<const double> position, Stream* stream) {
  if (reads_positions()) return position;
  read_into(position, stream, values_);
  return values_;
}

void QuantityReader::start_draw(const Transition& transition, bool of_warmup) {
  draw_ = {};
  draw_.transition = &transition;
  draw_.of_warmup = of_warmup;
  draw_.positions_are_values = reads_positions();
  draw_.computed = computes();
  draw_.reader = this;
  divergence_read_ = false;
}

const ReadDraw& QuantityReader::read_warmup(const Transition& transition, const Address& address) {
  start_draw(transition, true);
  Stream stream(address, Purpose::generated);
  draw_.values = read(transition.state.position, &stream);
  return draw_;
}

ReadDivergence QuantityReader::divergence() {
  const Divergence& divergence = draw_.transition->divergence;
  if (!divergence_read_) {
    read_into(divergence.start, nullptr, divergence_start_);
    read_into(divergence.end, nullptr, divergence_end_);
    divergence_read_ = true;
  }
  return {divergence_start_, divergence_end_};
}

const ReadDraw& QuantityReader::read(const Transition& transition, const Address& address) {
  start_draw(transition, false);
  read_gradients(transition);
  if (reads_positions()) {
    draw_.values = transition.state.position;
    draw_.first = transition.feature_means.first;
    draw_.second = transition.feature_means.second;
    draw_.kept = transition.recycled;
    return draw_;
  }
  if (model_ && kept_quantities_ == KeptQuantities::later) {
    Stream stream(address, Purpose::generated);
    if (!read_into(transition.state.position, &stream, values_)) ++draw_.failures.draws;
    draw_.values = values_;
    draw_.kept = transition.recycled;
    return draw_;
  }
  read_all(transition, address);
  if (model_) {
    average_kept();
  } else {
    copy_recorded(transition.feature_means.first, first_);
    copy_recorded(transition.feature_means.second, second_);
  }
  draw_.values = values_;
  draw_.first = first_;
  draw_.second = second_;
  draw_.kept = kept_view_;
  return draw_;
}

void QuantityReader::read_gradients(const Transition& transition) {
  const FeatureMeans& features = transition.feature_means;
  draw_.gradients = {};
  if (model_ || features.gradient.empty()) return;
  std::array means{features.gradient, features.first_gradient, features.second_gradient};
  for (std::size_t k = 0; k < means.size(); ++k) {
    if (reads_positions()) continue;
    copy_recorded(means[k], gradients_[k]);
    means[k] = gradients_[k];
  }
  draw_.gradients = {means[0], means[1], means[2]};
}

void QuantityReader::read_all(const Transition& transition, const Address& address) {
  positions_.assign(1, transition.state.position);
  for (const WeightedState& state : transition.recycled) {
    positions_.push_back(state.state.position);
  }
  const bool together = model_ && !generates_ && evaluate_together();
  const auto read_state = [&](std::size_t i, Stream* own, std::vector<double>& to) {
    if (!together) return read_into(positions_[i], own, to);
    copy_recorded(together_views_[i], to);
    return true;
  };
  Stream stream(address, Purpose::generated);
  if (!read_state(0, &stream, values_)) ++draw_.failures.draws;
  kept_view_.clear();
  kept_.resize(std::max(kept_.size(), transition.recycled.size()));
  KeptStreams streams(address);
  for (std::size_t k = 0; k < transition.recycled.size(); ++k) {
    const WeightedState& state = transition.recycled[k];
    Stream own = streams.next();
    Stream* const stream_of_state = generated_of_kept_ == GeneratedOfKept::yes ? &own : nullptr;
    if (!read_state(k + 1, stream_of_state, kept_[k])) ++draw_.failures.kept;
    kept_view_.push_back({{kept_[k], {}, state.state.log_density}, state.weight});
  }
}

/// Some models compute the quantities of many states faster in one call. If that throws, it is
/// unknown for which of them, so its results are not used.
bool QuantityReader::evaluate_together() {
  together_.resize(positions_.size() * quantities_);
  together_views_.clear();
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    together_views_.push_back(std::span(together_).subspan(i * quantities_, quantities_));
  }
  try {
    model_->evaluate_quantities_batch(positions_, together_views_);
    return true;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return false;
  }
}

void QuantityReader::average_kept() {
  first_.assign(columns_.size(), 0);
  second_.assign(columns_.size(), 0);
  for (const WeightedState& state : kept_view_) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const double offset = state.state.position[i] - centre_[i];
      first_[i] += state.weight * offset;
      second_[i] += state.weight * offset * offset;
    }
  }
}

}  // namespace rehmc
