// Exports a C++ density as a shared library with BridgeStan's C functions: rehmc sample ./model.so
//
// In one source file of the library:
//
//   REHMC_EXPORT_MODEL(MyDensity)
//
// where MyDensity is a LogDensity with a constructor from its data, MyDensity(const std::string&
// json), or a default constructor. Names, quantities and a function `unconstrain` are used if it
// has them. Compile with -shared -fPIC.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "rehmc/core/quantity.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/model/log_density.hpp"

namespace rehmc::exported {

/// What the C functions need, independent of the type of the density.
class Model {
 public:
  Model(Density density, std::string name) : density_(std::move(density)), name_(std::move(name)) {
    const std::vector<Quantity> quantities = density_.quantities();
    for (const Quantity& quantity : quantities) {
      if (quantity.generated) continue;
      if (generated_ > 0) throw std::logic_error("generated quantities must come last");
      determined_names_ += (determined_names_.empty() ? "" : ",") + quantity.name;
      ++determined_;
    }
    all_names_ = determined_names_;
    for (const Quantity& quantity : quantities) {
      if (!quantity.generated) continue;
      all_names_ += (all_names_.empty() ? "" : ",") + quantity.name;
      ++generated_;
    }
    for (const std::string& each : density_.names()) {
      unconstrained_names_ += (unconstrained_names_.empty() ? "" : ",") + each;
    }
    dimension_ = density_.dimension();
  }
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const char* name() const { return name_.c_str(); }
  const char* names(bool generated) const {
    return (generated ? all_names_ : determined_names_).c_str();
  }
  const char* unconstrained_names() const { return unconstrained_names_.c_str(); }
  std::size_t number(bool generated) const { return determined_ + (generated ? generated_ : 0); }
  std::size_t dimension() const { return dimension_; }

  double evaluate(const double* x, double* gradient) const {
    const Borrowed mine(*this);
    return (*mine.density)({x, dimension_}, {gradient, dimension_});
  }

  void read(const double* x, double* values, bool generated, Stream* stream) const {
    const Borrowed mine(*this);
    std::vector<double> all(determined_ + generated_);
    mine.density->evaluate_quantities({x, dimension_}, all, generated ? stream : nullptr);
    for (std::size_t i = 0; i < number(generated); ++i) values[i] = all[i];
  }

  virtual void unconstrain(const char* json, double* x) const = 0;

 private:
  /// A copy of the density for each call, because calls may come from several threads.
  struct Borrowed {
    explicit Borrowed(const Model& owner) : model(owner) {
      {
        const std::lock_guard lock(model.mutex_);
        if (!model.spare_.empty()) {
          density = std::move(model.spare_.back());
          model.spare_.pop_back();
          return;
        }
      }
      density = std::make_unique<Density>(model.density_);
    }
    ~Borrowed() {
      const std::lock_guard lock(model.mutex_);
      model.spare_.push_back(std::move(density));
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    const Model& model;
    std::unique_ptr<Density> density;
  };

  Density density_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Density>> spare_;
  std::string name_;
  std::size_t dimension_ = 0;
  std::size_t determined_ = 0;
  std::size_t generated_ = 0;
  std::string determined_names_;
  std::string all_names_;
  std::string unconstrained_names_;
};

/// A density that computes coordinates from parameters that users give as JSON.
template <class D>
concept Unconstrains = requires(const D& density, const std::string& json) {
  { density.unconstrain(json) } -> std::convertible_to<std::vector<double>>;
};

template <LogDensity D>
class ModelOf final : public Model {
 public:
  ModelOf(D density, std::string name) : Model(density, std::move(name)), density_(density) {}

  void unconstrain(const char* json, double* x) const override {
    if constexpr (Unconstrains<D>) {
      const std::vector<double> position = density_.unconstrain(json == nullptr ? "" : json);
      if (position.size() != dimension()) throw std::logic_error("unconstrain: wrong length");
      for (std::size_t i = 0; i < position.size(); ++i) x[i] = position[i];
    } else {
      throw std::invalid_argument("this model has no function unconstrain(json)");
    }
  }

