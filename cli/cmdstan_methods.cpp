// Optimisation, approximations and generated quantities, with CmdStan's arguments and files.
#include "cmdstan_methods.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <vector>

#include "open_model.hpp"
#include "print.hpp"
#include "rehmc/adapt/climb.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/job/manifest.hpp"
#include "rehmc/model/initial_point.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/run/sample.hpp"
#include "stan/data.hpp"
#include "stan/program.hpp"
#include "stan/starts.hpp"

namespace rehmc::cli {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Json = nlohmann::ordered_json;
using stan::CmdstanCall;
using Row = std::vector<double>;

/// A call with its model.
struct Task {
  const CmdstanCall& call;
  std::string program;
  BridgeDensity model;
  std::uint64_t seed = 0;
  /// Its log density is that of the Jacobian of the constraints.
  std::optional<BridgeDensity> constraints{};

  std::size_t dimension() const { return model.dimension(); }
  /// All quantities at a position, generated ones drawn from the stream of the row.
  Row quantities(std::span<const double> x, std::uint64_t row) {
    Row values(model.quantities().size());
    Stream stream({seed, static_cast<std::uint32_t>(call.id - 1), row}, Purpose::generated);
    try {
      model.evaluate_quantities(x, values, &stream);
    } catch (const std::domain_error&) {
      // Those that the program refuses are NaN, as with CmdStan.
    }
    return values;
  }
};

std::string_view name_of(CmdstanCall::Wants wants) {
  switch (wants) {
    case CmdstanCall::Wants::optimize:
      return "optimize";
    case CmdstanCall::Wants::laplace:
      return "laplace";
    case CmdstanCall::Wants::pathfinder:
      return "pathfinder";
    case CmdstanCall::Wants::generate:
      return "generate_quantities";
    default:
      break;
  }
  return "log_prob";
}

/// The comments at the head of CmdStan's files, as far as its clients read them.
std::string comments(const Task& task) {
  const CmdstanCall& call = task.call;
  const std::string_view method = name_of(call.wants);
  std::string text = fmt::format(
      "# stan_version_major = 2\n# stan_version_minor = 39\n# stan_version_patch = 0\n"
      "# model = {}_model\n# start_datetime = {}\n# method = {}\n#   {}\n",
      task.model.model_name(), utc_now(), method, method);
  if (call.wants == CmdstanCall::Wants::optimize) {
    text += "#     algorithm = lbfgs (Default)\n";
    text += fmt::format("#     jacobian = {}\n#     save_iterations = 0 (Default)\n",
                        call.jacobian ? 1 : 0);
  }
  if (call.wants == CmdstanCall::Wants::laplace) {
    text += fmt::format("#     mode = {}\n#     jacobian = {}\n#     draws = {}\n", call.input,
                        call.jacobian ? 1 : 0, call.draws);
  }
  if (call.wants == CmdstanCall::Wants::generate) {
    text += fmt::format("#     fitted_params = {}\n", call.input);
  }
  return text + fmt::format(
                    "# id = {}\n# data\n#   file = {}\n# init = {}\n# random\n#   seed = {}\n"
                    "# output\n#   file = {}\n# sampler = rehmc {}\n",
                    call.id, call.data, call.init.empty() ? "2 (Default)" : call.init, task.seed,
                    call.output.string(), REHMC_VERSION);
}

/// The columns of quantities in CmdStan's files.
std::vector<std::string> quantity_names(const Task& task) {
  return names_of(task.model.quantities());
}

int write_table(const Task& task, const std::vector<std::string>& names,
                const std::vector<Row>& rows) {
  std::string text = comments(task);
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ",") + names[i];
  text += '\n';
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      text += fmt::format("{}{}", i == 0 ? "" : ",", row[i]);
    text += '\n';
  }
  write_whole(task.call.output, text);
  return 0;
}

/// The density whose top is wanted.
Density density_of(const Task& task) {
  if (!task.constraints) return task.model;
  return FunctionDensity(task.dimension(),
                         [whole = task.model, constraints = *task.constraints](
                             std::span<const double> x, std::span<double> gradient) mutable {
                           std::vector<double> of_constraints(x.size());
                           const double value = whole(x, gradient) - constraints(x, of_constraints);
                           for (std::size_t i = 0; i < x.size(); ++i)
                             gradient[i] -= of_constraints[i];
                           return value;
                         });
}

