// The four test cases of the paper, as densities to be sampled with the unit metric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rehmc/core/random.hpp"
#include "rehmc/model/log_density.hpp"

namespace rehmc::experiments {

enum class CaseName { gaussian, logistic, volatility, cox };
constexpr CaseName greatest(CaseName /*of*/) { return CaseName::cox; }
inline constexpr CaseName all_cases[] = {CaseName::gaussian, CaseName::logistic,
                                         CaseName::volatility, CaseName::cox};
std::string describe(CaseName name);

/// How long a path of HMC is.
enum class PathRule {
  leading_quarter,  ///< a quarter turn of the widest coordinate, times a factor within [1/2, 1]
  near_quarter,     ///< the same quarter, times [0.9, 1.1]: the paper's first attempt
  greatest_jump,    ///< where the normalised squared jump is largest, times [0.9, 1.1]
  up_to_thirty,     ///< the number of steps is uniform on 1, ..., 30
};

/// Variances of independent normal coordinates, which define the first test case.
using Variances = std::vector<double>;

/// An exact draw, from the address alone.
std::vector<double> exact_draw(const Variances& variances, const Address& address);

struct TestCase {
  CaseName name;
  std::string title;
  /// Its quantities are the parameters of the study.
  Density density;
  PathRule path_rule;
  /// Samples per iteration, the final state among them, that the paper found to suffice; under HMC
  /// they were every paper_stride_hmc-th step of a path.
  std::size_t paper_count_hmc;
  std::size_t paper_stride_hmc;
  std::size_t paper_count_nuts;
  /// Only the first: truth is exact, and so are starting positions.
  std::optional<Variances> exact;
  /// What every output must announce: data or a size that differ from the paper's.
  std::string notice;
};

/// The seed of the Wishart draw of the first test case: of the first 400 the one whose condition
/// number, 9.47e4, is nearest to the 9.5e4 of the paper.
inline constexpr std::uint64_t gaussian_seed = 367;

/// Reads the data it needs from the folder (experiments/data/README.md names the files); without
/// them it uses simulated data and says so in `notice`. DataError for files that exist but have
/// other contents. The Cox process has cox_grid x cox_grid cells.
TestCase make_test_case(CaseName name, const std::filesystem::path& data_folder,
                        std::size_t cox_grid = 64);

/// The same density in the coordinates that are its parameters, for the case that is sampled in
/// others.
std::optional<Density> density_as_read(const TestCase& test_case);

}  // namespace rehmc::experiments
