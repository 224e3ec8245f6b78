// A density in C++ for the tests of bridges: a scale, and a place that depends on it.
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "rehmc/model/export.hpp"

namespace {

/// scale = exp(x_1) with log scale ~ N(0, 1); place = scale x_2 with x_2 ~ N(0, 1). It rejects
/// scales above 100, and has no noise where x_2 is negative.
class Good {
 public:
  explicit Good(const std::string& json) {
    if (json == "{\"bad\": 1}") throw std::invalid_argument("bad is not a variable of this model");
  }
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    if (std::exp(x[0]) > 100) throw std::domain_error("the scale is above 100");
    gradient[0] = -x[0];
    gradient[1] = -x[1];
    return -(x[0] * x[0] + x[1] * x[1]) / 2;
  }
  std::size_t dimension() const { return 2; }
  std::vector<std::string> names() const { return {"scale", "place"}; }
  std::vector<rehmc::Quantity> quantities() const {
    return {{"scale"}, {"place"}, {"noise", {}, true}};
  }
  void evaluate_quantities(std::span<const double> x, std::span<double> values,
                           rehmc::Stream* stream) const {
    values[0] = std::exp(x[0]);
    values[1] = values[0] * x[1];
    values[2] = std::numeric_limits<double>::quiet_NaN();
    if (stream == nullptr) return;
    if (x[1] < 0) throw std::domain_error("no noise here");
    values[2] = stream->normal();
  }
  std::vector<double> unconstrain(const std::string& json) const {
    if (json.empty()) throw std::invalid_argument("no values");
    return {0.5, 0.25};
  }
};

}  // namespace

REHMC_EXPORT_MODEL(Good)