std::vector<double> start_of(const Task& task, Guard& guard, std::size_t path) {
  const CmdstanCall& call = task.call;
  const Address address{task.seed, static_cast<std::uint32_t>(call.id - 1 + path), 0};
  double radius = 2;
  if (!call.init.empty()) {
    const char* const end = call.init.data() + call.init.size();
    const auto [stop, error] = std::from_chars(call.init.data(), end, radius);
    if (error != std::errc{} || stop != end) {
      return stan::read_starts(read_file(call.init), call.init, task.model,
                               {.seed = task.seed + path})
          .front();
    }
  }
  if (radius == 0) return std::vector<double>(task.dimension(), 0.0);
  return random_initial_point(guard, {.initial_radius = radius}, address);
}

// optimize

int optimize(Task& task) {
  const Density density = density_of(task);
  Guard guard(density);
  const Top top = find_top(guard, start_of(task, guard, 0));
  if (!top.arrived) {
    throw ModelError("the climb found no top: the density has no mode, or its gradient is wrong");
  }
  print("Optimization terminated normally: log density {:.8g} after {} gradients\n",
        top.log_density, guard.evaluations());
  std::vector<std::string> names{"lp__"};
  Row row{top.log_density};
  const Row values = task.quantities(top.position, 0);
  const std::vector<std::string> more = quantity_names(task);
  names.insert(names.end(), more.begin(), more.end());
  row.insert(row.end(), values.begin(), values.end());
  return write_table(task, names, {row});
}

// Positions from files

/// Puts a number into nested arrays, by indices counted from 1.
void put(Json& json, std::span<const std::size_t> index, double value) {
  if (index.empty()) {
    json = value;
    return;
  }
  if (json.is_null()) json = Json::array();
  while (json.size() < index.front()) json.push_back(nullptr);
  put(json[index.front() - 1], index.subspan(1), value);
}

/// The parameters of the program as JSON, from columns such as theta.1.
std::string parameters_json(const std::vector<std::string>& names, std::span<const double> values,
                            std::size_t count) {
  Json json = Json::object();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = names[i];
    if (name.find(':') != std::string::npos) {
      throw ModelError(
          fmt::format("{}: parameters that are tuples cannot be read from files", name));
    }
    std::vector<std::size_t> index;
    for (std::size_t dot = name.find('.'); dot != std::string::npos;
         dot = name.find('.', dot + 1)) {
      index.push_back(std::stoul(name.substr(dot + 1)));
    }
    put(json[name.substr(0, name.find('.'))], index, values[i]);
  }
  return json.dump();
}

/// The header and the rows of a CSV file, whatever method wrote it.
struct Table {
  std::vector<std::string> names;
  std::vector<Row> rows;
};

Table read_table(const std::string& file) {
  std::istringstream text(read_file(file));
  Table table;
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line.front() == '#') continue;
    const bool head = table.names.empty();
    if (!head) table.rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) {
      if (head) {
        table.names.push_back(cell);
      } else {
        table.rows.back().push_back(std::strtod(cell.c_str(), nullptr));
      }
    }
    if (!head && table.rows.back().size() != table.names.size()) {
      throw DataError(fmt::format("{}: has {} columns, but a row of {} numbers", file,
                                  table.names.size(), table.rows.back().size()));
    }
  }
  if (table.rows.empty()) throw DataError(fmt::format("{}: holds no draws", file));
  return table;
}

/// The positions that a CSV file of CmdStan or rehmc holds, draw after draw.
std::vector<std::vector<double>> positions_in(const Task& task, const std::string& file) {
  if (file.empty()) throw ConfigError(fmt::format("{}: names no file", name_of(task.call.wants)));
  const Table table = read_table(file);
  const std::vector<std::string> names = quantity_names(task);
  const std::size_t count = task.model.parameters();
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = std::find(table.names.begin(), table.names.end(), names[i]);
    if (found == table.names.end()) {
      throw DataError(
          fmt::format("{}: has no column {}, a parameter of the program", file, names[i]));
    }
    places.push_back(static_cast<std::size_t>(found - table.names.begin()));
  }
  std::vector<std::vector<double>> positions;
  Row values(count);
  for (const Row& row : table.rows) {
    for (std::size_t i = 0; i < count; ++i) values[i] = row[places[i]];
    positions.push_back(task.model.unconstrain(parameters_json(names, values, count)));
  }
  return positions;
}

// generate_quantities

int generate(Task& task) {
  const std::vector<Quantity> quantities = task.model.quantities();
  std::vector<std::string> names;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < quantities.size(); ++i) {
    if (!quantities[i].generated) continue;
    names.push_back(quantities[i].name);
    places.push_back(i);
  }
  if (names.empty()) throw ModelError("the program has no generated quantities");
  std::vector<Row> rows;
  for (const std::vector<double>& x : positions_in(task, task.call.input)) {
    const Row values = task.quantities(x, rows.size());
    Row& row = rows.emplace_back();
    for (const std::size_t place : places) row.push_back(values[place]);
  }
  return write_table(task, names, rows);
}

