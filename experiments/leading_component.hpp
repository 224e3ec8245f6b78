// The leading principal component of the states of a chain, and its errors.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace rehmc::experiments {

/// Errors of the leading principal component as the chain grows.
enum class ComponentQuantity { angle, eigenvalue };
inline constexpr std::size_t component_quantities = 2;

/// The true leading components: l = min{j : sigma_j^2 < sigma_1^2 / 2} of them, as in the paper.
struct LeadingPlane {
  std::vector<std::vector<double>> directions;  ///< orthonormal
  double eigenvalue = 0;                        ///< the largest
};

/// The plane of independent coordinates.
LeadingPlane leading_plane(std::span<const double> variances);

/// Sums of products of states about a centre, as they are stored.
struct PackedProducts {
  double mass = 0;
  std::vector<double> sum;
  std::vector<float> triangle;  ///< the lower one, column by column

  void add(const PackedProducts& other);
  template <class Archive>
  void archive(Archive& archive) {
    archive(mass, sum, triangle);
  }
};

/// Weighted sums of products of states. In single precision, whose errors are far below those of
/// any chain: states count from a centre, so that nothing large cancels.
class Products {
 public:
  explicit Products(std::span<const double> centre);
  Products(std::span<const double> centre, const PackedProducts& packed);
  Products(Products&&) noexcept;
  Products& operator=(Products&&) noexcept;
  ~Products();

  void add(std::span<const double> x, double weight);
  PackedProducts packed();
  /// Of the covariance of the states so far.
  LeadingPlane plane();
  /// Squared errors of that covariance: of the angle between its leading eigenvector and the true
  /// plane, and of its largest eigenvalue.
  std::array<double, component_quantities> squared_errors(const LeadingPlane& truth);

 private:
  struct Sums;
  std::unique_ptr<Sums> sums_;
};

}  // namespace rehmc::experiments
