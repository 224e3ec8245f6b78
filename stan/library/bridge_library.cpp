// BridgeStan's C functions for any Stan program, linked with the code that stanc generates.
//
// This file is not part of the command: the command contains its text, compiles it once, and links
// it with every program. REHMC_STAN_FLAGS has the compiler flags.
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <stan/math/rev.hpp>  // before all other headers of Stan

#include <stan/io/chained_var_context.hpp>
#include <stan/io/empty_var_context.hpp>
#include <stan/io/json/json_data.hpp>
#include <stan/io/random_var_context.hpp>
#include <stan/math/prim/core/init_threadpool_tbb.hpp>
#include <stan/model/model_base.hpp>
#include <stan/services/util/create_rng.hpp>
#include <stan/version.hpp>

/// What stanc defines in every program.
stan::model::model_base& new_model(stan::io::var_context& data, unsigned int seed,
                                   std::ostream* messages);

#define REHMC_PUBLIC extern "C" __attribute__((visibility("default")))

namespace {

using Vector = Eigen::VectorXd;
using VarVector = Eigen::Matrix<stan::math::var, Eigen::Dynamic, 1>;
using ConstVector = Eigen::Map<const Vector>;
using Context = stan::io::var_context;
using PrintCallback = void(const char*, std::size_t);

PrintCallback* print_callback = nullptr;
std::mutex print_mutex;

/// What a model prints during one call is passed on at its end, so that threads do not mix their
/// lines.
class Printed {
 public:
  ~Printed() {
    const std::string text = stream_.str();
    if (text.empty()) return;
    const std::lock_guard<std::mutex> lock(print_mutex);
    if (print_callback != nullptr) {
      print_callback(text.data(), text.size());
    } else {
      std::cout << text << std::flush;
    }
  }
  std::ostream* stream() { return &stream_; }

 private:
  std::ostringstream stream_;
};

char* copy_of(const std::string& text) {
  char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

/// Runs a function, and turns what it throws into a message and a code.
template <class Function>
int guarded(const char* name, char** error, Function&& function) {
  const auto tell = [&](const std::string& what) {
    if (error != nullptr) *error = copy_of(std::string(name) + "() failed: " + what);
    return -1;
  };
  try {
    function();
    return 0;
  } catch (const std::exception& cause) {
    return tell(cause.what());
  } catch (...) {
    return tell("unknown cause");
  }
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += text.empty() ? name : "," + name;
  return text;
}

/// JSON text, or the name of a file that ends in .json; empty or null means no values.
std::unique_ptr<Context> read_json(const char* text) {
  const std::string given = text == nullptr ? "" : text;
  if (given.empty()) return std::make_unique<stan::io::empty_var_context>();
  const std::string ending = ".json";
  const bool is_file = given.size() >= ending.size() &&
                       given.compare(given.size() - ending.size(), ending.size(), ending) == 0;
  if (is_file) {
    std::ifstream file(given);
    if (!file) throw std::runtime_error("cannot read the file " + given);
    return std::make_unique<stan::json::json_data>(file);
  }
  std::istringstream stream(given);
  return std::make_unique<stan::json::json_data>(stream);
}

/// Every thread that differentiates needs its own stack.
void prepare_thread() { thread_local stan::math::ChainableStack stack; }

}  // namespace

struct bs_rng {
  explicit bs_rng(unsigned seed) : generator(stan::services::util::create_rng(seed, 0)) {}
  stan::rng_t generator;
};

class bs_model {
 public:
  bs_model(const char* data, unsigned seed) {
    stan::math::init_threadpool_tbb();  // one thread unless STAN_NUM_THREADS says otherwise
    Printed printed;
    model_.reset(&new_model(*read_json(data), seed, printed.stream()));
    name_ = model_->model_name();
    for (int kind = 0; kind < 4; ++kind) {
      std::vector<std::string> names;
      model_->constrained_param_names(names, (kind & 1) != 0, (kind & 2) != 0);
      numbers_[kind] = static_cast<int>(names.size());
      names_[kind] = joined(names);
    }
    std::vector<std::string> names;
    model_->unconstrained_param_names(names, false, false);
    unconstrained_names_ = joined(names);
    dimension_ = static_cast<Eigen::Index>(model_->num_params_r());
    describe();
  }

