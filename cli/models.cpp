// rehmc models: lists the built-in models, or describes one.
#include "models/registry.hpp"
#include "print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.hpp"

namespace rehmc::cli {
namespace {

struct ModelsOptions {
  std::string name;
  bool json = false;
};

std::string indented(const std::string& text) {
  std::string result = "  ";
  for (const char c : text) {
    result.push_back(c);
    if (c == '\n') result += "  ";
  }
  return result;
}

void print_list() {
  std::size_t width = 0;
  for (const ModelInfo& info : built_in_models()) width = std::max(width, info.name.size());
  for (const ModelInfo& info : built_in_models()) {
    print("{:<{}}  {}\n", info.name, width, info.summary);
  }
  print("\n`rehmc models NAME` describes one; `rehmc sample NAME` samples it.\n");
}

void print_description(const ModelInfo& info) {
  print("{}: {}\n\n{}\n\n", info.name, info.summary, indented(info.description));
  print("Data (--data FILE, JSON):\n{}\n\n", indented(info.data_help));
  print("Example:\n  echo '{}' > data.json\n  rehmc sample {} --data data.json\n",
        info.data_example, info.name);
}

nlohmann::ordered_json as_json(const ModelInfo& info) {
  return {{"name", info.name},
          {"summary", info.summary},
          {"description", info.description},
          {"data_help", info.data_help},
          {"data_example", nlohmann::ordered_json::parse(info.data_example)}};
}

int run(const ModelsOptions& options) {
  if (options.json) {
    nlohmann::ordered_json result = nlohmann::ordered_json::array();
    if (options.name.empty()) {
      for (const ModelInfo& info : built_in_models()) result.push_back(as_json(info));
    } else {
      result = as_json(model_info(options.name));
    }
    print("{}\n", result.dump(2));
  } else if (options.name.empty()) {
    print_list();
  } else {
    print_description(model_info(options.name));
  }
  return 0;
}

}  // namespace

void add_models(Command app, Action& chosen) {
  Command command = app.subcommand("models", "List the built-in models, or describe one");
  const auto options = std::make_shared<ModelsOptions>();
  command.option("NAME", options->name, "describe this model");
  command.flag("--json", options->json, "print JSON");
  command.when_chosen([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace rehmc::cli
