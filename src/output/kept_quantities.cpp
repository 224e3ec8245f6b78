// Reads states one after the other; where a model can, only as many quantities as are needed.
#include "rehmc/output/kept_quantities.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>
#include <span>
#include <utility>

#include "rehmc/core/numerics.hpp"

namespace rehmc {

namespace {

/// Reads some quantities of states.
class KeptReader {
 public:
  /// `columns` count the quantities of the density.
  KeptReader(const Density& density, std::vector<std::size_t> columns)
      : model_(density), columns_(std::move(columns)), quantities_(density.quantities()) {
    first_.resize(columns_.empty() ? 0 : *std::ranges::max_element(columns_) + 1);
    generates_ = std::any_of(columns_.begin(), columns_.end(),
                             [&](std::size_t column) { return quantities_[column].generated; });
    can_read_first_ = !generates_;
  }

  /// The states of one draw; their values are appended. Returns how many could not be computed.
  std::uint64_t read(std::span<const std::span<const double>> positions, const Address& address,
                     std::vector<double>& to) {
    std::uint64_t failures = 0;
    KeptStreams streams(address);
    const bool together = !generates_ && read_together(positions);
    for (std::size_t k = 0; k < positions.size(); ++k) {
      Stream stream = streams.next();
      if (together) {
        copy(std::span(together_).subspan(k * quantities_.size(), quantities_.size()), to);
      } else {
        if (!read_one(positions[k], stream)) ++failures;
        copy(can_read_first_ ? first_ : all_, to);
      }
    }
    return failures;
  }

 private:
  void copy(std::span<const double> values, std::vector<double>& to) const {
    for (const std::size_t column : columns_) to.push_back(values[column]);
  }

  /// False if the model failed; values that it did not write are NaN.
  bool read_one(std::span<const double> position, Stream& stream) {
    try {
      if (can_read_first_) {
        std::fill(first_.begin(), first_.end(), nan_value);
        can_read_first_ = model_.evaluate_first_quantities(position, first_);
        if (can_read_first_) return true;
      }
      all_.assign(quantities_.size(), nan_value);
      model_.evaluate_quantities(position, all_, generates_ ? &stream : nullptr);
      return true;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception&) {
      return false;
    }
  }

  /// By the model's own call for many states. If that throws, it is unknown for which of them.
  bool read_together(std::span<const std::span<const double>> positions) {
    if (!model_.computes_quantities_together()) return false;
    together_.resize(positions.size() * quantities_.size());
    views_.clear();
    for (std::size_t k = 0; k < positions.size(); ++k) {
      views_.push_back(std::span(together_).subspan(k * quantities_.size(), quantities_.size()));
    }
    try {
      model_.evaluate_quantities_batch(positions, views_);
      return true;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception&) {
      return false;
    }
  }

  Density model_;
  std::vector<std::size_t> columns_;
  std::vector<Quantity> quantities_;
  bool generates_ = false;
  bool can_read_first_ = false;
  std::vector<double> first_;
  std::vector<double> all_;
  std::vector<double> together_;
  std::vector<std::span<double>> views_;
};

void forget_kept(ChainRecord& record, const std::vector<std::size_t>& columns) {
  record.kept_columns = columns;
  record.kept.clear();
  record.mean_offset.clear();
  record.mean_square.clear();
  record.kept_failures = 0;
  // Any draw is a better centre than 0.
  for (const std::size_t column : columns) {
    const double value = record.size() > 0 ? record.draws[column] : 0;
    record.centre[column] = std::isfinite(value) ? value : 0;
  }
}

/// The moments of one draw's states, about the centre.
void add_moments(ChainRecord& record, std::size_t draw) {
  const std::size_t width = record.kept_dimension();
  for (std::size_t i = 0; i < width; ++i) {
    const double centre = record.centre[(*record.kept_columns)[i]];
    double first = 0;
    double second = 0;
    for (std::size_t k = record.kept_begin(draw); k < record.kept_begin(draw + 1); ++k) {
      const double offset = record.kept[k * width + i] - centre;
      first += record.kept_weight[k] * offset;
      second += record.kept_weight[k] * offset * offset;
    }
    record.mean_offset.push_back(first);
    record.mean_square.push_back(second);
  }
}

/// Columns whose values follow from coordinates need no model.
class MapReader {
 public:
  explicit MapReader(const std::vector<Quantity>& quantities) : quantities_(quantities) {}

