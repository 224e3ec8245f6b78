// What rehmc requires of a model: the value and gradient of an unnormalised log density on R^d.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/quantity.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc {

/// A log density l on R^d, up to a constant. `density(x, gradient)` returns l(x) and writes all d
/// entries of the gradient of l at x. It may throw, or return NaN or an infinity, where l is not
/// defined: the guard turns that into a divergence. Copies must be independent of each other, since
/// every chain gets its own; shared data should be held by a shared_ptr to const.
template <class D>
concept LogDensity = std::copy_constructible<D> &&
    requires(D& density, const D& constant, std::span<const double> x, std::span<double> gradient) {
  { density(x, gradient) } -> std::convertible_to<double>;
  { constant.dimension() } -> std::convertible_to<std::size_t>;
};

/// A log density that also names its parameters, one name per coordinate.
template <class D>
concept NamedLogDensity = LogDensity<D> && requires(const D& constant) {
  { constant.names() } -> std::convertible_to<std::vector<std::string>>;
};

/// A log density that reports other numbers than its coordinates. `evaluate_quantities(x, values,
/// stream)` writes one value for each of `quantities()`; without a stream (nullptr) those that are
/// generated become NaN. It may throw: values not written by then are NaN.
template <class D>
concept QuantityLogDensity = LogDensity<D> &&
    requires(D& density, const D& constant, std::span<const double> x, std::span<double> values,
             Stream* stream) {
  { constant.quantities() } -> std::convertible_to<std::vector<Quantity>>;
  density.evaluate_quantities(x, values, stream);
};

/// Several points: their positions, with space for their log densities and gradients. Column c
/// begins `stride` numbers after column c - 1, on a cache line.
struct Batch {
  std::size_t columns = 0;
  std::size_t stride = 0;
  const double* positions = nullptr;
  double* log_densities = nullptr;
  double* gradients = nullptr;
};

/// A log density that also evaluates many points in one call, faster than one by one:
/// `density.evaluate_batch(batch)` writes the log density and the whole gradient of every column.
/// What it writes for a column must not depend, even by rounding, on the other columns or on their
/// number; otherwise draws would depend on how chains are grouped. It may differ from the plain
/// call by rounding. It may throw: the columns are then evaluated one by one.
template <class D>
concept BatchedLogDensity = LogDensity<D> && requires(D& density, const Batch& batch) {
  density.evaluate_batch(batch);
};

/// A log density that computes the quantities of many states faster in one call,
/// `density.evaluate_quantities_batch(positions, values)`; for densities without generated
/// quantities.
template <class D>
concept BatchedQuantityLogDensity = QuantityLogDensity<D> &&
    requires(D& density, std::span<const std::span<const double>> positions,
             std::span<const std::span<double>> values) {
  density.evaluate_quantities_batch(positions, values);
};

/// A log density that can compute the first of its quantities without the others, faster:
/// `density.evaluate_first_quantities(x, values)`; they are not random.
template <class D>
concept PartialQuantityLogDensity = QuantityLogDensity<D> &&
    requires(D& density, std::span<const double> x, std::span<double> values) {
  density.evaluate_first_quantities(x, values);
};

/// Computes log densities and gradients on behalf of a density's handles; see Density::through.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual double evaluate(std::span<const double> x, std::span<double> gradient) = 0;
};

/// A type-erased log density. Copying it copies the model.
class Density {
 public:
  // The order matters: this must not evaluate whether Density itself is a LogDensity.
  template <class D>
  requires(!std::same_as<D, Density> && LogDensity<D>) Density(D density)
      : model_(std::make_unique<Holder<D>>(std::move(density))) {}

  Density(const Density& other) : model_(other.model_->clone()) {}
  Density(Density&&) noexcept = default;
  Density& operator=(const Density& other) {
    model_ = other.model_->clone();
    return *this;
  }
  Density& operator=(Density&&) noexcept = default;
  ~Density() = default;

  double operator()(std::span<const double> x, std::span<double> gradient) {
    return model_->evaluate(x, gradient);
  }
  std::size_t dimension() const { return model_->dimension(); }

