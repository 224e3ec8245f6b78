// Replaces the interpreter: for any program, a density with one wrong derivative.
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "rehmc/model/export.hpp"

namespace {

class Liar {
 public:
  explicit Liar(const std::string& data) : slow_(data.find("slow") != std::string::npos) {}
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    if (slow_) std::this_thread::sleep_for(std::chrono::milliseconds(40));
    gradient[0] = -x[0];
    gradient[1] = -1.1 * x[1];
    return -(x[0] * x[0] + x[1] * x[1]) / 2;
  }
  std::size_t dimension() const { return 2; }
  std::vector<std::string> names() const { return {"honest", "lying"}; }

 private:
  bool slow_;
};

}  // namespace

REHMC_EXPORT_MODEL(Liar)

REHMC_EXPORTED char* stanli_stan_to_mir_with_opts(const char*, const char* const*, std::size_t, int,
                                                  char*, std::size_t) {
  return ::strdup("a program");
}
REHMC_EXPORTED void stanli_string_free(char* text) { std::free(text); }
REHMC_EXPORTED const char* stanli_build_id() { return "none"; }
