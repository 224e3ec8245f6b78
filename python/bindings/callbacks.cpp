// Calls functions of Python and C for one point, or for a batch of them.
#include "callbacks.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>

#include "rehmc/core/error.hpp"

namespace rehmc::python {

namespace nb = nanobind;
using namespace nanobind::literals;

namespace {

nb::object numpy() { return nb::module_::import_("numpy"); }

[[noreturn]] void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

/// str() of Python.
std::string text_of(nb::handle value) { return nb::cast<std::string>(nb::str(value)); }

/// Copies rows of doubles from whatever numpy understands.
void copy_slowly(nb::handle value, const char* what, std::size_t rows, std::size_t columns,
                 double* to, std::size_t stride) {
  nb::object array = numpy().attr("asarray")(value);
  const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (std::string("fiub").find(kind) == std::string::npos) {
    raise(PyExc_TypeError, std::string("the ") + what + " has dtype " +
                               text_of(nb::object(array.attr("dtype"))) +
                               ", expected real numbers");
  }
  const nb::tuple expected = rows == 0      ? nb::make_tuple(columns)
                             : columns == 0 ? nb::make_tuple(rows)
                                            : nb::make_tuple(rows, columns);
  if (!array.attr("shape").equal(expected)) {
    raise(PyExc_ValueError, std::string("the ") + what + " has shape " +
                                text_of(nb::object(array.attr("shape"))) + ", expected " +
                                text_of(expected));
  }
  array = numpy().attr("ascontiguousarray")(array, "dtype"_a = "float64");
  Py_buffer view;
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_CONTIG_RO) != 0) throw nb::python_error();
  const auto* from = static_cast<const double*>(view.buf);
  const std::size_t width = columns == 0 ? 1 : columns;
  for (std::size_t r = 0; r < std::max<std::size_t>(rows, 1); ++r) {
    std::copy_n(from + r * width, width, to + r * stride);
  }
  PyBuffer_Release(&view);
}

/// The usual case: a contiguous array of doubles of the right shape.
bool copy_fast(nb::handle value, std::size_t rows, std::size_t columns, double* to,
               std::size_t stride) {
  Py_buffer view;
  if (PyObject_GetBuffer(value.ptr(), &view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool fits = view.itemsize == sizeof(double) && view.format != nullptr &&
                    std::string_view(view.format) == "d" &&
                    (rows == 0 ? view.ndim == 1 && view.shape[0] == static_cast<Py_ssize_t>(columns)
                               : view.ndim == 2 && view.shape[0] == static_cast<Py_ssize_t>(rows) &&
                                     view.shape[1] == static_cast<Py_ssize_t>(columns));
  for (std::size_t r = 0; fits && r < std::max<std::size_t>(rows, 1); ++r) {
    std::copy_n(static_cast<const double*>(view.buf) + r * columns, columns, to + r * stride);
  }
  PyBuffer_Release(&view);
  return fits;
}

void copy_numbers(nb::handle value, const char* what, std::size_t rows, std::size_t columns,
                  double* to, std::size_t stride) {
  if (copy_fast(value, rows, columns, to, stride)) return;
  copy_slowly(value, what, rows, columns, to, stride);
}

double number_of(nb::handle value) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
    PyErr_Clear();
    raise(PyExc_TypeError,
          "the log density is " + text_of(nb::repr(value)) + ", expected a number");
  }
  return number;
}

/// The two values that a function returned.
std::pair<nb::object, nb::object> pair_of(const nb::object& value) {
  if (PyTuple_CheckExact(value.ptr()) != 0 && PyTuple_Size(value.ptr()) == 2) {
    return {nb::borrow(PyTuple_GetItem(value.ptr(), 0)),
            nb::borrow(PyTuple_GetItem(value.ptr(), 1))};
  }
  const bool sequence = nb::isinstance<nb::tuple>(value) || nb::isinstance<nb::list>(value);
  if (!sequence || nb::len(value) != 2) {
    raise(PyExc_TypeError, "the function returned " +
                               (value.is_none() ? std::string("None") : text_of(value.type())) +
                               ", expected (log density, gradient)");
  }
  return {nb::object(value[0]), nb::object(value[1])};
}

/// Calls `work`, which may call Python, and passes exceptions on: as a fault if they reject the
/// point, else as the end of the run.
template <class Work>
void in_python(const PythonFunctions& functions, Work&& work) {
  const nb::gil_scoped_acquire lock;
  try {
    work();
  } catch (nb::python_error& error) {
    if (functions.reject && error.matches(*functions.reject)) {
      throw std::domain_error(text_of(error.value()));
    }
    throw PythonAbort(std::move(error));
  } catch (const std::bad_cast& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());  // no fault of the point either
    throw PythonAbort(nb::python_error());
  }
}

}  // namespace

Shared share(nb::object object) {
  return Shared(new nb::object(std::move(object)), [](nb::object* shared) {
    if (Py_IsInitialized() == 0) return;
    const nb::gil_scoped_acquire lock;
    delete shared;
  });
}

