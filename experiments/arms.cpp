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
    case Family::accept_each:
      return "accept-each";
  }
  return "";
}

std::vector<Arm> arms_of(KernelKind kind, std::size_t paper_count, std::size_t most) {
  std::vector<Arm> arms{{Family::plain, 1}, {Family::all, 0}};
  for (std::size_t k = 2; k <= most; k *= 2) arms.push_back({Family::final_state, k});
  const Arm of_paper{Family::final_state, paper_count};
  if (std::find(arms.begin(), arms.end(), of_paper) == arms.end()) arms.push_back(of_paper);
  for (std::size_t k = 2; k <= most; k *= 2) arms.push_back({Family::spread, k});
  for (std::size_t k = 2; k <= std::min<std::size_t>(most, 8); k *= 2) {
    arms.push_back({Family::simple, k});
  }
  if (traits(kind).accepts_each_step) arms.push_back({Family::accept_each, 0});
  return arms;
}

void ArmShares::share(std::span<const WeightedState> states, std::size_t next, std::size_t start,
                      std::size_t steps, const Address& address) {
  Stream stream(address, Purpose::recycling);
  cumulative_.clear();
  double sum = 0;
  for (const WeightedState& entry : states) cumulative_.push_back(sum += entry.weight);
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    std::vector<Share>& shares = shares_[a];
    shares.clear();
    const auto [family, count] = arms_[a];
    switch (family) {
      case Family::plain:
        shares.push_back({next, 1});
        break;
      case Family::all:
        for (std::size_t s = 0; s < states.size(); ++s) shares.push_back({s, states[s].weight});
        histogram_.clear();
        if (states.size() > most_in_histogram) {
          spread(most_in_histogram, 1, stream, histogram_);
        } else {
          histogram_ = shares;
        }
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
        draw(states, count, stream, shares);
        break;
      case Family::accept_each:
        accept_each(states, start, steps, stream, shares);
        break;
    }
  }
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
void ArmShares::draw(std::span<const WeightedState> states, std::size_t count, Stream& stream,
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
/// step counts for the start (Nishimura & Dunson 2020, Algorithm 1).
void ArmShares::accept_each(std::span<const WeightedState> states, std::size_t start,
                            std::size_t steps, Stream& stream, std::vector<Share>& shares) {
  const auto n = static_cast<double>(steps);
  double rejected = n;
  for (std::size_t s = 0; s < states.size(); ++s) {
    if (s == start) continue;
    if (!stream.chance(states[s].weight * n)) continue;
    shares.push_back({s, 1 / n});
    --rejected;
  }
  // If the start is not listed, every step is accepted with probability 1 up to rounding.
  if (rejected > 0 && start < states.size()) shares.push_back({start, rejected / n});
}

}  // namespace rehmc::experiments
