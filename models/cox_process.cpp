// A log-Gaussian Cox process: its precision matrix in blocks, by mirror symmetry.
#include "models/cox_process.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "models/cox_grid.hpp"
#include "models/data_reader.hpp"
#include "models/entry.hpp"
#include "models/fast_math.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/instructions.hpp"
#include "rehmc/core/lane_sums.hpp"
#include "rehmc/core/random.hpp"
#include "rehmc/core/settings.hpp"
#include "rehmc/core/variants.hpp"

namespace rehmc {
namespace {

/// The four blocks, of which two are equal.
struct Blocks {
  Eigen::MatrixXd even_even;
  Eigen::MatrixXd mixed;
  Eigen::MatrixXd odd_odd;

  const Eigen::MatrixXd& operator[](std::size_t block) const {
    return block == 0 ? even_even : block == 3 ? odd_odd : mixed;
  }
};

template <class Function>
Blocks for_each_block(const Blocks& blocks, Function function) {
  return {function(blocks.even_even), function(blocks.mixed), function(blocks.odd_odd)};
}

void check(const CoxSettings& settings) {
  require_setting("size of the grid", static_cast<double>(settings.size), between(2, 128));
  require_setting("length_scale", settings.length_scale, between(1e-3, 1e2));
  require_setting("variance", settings.variance, between(1e-3, 10));
  require_setting("expected_points", settings.expected_points, between(1e-3, 1e6));
}

double mean_of(const CoxSettings& settings) {
  return std::log(settings.expected_points) - 0.5 * settings.variance;
}

double cell_area(const CoxSettings& settings) {
  return 1 / static_cast<double>(settings.size * settings.size);
}

/// The entries of Lambda, which are all the same.
double information(const CoxSettings& settings) {
  return cell_area(settings) * std::exp(mean_of(settings) + settings.variance);
}

/// The counts as numbers. DataError unless there is one per cell.
AlignedVector counts_of(const CoxSettings& settings, std::span<const std::uint64_t> counts) {
  const std::size_t cells = settings.size * settings.size;
  if (counts.size() != cells) {
    throw DataError(fmt::format("Cox process: found {} counts, must be {} * {} = {}", counts.size(),
                                settings.size, settings.size, cells));
  }
  AlignedVector numbers(cells);
  for (std::size_t i = 0; i < cells; ++i) numbers[i] = static_cast<double>(counts[i]);
  return numbers;
}

std::vector<std::string> cell_names(std::size_t size) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= size; ++i) {
    for (std::size_t j = 1; j <= size; ++j) names.push_back(fmt::format("x.{}.{}", i, j));
  }
  return names;
}

/// The covariance of sums and differences: the images of one cell, with their signs.
Eigen::MatrixXd covariance_block(const CoxSettings& settings, bool odd_rows, bool odd_columns) {
  const Mirror mirror(settings.size);
  const std::size_t rows = odd_rows ? mirror.odd() : mirror.even();
  const std::size_t columns = odd_columns ? mirror.odd() : mirror.even();
  const double range = static_cast<double>(settings.size) * settings.length_scale;
  const auto kernel = [&](std::size_t i, std::size_t j, std::size_t k, std::size_t l) {
    const double down = static_cast<double>(i) - static_cast<double>(k);
    const double along = static_cast<double>(j) - static_cast<double>(l);
    return settings.variance * std::exp(-std::sqrt(down * down + along * along) / range);
  };
  const double row_sign = odd_rows ? -1 : 1;
  const double column_sign = odd_columns ? -1 : 1;
  const auto share = [&](std::size_t k, std::size_t l) {
    return (odd_rows ? 1 : mirror.share(k)) * (odd_columns ? 1 : mirror.share(l));
  };
  const auto cells = static_cast<Eigen::Index>(rows * columns);
  Eigen::MatrixXd block(cells, cells);
  for (std::size_t b = 0; b < rows * columns; ++b) {
    const std::size_t k = b / columns, l = b % columns;
    const std::size_t k_image = mirror.opposite(k), l_image = mirror.opposite(l);
    for (std::size_t a = b; a < rows * columns; ++a) {
      const std::size_t i = a / columns, j = a % columns;
      const double sum =
          kernel(i, j, k, l) + row_sign * kernel(i, j, k_image, l) +
          column_sign * (kernel(i, j, k, l_image) + row_sign * kernel(i, j, k_image, l_image));
      const auto p = static_cast<Eigen::Index>(a), q = static_cast<Eigen::Index>(b);
      block(p, q) = share(i, j) * share(k, l) * sum;
      block(q, p) = block(p, q);
    }
  }
  return block;
}