  std::uint64_t read(std::span<const std::span<const double>> positions, const Address& /*draw*/,
                     std::vector<double>& to) const {
    for (const std::span<const double> position : positions) {
      for (const Quantity& quantity : quantities_) {
        to.push_back(quantity.value_at(position));
      }
    }
    return 0;
  }

 private:
  std::vector<Quantity> quantities_;
};

template <class Reader>
void read_chain(Reader reader, const std::vector<std::size_t>& columns, const Address& before_first,
                ChainRecord& record) {
  if (record.kept_columns != columns) forget_kept(record, columns);
  if (columns.empty()) return;
  std::vector<std::span<const double>> positions;
  for (std::size_t i = record.mean_offset.size() / columns.size(); i < record.size(); ++i) {
    positions.clear();
    for (std::size_t k = record.kept_begin(i); k < record.kept_begin(i + 1); ++k) {
      positions.push_back(std::span<const double>(record.kept_position)
                              .subspan(k * record.coordinates, record.coordinates));
    }
    Address address = before_first;
    address.iteration += i;
    record.kept_failures += reader.read(positions, address, record.kept);
    add_moments(record, i);
  }
}

/// Calls read(chain, address before its first draw) for every chain whose model computes.
template <class Read>
void for_each_chain(SampleResult& result, const Read& read) {
  for (std::size_t c = 0; c < result.chains.size(); ++c) {
    ChainResult& chain = result.chains[c];
    if (!chain.record.computed) continue;
    read(chain.record, {result.seed, static_cast<std::uint32_t>(c), chain.warmup_iterations});
    chain.quantity_failures.kept = chain.record.kept_failures;
  }
}

template <class Wanted>
std::vector<std::size_t> columns_where(const SampleResult& result, const Wanted& wanted) {
  std::vector<std::size_t> columns;
  for (std::size_t column = 0; column < result.names.size(); ++column) {
    if (result.is_random(column) ? result.recycle_generated : wanted(column)) {
      columns.push_back(column);
    }
  }
  return columns;
}

}  // namespace

bool read_kept_without_model(const std::vector<std::size_t>& columns, SampleResult& result) {
  std::vector<Quantity> quantities;
  for (const std::size_t column : columns) {
    if (column >= result.quantities.size()) return false;
    quantities.push_back(result.quantities[column]);
  }
  if (!std::ranges::all_of(quantities, &Quantity::follows_from_coordinates)) return false;
  for_each_chain(result, [&](ChainRecord& record, const Address& before_first) {
    read_chain(MapReader(quantities), columns, before_first, record);
  });
  return true;
}

void read_kept(const Density& density, const std::vector<std::size_t>& columns,
               SampleResult& result) {
  if (read_kept_without_model(columns, result)) return;
  for_each_chain(result, [&](ChainRecord& record, const Address& before_first) {
    std::vector<std::size_t> quantities;
    for (const std::size_t column : columns) quantities.push_back(record.columns[column]);
    read_chain(KeptReader(density, std::move(quantities)), columns, before_first, record);
  });
}

std::vector<std::size_t> columns_of_states(const SampleResult& result) {
  return columns_where(result, [](std::size_t) { return true; });
}

std::vector<std::size_t> columns_of_parameters(const SampleResult& result) {
  return columns_where(result, [&](std::size_t column) {
    return column >= result.quantities.size() || result.quantities[column].is_parameter();
  });
}

}  // namespace rehmc