 private:
  D density_;
};

template <LogDensity D>
std::unique_ptr<Model> make(const char* data, const char* name) {
  const std::string json = data == nullptr ? "" : data;
  if constexpr (std::constructible_from<D, const std::string&>) {
    return std::make_unique<ModelOf<D>>(D(json), name);
  } else {
    static_assert(std::default_initializable<D>,
                  "a density to export is made from its data, a std::string, or from nothing");
    if (!json.empty()) throw std::invalid_argument("this model takes no data");
    return std::make_unique<ModelOf<D>>(D{}, name);
  }
}

inline void tell(char** error, const char* what) {
  if (error == nullptr) return;
  const std::size_t size = std::strlen(what) + 1;
  *error = static_cast<char*>(std::malloc(size));
  if (*error != nullptr) std::memcpy(*error, what, size);
}

/// No exception may leave a C function.
template <class F>
int guarded(char** error, F&& function) {
  try {
    function();
    return 0;
  } catch (const std::exception& cause) {
    tell(error, cause.what());
  } catch (...) {
    tell(error, "unknown cause");
  }
  return -1;
}

/// Seeds have 32 bits, as in the interface; every seed has its own stream.
inline Stream* make_stream(unsigned seed) { return new Stream({.seed = seed}, Purpose::generated); }

}  // namespace rehmc::exported

#define REHMC_EXPORTED extern "C" __attribute__((visibility("default")))

/// Defines BridgeStan's C functions for a density. The density includes any Jacobian itself and
/// never drops constants, so both switches are ignored. There are no second derivatives.
#define REHMC_EXPORT_MODEL(Type)                                                                   \
  using bs_model = ::rehmc::exported::Model;                                                       \
  using bs_rng = ::rehmc::Stream;                                                                  \
  REHMC_EXPORTED const int bs_major_version = 2;                                                   \
  REHMC_EXPORTED const int bs_minor_version = 9;                                                   \
  REHMC_EXPORTED const int bs_patch_version = 0;                                                   \
  REHMC_EXPORTED bs_model* bs_model_construct(const char* data, unsigned, char** error) {          \
    bs_model* model = nullptr;                                                                     \
    ::rehmc::exported::guarded(                                                                    \
        error, [&] { model = ::rehmc::exported::make<Type>(data, #Type).release(); });             \
    return model;                                                                                  \
  }                                                                                                \
  REHMC_EXPORTED void bs_model_destruct(bs_model* model) { delete model; }                         \
  REHMC_EXPORTED void bs_free_error_msg(char* error) { std::free(error); }                         \
  REHMC_EXPORTED const char* bs_name(const bs_model* model) { return model->name(); }              \
  REHMC_EXPORTED const char* bs_model_info(const bs_model*) {                                      \
    return "C++ density of rehmc; STAN_THREADS=true";                                              \
  }                                                                                                \
  REHMC_EXPORTED const char* bs_param_names(const bs_model* model, bool, bool generated) {         \
    return model->names(generated);                                                                \
  }                                                                                                \
  REHMC_EXPORTED const char* bs_param_unc_names(const bs_model* model) {                           \
    return model->unconstrained_names();                                                           \
  }                                                                                                \
  REHMC_EXPORTED int bs_param_num(const bs_model* model, bool, bool generated) {                   \
    return static_cast<int>(model->number(generated));                                             \
  }                                                                                                \
  REHMC_EXPORTED int bs_param_unc_num(const bs_model* model) {                                     \
    return static_cast<int>(model->dimension());                                                   \
  }                                                                                                \
  REHMC_EXPORTED int bs_param_constrain(const bs_model* model, bool, bool generated,               \
                                        const double* x, double* values, bs_rng* stream,           \
                                        char** error) {                                            \
    return ::rehmc::exported::guarded(error, [&] { model->read(x, values, generated, stream); });  \
  }                                                                                                \
  REHMC_EXPORTED int bs_param_unconstrain(const bs_model*, const double*, double*, char** error) { \
    ::rehmc::exported::tell(error, "this model takes parameters as JSON only");                    \
    return -1;                                                                                     \
  }                                                                                                \
  REHMC_EXPORTED int bs_param_unconstrain_json(const bs_model* model, const char* json, double* x, \
                                               char** error) {                                     \
    return ::rehmc::exported::guarded(error, [&] { model->unconstrain(json, x); });                \
  }                                                                                                \
  REHMC_EXPORTED int bs_log_density_gradient(const bs_model* model, bool, bool, const double* x,   \
                                             double* value, double* gradient, char** error) {      \
    return ::rehmc::exported::guarded(error, [&] { *value = model->evaluate(x, gradient); });      \
  }                                                                                                \
  REHMC_EXPORTED int bs_log_density(const bs_model* model, bool, bool, const double* x,            \
                                    double* value, char** error) {                                 \
    return ::rehmc::exported::guarded(error, [&] {                                                 \
      std::vector<double> gradient(model->dimension());                                            \
      *value = model->evaluate(x, gradient.data());                                                \
    });                                                                                            \
  }                                                                                                \
  REHMC_EXPORTED bs_rng* bs_rng_construct(unsigned seed, char**) {                                 \
    return ::rehmc::exported::make_stream(seed);                                                   \
  }                                                                                                \
  REHMC_EXPORTED void bs_rng_destruct(bs_rng* stream) { delete stream; }                           \
  REHMC_EXPORTED int bs_set_print_callback(void (*)(const char*, std::size_t), char**) { return 0; }
