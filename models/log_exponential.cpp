// The skewed target: logarithms of exponential variables.
#include "models/log_exponential.hpp"

#include <cmath>
#include <numbers>

#include "models/data_reader.hpp"
#include "models/entry.hpp"
#include "models/fast_math.hpp"
#include "rehmc/core/instructions.hpp"
#include "rehmc/core/lane_sums.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {

LogExponential::LogExponential(std::size_t dimension) : dimension_(dimension) {
  require_setting("dimension of the log-exponential", static_cast<double>(dimension), at_least(1));
}

double LogExponential::operator()(std::span<const double> x, std::span<double> gradient) const {
  const double* const position = x.data();
  double* const derivative = gradient.data();
  return hot_loop([=, d = dimension_] {
    return lane_sum(d, [=](std::size_t i) {
      const double exponential = fast_exp(position[i]);
      derivative[i] = 1 - exponential;
      return position[i] - exponential;
    });
  });
}

void LogExponential::sample(Stream& stream, std::span<double> x) const {
  for (double& entry : x) entry = std::log(stream.exponential());
}

double LogExponential::mean(std::size_t /*coordinate*/) const { return -std::numbers::egamma; }

double LogExponential::variance(std::size_t /*coordinate*/) const {
  return std::numbers::pi * std::numbers::pi / 6;
}

double LogExponential::cumulative(std::size_t /*coordinate*/, double value) const {
  return -std::expm1(-std::exp(value));
}

double LogExponential::quantile(std::size_t /*coordinate*/, double probability) const {
  return std::log(-std::log1p(-probability));
}

ModelEntries log_exponential_entries() {
  const std::string description =
      "x_i = log of an exponential(1) variable, log density x - exp(x): one light and one heavy\n"
      "tail. Parameters: x.1, ..., x.d.";
  return {{.place = 90,
           .info = {.name = "log-exponential",
                    .summary = "independent skewed coordinates",
                    .description = description,
                    .data_help = "dimension  default 10",
                    .data_example = R"({"dimension": 10})"},
           .keys = {"dimension"},
           .version = 1,
           .make = [](DataReader& data) -> Density { return LogExponential(data.dimension(10)); }}};
}

}  // namespace rehmc