// log_prob

std::vector<std::vector<double>> points_of_log_prob(const Task& task) {
  const CmdstanCall& call = task.call;
  if (call.input.ends_with(".csv")) return positions_in(task, call.input);
  const std::string text = read_file(call.input);
  if (!call.unconstrained) {
    return {task.model.unconstrain(stan::strict_json(text, call.input))};
  }
  const Json json = Json::parse(text);
  const Json& given = json.is_object() ? json.at("params_r") : json;
  std::vector<std::vector<double>> points;
  for (const Json& each : given.front().is_array() ? given : Json::array({given})) {
    points.push_back(each.get<std::vector<double>>());
    if (points.back().size() == task.dimension()) continue;
    throw DataError(fmt::format("{}: has {} numbers, expected {}", call.input, points.back().size(),
                                task.dimension()));
  }
  return points;
}

int log_prob(Task& task) {
  Density density = density_of(task);
  std::vector<std::string> names{"lp__"};
  for (const std::string& name : task.model.names()) names.push_back("g_" + name);
  std::vector<Row> rows;
  for (const std::vector<double>& x : points_of_log_prob(task)) {
    Row row(1 + x.size());
    row[0] = density(x, std::span(row).subspan(1));
    rows.push_back(std::move(row));
  }
  return write_table(task, names, rows);
}

// laplace

/// Minus the second derivatives, from differences of gradients.
MatrixXd curvature(Density& density, const VectorXd& top) {
  const Eigen::Index d = top.size();
  MatrixXd curvature(d, d);
  const auto gradient_at = [&](const VectorXd& x) {
    VectorXd gradient(d);
    density({x.data(), static_cast<std::size_t>(d)},
            {gradient.data(), static_cast<std::size_t>(d)});
    return gradient;
  };
  constexpr double relative_step = 1e-5;
  for (Eigen::Index i = 0; i < d; ++i) {
    const double step = relative_step * std::max(1.0, std::abs(top[i]));
    const VectorXd shift = step * VectorXd::Unit(d, i);
    curvature.col(i) = (gradient_at(top - shift) - gradient_at(top + shift)) / (2 * step);
  }
  return 0.5 * (curvature + curvature.transpose());
}

