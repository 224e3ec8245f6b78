// Simulated data sets, and gradients by hand.
#include "warmup_targets.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <Eigen/QR>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <utility>

#include "models/linear_regression.hpp"
#include "models/log_scale_prior.hpp"
#include "models/logistic_regression.hpp"
#include "models/registry.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/low_rank.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc::bench {
namespace {

/// An intercept, a height in inches, a group, and their product: nothing is centred.
LinearData uncentred_data() {
  LinearData data{1000, 4, {}, {}};
  Stream stream({1, 0, 0}, Purpose::test);
  for (std::size_t i = 0; i < data.observations; ++i) {
    const double height = 66.5 + 3.8 * stream.normal();
    const double group = stream.chance(0.4) ? 1 : 0;
    for (const double x : {1.0, height, group, group * height}) data.x.push_back(x);
    data.y.push_back(8 + 0.02 * height - 0.2 * group + 0.01 * group * height +
                     0.9 * stream.normal());
  }
  return data;
}

/// A series regressed on its last five values.
LinearData autoregression_data() {
  constexpr std::array lags{0.5, -0.2, 0.3, 0.05, -0.1};
  LinearData data{200, 1 + lags.size(), {}, {}};
  Stream stream({2, 0, 0}, Purpose::test);
  std::vector<double> series(lags.size(), 0.0);
  for (std::size_t t = 0; t < data.observations + 100; ++t) {
    const std::size_t now = series.size();
    double mean = 0.3;
    for (std::size_t k = 0; k < lags.size(); ++k) mean += lags[k] * series[now - 1 - k];
    series.push_back(mean + 0.8 * stream.normal());
    if (t < 100) continue;
    data.x.push_back(1);
    for (std::size_t k = 0; k < lags.size(); ++k) data.x.push_back(series[now - 1 - k]);
    data.y.push_back(series.back());
  }
  return data;
}

/// Standardised attributes and an intercept.
LogisticData credit_data(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw NoInputError(fmt::format("{}: not found; give --credit FILE", path));
  constexpr std::size_t attributes = 24;
  LogisticData data;
  data.predictors = attributes + 1;
  for (std::string line; std::getline(file, line);) {
    std::istringstream numbers(line);
    std::vector<double> row{std::istream_iterator<double>(numbers), {}};
    if (row.size() != attributes + 1) continue;
    data.y.push_back(row.back() == 2 ? 1 : 0);
    row.pop_back();
    data.x.push_back(1);
    data.x.insert(data.x.end(), row.begin(), row.end());
  }
  data.observations = data.y.size();
  const auto n = static_cast<double>(data.observations);
  for (std::size_t j = 1; j < data.predictors; ++j) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < data.observations; ++i) {
      const double x = data.x[i * data.predictors + j];
      sum += x;
      squares += x * x;
    }
    const double sd = std::sqrt(squares / n - sum * sum / n / n);
    for (std::size_t i = 0; i < data.observations; ++i) {
      double& x = data.x[i * data.predictors + j];
      x = (x - sum / n) / sd;
    }
  }
  return data;
}

/// Independent coordinates, with sds between 1 and 1 / sqrt(condition).
std::string spread_sds(std::size_t dimension, double condition) {
  std::string list;
  for (std::size_t i = 0; i < dimension; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(dimension - 1);
    list += fmt::format("{}{}", i == 0 ? "" : ", ", std::pow(condition, -0.5 * share));
  }
  return list;
}

/// A random walk observed with noise, centred: y_t ~ N(m_t, s^2), m_t ~ N(m_{t-1}, l^2), with l
/// small. Where l is near 0, the levels are held together tightly: a funnel in n dimensions.
/// Coordinates: log s, log l, m_1, ..., m_n.
class LocalLevel {
 public:
  explicit LocalLevel(std::size_t length) {
    Stream stream({3, 0, 0}, Purpose::test);
    double level = 2;
    for (std::size_t t = 0; t < length; ++t) {
      level += 0.05 * stream.normal();
      y_.push_back(level + stream.normal());
    }
  }
  std::size_t dimension() const { return 2 + y_.size(); }

  double operator()(std::span<const double> x, std::span<double> gradient) const {
    const double noise = std::exp(-2 * x[0]);
    const double walk = std::exp(-2 * x[1]);
    const auto level = x.subspan(2);
    const auto slope = gradient.subspan(2);
    double residuals = 0;
    double steps = 0;
    slope[0] = -level[0] / 100;
    for (std::size_t t = 0; t < y_.size(); ++t) {
      const double off = y_[t] - level[t];
      residuals += off * off;
      if (t > 0) {
        const double step = level[t] - level[t - 1];
        steps += step * step;
        slope[t] = -walk * step;
        slope[t - 1] += walk * step;
      }
      slope[t] += noise * off;
    }
    const auto n = static_cast<double>(y_.size());
    const LogScaleTerm of_noise = half_normal_log_scale(x[0], 2);
    const LogScaleTerm of_walk = half_normal_log_scale(x[1], 2);
    gradient[0] = of_noise.slope - n + noise * residuals;
    gradient[1] = of_walk.slope - (n - 1) + walk * steps;
    return of_noise.value + of_walk.value - n * x[0] - (n - 1) * x[1] -
           0.5 * (noise * residuals + walk * steps + level[0] * level[0] / 100);
  }

 private:
  std::vector<double> y_;
};

