// Copies batches into columns of its own, and the answers back.
#include "rehmc/model/padded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {

namespace {

constexpr std::size_t line = 64 / sizeof(double);

struct Free {
  void operator()(double* data) const { ::operator delete[](data, std::align_val_t{64}); }
};

class Padded {
 public:
  Padded(Density density, std::size_t columns)
      : density_(std::move(density)),
        columns_(columns),
        stride_((density_.dimension() + line - 1) / line * line),
        values_(columns) {
    allocate();
  }
  // Copies have columns of their own; what was in them does not matter.
  Padded(const Padded& other)
      : density_(other.density_),
        columns_(other.columns_),
        stride_(other.stride_),
        values_(other.columns_) {
    allocate();
  }
  Padded(Padded&&) noexcept = default;
  Padded& operator=(const Padded&) = delete;
  Padded& operator=(Padded&&) = delete;
  ~Padded() = default;

  std::size_t dimension() const { return density_.dimension(); }
  std::vector<std::string> names() const { return density_.names(); }

  double operator()(std::span<const double> x, std::span<double> gradient) {
    double value = 0;
    evaluate_batch({1, x.size(), x.data(), &value, gradient.data()});
    return value;
  }

  void evaluate_batch(const Batch& batch) {
    for (std::size_t first = 0; first < batch.columns; first += columns_) {
      evaluate_some(batch, first, std::min(columns_, batch.columns - first));
    }
  }

 private:
  void allocate() {
    const std::size_t size = 2 * columns_ * stride_;
    data_.reset(
        static_cast<double*>(::operator new[](size * sizeof(double), std::align_val_t{64})));
    std::fill_n(data_.get(), size, 0.0);
  }
  double* position(std::size_t column) { return data_.get() + column * stride_; }
  double* gradient(std::size_t column) { return position(columns_ + column); }

  void evaluate_some(const Batch& batch, std::size_t first, std::size_t count) {
    const std::size_t d = dimension();
    for (std::size_t c = 0; c < columns_; ++c) {
      const std::size_t from = (first + (c < count ? c : 0)) * batch.stride;
      std::copy_n(batch.positions + from, d, position(c));
      // What the model does not write stays unchanged, so that the guard can detect it.
      std::copy_n(batch.gradients + from, d, gradient(c));
    }
    density_.evaluate_batch({columns_, stride_, position(0), values_.data(), gradient(0)});
    for (std::size_t c = 0; c < count; ++c) {
      batch.log_densities[first + c] = values_[c];
      std::copy_n(gradient(c), d, batch.gradients + (first + c) * batch.stride);
    }
  }

  Density density_;
  std::size_t columns_;
  std::size_t stride_;
  std::unique_ptr<double[], Free> data_;  ///< positions, then gradients
  std::vector<double> values_;
};

/// The same for a density with quantities of its own.
class PaddedQuantities : public Padded {
 public:
  PaddedQuantities(const Density& density, std::size_t columns)
      : Padded(density, columns), reader_(density) {}
  std::vector<Quantity> quantities() const { return reader_.quantities(); }
  void evaluate_quantities(std::span<const double> x, std::span<double> values, Stream* stream) {
    reader_.evaluate_quantities(x, values, stream);
  }

 private:
  Density reader_;
};

}  // namespace

Density padded(const Density& density, std::size_t columns) {
  require_setting("columns of a padded batch", static_cast<double>(columns), at_least(1));
  if (!density.is_batched()) {
    throw ModelError("only a density with a batched call can be padded; this one has none");
  }
  if (density.reads_coordinates()) return Padded(density, columns);
  return PaddedQuantities(density, columns);
}

}  // namespace rehmc
