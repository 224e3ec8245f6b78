// Runs chains on fibers of one thread and computes their gradients together.
#pragma once

#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "rehmc/model/log_density.hpp"

namespace rehmc {

/// Runs a function on several fibers. Each runs until it needs a gradient; when all that are still
/// running need one, a single batched call computes them all.
class FiberBatch {
 public:
  FiberBatch(const Density& density, std::size_t fibers);
  ~FiberBatch();
  FiberBatch(const FiberBatch&) = delete;
  FiberBatch& operator=(const FiberBatch&) = delete;

  /// Calls `body` once on every fiber, and returns when all have returned. It must not throw.
  void run(const std::function<void()>& body);

  /// On a fiber: the log density and gradient, after waiting for the others. Elsewhere:
  /// immediately, as a batch of one. Throws what the model threw at this point.
  double evaluate(std::span<const double> x, std::span<double> gradient);

 private:
  struct Request;
  struct Fiber;

  /// Columns of positions and gradients, aligned to cache lines.
  class Columns {
   public:
    Columns(std::size_t dimension, std::size_t columns);
    double* position(std::size_t column) { return data_.get() + column * stride_; }
    double* gradient(std::size_t column) { return position(columns_ + column); }
    double value(std::size_t column) const { return values_[column]; }
    /// This many columns, from one on.
    Batch part(std::size_t first, std::size_t columns);

   private:
    struct Free {
      void operator()(double* data) const { ::operator delete[](data, std::align_val_t{64}); }
    };
    std::size_t columns_;
    std::size_t stride_;
    std::unique_ptr<double[], Free> data_;
    std::vector<double> values_;
  };

  /// With a guard page below it.
  class Stack {
   public:
    Stack();
    ~Stack();
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;
    const boost::context::stack_context& place() const { return place_; }

   private:
    boost::context::stack_context place_;
  };

  void wake(Fiber& fiber);
  void wait(Fiber& fiber);
  void ask(std::size_t column, std::span<const double> x, std::span<const double> gradient);
  void answer();
  Density density_;
  std::deque<Stack> stacks_;  ///< one per fiber
  Columns columns_;
  std::vector<Request*> requests_;  ///< one per column, in order of arrival
  Fiber* running_ = nullptr;
};

}  // namespace rehmc
