// The guard: the only code that calls a model's gradient; it catches and counts the model's errors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rehmc/core/error.hpp"
#include "rehmc/model/log_density.hpp"

namespace rehmc {

/// Why a log density could not be used at a point.
enum class Fault : std::uint8_t {
  none,
  not_a_number,       ///< the log density is NaN
  positive_infinity,  ///< the log density is +inf
  negative_infinity,  ///< the log density is -inf: the point is outside the support
  bad_gradient,       ///< the value is finite but an entry of the gradient is not
  exception,          ///< the model threw
};
/// For readers of stored values.
constexpr Fault greatest(Fault /*of*/) { return Fault::exception; }
inline constexpr std::size_t fault_count = 6;

std::string_view describe(Fault fault) noexcept;

/// The model leaves entries of the gradient unwritten or writes past its end: a mistake in the
/// model that affects every point.
class GradientLengthError : public ModelError {
 public:
  using ModelError::ModelError;
};

/// Calls the density, counts the calls, and turns every fault into a log density of -inf.
class Guard {
 public:
  /// Throws ModelError if the dimension is 0 or absurdly large.
  explicit Guard(Density density);

  /// The log density at x, and its gradient; -inf where the model failed, with the fault counted
  /// and the gradient unspecified. Of what the model throws, only an Abort passes.
  double operator()(std::span<const double> x, std::span<double> gradient);

  /// The same without checking the gradient, for callers who detect one that is not finite
  /// themselves and then call check_gradient().
  double evaluate(std::span<const double> x, std::span<double> gradient);

  /// Counts a bad gradient as the fault of the last call, unless it already had one.
  void check_gradient(std::span<const double> gradient);

  /// The same as the call itself, but a fault is a ModelError with the coordinate, its value and
  /// the model's message. Also detects a gradient entry that was not written, or one written past
  /// the end: GradientLengthError.
  double evaluate_strictly(std::span<const double> x, std::span<double> gradient);

  std::size_t dimension() const noexcept { return dimension_; }
  const Density& density() const noexcept { return density_; }

  std::uint64_t evaluations() const noexcept { return evaluations_; }
  /// The fault of the last call.
  Fault last_fault() const noexcept { return last_fault_; }
  std::uint64_t faults(Fault fault) const { return faults_[static_cast<std::size_t>(fault)]; }
  /// The model's message when it first threw; empty if it never did.
  const std::string& first_message() const noexcept { return first_message_; }

  /// Stores and restores the counts.
  template <class Archive>
  void archive(Archive& archive) {
    archive(evaluations_, faults_, first_message_);
  }

 private:
  void keep_message(std::string_view message);

  Density density_;
  std::size_t dimension_;
  std::uint64_t evaluations_ = 0;
  std::array<std::uint64_t, fault_count> faults_{};
  Fault last_fault_ = Fault::none;
  std::string first_message_;
};

}  // namespace rehmc