Blocks covariance_blocks(const CoxSettings& settings) {
  return {covariance_block(settings, false, false), covariance_block(settings, false, true),
          covariance_block(settings, true, true)};
}

TriangularPanels panels_of(const Eigen::MatrixXd& upper) {
  return {static_cast<std::size_t>(upper.rows()), [&](std::size_t i, std::size_t j) {
            return upper(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
          }};
}

template <class Root>
TriangularBlocks roots_of(const Blocks& blocks, const Root& root) {
  return {root(blocks.even_even), root(blocks.mixed), root(blocks.odd_odd)};
}

CoxGrid grid_of(const CoxSettings& settings, AlignedVector counts, TriangularBlocks root) {
  return {.mirror = Mirror(settings.size),
          .area = cell_area(settings),
          .mean = mean_of(settings),
          .lambda = information(settings),
          .counts = std::move(counts),
          .root = std::move(root)};
}

Eigen::MatrixXd inverse(const Eigen::MatrixXd& block) {
  return block.llt().solve(Eigen::MatrixXd::Identity(block.rows(), block.rows()));
}

/// Of G, from those of the precision matrix.
Blocks metric_blocks(const CoxSettings& settings, const Blocks& precision) {
  return for_each_block(precision, [&](Eigen::MatrixXd block) {
    block.diagonal().array() += information(settings);
    return block;
  });
}

/// All entries of a matrix that is given by its blocks.
std::vector<double> unfolded(const Mirror& mirror, const Blocks& blocks) {
  const std::size_t cells = mirror.cells();
  const std::array<std::size_t, 5> begin = mirror.begins();
  std::vector<double> matrix(cells * cells);
  std::vector<double> unit(cells);
  std::vector<double> folded(cells);
  std::vector<double> product(cells);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    unit[cell] = 1;
    mirror.fold(unit.data(), folded.data());
    unit[cell] = 0;
    std::ranges::fill(product, 0.0);
    for (std::size_t block = 0; block < 4; ++block) {
      Eigen::Map<Eigen::VectorXd> part(product.data() + begin[block], blocks[block].rows());
      for (std::size_t i = begin[block]; i < begin[block + 1]; ++i) {
        // At most one cell in each block belongs to the unit vector.
        if (folded[i] == 0) continue;
        part += folded[i] * blocks[block].col(static_cast<Eigen::Index>(i - begin[block]));
      }
    }
    mirror.add_unfolded(1, product.data(), matrix.data() + cell * cells);
  }
  return matrix;
}

}  // namespace

struct CoxProcess::Field {
  CoxSettings settings;
  CoxGrid grid;
  Blocks precision;

  /// Blocks of G.
  Blocks metric() const { return metric_blocks(settings, precision); }
};

CoxProcess::CoxProcess(const CoxSettings& settings, std::span<const std::uint64_t> counts)
    : folded_(counts.size()), pulls_(counts.size()) {
  check(settings);
  AlignedVector numbers = counts_of(settings, counts);
  Blocks precision = for_each_block(covariance_blocks(settings), inverse);
  const auto root = [](const Eigen::MatrixXd& block) {
    return panels_of(Eigen::MatrixXd(block.llt().matrixU()));
  };
  CoxGrid grid = grid_of(settings, std::move(numbers), roots_of(precision, root));
  field_ = std::make_shared<const Field>(
      Field{.settings = settings, .grid = std::move(grid), .precision = std::move(precision)});
}

