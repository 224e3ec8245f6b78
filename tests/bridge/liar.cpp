// Replaces the interpreter: for any program, a density with one wrong derivative.
//
// Its data may ask for slow gradients, for many coordinates, or for a density that cannot be used.
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "rehmc/model/export.hpp"

namespace {

class Liar {
 public:
  explicit Liar(const std::string& data)
      : slow_(data.find("slow") != std::string::npos),
        unusable_(data.find("unusable") != std::string::npos),
        dimension_(data.find("large") != std::string::npos ? 200 : 2) {}
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    if (slow_) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    double sum = 0;
    for (std::size_t i = 0; i < dimension_; ++i) {
      gradient[i] = -x[i];
      sum -= x[i] * x[i] / 2;
    }
    gradient[1] *= 1.1;
    return unusable_ ? -std::numeric_limits<double>::infinity() : sum;
  }
  std::size_t dimension() const { return dimension_; }
  std::vector<std::string> names() const {
    std::vector<std::string> all(dimension_, "honest");
    all[1] = "lying";
    return all;
  }

 private:
  bool slow_;
  bool unusable_;
  std::size_t dimension_;
};

}  // namespace

REHMC_EXPORT_MODEL(Liar)

REHMC_EXPORTED char* stanli_stan_to_mir_with_opts(const char*, const char* const*, std::size_t, int,
                                                  char*, std::size_t) {
  return ::strdup("a program");
}
REHMC_EXPORTED void stanli_string_free(char* text) { std::free(text); }
REHMC_EXPORTED const char* stanli_build_id() { return "none"; }
