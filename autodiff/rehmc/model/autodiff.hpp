// Densities without hand-written gradients: reverse-mode differentiation by Stan Math.
//
// Not one of the library's headers, because it needs those of Stan Math: the CMake target
// rehmc::autodiff finds them where `rehmc stan install --compiler` put them. Compile with
// -DSTAN_THREADS, as that target does, if chains run in threads.
#pragma once

#include <stan/math/rev.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace rehmc {

/// A density from a class with
///
///   template <class T> T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x) const;
///   std::size_t dimension() const;
///
/// and, if it has them, `names()`, `quantities()` and the other members that a log density may
/// have.
template <class Function>
class Autodiff : public Function {
 public:
  using Function::Function;
  Autodiff() = default;
  explicit Autodiff(Function function) : Function(std::move(function)) {}

  double operator()(std::span<const double> x, std::span<double> gradient) const {
    using stan::math::var;
    thread_local stan::math::ChainableStack stack;  // every thread needs its own
    const stan::math::nested_rev_autodiff nested;   // frees its memory, even after an exception
    const auto size = static_cast<Eigen::Index>(x.size());
    const Eigen::Matrix<var, Eigen::Dynamic, 1> position =
        Eigen::Map<const Eigen::VectorXd>(x.data(), size).template cast<var>();
    var value = static_cast<const Function&>(*this)(position);
    value.grad();
    for (Eigen::Index i = 0; i < size; ++i)
      gradient[static_cast<std::size_t>(i)] = position[i].adj();
    return value.val();
  }
};

}  // namespace rehmc