double CoxProcess::operator()(std::span<const double> x, std::span<double> gradient) {
  const Field& field = *field_;
  const CoxGrid& grid = field.grid;
  const std::size_t cells = grid.mirror.cells();
  const double area = grid.area;
  const double mean = grid.mean;
  const double* const position = x.data();
  const double* const counts = grid.counts.data();
  double* const derivative = gradient.data();
  // The gradient holds x - mu until it is folded.
  hot_loop([=] {
#pragma omp simd
    for (std::size_t i = 0; i < cells; ++i) derivative[i] = position[i] - mean;
  });
  grid.mirror.fold(derivative, folded_.data());
  const std::array<std::size_t, 5> begin = grid.mirror.begins();
  double squares = 0;
  for (std::size_t block = 0; block < 4; ++block) {
    const Eigen::MatrixXd& precision = field.precision[block];
    const Eigen::Map<const Eigen::VectorXd> part(folded_.data() + begin[block], precision.rows());
    Eigen::Map<Eigen::VectorXd> pull(pulls_.data() + begin[block], precision.rows());
    // Reads half of the matrix: the time goes into memory access.
    pull.noalias() = precision.selfadjointView<Eigen::Lower>() * part;
    squares += pull.dot(part);
  }
  const double likelihood = hot_loop([=] {
    return lane_sum(cells, [=](std::size_t i) {
      const double intensity = area * fast_exp(position[i]);
      derivative[i] = counts[i] - intensity;
      return counts[i] * position[i] - intensity;
    });
  });
  grid.mirror.add_unfolded(-1, pulls_.data(), derivative);
  return likelihood - 0.5 * squares;
}

void CoxProcess::evaluate_batch(const Batch& batch) {
  REHMC_VARIANT_IN_USE(evaluate_cox)(field_->grid, batch, folded_);
}

std::size_t CoxProcess::dimension() const { return field_->grid.mirror.cells(); }

std::vector<std::string> CoxProcess::names() const { return cell_names(field_->settings.size); }

std::vector<double> CoxProcess::mass_matrix() const {
  return unfolded(field_->grid.mirror, field_->metric());
}

std::vector<double> CoxProcess::inverse_mass_matrix() const {
  return unfolded(field_->grid.mirror, for_each_block(field_->metric(), inverse));
}

struct WhitenedCoxProcess::Field {
  CoxSettings settings;
  CoxGrid grid;
};

WhitenedCoxProcess::WhitenedCoxProcess(const CoxSettings& settings,
                                       std::span<const std::uint64_t> counts) {
  check(settings);
  AlignedVector numbers = counts_of(settings, counts);
  // G = L L', so A = L'^{-1}.
  const auto root = [](const Eigen::MatrixXd& block) {
    const Eigen::LLT<Eigen::MatrixXd> cholesky(block);
    Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(block.rows(), block.rows());
    cholesky.matrixU().solveInPlace(inverse);
    return panels_of(inverse);
  };
  const Blocks metric =
      metric_blocks(settings, for_each_block(covariance_blocks(settings), inverse));
  field_ = std::make_shared<const Field>(Field{
      .settings = settings, .grid = grid_of(settings, std::move(numbers), roots_of(metric, root))});
}

void WhitenedCoxProcess::evaluate_batch(const Batch& batch) {
  REHMC_VARIANT_IN_USE(evaluate_whitened_cox)(field_->grid, batch, rows_);
}

// One chain takes no longer by itself: the time of a matrix-vector product goes into memory access.
double WhitenedCoxProcess::operator()(std::span<const double> u, std::span<double> gradient) {
  double value = 0;
  evaluate_batch({1, u.size(), u.data(), &value, gradient.data()});
  return value;
}

std::size_t WhitenedCoxProcess::dimension() const { return field_->grid.mirror.cells(); }

std::vector<std::string> WhitenedCoxProcess::names() const {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= dimension(); ++i) names.push_back(fmt::format("u.{}", i));
  return names;
}

std::vector<Quantity> WhitenedCoxProcess::quantities() const {
  std::vector<Quantity> quantities;
  for (std::string& name : cell_names(field_->settings.size)) {
    quantities.push_back({std::move(name)});
  }
  return quantities;
}

void WhitenedCoxProcess::evaluate_quantities(std::span<const double> u, std::span<double> x,
                                             Stream* /*stream*/) {
  evaluate_quantities_batch({&u, 1}, {&x, 1});
}

void WhitenedCoxProcess::evaluate_quantities_batch(std::span<const std::span<const double>> u,
                                                   std::span<const std::span<double>> x) {
  REHMC_VARIANT_IN_USE(colour_whitened_cox)(field_->grid, u, x, rows_);
}

