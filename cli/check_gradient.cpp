// rehmc check-gradient: compares a model's gradient with finite differences at random points.
#include "rehmc/model/check_gradient.hpp"
#include "print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "open_model.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/settings.hpp"
#include "rehmc/model/guard.hpp"
#include "rehmc/model/initial_point.hpp"

namespace rehmc::cli {
namespace {

struct CheckGradientOptions {
  ModelChoice model;
  std::uint32_t points = 5;
  std::uint64_t seed = 1;
  double radius = 2;
  double tolerance = 1e-6;
  std::string against;
  bool json = false;
};

/// With more coordinates, derivatives are checked along random directions: one by one would take
/// about d^2 operations.
constexpr std::size_t most_coordinates = 1000;
constexpr std::size_t directions = 100;
/// Rows that the table shows: the worst ones, and those that fail.
constexpr std::size_t ordinary_rows = 5;
constexpr std::size_t failing_rows = 20;

struct CheckedPoint {
  std::uint32_t point = 0;
  DerivativeCheck check;
};

std::vector<DerivativeCheck> checks_along_directions(const Density& density,
                                                     std::span<const double> x, Stream& stream,
                                                     double tolerance) {
  std::vector<DerivativeCheck> checks;
  std::vector<double> direction(x.size());
  for (std::size_t k = 1; k <= directions; ++k) {
    stream.fill_normal(direction);
    checks.push_back(check_gradient_along(density, x, direction, tolerance));
    checks.back().name = fmt::format("direction {}", k);
  }
  return checks;
}

/// Every derivative at every point, the worst first.
std::vector<CheckedPoint> check_points(const Density& density,
                                       const CheckGradientOptions& options) {
  Guard guard(density);
  std::vector<CheckedPoint> rows;
  for (std::uint32_t point = 1; point <= options.points; ++point) {
    const Address address{.seed = options.seed, .chain = point};
    const std::vector<double> x =
        random_initial_point(guard, {.initial_radius = options.radius}, address);
    Stream stream(address, Purpose::gradient_check);
    const bool wide = density.dimension() > most_coordinates;
    for (DerivativeCheck& check :
         wide ? checks_along_directions(density, x, stream, options.tolerance)
              : check_gradient(density, x, options.tolerance)) {
      rows.push_back({point, std::move(check)});
    }
  }
  const auto badness = [](const CheckedPoint& row) {
    const double ratio = row.check.error / row.check.tolerance;
    if (!std::isnan(ratio)) return ratio;
    return row.check.ok ? 0.0 : std::numeric_limits<double>::infinity();
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const CheckedPoint& a, const CheckedPoint& b) {
    return badness(a) > badness(b);
  });
  return rows;
}

nlohmann::ordered_json as_json(const CheckedPoint& row) {
  return {{"point", row.point},
          {"name", row.check.name},
          {"analytic", row.check.analytic},
          {"numeric", row.check.numeric},
          {"error", row.check.error},
          {"tolerance", row.check.tolerance},
          {"ok", row.check.ok}};
}

void print_table(std::span<const CheckedPoint> rows) {
  std::size_t width = std::string("coordinate").size();
  for (const CheckedPoint& row : rows) width = std::max(width, row.check.name.size());
  print("{:<{}}  {:>5}  {:>14}  {:>14}  {:>9}  {:>9}\n", "coordinate", width, "point", "model",
        "differences", "error", "tolerance");
  for (const CheckedPoint& row : rows) {
    const DerivativeCheck& check = row.check;
    print("{:<{}}  {:>5}  {:>14.7g}  {:>14.7g}  {:>9.2g}  {:>9.2g}{}\n", check.name, width,
          row.point, check.analytic, check.numeric, check.error, check.tolerance,
          check.ok ? "" : "  wrong");
  }
}

/// Where two backends differ most: log densities and quantities as a share of their size,
/// derivatives as a share of the largest one at that point.
struct Difference {
  double share = 0;
  std::uint32_t point = 0;
  std::string name;
  double first = 0;
  double second = 0;