/// Linear regression with the horseshoe prior (Carvalho, Polson & Scott 2010), non-centred:
/// b_j = z_j t l_j, with half-Cauchy scales. Coordinates: log t, log s, z_1, ..., log l_1, ...
class Horseshoe {
 public:
  Horseshoe(Eigen::Index observations, Eigen::Index predictors)
      : x_(observations, predictors), y_(observations) {
    Stream stream({4, 0, 0}, Purpose::test);
    for (Eigen::Index i = 0; i < observations; ++i) {
      for (Eigen::Index j = 0; j < predictors; ++j) x_(i, j) = stream.normal();
      y_[i] = 2 * x_(i, 0) - x_(i, 1) + 0.5 * x_(i, 2) + stream.normal();
    }
  }
  std::size_t dimension() const { return 2 + 2 * static_cast<std::size_t>(x_.cols()); }

  double operator()(std::span<const double> x, std::span<double> gradient) const {
    const Eigen::Index p = x_.cols();
    const Eigen::Map<const Eigen::ArrayXd> z(x.data() + 2, p);
    const Eigen::Map<const Eigen::ArrayXd> log_local(x.data() + 2 + p, p);
    const Eigen::ArrayXd local = log_local.exp();
    const double global = std::exp(x[0]);
    const double precision = std::exp(-2 * x[1]);
    const Eigen::ArrayXd scale = global * local;
    const Eigen::VectorXd off = y_ - x_ * (z * scale).matrix();
    const Eigen::ArrayXd pull = precision * (x_.transpose() * off).array();
    const double squares = off.squaredNorm();
    const auto n = static_cast<double>(y_.size());
    const LogScaleTerm of_noise = half_normal_log_scale(x[1], 2);
    const double square = global * global;
    const Eigen::ArrayXd locals = local.square();
    Eigen::Map<Eigen::ArrayXd>(gradient.data() + 2, p) = pull * scale - z;
    Eigen::Map<Eigen::ArrayXd>(gradient.data() + 2 + p, p) =
        pull * z * scale + 1 - 2 * locals / (1 + locals);
    gradient[0] = (pull * z * scale).sum() + 1 - 2 * square / (1 + square);
    gradient[1] = of_noise.slope - n + precision * squares;
    return of_noise.value - n * x[1] - 0.5 * (precision * squares + z.square().sum()) + x[0] -
           std::log1p(square) + (log_local - locals.log1p()).sum();
  }

 private:
  Eigen::MatrixXd x_;
  Eigen::VectorXd y_;
};

/// A standard normal density with 20 random directions of sd 10 and 20 of sd 0.1.
class StretchedNormal {
 public:
  explicit StretchedNormal(std::size_t dimension) {
    constexpr Eigen::Index each = 20;
    const auto d = static_cast<Eigen::Index>(dimension);
    Eigen::MatrixXd columns(d, 2 * each);
    Stream stream({5, 0, 0}, Purpose::test);
    stream.fill_normal({columns.data(), static_cast<std::size_t>(columns.size())});
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(columns);
    columns = qr.householderQ() * Eigen::MatrixXd::Identity(d, 2 * each);
    std::vector<double> variances(2 * each, 100.0);
    std::fill(variances.begin() + each, variances.end(), 0.01);
    covariance_ = std::make_shared<const DiagonalPlusLowRank>(
        std::vector<double>(dimension, 1.0),
        std::vector<double>(columns.data(), columns.data() + columns.size()), variances);
  }
  std::size_t dimension() const { return covariance_->dimension(); }

  double operator()(std::span<const double> x, std::span<double> gradient) const {
    covariance_->apply_inverse(x, gradient);
    double product = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      gradient[i] = -gradient[i];
      product += x[i] * gradient[i];
    }
    return 0.5 * product;
  }

 private:
  std::shared_ptr<const DiagonalPlusLowRank> covariance_;
};

}  // namespace

std::vector<WarmupTarget> warmup_targets(const std::string& credit) {
  const auto built_in = [](const std::string& name, const std::string& data = "{}") {
    return [=] { return make_model(name, data, name).density; };
  };
  return {
      {"eight-schools", built_in("eight-schools")},
      {"german-credit", [=] { return Density(LogisticRegression(credit_data(credit))); }},
      {"uncentred", [] { return Density(LinearRegression(uncentred_data())); }},
      {"ar5", [] { return Density(LinearRegression(autoregression_data())); }},
      {"diagonal-normal",
       built_in("diagonal-normal",
                fmt::format(R"({{"standard_deviations": [{}]}})", spread_sds(250, 1e5)))},
      {"correlated-normal", built_in("correlated-normal", R"({"dimension": 250})")},
      {"varying-intercepts", built_in("varying-intercepts")},
      {"banana", built_in("banana")},
      {"funnel", built_in("funnel")},
      {"eight-schools-centred", built_in("eight-schools-centred")},
      {"student-t", built_in("student-t")},
      {"log-exponential", built_in("log-exponential")},
      {"two-mode-mixture", built_in("two-mode-mixture")},
      {"stochastic-volatility", built_in("stochastic-volatility")},
      {"hierarchical-logistic", built_in("hierarchical-logistic")},
      {"local-level", [] { return Density(LocalLevel(100)); }},
      {"horseshoe", [] { return Density(Horseshoe(100, 20)); }},
      {"stretched-normal", [] { return Density(StretchedNormal(10'000)); }},
  };
}

}  // namespace rehmc::bench
