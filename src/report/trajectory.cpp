// Watches one transition: every point that the model is asked about, and what becomes of it.
#include "rehmc/report/trajectory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/output/durable_file.hpp"

namespace rehmc {

namespace {

using Json = nlohmann::ordered_json;
using Point = std::pair<double, double>;

/// Passes on to a density and keeps the first two coordinates of where it was asked.
class Watched {
 public:
  Watched(Density density, std::shared_ptr<std::vector<Point>> points)
      : density_(std::move(density)), points_(std::move(points)) {}
  double operator()(std::span<const double> x, std::span<double> gradient) {
    points_->emplace_back(x[0], x[1]);
    return density_(x, gradient);
  }
  std::size_t dimension() const { return density_.dimension(); }

 private:
  Density density_;
  std::shared_ptr<std::vector<Point>> points_;
};

Point point_of(const StateView& state) { return {state.position[0], state.position[1]}; }

}  // namespace

TracedTrajectory trace_trajectory(const Density& density, const KernelSettings& settings,
                                  const Tuning& tuning, const Address& address,
                                  std::span<const double> position) {
  // The same address gives the same trajectory whatever is kept of it: once all, once as asked.
  const auto points = std::make_shared<std::vector<Point>>();
  KernelSettings keep_all = settings;
  keep_all.recycling = {RecyclingKind::all, 0};
  const auto all = make_kernel(Watched(density, points), keep_all);
  all->set_position(position);
  const Transition& trajectory = all->transition(tuning, address);

  const auto kept = make_kernel(density, settings);
  kept->set_position(position);
  std::map<Point, int> slots;
  for (const WeightedState& state : kept->transition(tuning, address).recycled) {
    ++slots[point_of(state.state)];
  }

  TracedTrajectory traced;
  const Point start{position[0], position[1]};
  const Point selected = point_of(trajectory.state);
  std::map<Point, bool> committed;
  for (const WeightedState& state : trajectory.recycled) {
    const Point point = point_of(state.state);
    committed[point] = true;
    if (point == start) traced.start = traced.states.size();
    const auto found = slots.find(point);
    traced.states.push_back({point.first, point.second, state.weight,
                             found == slots.end() ? 0 : found->second, false, point == selected});
  }
  // What was visited but is not part of the trajectory: a half that was dropped, in the order of
  // its growth, at whichever end it grew.
  std::vector<TracedState> dropped;
  for (const Point& point : *points) {
    if (point == start || committed.contains(point)) continue;
    dropped.push_back({point.first, point.second, 0, 0, true, false});
  }
  if (dropped.empty() || traced.states.empty()) return traced;
  const auto distance = [&](const TracedState& a) {
    const double dx = a.x - dropped.front().x;
    const double dy = a.y - dropped.front().y;
    return dx * dx + dy * dy;
  };
  if (distance(traced.states.front()) < distance(traced.states.back())) {
    std::reverse(dropped.begin(), dropped.end());
    traced.start += dropped.size();
    traced.states.insert(traced.states.begin(), dropped.begin(), dropped.end());
  } else {
    traced.states.insert(traced.states.end(), dropped.begin(), dropped.end());
  }
  return traced;
}

void write_trajectory(const RunFolder& folder, const TracedTrajectory& trajectory) {
  Json json;
  json["start"] = trajectory.start;
  Json& states = json["states"] = Json::array();
  for (const TracedState& state : trajectory.states) {
    states.push_back({{"x", state.x},
                      {"y", state.y},
                      {"weight", state.weight},
                      {"slots", state.slots},
                      {"dropped", state.dropped},
                      {"selected", state.selected}});
  }
  write_whole(folder.trajectory(), json.dump() + "\n");
}

TracedTrajectory read_trajectory(const RunFolder& folder) {
  TracedTrajectory trajectory;
  if (!std::filesystem::exists(folder.trajectory())) return trajectory;
  try {
    const Json json = Json::parse(read_file(folder.trajectory()));
    json.at("start").get_to(trajectory.start);
    for (const Json& stored : json.at("states")) {
      trajectory.states.push_back({stored.at("x"), stored.at("y"), stored.at("weight"),
                                   stored.at("slots"), stored.at("dropped"),
                                   stored.at("selected")});
    }
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: is damaged: {}", folder.trajectory().string(), error.what()));
  }
  return trajectory;
}

}  // namespace rehmc