Argument::~Argument() {
  if (array_ == nullptr || Py_IsInitialized() == 0) return;
  const nb::gil_scoped_acquire lock;
  drop();
}

void Argument::drop() {
  if (array_ == nullptr) return;
  PyBuffer_Release(&view_);
  Py_DECREF(array_);
  array_ = nullptr;
}

double* Argument::prepare(std::size_t rows, std::size_t columns) {
  // One reference is ours, one that of the view; a model that kept the array has another.
  const bool usable =
      array_ != nullptr && Py_REFCNT(array_) == 2 && rows_ == rows && columns_ == columns;
  if (!usable) {
    drop();
    const nb::object shape =
        rows == 0 ? nb::object(nb::int_(columns)) : nb::make_tuple(rows, columns);
    nb::object fresh = numpy().attr("empty")(shape);
    if (PyObject_GetBuffer(fresh.ptr(), &view_, PyBUF_CONTIG) != 0) throw nb::python_error();
    array_ = fresh.release().ptr();
    rows_ = rows;
    columns_ = columns;
  }
  return static_cast<double*>(view_.buf);
}

double PythonDensity::operator()(std::span<const double> x, std::span<double> gradient) {
  double value = 0;
  in_python(*functions_, [&] {
    std::copy(x.begin(), x.end(), argument_.prepare(0, x.size()));
    const nb::object returned = (*functions_->single)(argument_.array());
    if (functions_->packed) {
      answer_.resize(1 + gradient.size());
      copy_numbers(returned, "packed answer", 0, answer_.size(), answer_.data(), 0);
      value = answer_.front();
      std::copy(answer_.begin() + 1, answer_.end(), gradient.begin());
      return;
    }
    const auto [log_density, slope] = pair_of(returned);
    value = number_of(log_density);
    copy_numbers(slope, "gradient", 0, gradient.size(), gradient.data(), 0);
  });
  return value;
}

void PythonBatchDensity::evaluate_batch(const Batch& batch) {
  const std::size_t d = dimension();
  in_python(*functions_, [&] {
    double* const rows = argument_.prepare(batch.columns, d);
    for (std::size_t c = 0; c < batch.columns; ++c) {
      std::copy_n(batch.positions + c * batch.stride, d, rows + c * d);
    }
    const nb::object returned = (*functions_->many)(argument_.array());
    if (functions_->packed) {
      const std::size_t width = 1 + d;
      answer_.resize(batch.columns * width);
      copy_numbers(returned, "packed answers", batch.columns, width, answer_.data(), width);
      for (std::size_t c = 0; c < batch.columns; ++c) {
        const double* const row = answer_.data() + c * width;
        batch.log_densities[c] = *row;
        std::copy_n(row + 1, d, batch.gradients + c * batch.stride);
      }
      return;
    }
    const auto [log_densities, slopes] = pair_of(returned);
    copy_numbers(log_densities, "vector of log densities", 0, batch.columns, batch.log_densities,
                 0);
    copy_numbers(slopes, "matrix of gradients", batch.columns, d, batch.gradients, batch.stride);
  });
}

double CDensity::operator()(std::span<const double> x, std::span<double> gradient) {
  std::copy(x.begin(), x.end(), x_.begin());
  double value = std::numeric_limits<double>::quiet_NaN();
  const std::int64_t code = function_(x_.size(), x_.data(), gradient.data(), &value, data_);
  if (code == 0) [[likely]]
    return value;
  if (code > 0) return std::numeric_limits<double>::quiet_NaN();
  const nb::gil_scoped_acquire lock;
  const std::string message = "the compiled function returned " + std::to_string(code) +
                              ", which ends the run (0 is success, positive codes reject a point)";
  PyErr_SetString(PyExc_RuntimeError, message.c_str());
  throw PythonAbort(nb::python_error());
}

struct Threads::Running {
  std::mutex mutex;
  std::set<unsigned long> threads;
};

namespace {

/// What one thread remembers between the hooks.
thread_local PyGILState_STATE entered;
thread_local PyThreadState* released = nullptr;

}  // namespace

ThreadHooks Threads::hooks() {
  running_ = std::make_shared<Running>();
  const auto running = running_;
  return {[running] {
            entered = PyGILState_Ensure();
            const unsigned long own = PyThread_get_thread_ident();
            released = PyEval_SaveThread();
            const std::lock_guard lock(running->mutex);
            running->threads.insert(own);
          },
          [running] {
            {
              const std::lock_guard lock(running->mutex);
              running->threads.erase(PyThread_get_thread_ident());
            }
            PyEval_RestoreThread(released);
            PyGILState_Release(entered);
          }};
}

void Threads::interrupt() const {
  if (!running_) return;
  const std::lock_guard lock(running_->mutex);
  for (const unsigned long thread : running_->threads) {
    PyThreadState_SetAsyncExc(thread, PyExc_KeyboardInterrupt);
  }
}

}  // namespace rehmc::python
