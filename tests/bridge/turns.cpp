// A model without STAN_THREADS: it detects two threads at once, and its density obeys both flags.
//
// With data it is another model, with STAN_THREADS, which prints its data: where the density is
// evaluated in the thread that calls it, where the gradient is too in one that it starts itself.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

struct bs_model {
  std::string data;
};
struct bs_rng {};

namespace {

using PrintFunction = void (*)(const char*, std::size_t);

bs_rng the_generator;
std::atomic<int> inside{0};
PrintFunction print_function = nullptr;

/// In two pieces, so that others may print between them.
void print_data(const bs_model* model) {
  print_function(model->data.data(), model->data.size());
  std::this_thread::sleep_for(std::chrono::microseconds(100));
  print_function(" speaks\n", 8);
}

int fail(char** error, const char* what) {
  *error = static_cast<char*>(std::malloc(std::strlen(what) + 1));
  std::strcpy(*error, what);
  return -1;
}

/// x is the log of a scale: log density -x^2 / 2, plus x for the Jacobian, plus 7 for constants.
double log_density(bool propto, bool jacobian, double x) {
  return -x * x / 2 + (jacobian ? x : 0) + (propto ? 0 : 7);
}

}  // namespace

extern "C" {

bs_model* bs_model_construct(const char* data, unsigned, char**) { return new bs_model{data}; }
void bs_model_destruct(bs_model* model) { delete model; }
void bs_free_error_msg(char* error) { std::free(error); }
const char* bs_name(const bs_model*) { return "turns"; }
const char* bs_model_info(const bs_model* model) {
  return model->data.empty() ? "STAN_THREADS=false" : "STAN_THREADS=true";
}
const char* bs_param_names(const bs_model*, bool, bool) { return "x"; }
const char* bs_param_unc_names(const bs_model*) { return "x"; }
int bs_param_num(const bs_model*, bool, bool) { return 1; }
int bs_param_unc_num(const bs_model*) { return 1; }
int bs_param_constrain(const bs_model*, bool, bool, const double* x, double* values, bs_rng*,
                       char**) {
  values[0] = x[0];
  return 0;
}
int bs_param_unconstrain_json(const bs_model*, const char*, double*, char** error) {
  return fail(error, "not here");
}
int bs_log_density(const bs_model* model, bool propto, bool jacobian, const double* x,
                   double* value, char**) {
  if (!model->data.empty()) print_data(model);
  *value = log_density(propto, jacobian, x[0]);
  return 0;
}
int bs_log_density_gradient(const bs_model* model, bool propto, bool jacobian, const double* x,
                            double* value, double* gradient, char** error) {
  if (model->data.empty()) {
    if (inside.fetch_add(1) > 0) return fail(error, "two threads at once");
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  } else {
    std::thread(print_data, model).join();
  }
  *value = log_density(propto, jacobian, x[0]);
  gradient[0] = -x[0] + (jacobian ? 1 : 0);
  if (model->data.empty()) inside.fetch_sub(1);
  return 0;
}
bs_rng* bs_rng_construct(unsigned, char**) { return &the_generator; }
void bs_rng_destruct(bs_rng*) {}
int bs_set_print_callback(PrintFunction function, char**) {
  print_function = function;
  return 0;
}
}