  const char* name() const { return name_.c_str(); }
  const char* info() const { return info_.c_str(); }
  const char* names(bool transformed, bool generated) const {
    return names_[kind(transformed, generated)].c_str();
  }
  int number(bool transformed, bool generated) const {
    return numbers_[kind(transformed, generated)];
  }
  const char* unconstrained_names() const { return unconstrained_names_.c_str(); }
  Eigen::Index dimension() const { return dimension_; }

  void constrain(bool transformed, bool generated, const double* x, double* values,
                 bs_rng* rng) const {
    if (generated && rng == nullptr) {
      throw std::invalid_argument("generated quantities need a random number generator");
    }
    Printed printed;
    bs_rng unused(0);  // the client for R passes an invalid pointer if none is needed
    Vector position = ConstVector(x, dimension_);
    Vector result;
    model_->write_array((generated ? *rng : unused).generator, position, result, transformed,
                        generated, printed.stream());
    std::copy(result.data(), result.data() + result.size(), values);
  }

  void unconstrain(const double* values, double* x) const {
    Printed printed;
    const Vector given = ConstVector(values, number(false, false));
    Vector result;
    model_->unconstrain_array(given, result, printed.stream());
    std::copy(result.data(), result.data() + result.size(), x);
  }

  void unconstrain(const Context& values, double* x) const {
    Printed printed;
    Vector result;
    model_->transform_inits(values, result, printed.stream());
    std::copy(result.data(), result.data() + result.size(), x);
  }

  /// Takes the values that are given and draws the others, until the log density can be used.
  void initialize(const char* json, bs_rng* rng, double radius, int tries, bool jacobian,
                  double* x) const {
    if (!(radius >= 0)) throw std::invalid_argument("the radius must not be negative");
    if (rng == nullptr) throw std::invalid_argument("a random number generator is needed");
    const std::unique_ptr<Context> given = read_json(json);
    std::string reason = "no tries were allowed";
    std::vector<double> gradient(static_cast<std::size_t>(dimension_));
    for (int attempt = 0; attempt < tries; ++attempt) {
      stan::io::random_var_context drawn(*model_, rng->generator, radius, radius == 0);
      const stan::io::chained_var_context both(*given, drawn);
      unconstrain(both, x);  // invalid given values stay invalid, however often the rest is drawn
      try {
        double value = 0;
        log_density_gradient(true, jacobian, x, &value, gradient.data());
        bool finite = std::isfinite(value);
        for (const double entry : gradient) finite = finite && std::isfinite(entry);
        if (finite) return;
        reason = "the log density or its gradient is not finite";
      } catch (const std::exception& error) {
        reason = error.what();
      }
    }
    throw std::domain_error("no starting point in " + std::to_string(tries) +
                            " tries; the last one failed: " + reason);
  }

  double log_density(bool propto, bool jacobian, const double* x) const {
    Printed printed;
    if (!propto) {
      Vector position = ConstVector(x, dimension_);
      return jacobian ? model_->log_prob_jacobian(position, printed.stream())
                      : model_->log_prob(position, printed.stream());
    }
    // Constants are dropped by type: a term that is not differentiated counts as a constant.
    prepare_thread();
    const stan::math::nested_rev_autodiff nested;
    VarVector position = ConstVector(x, dimension_).cast<stan::math::var>();
    return evaluate(true, jacobian, position, printed).val();
  }

  void log_density_gradient(bool propto, bool jacobian, const double* x, double* value,
                            double* gradient) const {
    Printed printed;
    prepare_thread();
    const stan::math::nested_rev_autodiff nested;
    VarVector position = ConstVector(x, dimension_).cast<stan::math::var>();
    stan::math::var result = evaluate(propto, jacobian, position, printed);
    result.grad();
    *value = result.val();
    for (Eigen::Index i = 0; i < dimension_; ++i) gradient[i] = position[i].adj();
  }

