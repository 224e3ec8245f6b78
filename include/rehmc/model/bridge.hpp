// Densities in shared libraries with BridgeStan's C functions: Stan programs and others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/model/log_density.hpp"
#include "rehmc/model/messages.hpp"
#include "rehmc/model/shared_library.hpp"

namespace rehmc {

/// A model of a shared library, constructed from data. Copies share it. Calls from several threads
/// are safe: they take turns if the library itself is not thread-safe.
///
/// The density is that of the unconstrained parameters, Jacobian included, constants dropped. What
/// users read are the parameters on their own scales, the transformed parameters and the generated
/// quantities, in CmdStan's order. Lines that the model prints and the reasons for its rejections
/// go to messages().
class BridgeDensity {
 public:
  /// `data` is JSON in CmdStan's format, or empty; `seed` is for random numbers in transformed
  /// data. Throws as SharedLibrary does; also DataError if the library lacks functions, or if the
  /// model rejects the data, with the model's message. `messages` may be
  /// shared with other models; without them it has its own.
  BridgeDensity(const std::filesystem::path& library, const std::string& data,
                std::uint32_t seed = 0, std::shared_ptr<ModelMessages> messages = nullptr);

  /// Throws std::domain_error with the model's message where the model rejects.
  double operator()(std::span<const double> x, std::span<double> gradient);
  std::size_t dimension() const;
  /// Of the unconstrained parameters, as in "theta.1".
  std::vector<std::string> names() const;
  std::vector<Quantity> quantities() const;
  /// If the generated quantities reject, they are NaN, and std::domain_error is thrown after all
  /// others are written.
  void evaluate_quantities(std::span<const double> x, std::span<double> values, Stream* stream);

  /// Parameters alone, or with transformed parameters: as many as there are values.
  void evaluate_first_quantities(std::span<const double> x, std::span<double> values);

  /// The log density alone.
  double log_density(std::span<const double> x) const;

  /// The unconstrained position of parameters on their own scales, given as JSON, all of them.
  /// DataError with the model's message.
  std::vector<double> unconstrain(const std::string& json) const;

  /// The number of parameters, which are the first quantities; transformed parameters follow.
  std::size_t parameters() const;

  /// Takes generated quantities from another model with the same parameters; this one has none. For
  /// libraries that always compute generated quantities. DataError if the parameters differ.
  void generate_by(const BridgeDensity& other);

  /// Marks the generated quantities of these names as functions of the state.
  void mark_determined(std::set<std::string> names) { determined_ = std::move(names); }

  /// What this model and its copies printed, and why they rejected.
  ModelMessages& messages() const;
  /// The model's name.
  const std::string& model_name() const;
  /// The library's description of how it was built.
  const std::string& info() const;
  /// Whether only one thread at a time may use the library.
  bool takes_turns() const;

 private:
  class Model;
  std::shared_ptr<const Model> model_;
  std::shared_ptr<const Model> generator_;  ///< computes generated quantities
  std::set<std::string> determined_;        ///< those of them that are functions of the state
};

}  // namespace rehmc
