// Leave-one-out in one line, and a second one if it cannot be trusted.
#include "loo_text.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "terminal.hpp"

namespace rehmc::cli {

std::string loo_text(const std::optional<LooSummary>& summary) {
  if (!summary) return "";
  constexpr std::size_t indent = 5;
  if (!summary->refused.empty()) {
    return wrapped(fmt::format("LOO: not computed: {}\n", summary->refused), indent);
  }
  const Loo& loo = summary->loo;
  std::string text = fmt::format(
      "LOO: elpd {:.1f} (standard error {:.1f}), p_loo {:.1f}, from {} observations; "
      "largest Pareto k {:.2f}.\n",
      loo.elpd, loo.error, loo.p_loo, loo.points.size(), loo.worst_shape());
  if (loo.unreliable() > 0) {
    text += fmt::format(
        "     Pareto k is above {:.2f} for {} of them, so that elpd cannot be trusted: these "
        "observations change the posterior too much to be left out by reweighting.\n",
        loo.good_shape, loo.unreliable());
  }
  return wrapped(text, indent);
}

}  // namespace rehmc::cli