  /// Whether the model itself evaluates many points in one call.
  bool is_batched() const { return model_->is_batched(); }
  /// Evaluates all columns: by the model's batch call, or else one by one.
  void evaluate_batch(const Batch& batch) { model_->evaluate_batch(batch); }

  /// The same density, but the evaluator computes its log densities and gradients, also for all
  /// copies. The copies share one model for everything else and so belong to one thread at a time.
  Density through(std::shared_ptr<Evaluator> evaluator) const {
    return Density(std::make_unique<Relayed>(model_->clone(), std::move(evaluator)));
  }

  /// One name per coordinate; "x.1", "x.2", ... if the model has none. ModelError if their number
  /// is not the dimension.
  std::vector<std::string> names() const { return model_->names(); }

  /// What users read of a state: the named coordinates, unless the model declares something else.
  std::vector<Quantity> quantities() const { return model_->quantities(); }
  /// Whether those are the coordinates themselves.
  bool reads_coordinates() const { return model_->reads_coordinates(); }
  /// Writes them for the state at x, in that order. Without a stream, generated ones become NaN.
  void evaluate_quantities(std::span<const double> x, std::span<double> values, Stream* stream) {
    model_->evaluate_quantities(x, values, stream);
  }
  /// Writes as many as there are values, the first ones; none of them may be random. False if the
  /// model can only compute all of them.
  bool evaluate_first_quantities(std::span<const double> x, std::span<double> values) {
    return model_->evaluate_first_quantities(x, values);
  }
  /// Whether the model itself computes the quantities of many states in one call.
  bool computes_quantities_together() const { return model_->computes_quantities_together(); }
  /// Writes them for many states, without a stream.
  void evaluate_quantities_batch(std::span<const std::span<const double>> positions,
                                 std::span<const std::span<double>> values) {
    model_->evaluate_quantities_batch(positions, values);
  }

 private:
  struct Model {
    virtual ~Model() = default;
    virtual double evaluate(std::span<const double> x, std::span<double> gradient) = 0;
    virtual std::size_t dimension() const = 0;
    virtual bool is_batched() const = 0;
    virtual void evaluate_batch(const Batch& batch) = 0;
    virtual std::vector<std::string> names() const = 0;
    virtual std::vector<Quantity> quantities() const = 0;
    virtual bool reads_coordinates() const = 0;
    virtual void evaluate_quantities(std::span<const double> x, std::span<double> values,
                                     Stream* stream) = 0;
    virtual bool evaluate_first_quantities(std::span<const double> x, std::span<double> values) = 0;
    virtual bool computes_quantities_together() const = 0;
    virtual void evaluate_quantities_batch(std::span<const std::span<const double>> positions,
                                           std::span<const std::span<double>> values) {
      for (std::size_t i = 0; i < positions.size(); ++i) {
        evaluate_quantities(positions[i], values[i], nullptr);
      }
    }
    virtual std::unique_ptr<Model> clone() const = 0;

    void evaluate_columns(const Batch& batch) {
      const std::size_t d = dimension();
      for (std::size_t c = 0; c < batch.columns; ++c) {
        batch.log_densities[c] = evaluate({batch.positions + c * batch.stride, d},
                                          {batch.gradients + c * batch.stride, d});
      }
    }
  };

