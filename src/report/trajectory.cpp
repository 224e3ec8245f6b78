// Records one transition for the report, and stores it.
#include "rehmc/report/trajectory.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/json_depth.hpp"
#include "rehmc/output/durable_file.hpp"

namespace rehmc {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

TracedTrajectory trace_trajectory(const Density& density, const KernelSettings& settings,
                                  const Tuning& tuning, const Address& address,
                                  std::span<const double> position) {
  const auto kernel = make_kernel(density, settings);
  kernel->record_visits(true);
  kernel->set_position(position);
  TracedTrajectory traced;
  for (const VisitedState& visited : kernel->transition(tuning, address).visited) {
    if (visited.place == 0) traced.start = traced.states.size();
    traced.states.push_back({visited.state.position[0], visited.state.position[1], visited.weight,
                             static_cast<int>(visited.slots), visited.dropped, visited.selected});
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
    const std::string text = read_file(folder.trajectory());
    require_json_depth(text, folder.trajectory().string());
    const Json json = Json::parse(text);
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
