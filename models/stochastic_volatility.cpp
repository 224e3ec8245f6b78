// A stochastic volatility model: exponentials in one vectorised pass, the random walk in another.
#include "models/stochastic_volatility.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "models/data_reader.hpp"
#include "models/entry.hpp"
#include "models/fast_math.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/instructions.hpp"
#include "rehmc/core/lane_sums.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {
namespace {

constexpr double walk_scale = 100 * 100;
constexpr double first_rate = 10;

}  // namespace

StochasticVolatility::StochasticVolatility(std::span<const double> returns) {
  if (returns.empty()) {
    throw DataError("stochastic volatility: found no returns, give at least one");
  }
  auto squares = std::make_shared<AlignedVector>(returns.size() + 1);
  for (std::size_t i = 0; i < returns.size(); ++i) {
    const double square = returns[i] * returns[i];
    if (!(square > 0) || !std::isfinite(square)) {
      throw DataError(fmt::format(
          "stochastic volatility: return {} is {}, must be finite and not zero, otherwise the "
          "density has no finite integral: leave out one of the two closes",
          i + 1, returns[i]));
    }
    (*squares)[i + 1] = square;
  }
  square_returns_ = std::move(squares);
}

double StochasticVolatility::operator()(std::span<const double> x,
                                        std::span<double> gradient) const {
  const std::size_t days = square_returns_->size();
  const double* const position = x.data();
  const double* const squares = square_returns_->data();
  double* const derivative = gradient.data();
  // The gradient holds y_i^2 / s_i^2 until it is used. (In one loop with the sums, g++ 12 would not
  // vectorise the exponentials.)
  hot_loop([=] {
#pragma omp simd
    for (std::size_t i = 1; i < days; ++i) {
      derivative[i] = squares[i] * fast_exp(-2 * position[i]);
    }
  });
  const auto [sum, exponents, walk] = hot_loop([=] {
    return lane_sums<3>(days - 1, [=](std::size_t before) {
      const std::size_t i = before + 1;
      const double step = position[i] - position[before];
      return std::array<double, 3>{derivative[i], position[i], step * step};
    });
  });
  const double first = first_rate * std::exp(position[0]);
  const double pull = static_cast<double>(days) * walk_scale / (1 + walk_scale * walk);
  derivative[0] = 1 - first + pull * (position[1] - position[0]);
  hot_loop([=] {
#pragma omp simd
    for (std::size_t i = 1; i < days - 1; ++i) {
      derivative[i] =
          derivative[i] - 1 + pull * (position[i - 1] - 2 * position[i] + position[i + 1]);
    }
  });
  derivative[days - 1] =
      derivative[days - 1] - 1 + pull * (position[days - 2] - position[days - 1]);
  return -exponents - 0.5 * sum - 0.5 * static_cast<double>(days) * std::log1p(walk_scale * walk) +
         position[0] - first;
}

std::vector<std::string> StochasticVolatility::names() const {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= dimension(); ++i) names.push_back("log_s." + std::to_string(i));
  return names;
}

std::vector<double> returns_of_closes(std::span<const double> closes) {
  if (closes.size() < 2) {
    throw DataError(
        fmt::format("stochastic volatility: found {} closes, give at least two", closes.size()));
  }
  std::vector<double> returns;
  for (std::size_t i = 0; i < closes.size(); ++i) {
    if (!(closes[i] > 0) || !std::isfinite(closes[i])) {
      throw DataError(fmt::format(
          "stochastic volatility: close {} is {}, must be positive and finite", i + 1, closes[i]));
    }
    if (i == 0) continue;
    if (closes[i] == closes[i - 1]) {
      throw DataError(
          fmt::format("stochastic volatility: closes {} and {} are both {}, so the density has no "
                      "finite integral: leave out one of the two",
                      i, i + 1, closes[i]));
    }
    returns.push_back(std::log(closes[i] / closes[i - 1]));
  }
  return returns;
}

std::vector<double> simulate_returns(const VolatilitySimulation& simulation) {
  const double typical = 0.01;
  const double persistence = 0.98;
  const double innovation = 0.1;
  require_setting("days", static_cast<double>(simulation.days), at_least(2));
  Stream stream({.seed = simulation.seed}, Purpose::test);
  double level = innovation / std::sqrt(1 - persistence * persistence) * stream.normal();
  std::vector<double> returns;
  for (std::size_t day = 1; day < simulation.days; ++day) {
    level = persistence * level + innovation * stream.normal();
    returns.push_back(typical * std::exp(level) * stream.normal());
  }
  return returns;
}

namespace {

Density make_stochastic_volatility(DataReader& data) {
  data.exclude("closes", {"returns", "days", "seed"});
  data.exclude("returns", {"days", "seed"});
  if (data.has("closes")) {
    const std::vector<double> closes = data.numbers("closes", {}, between(1e-100, 1e100));
    return data.with_file([&] { return StochasticVolatility(returns_of_closes(closes)); });
  }
  if (data.has("returns")) {
    const std::vector<double> returns = data.numbers("returns", {}, between(-1e3, 1e3));
    return data.with_file([&] { return StochasticVolatility(returns); });
  }
  VolatilitySimulation simulation;
  simulation.days = data.integer("days", simulation.days, between(2, most_coordinates));
  simulation.seed = data.seed(simulation.seed);
  return StochasticVolatility(simulate_returns(simulation));
}

}  // namespace

ModelEntries stochastic_volatility_entries() {
  const std::string description =
      "log(y_i / y_(i-1)) ~ N(0, s_i^2) for closes y_i, 100 log(s_i / s_(i-1)) ~ N(0, 1/tau),\n"
      "s_0 ~ exponential with mean 1/10, tau ~ gamma(1/2, 1/2), integrated out: the third test\n"
      "case of Nishimura and Dunson (2020), with its size by default.\n"
      "Parameters: log_s.1, ..., log_s.d, one per close.";
  const std::string help =
      "closes   d closes in sequence, no two neighbours equal; or\n"
      "returns  d - 1 returns log(y_i / y_(i-1)), none of them zero\n"
      "Without these the returns are simulated:\n"
      "days     d, default 3000\n"
      "seed     of the simulation, default 1";
  return {{.place = 150,
           .info = {.name = "stochastic-volatility",
                    .summary = "the volatility of an index on each of 3000 days",
                    .description = description,
                    .data_help = help,
                    .data_example = R"({"closes": [1135.26, 1136.03, 1126.52, 1128.59]})"},
           .keys = {"closes", "returns", "days", "seed"},
           .version = 1,
           .make = make_stochastic_volatility}};
}

}  // namespace rehmc
