// Hierarchical Bayesian logistic regression: the coefficients share an unknown scale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/logistic_likelihood.hpp"

namespace rehmc {

/// y_i ~ Bernoulli(1 / (1 + exp(-x_i' beta))), beta_j ~ N(0, sigma^2), a flat prior on sigma > 0,
/// sampled as (log sigma, beta): the log likelihood - (p - 1) log sigma - |beta|^2 / (2 sigma^2),
/// where p log sigma belongs to the normals and 1 log sigma is the Jacobian.
///
/// The second test case of Nishimura and Dunson (2020). If a plane separates the two classes of y,
/// this posterior is improper: sigma grows without bound.
class HierarchicalLogistic {
 public:
  /// DataError for inconsistent sizes, predictors that are not finite, or y other than 0 and 1.
  explicit HierarchicalLogistic(const LogisticData& data);

  double operator()(std::span<const double> x, std::span<double> gradient);
  void evaluate_batch(const Batch& batch);
  std::size_t dimension() const { return 1 + likelihood_.predictors(); }
  std::vector<std::string> names() const;  ///< log_sigma, beta.1, ...

 private:
  /// The log density of the prior; writes its gradient.
  double prior(std::span<const double> x, std::span<double> gradient) const;

  LogisticLikelihood likelihood_;
};

/// A few attributes of each observation, from which many predictors are formed.
struct AttributeData {
  std::size_t observations = 0;
  std::size_t attributes = 0;
  std::vector<double> values;  ///< row by row: observations * attributes numbers
  std::vector<int> y;          ///< 0 or 1
};

/// An intercept, the k attributes, and their k (k - 1) / 2 products in the order (1, 2), (1, 3),
/// ..., (2, 3), ...; attributes are standardised (mean 0, variance 1, dividing by n), and so are,
/// once more, the products of standardised attributes. 24 attributes make 301 predictors. DataError
/// for inconsistent sizes, numbers that are not finite, or a column without variation.
LogisticData with_interactions(const AttributeData& data);

/// The Statlog German credit data in their numeric form (`german.data-numeric` of the UCI Machine
/// Learning Repository): lines of 24 integers and the class, 1 for good credit (y = 0) or 2 for bad
/// (y = 1). The name is only for messages. DataError for anything else.
AttributeData read_german_credit(std::string_view text, const std::string& name);

/// Which data set to simulate.
struct AttributeSimulation {
  std::size_t observations = 1000;
  std::size_t attributes = 24;
  std::uint64_t seed = 1;
};

/// A substitute for the German credit data, of the same size and similar in kind: attributes normal
/// with correlation 0.3 between neighbours, every third of them cut to 0 or 1; y depends on a few
/// of them and is 1 in about three cases out of ten. ConfigError for fewer than two observations or
/// no attributes.
AttributeData simulate_attributes(const AttributeSimulation& simulation);

}  // namespace rehmc