  void look(double one, double other, double scale, std::uint32_t at, const std::string& what) {
    const double off = std::abs(one - other) / scale;
    if (!(off > share) && !std::isnan(off)) return;
    *this = {std::isnan(off) ? std::numeric_limits<double>::infinity() : off, at, what, one, other};
  }
};

/// The quantities that are functions of the state; they come before the generated ones.
std::vector<std::string> determined_names(const Density& density) {
  std::vector<std::string> names;
  for (const Quantity& quantity : density.quantities()) {
    if (!quantity.generated) names.push_back(quantity.name);
  }
  return names;
}

std::vector<double> quantities_at(Density& density, const std::vector<double>& x) {
  std::vector<double> values(density.quantities().size());
  density.evaluate_quantities(x, values, nullptr);
  return values;
}

/// Log densities, up to a constant, gradients and quantities of two densities at random points.
Difference compare(const Density& first, const Density& second,
                   const CheckGradientOptions& options) {
  Guard one(first);
  Guard other(second);
  Density one_read = first;
  Density other_read = second;
  const std::vector<std::string> names = first.names();
  const std::vector<std::string> read = determined_names(first);
  if (names != second.names() || read != determined_names(second)) {
    throw ModelError("the backends do not agree on the parameters of the program");
  }
  std::vector<double> gradient(names.size());
  std::vector<double> other_gradient(names.size());
  Difference worst;
  double constant = 0;
  for (std::uint32_t point = 1; point <= options.points; ++point) {
    const Address address{.seed = options.seed, .chain = point};
    const std::vector<double> x =
        random_initial_point(one, {.initial_radius = options.radius}, address);
    const double value = one.evaluate_strictly(x, gradient);
    const double other_value = other.evaluate_strictly(x, other_gradient);
    if (point == 1) constant = other_value - value;
    worst.look(value, other_value - constant, 1 + std::abs(value), point, "the log density");
    double scale = 1;
    for (const double entry : gradient) scale = std::max(scale, std::abs(entry));
    for (std::size_t i = 0; i < names.size(); ++i) {
      worst.look(gradient[i], other_gradient[i], scale, point, "the derivative of " + names[i]);
    }
    const std::vector<double> values = quantities_at(one_read, x);
    const std::vector<double> other_values = quantities_at(other_read, x);
    for (std::size_t k = 0; k < read.size(); ++k) {
      worst.look(values[k], other_values[k], 1 + std::abs(values[k]), point, read[k]);
    }
  }
  return worst;
}

int run_against(const CheckGradientOptions& options) {
  ModelChoice choice = options.model;
  if (!choice.model.ends_with(".stan")) {
    throw ConfigError(fmt::format(
        "--against compares backends of a Stan program, but {} is not one", choice.model));
  }
  if (choice.backend == "auto")
    choice.backend = options.against == "compile" ? "interpret" : "compile";
  const OpenedModel first = open_model(choice, options.seed);
  const std::string backend = choice.backend;
  choice.backend = options.against;
  const OpenedModel second = open_model(choice, options.seed);
  const Difference worst = compare(first.density, second.density, options);
  const bool ok = worst.share <= options.tolerance;
  if (options.json) {
    const nlohmann::ordered_json result{
        {"model", first.identity.name},   {"backend", backend},
        {"against", options.against},     {"points", options.points},
        {"seed", options.seed},           {"largest_difference", worst.share},
        {"tolerance", options.tolerance}, {"ok", ok}};
    print("{}\n", result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    print(
        "{}: {} and {} at {} random points with every coordinate in (-{}, {}), seed {}\n"
        "The largest relative difference is {:.2g}{}\n",
        first.identity.name, backend, options.against, options.points, options.radius,
        options.radius, options.seed, worst.share,
        worst.name.empty() ? ""
                           : fmt::format(": {} at point {} is {:.10g} and {:.10g}", worst.name,
                                         worst.point, worst.first, worst.second));
    print("{}\n", ok ? "They agree." : "They do not agree.");
  }
  return ok ? 0 : 1;
}

int run(const CheckGradientOptions& options) {
  if (!(options.radius > 0) || !std::isfinite(options.radius)) {
    throw ConfigError(
        fmt::format("--radius: found {}, must be above 0 and finite", options.radius));
  }
  if (!options.against.empty()) return run_against(options);
  const OpenedModel model = open_model(options.model, options.seed);
  const std::vector<CheckedPoint> rows = check_points(model.density, options);
  const auto failed = static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [](const CheckedPoint& row) { return !row.check.ok; }));
  const std::size_t most = std::max(ordinary_rows, std::min(failed, failing_rows));
  const std::span<const CheckedPoint> shown(rows.data(), std::min(rows.size(), most));

  if (options.json) {
    nlohmann::ordered_json worst = nlohmann::ordered_json::array();
    for (const CheckedPoint& row : shown) worst.push_back(as_json(row));
    const nlohmann::ordered_json result{{"model", model.identity.name},
                                        {"identity", model.identity.hash},
                                        {"dimension", model.density.dimension()},
                                        {"points", options.points},
                                        {"seed", options.seed},
                                        {"radius", options.radius},
                                        {"tolerance", options.tolerance},
                                        {"checked", rows.size()},
                                        {"failed", failed},
                                        {"ok", failed == 0},
                                        {"worst", worst}};
    print("{}\n", result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return failed == 0 ? 0 : 1;
  }
  print("{}: {} coordinates, {} random points with every coordinate in (-{}, {}), seed {}\n",
        model.identity.name, model.density.dimension(), options.points, options.radius,
        options.radius, options.seed);
  if (model.density.dimension() > most_coordinates) {
    print(
        "Too many coordinates to check one by one: checking {} random directions at each point.\n",
        directions);
  }
  print("The worst of {} derivatives:\n\n", rows.size());
  print_table(shown);
  if (failed == 0) {
    print("\nThe gradient is right: all {} derivatives agree with finite differences.\n",
          rows.size());
    return 0;
  }
  print(
      "\nThe gradient is wrong, or the log density is not smooth: {} of {} derivatives differ "
      "from\n"
      "finite differences by more than the error of the differences. Samples would be biased or "
      "slow.\n",
      failed, rows.size());
  return 1;
}

}  // namespace

void add_check_gradient(Command app, Action& chosen) {
  Command command = app.subcommand(
      "check-gradient", "Compare a model's gradient with finite differences at random points");
  const auto options = std::make_shared<CheckGradientOptions>();
  add_model_options(command, options->model);
  command.option("--points", options->points, "number of random points, 1 to 10000")
      .show_default()
      .range(1, 10000);
  command.option("--seed", options->seed, "seed of the random points").show_default();
  command.option("--radius", options->radius, "points are uniform on (-radius, radius)^d")
      .show_default();
  command
      .option("--tolerance", options->tolerance,
              "relative error to allow in addition to the error of the differences")
      .show_default();
  command.option("--against", options->against,
                 "compare with this backend of a Stan program, interpret or compile, instead");
  command.flag("--json", options->json, "print JSON");
  command.when_chosen([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace rehmc::cli