  /// The gradient's change along a direction, by central differences of fourth order.
  Vector gradient_change(bool propto, bool jacobian, const double* x, const Vector& along) const {
    const double length = along.norm();
    if (length == 0) return Vector::Zero(dimension_);
    const Vector position = ConstVector(x, dimension_);
    const double step =
        std::pow(std::numeric_limits<double>::epsilon(), 0.2) * (1 + position.norm()) / length;
    Vector change = Vector::Zero(dimension_);
    Vector gradient(dimension_);
    for (const auto& [steps, weight] :
         {std::pair<double, double>{-2, 1}, {-1, -8}, {1, 8}, {2, -1}}) {
      const Vector shifted = position + steps * step * along;
      double ignored = 0;
      log_density_gradient(propto, jacobian, shifted.data(), &ignored, gradient.data());
      change += weight * gradient;
    }
    return change / (12 * step);
  }

  void hessian(bool propto, bool jacobian, const double* x, double* value, double* gradient,
               double* hessian) const {
    log_density_gradient(propto, jacobian, x, value, gradient);
    Eigen::Map<Eigen::MatrixXd> result(hessian, dimension_, dimension_);
    for (Eigen::Index i = 0; i < dimension_; ++i) {
      result.col(i) = gradient_change(propto, jacobian, x, Vector::Unit(dimension_, i));
    }
    result = (0.5 * (result + result.transpose())).eval();
  }

 private:
  static int kind(bool transformed, bool generated) {
    return (transformed ? 1 : 0) + (generated ? 2 : 0);
  }

  stan::math::var evaluate(bool propto, bool jacobian, VarVector& position,
                           Printed& printed) const {
    if (propto) {
      return jacobian ? model_->log_prob_propto_jacobian(position, printed.stream())
                      : model_->log_prob_propto(position, printed.stream());
    }
    return jacobian ? model_->log_prob_jacobian(position, printed.stream())
                    : model_->log_prob(position, printed.stream());
  }

  void describe() {
    std::ostringstream text;
    text << "BridgeStan version: 2.9.0 (its C functions, as implemented by rehmc)\n"
         << "Stan version: " << stan::MAJOR_VERSION << '.' << stan::MINOR_VERSION << '.'
         << stan::PATCH_VERSION << "\nStan C++ Defines:\n"
#ifdef STAN_THREADS
         << "\tSTAN_THREADS=true\n"
#else
         << "\tSTAN_THREADS=false\n"
#endif
         << "Compiler: " << __VERSION__ << ", " << REHMC_STAN_FLAGS << "\nStan Compiler Details:\n";
    for (const std::string& line : model_->model_compile_info()) text << '\t' << line << '\n';
    info_ = text.str();
  }

