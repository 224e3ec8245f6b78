// Measures jumps along recorded paths, and searches for the best number of steps.
#include "rehmc/adapt/path_length.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

namespace rehmc {

namespace {

/// Paths that the best length is read off.
constexpr std::uint64_t paths_of_search = 20;
/// Up to this share of the length of the paths, the best length is well within.
constexpr double well_within = 0.7;
/// The first paths. On a normal density with its own metric the best length is 2.33.
constexpr double first_length = 4;
/// Without a limit of the user, a path of the search has at most so many steps.
constexpr std::size_t most_steps_of_search = 1024;

}  // namespace

void PathJumps::add(const Transition& path, const Metric& metric) {
  const auto start = std::ranges::find(path.visited, 0, &VisitedState::place);
  if (start == path.visited.end()) return;
  const std::size_t d = metric.dimension();
  std::vector<double> jump(d);
  std::vector<double> mapped(d);
  for (const VisitedState& visit : path.visited) {
    const auto l = static_cast<std::size_t>(std::max<std::int64_t>(visit.place, 0));
    if (l == 0 || l > steps()) continue;
    for (std::size_t i = 0; i < d; ++i) {
      jump[i] = visit.state.position[i] - start->state.position[i];
    }
    metric.mass_times(jump, mapped);
    const double square = std::inner_product(jump.begin(), jump.end(), mapped.begin(), 0.0);
    // Within a path of L steps, state l has the weight a_l / L.
    const double acceptance = visit.weight * static_cast<double>(steps());
    if (!std::isfinite(square)) continue;
    squared_[l] += acceptance * square;
    plain_[l] += acceptance * std::sqrt(square);
  }
}

std::size_t PathJumps::best(JumpRule rule) const {
  std::size_t best = 1;
  double most = 0;
  for (std::size_t l = 1; l <= steps(); ++l) {
    const auto cost = static_cast<double>(l);
    const double value =
        rule == JumpRule::squared ? squared_[l] / cost : plain_[l] / std::sqrt(cost);
    if (!(value > most)) continue;
    most = value;
    best = l;
  }
  return best;
}

FoundPathLength find_path_length(const Density& density, const KernelSettings& settings,
                                 const Tuning& tuning, std::span<const double> position,
                                 const Address& address) {
  const std::size_t most =
      std::min(most_steps_of_search, static_cast<std::size_t>(settings.hmc.max_steps));
  const double first = std::ceil(first_length / tuning.step_size);
  auto steps = static_cast<std::size_t>(std::clamp(first, 4.0, static_cast<double>(most)));
  std::vector<double> place(position.begin(), position.end());
  FoundPathLength found;
  Address next = address;
  for (;;) {
    KernelSettings of_paths = settings;
    // Paths in one direction, with fresh momenta, whatever the kernel does with the length.
    of_paths.kind = first_kernel(TrajectoryShape::path);
    of_paths.hmc.momentum_kept = 0;
    of_paths.hmc.window = 0;
    of_paths.recycling = {RecyclingKind::none, 0};
    of_paths.hmc.path_steps = static_cast<int>(steps);
    of_paths.hmc.path_steps_most = 0;
    const std::unique_ptr<Kernel> kernel = make_kernel(density, of_paths);
    kernel->set_position(place);
    kernel->record_visits(true);
    PathJumps jumps(steps);
    for (std::uint64_t p = 0; p < paths_of_search; ++p, ++next.iteration) {
      jumps.add(kernel->transition(tuning, next), *tuning.metric);
    }
    found.gradients += kernel->guard().evaluations();
    const std::size_t best = jumps.best();
    found.path_length = static_cast<double>(best) * tuning.step_size;
    if (static_cast<double>(best) <= well_within * static_cast<double>(steps) || steps == most) {
      return found;
    }
    const auto end = kernel->state().position;
    place.assign(end.begin(), end.end());
    steps = std::min(2 * steps, most);
  }
}

}  // namespace rehmc
