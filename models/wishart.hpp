// Draws from a Wishart distribution whose mean is the identity, for covariances of test targets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rehmc {

class DataReader;

/// The settings of a draw; the defaults are those of the paper's first test case (its section on a
/// Gaussian). With as many degrees of freedom as dimensions the condition number varies wildly: the
/// paper's draw had 9.5e4, our seeds 1 to 5 have 1.1e6, 7.5e5, 7.1e5, 1.9e6 and 5.4e4.
struct WishartSettings {
  std::size_t dimension = 250;
  std::size_t degrees_of_freedom = 250;  ///< at least the dimension, or the draw is singular
  std::uint64_t seed = 1;
};

/// A symmetric positive definite matrix, row by row. ConfigError for bad settings.
std::vector<double> wishart_draw(const WishartSettings& settings);

/// The eigenvalues of that draw, smallest first: since rotations do not affect HMC with a
/// unit metric, a diagonal normal with these variances is as hard as the correlated one.
std::vector<double> wishart_eigenvalues(const WishartSettings& settings);

/// From the keys dimension, degrees_of_freedom and seed, which wishart_help() explains.
WishartSettings read_wishart(DataReader& data);
std::string wishart_help();

}  // namespace rehmc
