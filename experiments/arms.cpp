// Shares of the arms in a trajectory.
#include "experiments/arms.hpp"

#include <algorithm>
#include <cmath>

namespace rehmc::experiments {

std::string describe(Family family) {
  switch (family) {
    case Family::plain:
      return "plain";
    case Family::all:
      return "all";
    case Family::spread:
      return "spread";
    case Family::final_state:
      return "final";
    case Family::simple:
      return "simple";
    case Family::stride:
      return "stride";
    case Family::by_draw:
      return "by-draw";
  }
  return "";
}

Family paper_family(KernelKind kind) {
  return traits(kind).accepts_each_step ? Family::stride : Family::final_state;
}

std::vector<Arm> arms_of(KernelKind kind, std::size_t paper_count, std::size_t most) {
  std::vector<Arm> arms{{Family::plain, 1}, {Family::all, 0}};
  const Family family = paper_family(kind);
  if (family == Family::stride) arms.push_back({Family::by_draw, 0});
  for (std::size_t k = family == Family::stride ? 1 : 2; k <= most; k *= 2) {
    arms.push_back({family, k});
  }
  const Arm of_paper{family, paper_count};
  if (std::find(arms.begin(), arms.end(), of_paper) == arms.end()) arms.push_back(of_paper);
  // What the paper does not do under HMC: fewer, so that the histograms of a bin fill a cache line.
  const std::size_t most_spread = family == Family::stride ? 16 : most;
  for (std::size_t k = 2; k <= std::min(most, most_spread); k *= 2) {
    arms.push_back({Family::spread, k});
  }
  if (family == Family::stride) return arms;
  for (std::size_t k = 2; k <= std::min<std::size_t>(most, 8); k *= 2) {
    arms.push_back({Family::simple, k});
  }
  return arms;
}

void ArmShares::share(const Draw& draw, const Address& address) {
  const auto& [states, next, start, steps, mass] = draw;
  Stream stream(address, Purpose::recycling);
  cumulative_.clear();
  double sum = 0;
  for (const WeightedState& entry : states) cumulative_.push_back(sum += entry.weight);
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    std::vector<Share>& shares = shares_[a];
    shares.clear();
    const auto [family, count] = arms_[a];
    masses_[a] = mass;
    switch (family) {
      case Family::plain:
        masses_[a] = 1;
        shares.push_back({next, 1});
        break;
      case Family::by_draw:
        masses_[a] = 1;
        [[fallthrough]];
      case Family::all:
        for (std::size_t s = 0; s < states.size(); ++s) shares.push_back({s, states[s].weight});
        break;
      case Family::spread:
        spread(count, 1, stream, shares);
        break;
      case Family::final_state: {
        const double each = 1.0 / static_cast<double>(count);
        shares.push_back({next, each});
        spread(count - 1, 1 - each, stream, shares);
        break;
      }
      case Family::simple:
        draw_some(states, count, stream, shares);
        break;
      case Family::stride:
        masses_[a] = static_cast<double>(stride(draw, count, stream, shares));
        break;
    }
  }
  histogram_.clear();
  if (states.size() > most_in_histogram) spread(most_in_histogram, 1, stream, histogram_);
}

/// Systematic sampling along the path, as `spread` of the library reduces a tree: points at
/// (u + j) / K of the cumulative weights. Found by a search in those, which all arms share:
/// lay_points of the library would pass through all states once for every arm.
void ArmShares::spread(std::size_t count, double weight, Stream& stream,
                       std::vector<Share>& shares) const {
  const double u = stream.uniform();
  const double each = weight / static_cast<double>(count);
  auto place = cumulative_.begin();
  for (std::size_t j = 0; j < count; ++j) {
    const double point = (u + static_cast<double>(j)) / static_cast<double>(count);
    place = std::upper_bound(place, cumulative_.end() - 1, point * cumulative_.back());
    shares.push_back({static_cast<std::size_t>(place - cumulative_.begin()), each});
  }
}

/// Without replacement where weights are equal, as in Algorithm 2 of Nishimura & Dunson (2020); if
/// there are fewer than K states, all are copied first. Otherwise K independent draws by weight.
void ArmShares::draw_some(std::span<const WeightedState> states, std::size_t count, Stream& stream,
                          std::vector<Share>& shares) {
  const double each = 1.0 / static_cast<double>(count);
  const bool equal = std::all_of(states.begin(), states.end(), [&](const WeightedState& entry) {
    return std::abs(entry.weight - states.front().weight) < 1e-12 * states.front().weight;
  });
  if (equal) {
    const std::size_t n = states.size();
    const std::size_t copies = count / n;
    std::size_t left = count % n;
    for (std::size_t s = 0; s < n; ++s) {
      // Selection sampling: the probability is (still to take) / (still to come).
      const bool take =
          stream.chance(static_cast<double>(left) / static_cast<double>(n - s)) && left > 0;
      left -= take;
      const std::size_t times = copies + take;
      if (times > 0) shares.push_back({s, each * static_cast<double>(times)});
    }
    return;
  }
  for (std::size_t k = 0; k < count; ++k) {
    double left = stream.uniform();
    std::size_t s = 0;
    while (s + 1 < states.size() && left >= states[s].weight) left -= states[s++].weight;
    shares.push_back({s, each});
  }
}

/// The weight of a step's state is a_k / L, which gives its acceptance probability a_k; a rejected
/// step counts for the start (Nishimura & Dunson 2020, Algorithm 1), and the end is accepted where
/// the chain went there. What a divergence cut off is missing at the end of the path.
std::size_t ArmShares::stride(const Draw& draw, std::size_t distance, Stream& stream,
                              std::vector<Share>& shares) {
  const auto& [states, next, start, steps, mass] = draw;
  const std::size_t count = (steps + distance - 1) / distance;
  const double each = 1 / static_cast<double>(count);
  std::size_t accepted = 0;
  std::size_t step = 0;
  for (std::size_t s = 0; s < states.size(); ++s) {
    if (s == start) continue;
    ++step;
    if ((steps - step) % distance != 0) continue;
    const bool accept =
        step == steps ? next == s : stream.chance(states[s].weight * static_cast<double>(steps));
    if (!accept) continue;
    shares.push_back({s, each});
    ++accepted;
  }
  // If the start is not listed, every step is accepted with probability 1 up to rounding.
  if (accepted < count && start < states.size()) {
    shares.push_back({start, each * static_cast<double>(count - accepted)});
  }
  return count;
}

}  // namespace rehmc::experiments
