// Densities in shared libraries with BridgeStan's C functions: Stan programs, and others alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/model/log_density.hpp"
#include "rehmc/model/messages.hpp"
#include "rehmc/model/shared_library.hpp"

namespace rehmc {

/// A model of a shared library, made from data. Copies share it; calls from several threads are
/// safe: where the library itself is not, they take turns.
///
/// The density is that of the unconstrained parameters, Jacobian included, constants dropped. What
/// users read are the parameters on their own scales, the transformed parameters and the generated
/// quantities, in CmdStan's order. Lines that the model prints and the reasons of its rejections go
/// to messages().
class BridgeDensity {
 public:
  /// `data` is JSON as CmdStan takes it, or empty; `seed` is for random numbers in transformed
  /// data. Errors as those of SharedLibrary; DataError also if the library lacks functions, and if
  /// the model does not take the data, with what it said. `messages` are those of another model
  /// that this one shares; without them it has its own.
  BridgeDensity(const std::filesystem::path& library, const std::string& data,
                std::uint32_t seed = 0, std::shared_ptr<ModelMessages> messages = nullptr);

  /// Throws std::domain_error with what the model said where it rejects.
  double operator()(std::span<const double> x, std::span<double> gradient);
  std::size_t dimension() const;
  /// Of the unconstrained parameters, as in "theta.1".
  std::vector<std::string> names() const;
  std::vector<Quantity> quantities() const;
  /// Where generated quantities reject, they are NaN, and std::domain_error is thrown when all
  /// others are written.
  void evaluate_quantities(std::span<const double> x, std::span<double> values, Stream* stream);

  /// The log density alone.
  double log_density(std::span<const double> x) const;

  /// The unconstrained position of parameters on their own scales, given as JSON, all of them.
  /// DataError with what the model said.
  std::vector<double> unconstrain(const std::string& json) const;

  /// The first so many quantities are the parameters; transformed parameters follow.
  std::size_t parameters() const;

  /// Takes generated quantities from a model of the same parameters that has some, while this one
  /// has none: for libraries that compute them whether asked or not. DataError if they do not fit.
  void generate_by(const BridgeDensity& other);

  /// What this model and its copies printed, and why they rejected.
  ModelMessages& messages() const;
  std::shared_ptr<ModelMessages> shared_messages() const;
  /// What the model is called.
  const std::string& model_name() const;
  /// How the library was made, in its own words.
  const std::string& info() const;
  /// Whether only one thread at a time may use the library.
  bool takes_turns() const;

 private:
  class Model;
  std::shared_ptr<const Model> model_;
  std::shared_ptr<const Model> generator_;  ///< the one that generates
};

}  // namespace rehmc
