// A normal with independent coordinates of given standard deviations and mean zero.
#include "models/diagonal_normal.hpp"

#include <fmt/format.h>

#include <cmath>

#include "models/data_reader.hpp"
#include "models/entry.hpp"
#include "models/normal_distribution.hpp"
#include "models/wishart.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/instructions.hpp"
#include "rehmc/core/lane_sums.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {

DiagonalNormal::DiagonalNormal(std::span<const double> standard_deviations) {
  if (standard_deviations.empty()) {
    throw DataError("diagonal normal: found no standard deviations, give at least one");
  }
  Scales scales{AlignedVector(standard_deviations.size()),
                AlignedVector(standard_deviations.size())};
  for (std::size_t i = 0; i < standard_deviations.size(); ++i) {
    const double sd = standard_deviations[i];
    const double precision = 1 / (sd * sd);
    if (!(sd > 0) || !std::isfinite(sd) || !std::isfinite(precision) || precision == 0) {
      throw DataError(fmt::format(
          "diagonal normal: standard deviation {} of {} is {}, must be positive and finite, and so "
          "must be its square",
          i + 1, standard_deviations.size(), sd));
    }
    scales.precisions[i] = precision;
    scales.standard_deviations[i] = sd;
  }
  scales_ = std::make_shared<const Scales>(std::move(scales));
}

double DiagonalNormal::operator()(std::span<const double> x, std::span<double> gradient) const {
  const std::size_t size = scales_->precisions.size();
  const double* const precision = scales_->precisions.data();
  const double* const position = x.data();
  double* const derivative = gradient.data();
  return 0.5 * hot_loop([=] {
           return lane_sum(size, [=](std::size_t i) {
             const double slope = -precision[i] * position[i];
             derivative[i] = slope;
             return slope * position[i];
           });
         });
}

void DiagonalNormal::sample(Stream& stream, std::span<double> x) const {
  stream.fill_normal(x);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= scales_->standard_deviations[i];
}

double DiagonalNormal::variance(std::size_t coordinate) const {
  const double sd = scales_->standard_deviations[coordinate];
  return sd * sd;
}

double DiagonalNormal::cumulative(std::size_t coordinate, double value) const {
  return normal_cumulative(value / scales_->standard_deviations[coordinate]);
}

namespace {

Density make_diagonal_normal(DataReader& data) {
  data.exclude("standard_deviations", {"dimension", "degrees_of_freedom", "seed"});
  // The squares and their inverses must be finite too.
  if (data.has("standard_deviations")) {
    return DiagonalNormal(data.numbers("standard_deviations", {}, between(1e-100, 1e100)));
  }
  std::vector<double> scales = wishart_eigenvalues(read_wishart(data));
  for (double& scale : scales) scale = std::sqrt(scale);
  return DiagonalNormal(scales);
}

}  // namespace

ModelEntries diagonal_normal_entries() {
  const std::string description =
      "x_i ~ N(0, s_i^2). By default the variances are the eigenvalues of a Wishart draw whose\n"
      "mean is the identity, as hard for HMC as the first test case of Nishimura and Dunson\n"
      "(2020). Parameters: x.1, ..., x.d.";
  const std::string help = "standard_deviations  a list; or\n" + wishart_help();
  return {{.place = 20,
           .info = {.name = "diagonal-normal",
                    .summary = "independent normal coordinates of very different scales",
                    .description = description,
                    .data_help = help,
                    .data_example = R"({"standard_deviations": [0.1, 1, 10]})"},
           .keys = {"standard_deviations", "dimension", "degrees_of_freedom", "seed"},
           .version = 1,
           .make = make_diagonal_normal}};
}

}  // namespace rehmc