  template <LogDensity D>
  struct Holder final : Model {
    explicit Holder(D d) : density(std::move(d)) {}
    double evaluate(std::span<const double> x, std::span<double> gradient) override {
      return density(x, gradient);
    }
    std::size_t dimension() const override { return density.dimension(); }
    bool is_batched() const override { return BatchedLogDensity<D>; }
    void evaluate_batch(const Batch& batch) override {
      if constexpr (BatchedLogDensity<D>) {
        density.evaluate_batch(batch);
      } else {
        this->evaluate_columns(batch);
      }
    }
    std::vector<std::string> names() const override {
      if constexpr (NamedLogDensity<D>) {
        std::vector<std::string> given = density.names();
        if (given.size() == dimension()) return given;
        throw ModelError("the log density has dimension " + std::to_string(dimension()) +
                         " but gives " + std::to_string(given.size()) + " names");
      } else {
        std::vector<std::string> numbered;
        numbered.reserve(dimension());
        for (std::size_t i = 1; i <= dimension(); ++i) numbered.push_back("x." + std::to_string(i));
        return numbered;
      }
    }
    std::vector<Quantity> quantities() const override {
      if constexpr (QuantityLogDensity<D>) {
        return density.quantities();
      } else {
        std::vector<Quantity> coordinates;
        for (std::string& name : names()) {
          coordinates.push_back({std::move(name), coordinates.size(), false});
        }
        return coordinates;
      }
    }
    bool reads_coordinates() const override { return !QuantityLogDensity<D>; }
    void evaluate_quantities(std::span<const double> x, std::span<double> values,
                             Stream* stream) override {
      if constexpr (QuantityLogDensity<D>) {
        density.evaluate_quantities(x, values, stream);
      } else {
        std::copy(x.begin(), x.end(), values.begin());
      }
    }
    bool evaluate_first_quantities(std::span<const double> x, std::span<double> values) override {
      if constexpr (PartialQuantityLogDensity<D>) density.evaluate_first_quantities(x, values);
      return PartialQuantityLogDensity<D>;
    }
    bool computes_quantities_together() const override { return BatchedQuantityLogDensity<D>; }
    void evaluate_quantities_batch(std::span<const std::span<const double>> positions,
                                   std::span<const std::span<double>> values) override {
      if constexpr (BatchedQuantityLogDensity<D>) {
        density.evaluate_quantities_batch(positions, values);
      } else {
        Model::evaluate_quantities_batch(positions, values);
      }
    }
    std::unique_ptr<Model> clone() const override { return std::make_unique<Holder>(density); }
    D density;
  };

  struct Relayed final : Model {
    Relayed(std::shared_ptr<Model> m, std::shared_ptr<Evaluator> e)
        : model(std::move(m)), evaluator(std::move(e)) {}
    double evaluate(std::span<const double> x, std::span<double> gradient) override {
      return evaluator->evaluate(x, gradient);
    }
    std::size_t dimension() const override { return model->dimension(); }
    bool is_batched() const override { return false; }
    void evaluate_batch(const Batch& batch) override { evaluate_columns(batch); }
    std::vector<std::string> names() const override { return model->names(); }
    std::vector<Quantity> quantities() const override { return model->quantities(); }
    bool reads_coordinates() const override { return model->reads_coordinates(); }
    void evaluate_quantities(std::span<const double> x, std::span<double> values,
                             Stream* stream) override {
      model->evaluate_quantities(x, values, stream);
    }
    bool evaluate_first_quantities(std::span<const double> x, std::span<double> values) override {
      return model->evaluate_first_quantities(x, values);
    }
    bool computes_quantities_together() const override {
      return model->computes_quantities_together();
    }
    void evaluate_quantities_batch(std::span<const std::span<const double>> positions,
                                   std::span<const std::span<double>> values) override {
      model->evaluate_quantities_batch(positions, values);
    }
    std::unique_ptr<Model> clone() const override {
      return std::make_unique<Relayed>(model, evaluator);
    }
    std::shared_ptr<Model> model;
    std::shared_ptr<Evaluator> evaluator;
  };

  explicit Density(std::unique_ptr<Model> model) : model_(std::move(model)) {}

  std::unique_ptr<Model> model_;
};

/// A log density from its dimension and a function `double(span<const double> x, span<double>
/// gradient)`.
template <class F>
class FunctionDensity {
 public:
  FunctionDensity(std::size_t dimension, F function)
      : dimension_(dimension), function_(std::move(function)) {}
  double operator()(std::span<const double> x, std::span<double> gradient) {
    return function_(x, gradient);
  }
  std::size_t dimension() const { return dimension_; }

 private:
  std::size_t dimension_;
  F function_;
};

}  // namespace rehmc