std::vector<std::uint64_t> simulate_cox_counts(const CoxSettings& settings, std::uint64_t seed) {
  check(settings);
  const Mirror mirror(settings.size);
  const std::array<std::size_t, 5> begin = mirror.begins();
  Stream stream({.seed = seed}, Purpose::test);
  std::vector<double> normals(mirror.cells());
  stream.fill_normal(normals);
  std::vector<double> folded(mirror.cells());
  const Blocks factors = for_each_block(
      covariance_blocks(settings),
      [](const Eigen::MatrixXd& block) -> Eigen::MatrixXd { return block.llt().matrixL(); });
  for (std::size_t block = 0; block < 4; ++block) {
    const Eigen::Index rows = factors[block].rows();
    Eigen::Map<Eigen::VectorXd>(folded.data() + begin[block], rows) =
        factors[block] * Eigen::Map<const Eigen::VectorXd>(normals.data() + begin[block], rows);
  }
  std::vector<double> x(mirror.cells(), mean_of(settings));
  mirror.add_unfolded(-1, folded.data(), x.data());
  std::vector<std::uint64_t> counts;
  for (const double entry : x) {
    // Events of a Poisson process of rate 1 before this time.
    const double time = cell_area(settings) * std::exp(entry);
    std::uint64_t count = 0;
    for (double now = stream.exponential(); now < time; now += stream.exponential()) ++count;
    counts.push_back(count);
  }
  return counts;
}

namespace {

template <class Process>
Density make_cox_process(DataReader& data) {
  data.exclude("counts", {"size", "seed"});
  CoxSettings settings;
  settings.length_scale = data.number("length_scale", settings.length_scale, between(1e-3, 1e2));
  settings.variance = data.number("variance", settings.variance, between(1e-3, 10));
  settings.expected_points =
      data.number("expected_points", settings.expected_points, between(1e-3, 1e6));
  if (!data.has("counts")) {
    settings.size = data.integer("size", settings.size, between(2, 128));
    const std::uint64_t seed = data.seed(1);
    return Process(settings, simulate_cox_counts(settings, seed));
  }
  const DataMatrix cells = data.matrix("counts", between(0, 1e9));
  if (cells.rows != cells.columns || cells.rows < 2 || cells.rows > 128) {
    data.fail("counts", fmt::format("{} rows of {} numbers", cells.rows, cells.columns),
              "a square of 2 to 128 rows");
  }
  settings.size = cells.rows;
  std::vector<std::uint64_t> counts;
  for (const double value : cells.values) {
    if (value != std::floor(value)) {
      data.fail(fmt::format("counts[{}][{}]", counts.size() / cells.columns + 1,
                            counts.size() % cells.columns + 1),
                fmt::format("{}", value), "a whole number");
    }
    counts.push_back(static_cast<std::uint64_t>(value));
  }
  return Process(settings, counts);
}

}  // namespace

ModelEntries cox_process_entries() {
  const std::string description =
      "Counts y_ij ~ Poisson(exp(x_ij) / m^2) on an m x m grid, x a Gaussian process with mean\n"
      "log(expected_points) - variance / 2 and covariance variance exp(-distance /\n"
      "length_scale), the side of the grid being 1: the last test case of Nishimura and Dunson\n"
      "(2020), after Girolami and Calderhead (2011). Parameters: x.1.1, x.1.2, ..., x.m.m.";
  const std::string whitened_description =
      "The model cox-process in u, where x = mu + A u and A A' is the inverse of the constant\n"
      "metric of Girolami and Calderhead (2011): --metric unit here is their Riemannian\n"
      "manifold HMC there. Parameters: u.1, ..., u.(m m); reported as x.1.1, x.1.2, ..., x.m.m.";
  const std::string help =
      "counts           m rows of m whole numbers; without them they are simulated:\n"
      "size             m, default 64, at most 128\n"
      "seed             of the simulation, default 1\n"
      "length_scale     default 1/33\n"
      "variance         default 1.91\n"
      "expected_points  default 126";
  const std::vector<std::string> keys{"counts",       "size",     "seed",
                                      "length_scale", "variance", "expected_points"};
  return {{.place = 160,
           .info = {.name = "cox-process",
                    .summary = "a log-Gaussian Cox process on a grid of 64 x 64 cells",
                    .description = description,
                    .data_help = help,
                    .data_example = R"({"size": 16, "seed": 2})"},
           .keys = keys,
           .version = 1,
           .make = make_cox_process<CoxProcess>},
          {.place = 170,
           .info = {.name = "cox-process-whitened",
                    .summary = "the same posterior in coordinates that suit the unit metric",
                    .description = whitened_description,
                    .data_help = help,
                    .data_example = R"({"size": 16, "seed": 2})"},
           .keys = keys,
           .version = 1,
           .make = make_cox_process<WhitenedCoxProcess>}};
}

}  // namespace rehmc
