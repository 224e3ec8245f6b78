// The standard normal in d dimensions.
#include "models/standard_normal.hpp"

#include "models/data_reader.hpp"
#include "models/entry.hpp"
#include "models/normal_distribution.hpp"
#include "rehmc/core/instructions.hpp"
#include "rehmc/core/lane_sums.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {

StandardNormal::StandardNormal(std::size_t dimension) : dimension_(dimension) {
  require_setting("dimension of the standard normal", static_cast<double>(dimension), at_least(1));
}

double StandardNormal::operator()(std::span<const double> x, std::span<double> gradient) const {
  const double* const position = x.data();
  double* const derivative = gradient.data();
  const double sum = hot_loop([=, d = dimension_] {
    return lane_sum(d, [=](std::size_t i) {
      derivative[i] = -position[i];
      return position[i] * position[i];
    });
  });
  return -0.5 * sum;
}

double StandardNormal::cumulative(std::size_t /*coordinate*/, double value) const {
  return normal_cumulative(value);
}

ModelEntries standard_normal_entries() {
  const std::string description =
      "x_i ~ N(0, 1), i = 1, ..., d.\n"
      "Parameters: x.1, ..., x.d.";
  return {{.place = 10,
           .info = {.name = "standard-normal",
                    .summary = "independent standard normal coordinates",
                    .description = description,
                    .data_help = "dimension  default 10",
                    .data_example = R"({"dimension": 250})"},
           .keys = {"dimension"},
           .version = 1,
           .make = [](DataReader& data) -> Density { return StandardNormal(data.dimension(10)); }}};
}

}  // namespace rehmc
