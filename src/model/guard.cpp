// The guard: counts calls, and turns faults into -inf or, at a start, into errors with their cause.
#include "rehmc/model/guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <utility>
#include <vector>

#include "rehmc/core/abort.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/core/stan_name.hpp"

namespace rehmc {
namespace {

/// Whether every entry is finite. The exponent of a NaN or an infinity is all ones, so that adding
/// one to it carries into the sign bit, which was cleared: no branch, no floating-point latency.
bool all_finite(std::span<const double> values) noexcept {
  constexpr std::uint64_t magnitude = 0x7fff'ffff'ffff'ffff;
  constexpr std::uint64_t exponent_one = 0x0010'0000'0000'0000;
  std::uint64_t carries = 0;
  for (const double value : values) {
    carries |= (std::bit_cast<std::uint64_t>(value) & magnitude) + exponent_one;
  }
  return (carries >> 63) == 0;
}

Fault fault_of_value(double value) noexcept {
  if (std::isfinite(value)) return Fault::none;
  if (std::isnan(value)) return Fault::not_a_number;
  return value > 0 ? Fault::positive_infinity : Fault::negative_infinity;
}

/// A NaN that no model computes: an entry that still has these bits was never written.
const double unwritten = std::bit_cast<double>(std::uint64_t{0x7ff8'c0de'dead'beef});

bool is_unwritten(double value) noexcept {
  return std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(unwritten);
}

std::string list_point(const Density& density, std::span<const double> x) {
  constexpr std::size_t shown = 6;
  const std::vector<std::string> names = density.names();
  std::string list;
  for (std::size_t i = 0; i < std::min(shown, x.size()); ++i) {
    list += fmt::format("{}{} = {}", i == 0 ? "" : ", ", stan_name(names[i]), x[i]);
  }
  if (x.size() > shown) list += fmt::format(", ... ({} coordinates)", x.size());
  return list;
}

/// The entries that satisfy `wrong`, in words: the first by name, number and value, and how many.
template <class Predicate>
std::string list_entries(const Density& density, std::span<const double> entries, Predicate wrong) {
  const auto first = std::ranges::find_if(entries, wrong);
  const auto count = std::ranges::count_if(entries, wrong);
  const auto index = static_cast<std::size_t>(first - entries.begin());
  return fmt::format("{} (coordinate {} of {}){}", stan_name(density.names()[index]), index + 1,
                     entries.size(),
                     count > 1 ? fmt::format(" and {} more", count - 1) : std::string());
}

}  // namespace

std::string_view describe(Fault fault) noexcept {
  switch (fault) {
    case Fault::none:
      return "no fault";
    case Fault::not_a_number:
      return "the log density is NaN";
    case Fault::positive_infinity:
      return "the log density is +inf";
    case Fault::negative_infinity:
      return "the log density is -inf (outside the support)";
    case Fault::bad_gradient:
      return "the gradient has an entry that is not finite";
    case Fault::exception:
      return "the model threw an exception";
  }
  return "unknown fault";
}

Guard::Guard(Density density) : density_(std::move(density)), dimension_(density_.dimension()) {
  if (dimension_ == 0) {
    throw ModelError("the log density has dimension 0: there is nothing to sample");
  }
  if (dimension_ > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(double)) {
    throw ModelError(fmt::format(
        "the log density has dimension {}: did its dimension() return a negative number?",
        dimension_));
  }
}

double Guard::operator()(std::span<const double> x, std::span<double> gradient) {
  const double value = evaluate(x, gradient);
  check_gradient(gradient);
  return last_fault_ == Fault::none ? value : -infinity;
}

double Guard::evaluate(std::span<const double> x, std::span<double> gradient) {
  ++evaluations_;
  double value = -infinity;
  Fault fault = Fault::exception;
  try {
    value = density_(x, gradient);
    fault = fault_of_value(value);
  } catch (const std::bad_alloc&) {
    throw;  // says nothing about the point: a run with more memory would go on from it
  } catch (const Abort&) {
    throw;  // no fault of the point: the model wants the run to end
  } catch (const std::exception& error) {
    keep_message(error.what());
  } catch (...) {
    keep_message("(an exception that is not a std::exception)");
  }
  last_fault_ = fault;
  if (fault == Fault::none) [[likely]]
    return value;
  ++faults_[static_cast<std::size_t>(fault)];
  return -infinity;
}

void Guard::check_gradient(std::span<const double> gradient) {
  if (last_fault_ != Fault::none || all_finite(gradient)) return;
  last_fault_ = Fault::bad_gradient;
  ++faults_[static_cast<std::size_t>(Fault::bad_gradient)];
}

void Guard::keep_message(std::string_view message) {
  if (first_message_.empty()) first_message_ = message.empty() ? "(no message)" : message;
}

double Guard::evaluate_strictly(std::span<const double> x, std::span<double> gradient) {
  if (x.size() != dimension_ || gradient.size() != dimension_) {
    throw ModelError(
        fmt::format("the log density has dimension {}, but was called with a point of length {} "
                    "and a gradient of length {}",
                    dimension_, x.size(), gradient.size()));
  }
  const auto not_finite = [](double value) { return !std::isfinite(value); };
  if (std::ranges::any_of(x, not_finite)) {
    const double value = *std::ranges::find_if(x, not_finite);
    throw ModelError(fmt::format("the point is not finite: {} is {}",
                                 list_entries(density_, x, not_finite), value));
  }

  // Extra cells after the gradient, as many as it has and a few more, show what a model with a
  // wrong dimension writes.
  std::vector<double> cells(2 * dimension_ + 64, unwritten);
  const std::span<double> entries = std::span(cells).first(dimension_);
  const std::span<double> after = std::span(cells).subspan(dimension_);
  const std::string first_message = std::exchange(first_message_, {});
  const double value = (*this)(x, entries);
  const std::string message = first_message_;
  if (!first_message.empty()) first_message_ = first_message;

  const auto at_point = [&](const std::string& what) {
    return fmt::format("{}; at {}", what, list_point(density_, x));
  };
  const auto fail_length = [&](const std::string& what) {
    if (last_fault_ == Fault::none) {
      last_fault_ = Fault::bad_gradient;
      ++faults_[static_cast<std::size_t>(Fault::bad_gradient)];
    }
    throw GradientLengthError(at_point(what));
  };
  const auto written = [](double cell) { return !is_unwritten(cell); };
  if (std::ranges::any_of(after, written)) {
    const auto last = std::find_if(after.rbegin(), after.rend(), written);
    fail_length(fmt::format(
        "the model wrote past the end of the gradient: its dimension is {}, it wrote entry {}",
        dimension_, dimension_ + static_cast<std::size_t>(after.rend() - last)));
  }
  if (last_fault_ == Fault::exception) {
    throw ModelError(at_point(fmt::format("the model threw an exception: {}", message)));
  }
  if (last_fault_ != Fault::none && last_fault_ != Fault::bad_gradient) {
    throw ModelError(at_point(std::string(describe(last_fault_))));
  }
  if (std::ranges::any_of(entries, is_unwritten)) {
    fail_length(fmt::format(
        "the model did not write the gradient of {}: it must set (not add to) all {} entries",
        list_entries(density_, entries, is_unwritten), dimension_));
  }
  if (last_fault_ == Fault::bad_gradient) {
    const double wrong = *std::ranges::find_if(entries, not_finite);
    throw ModelError(at_point(fmt::format("the gradient is not finite: {} has {}",
                                          list_entries(density_, entries, not_finite), wrong)));
  }
  std::ranges::copy(entries, gradient.begin());
  return value;
}

}  // namespace rehmc