  std::unique_ptr<stan::model::model_base> model_;
  std::string name_;
  std::string info_;
  std::string names_[4];
  int numbers_[4];
  std::string unconstrained_names_;
  Eigen::Index dimension_ = 0;
};

REHMC_PUBLIC const int bs_major_version = 2;
REHMC_PUBLIC const int bs_minor_version = 9;
REHMC_PUBLIC const int bs_patch_version = 0;

REHMC_PUBLIC bs_model* bs_model_construct(const char* data, unsigned seed, char** error) {
  bs_model* model = nullptr;
  guarded("model_construct", error, [&] { model = new bs_model(data, seed); });
  return model;
}
REHMC_PUBLIC void bs_model_destruct(bs_model* model) { delete model; }
REHMC_PUBLIC void bs_free_error_msg(char* error) { std::free(error); }

REHMC_PUBLIC const char* bs_name(const bs_model* model) { return model->name(); }
REHMC_PUBLIC const char* bs_model_info(const bs_model* model) { return model->info(); }
REHMC_PUBLIC const char* bs_param_names(const bs_model* model, bool transformed, bool generated) {
  return model->names(transformed, generated);
}
REHMC_PUBLIC const char* bs_param_unc_names(const bs_model* model) {
  return model->unconstrained_names();
}
REHMC_PUBLIC int bs_param_num(const bs_model* model, bool transformed, bool generated) {
  return model->number(transformed, generated);
}
REHMC_PUBLIC int bs_param_unc_num(const bs_model* model) {
  return static_cast<int>(model->dimension());
}

REHMC_PUBLIC int bs_param_constrain(const bs_model* model, bool transformed, bool generated,
                                    const double* x, double* values, bs_rng* rng, char** error) {
  return guarded("param_constrain", error,
                 [&] { model->constrain(transformed, generated, x, values, rng); });
}
REHMC_PUBLIC int bs_param_unconstrain(const bs_model* model, const double* values, double* x,
                                      char** error) {
  return guarded("param_unconstrain", error, [&] { model->unconstrain(values, x); });
}
REHMC_PUBLIC int bs_param_unconstrain_json(const bs_model* model, const char* json, double* x,
                                           char** error) {
  return guarded("param_unconstrain_json", error, [&] { model->unconstrain(*read_json(json), x); });
}
REHMC_PUBLIC int bs_param_initialize(const bs_model* model, const char* json, bs_rng* rng,
                                     double radius, int tries, bool jacobian, double* x,
                                     char** error) {
  return guarded("param_initialize", error,
                 [&] { model->initialize(json, rng, radius, tries, jacobian, x); });
}

REHMC_PUBLIC int bs_log_density(const bs_model* model, bool propto, bool jacobian, const double* x,
                                double* value, char** error) {
  return guarded("log_density", error, [&] { *value = model->log_density(propto, jacobian, x); });
}
REHMC_PUBLIC int bs_log_density_gradient(const bs_model* model, bool propto, bool jacobian,
                                         const double* x, double* value, double* gradient,
                                         char** error) {
  return guarded("log_density_gradient", error,
                 [&] { model->log_density_gradient(propto, jacobian, x, value, gradient); });
}
REHMC_PUBLIC int bs_log_density_hessian(const bs_model* model, bool propto, bool jacobian,
                                        const double* x, double* value, double* gradient,
                                        double* hessian, char** error) {
  return guarded("log_density_hessian", error,
                 [&] { model->hessian(propto, jacobian, x, value, gradient, hessian); });
}
REHMC_PUBLIC int bs_log_density_hessian_vector_product(const bs_model* model, bool propto,
                                                       bool jacobian, const double* x,
                                                       const double* vector, double* value,
                                                       double* product, char** error) {
  return guarded("log_density_hessian_vector_product", error, [&] {
    const Vector along = ConstVector(vector, model->dimension());
    *value = model->log_density(propto, jacobian, x);
    const Vector change = model->gradient_change(propto, jacobian, x, along);
    std::copy(change.data(), change.data() + change.size(), product);
  });
}

REHMC_PUBLIC bs_rng* bs_rng_construct(unsigned seed, char** error) {
  bs_rng* rng = nullptr;
  guarded("rng_construct", error, [&] { rng = new bs_rng(seed); });
  return rng;
}
REHMC_PUBLIC void bs_rng_destruct(bs_rng* rng) { delete rng; }

REHMC_PUBLIC int bs_set_print_callback(PrintCallback* callback, char**) {
  const std::lock_guard<std::mutex> lock(print_mutex);
  print_callback = callback;
  return 0;
}

// The same for BridgeStan's client for R, which passes everything by pointer and takes no return
// value. A message is also passed as a plain pointer, which R uses to free it.

namespace {

/// Calls `function(&message)` and passes its message to R.
template <class Function>
auto told_to_r(char** error, void** error_pointer, Function&& function) {
  char* message = nullptr;
  const auto result = function(&message);
  if (message != nullptr) *error = message;  // else R's own text stays
  *error_pointer = message;
  return result;
}

}  // namespace

REHMC_PUBLIC void bs_version_R(int* major, int* minor, int* patch) {
  *major = bs_major_version;
  *minor = bs_minor_version;
  *patch = bs_patch_version;
}
REHMC_PUBLIC void bs_model_construct_R(char** data, int* seed, bs_model** model, char** error,
                                       void** error_pointer) {
  *model = told_to_r(error, error_pointer, [&](char** message) {
    return bs_model_construct(*data, static_cast<unsigned>(*seed), message);
  });
}
REHMC_PUBLIC void bs_model_destruct_R(bs_model** model) { bs_model_destruct(*model); }
REHMC_PUBLIC void bs_free_error_msg_R(void** error_pointer) {
  bs_free_error_msg(static_cast<char*>(*error_pointer));
}

REHMC_PUBLIC void bs_name_R(bs_model** model, const char** name) { *name = bs_name(*model); }
REHMC_PUBLIC void bs_model_info_R(bs_model** model, const char** info) {
  *info = bs_model_info(*model);
}
REHMC_PUBLIC void bs_param_names_R(bs_model** model, int* transformed, int* generated,
                                   const char** names) {
  *names = bs_param_names(*model, *transformed != 0, *generated != 0);
}
REHMC_PUBLIC void bs_param_unc_names_R(bs_model** model, const char** names) {
  *names = bs_param_unc_names(*model);
}
REHMC_PUBLIC void bs_param_num_R(bs_model** model, int* transformed, int* generated, int* number) {
  *number = bs_param_num(*model, *transformed != 0, *generated != 0);
}
REHMC_PUBLIC void bs_param_unc_num_R(bs_model** model, int* number) {
  *number = bs_param_unc_num(*model);
}

REHMC_PUBLIC void bs_param_constrain_R(bs_model** model, int* transformed, int* generated,
                                       const double* x, double* values, bs_rng** rng, int* code,
                                       char** error, void** error_pointer) {
  *code = told_to_r(error, error_pointer, [&](char** message) {
    return bs_param_constrain(*model, *transformed != 0, *generated != 0, x, values, *rng, message);
  });
}
REHMC_PUBLIC void bs_param_unconstrain_R(bs_model** model, const double* values, double* x,
                                         int* code, char** error, void** error_pointer) {
  *code = told_to_r(error, error_pointer, [&](char** message) {
    return bs_param_unconstrain(*model, values, x, message);
  });
}
REHMC_PUBLIC void bs_param_unconstrain_json_R(bs_model** model, const char** json, double* x,
                                              int* code, char** error, void** error_pointer) {
  *code = told_to_r(error, error_pointer, [&](char** message) {
    return bs_param_unconstrain_json(*model, *json, x, message);
  });
}
REHMC_PUBLIC void bs_param_initialize_R(bs_model** model, const char** json, bs_rng** rng,
                                        double* radius, int* tries, int* jacobian, double* x,
                                        int* code, char** error, void** error_pointer) {
  *code = told_to_r(error, error_pointer, [&](char** message) {
    return bs_param_initialize(*model, *json, *rng, *radius, *tries, *jacobian != 0, x, message);
  });
}

REHMC_PUBLIC void bs_log_density_R(bs_model** model, int* propto, int* jacobian, const double* x,
                                   double* value, int* code, char** error, void** error_pointer) {
  *code = told_to_r(error, error_pointer, [&](char** message) {
    return bs_log_density(*model, *propto != 0, *jacobian != 0, x, value, message);
  });
}
REHMC_PUBLIC void bs_log_density_gradient_R(bs_model** model, int* propto, int* jacobian,
                                            const double* x, double* value, double* gradient,
                                            int* code, char** error, void** error_pointer) {
  *code = told_to_r(error, error_pointer, [&](char** message) {
    return bs_log_density_gradient(*model, *propto != 0, *jacobian != 0, x, value, gradient,
                                   message);
  });
}
REHMC_PUBLIC void bs_log_density_hessian_R(bs_model** model, int* propto, int* jacobian,
                                           const double* x, double* value, double* gradient,
                                           double* hessian, int* code, char** error,
                                           void** error_pointer) {
  *code = told_to_r(error, error_pointer, [&](char** message) {
    return bs_log_density_hessian(*model, *propto != 0, *jacobian != 0, x, value, gradient, hessian,
                                  message);
  });
}
REHMC_PUBLIC void bs_log_density_hessian_vector_product_R(bs_model** model, int* propto,
                                                          int* jacobian, const double* x,
                                                          const double* vector, double* value,
                                                          double* product, int* code, char** error,
                                                          void** error_pointer) {
  *code = told_to_r(error, error_pointer, [&](char** message) {
    return bs_log_density_hessian_vector_product(*model, *propto != 0, *jacobian != 0, x, vector,
                                                 value, product, message);
  });
}

REHMC_PUBLIC void bs_rng_construct_R(int* seed, bs_rng** rng, char** error, void** error_pointer) {
  *rng = told_to_r(error, error_pointer, [&](char** message) {
    return bs_rng_construct(static_cast<unsigned>(*seed), message);
  });
}
REHMC_PUBLIC void bs_rng_destruct_R(bs_rng** rng) { bs_rng_destruct(*rng); }