/// One row of laplace or pathfinder: two log densities, and the quantities.
Row approximate_row(Task& task, double first, double second, std::span<const double> x,
                    std::uint64_t row) {
  Row values{first, second};
  const Row more = task.quantities(x, row);
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

int write_approximation(const Task& task, std::vector<std::string> names,
                        const std::vector<Row>& rows) {
  const std::vector<std::string> more = quantity_names(task);
  names.insert(names.end(), more.begin(), more.end());
  return write_table(task, names, rows);
}

int laplace(Task& task) {
  Density density = density_of(task);
  const std::vector<double> mode = positions_in(task, task.call.input).front();
  const VectorXd top =
      Eigen::Map<const VectorXd>(mode.data(), static_cast<Eigen::Index>(mode.size()));
  const Eigen::LLT<MatrixXd> root(curvature(density, top));
  if (root.info() != Eigen::Success) {
    throw ModelError(
        fmt::format("{}: is no mode: the density does not curve down in every direction there",
                    task.call.input));
  }
  std::vector<Row> rows;
  VectorXd z(top.size());
  VectorXd gradient(top.size());
  const auto d = static_cast<std::size_t>(top.size());
  for (std::size_t draw = 0; draw < task.call.draws; ++draw) {
    Stream stream({task.seed, static_cast<std::uint32_t>(task.call.id - 1), draw}, Purpose::start);
    stream.fill_normal({z.data(), d});
    const VectorXd x = top + root.matrixU().solve(z);
    double height = -std::numeric_limits<double>::infinity();
    try {
      height = density({x.data(), d}, {gradient.data(), d});
    } catch (const std::domain_error&) {
      // Outside of the support: the draw counts as it is, with density 0.
    }
    rows.push_back(approximate_row(task, height, -0.5 * z.squaredNorm(), {x.data(), d}, draw));
  }
  return write_approximation(task, {"log_p__", "log_q__"}, rows);
}

// pathfinder

struct WeightedDraw {
  std::vector<double> position;
  double log_density = 0;
  double log_approximation = 0;
};

/// Draws from the approximation that a climb found.
std::vector<WeightedDraw> draws_of_path(Task& task, Guard& guard, std::size_t path) {
  const Address address{task.seed, static_cast<std::uint32_t>(task.call.id - 1 + path), 0};
  const auto found = find_approximation(guard, start_of(task, guard, path), address);
  if (!found) return {};
  const std::size_t d = task.dimension();
  std::vector<WeightedDraw> draws;
  std::vector<double> z(d);
  std::vector<double> gradient(d);
  for (std::size_t draw = 0; draw < task.call.draws; ++draw) {
    Stream stream({address.seed, address.chain, draw + 1}, Purpose::start);
    stream.fill_normal(z);
    double square = 0;
    for (const double each : z) square += each * each;
    WeightedDraw& now = draws.emplace_back();
    now.position.resize(d);
    found->covariance.apply_inverse_root(z, z);
    found->covariance.apply(z, now.position);
    for (std::size_t i = 0; i < d; ++i) now.position[i] += found->centre[i];
    now.log_density = guard(now.position, gradient);
    now.log_approximation = -0.5 * (square + found->covariance.log_determinant() +
                                    static_cast<double>(d) * std::log(2 * std::numbers::pi));
  }
  return draws;
}

/// Resamples by importance. Weights are truncated at sqrt(n) times their mean (Ionides 2008), so
/// that no single draw takes all.
std::vector<std::size_t> resampled(const std::vector<WeightedDraw>& draws, std::size_t count,
                                   double offset) {
  std::vector<double> weights;
  double most = -std::numeric_limits<double>::infinity();
  for (const WeightedDraw& draw : draws) {
    weights.push_back(draw.log_density - draw.log_approximation);
    most = std::max(most, weights.back());
  }
  double sum = 0;
  for (double& weight : weights) sum += weight = std::exp(weight - most);
  const double limit = sum / std::sqrt(static_cast<double>(weights.size()));
  sum = 0;
  for (double& weight : weights) sum += weight = std::min(weight, limit);
  std::vector<std::size_t> chosen;
  double passed = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    passed += weights[i] / sum * static_cast<double>(count);
    while (chosen.size() < count && offset + static_cast<double>(chosen.size()) < passed) {
      chosen.push_back(i);
    }
  }
  while (chosen.size() < count) chosen.push_back(weights.size() - 1);
  return chosen;
}

int pathfinder(Task& task) {
  const Density density = task.model;
  Guard guard(density);
  std::vector<WeightedDraw> draws;
  for (std::size_t path = 0; path < task.call.chains; ++path) {
    std::vector<WeightedDraw> more = draws_of_path(task, guard, path);
    print("Path [{}]: {}\n", path + 1, more.empty() ? "found no top" : "found an approximation");
    draws.insert(draws.end(), more.begin(), more.end());
  }
  std::erase_if(draws, [](const WeightedDraw& draw) { return !std::isfinite(draw.log_density); });
  if (draws.empty()) {
    throw ModelError(
        "Pathfinder: no climb found a top around which the density is like a normal one");
  }
  Stream stream({task.seed, static_cast<std::uint32_t>(task.call.id - 1), 0}, Purpose::start);
  std::vector<Row> rows;
  for (const std::size_t i : resampled(draws, task.call.draws, stream.uniform())) {
    rows.push_back(approximate_row(task, draws[i].log_approximation, draws[i].log_density,
                                   draws[i].position, rows.size()));
  }
  return write_approximation(task, {"lp_approx__", "lp__"}, rows);
}

}  // namespace

int run_cmdstan_method(const CmdstanCall& call, const std::string& program) {
  const std::uint64_t seed = call.seed.value_or(fresh_seed());
  ModelChoice choice;
  choice.model = program;
  choice.data = call.data;
  const OpenedModel opened = open_model(choice, seed);
  Task task{call, program, *opened.bridge, seed};
  if (!call.jacobian) {
    const std::filesystem::path file = program + ".constraints.stan";
    write_whole(file, stan::only_parameters(opened.program));
    choice.model = file.string();
    task.constraints = open_model(choice, seed).bridge;
    std::filesystem::remove(file);
  }
  switch (call.wants) {
    case CmdstanCall::Wants::optimize:
      return optimize(task);
    case CmdstanCall::Wants::laplace:
      return laplace(task);
    case CmdstanCall::Wants::pathfinder:
      return pathfinder(task);
    case CmdstanCall::Wants::generate:
      return generate(task);
    default:
      break;
  }
  return log_prob(task);
}

}  // namespace rehmc::cli
