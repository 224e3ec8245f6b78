// Densities that call Python or C functions, and what they need of the interpreter.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rehmc/core/abort.hpp"
#include "rehmc/model/log_density.hpp"
#include "rehmc/run/engine.hpp"

namespace rehmc::python {

/// An exception of Python on its way through C++.
class PythonAbort : public Abort {
 public:
  explicit PythonAbort(nanobind::python_error&& error)
      : error_(std::make_shared<nanobind::python_error>(std::move(error))) {}
  /// Makes it the current exception of Python again.
  void restore() const { error_->restore(); }

 private:
  std::shared_ptr<nanobind::python_error> error_;
};

/// A reference to a Python object that threads without the interpreter's lock may copy and drop.
using Shared = std::shared_ptr<nanobind::object>;
Shared share(nanobind::object object);

/// An array of numpy that the model gets as its argument. It is used again only if the model did
/// not keep it.
class Argument {
 public:
  Argument() = default;
  ~Argument();
  Argument(const Argument&) {}  // each has its own
  Argument& operator=(const Argument&) = delete;

  /// Room for these rows (0: no rows, a vector); the lock must be held.
  double* prepare(std::size_t rows, std::size_t columns);
  nanobind::handle array() const { return array_; }

 private:
  void drop();

  PyObject* array_ = nullptr;
  Py_buffer view_{};
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
};

/// Functions of Python: `single(x)` returns the log density and its gradient; `many(X)`, if there
/// is one, the log densities and gradients of the rows of X. Packed ones return a single array,
/// with the log density before the gradient in every row: where an array is expensive to make, that
/// is cheaper.
struct PythonFunctions {
  Shared single;
  Shared many;
  Shared reject;  ///< the exception by which a function rejects a point
  bool packed = false;
  std::size_t dimension = 0;
  std::vector<std::string> names;
};

/// A density of one point at a time.
class PythonDensity {
 public:
  explicit PythonDensity(std::shared_ptr<const PythonFunctions> functions)
      : functions_(std::move(functions)) {}
  double operator()(std::span<const double> x, std::span<double> gradient);
  std::size_t dimension() const { return functions_->dimension; }
  std::vector<std::string> names() const { return functions_->names; }

 protected:
  std::shared_ptr<const PythonFunctions> functions_;
  Argument argument_;
  std::vector<double> answer_;  ///< of a packed function
};

/// The same with a function of many points.
class PythonBatchDensity : public PythonDensity {
 public:
  using PythonDensity::PythonDensity;
  void evaluate_batch(const Batch& batch);
};

/// A compiled function: `int64 f(uint64 dimension, double* x, double* gradient, double*
/// log_density, void* data)`. It returns 0, or a positive number to reject the point, or a negative
/// one to end the run.
class CDensity {
 public:
  using Function = std::int64_t (*)(std::uint64_t, double*, double*, double*, void*);
  CDensity(Function function, void* data, Shared owner, std::vector<std::string> names)
      : function_(function),
        data_(data),
        owner_(std::move(owner)),
        names_(std::make_shared<const std::vector<std::string>>(std::move(names))),
        x_(names_->size()) {}
  double operator()(std::span<const double> x, std::span<double> gradient);
  std::size_t dimension() const { return x_.size(); }
  std::vector<std::string> names() const { return *names_; }

 private:
  Function function_;
  void* data_;
  Shared owner_;  ///< of the function and its data
  std::shared_ptr<const std::vector<std::string>> names_;
  std::vector<double> x_;  ///< a copy, which the function may change
};

/// Gives every thread of a run one thread state of the interpreter for all its calls, and lists the
/// threads that are in a run, so that a model that does not return can be interrupted.
class Threads {
 public:
  ThreadHooks hooks();
  /// Raises KeyboardInterrupt in all of them.
  void interrupt() const;

 private:
  struct Running;
  std::shared_ptr<Running> running_;
};

}  // namespace rehmc::python
