// A model in C++ without hand-written gradient, as a library for `rehmc sample`: robust regression.
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "rehmc/model/autodiff.hpp"
#include "rehmc/model/export.hpp"

namespace {

/// y_i = intercept + slope x_i + sigma t_i, with t_i of Student's t with 4 degrees of freedom.
class Regression {
 public:
  explicit Regression(const std::string& data) {
    const nlohmann::json json = nlohmann::json::parse(data);
    json.at("x").get_to(x_);
    json.at("y").get_to(y_);
    if (x_.size() != y_.size()) throw std::invalid_argument("x and y differ in length");
  }

  /// Of the intercept, the slope and the log of sigma.
  template <class T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& position) const {
    using std::exp;
    const T& log_sigma = position[2];
    const T sigma = exp(log_sigma);
    T result = stan::math::normal_lpdf<true>(position[0], 0, 5) +
               stan::math::normal_lpdf<true>(position[1], 0, 5) +
               stan::math::normal_lpdf<true>(sigma, 0, 2) + log_sigma;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      result +=
          stan::math::student_t_lpdf<true>(y_[i], 4, position[0] + position[1] * x_[i], sigma);
    }
    return result;
  }

  std::size_t dimension() const { return 3; }
  std::vector<std::string> names() const { return {"intercept", "slope", "sigma"}; }
  std::vector<rehmc::Quantity> quantities() const {
    return {{"intercept", 0}, {"slope", 1}, {"sigma", 2}};
  }
  void evaluate_quantities(std::span<const double> position, std::span<double> values,
                           rehmc::Stream*) const {
    values[0] = position[0];
    values[1] = position[1];
    values[2] = std::exp(position[2]);
  }

 private:
  std::vector<double> x_;
  std::vector<double> y_;
};

}  // namespace

REHMC_EXPORT_MODEL(rehmc::Autodiff<Regression>)
