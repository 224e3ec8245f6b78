// Draws from a Wishart distribution whose mean is the identity, for covariances of test targets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rehmc {

/// Which draw; the defaults are those of the paper's first test case (its section on a Gaussian).
struct WishartSettings {
  std::size_t dimension = 250;
  std::size_t degrees_of_freedom = 250;  ///< at least the dimension, or the draw is singular
  std::uint64_t seed = 1;
};

/// A symmetric positive definite matrix, row by row. ConfigError for bad settings.
std::vector<double> wishart_draw(const WishartSettings& settings);

/// The eigenvalues of that draw, smallest first: since HMC with a unit metric does not notice
/// rotations, a diagonal normal with these variances is as hard as the correlated one.
std::vector<double> wishart_eigenvalues(const WishartSettings& settings);

}  // namespace rehmc
