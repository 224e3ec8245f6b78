// Names of feature sets, and estimates that use none.
#include "rehmc/sharpen/sharpened.hpp"

#include <array>

namespace rehmc {

std::string_view describe(FeatureSet set) noexcept {
  constexpr std::array<std::string_view, feature_sets> names{
      "none", "plain", "bounded", "own", "bounded_linear", "linear", "row", "quadratic"};
  return names[static_cast<std::size_t>(set)];
}

SharpenedEstimate unsharpened(const Estimate& known) {
  SharpenedEstimate result;
  result.estimate = known;
  result.quantile_sets.assign(known.quantiles.size(), FeatureSet::none);
  return result;
}

}  // namespace rehmc
