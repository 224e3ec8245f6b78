// Fuzzes the reader of manifests, after their checksum: an attacker computes it.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "folder.hpp"
#include "reader.hpp"
#include "rehmc/core/hash.hpp"
#include "rehmc/job/manifest.hpp"

namespace {

using Json = nlohmann::ordered_json;

/// With the checksum that fits, if it is JSON and not so deep that parsing it here would overflow
/// the stack.
std::string sealed(std::string_view bytes) {
  constexpr std::ptrdiff_t deep = 1000;
  if (std::ranges::count_if(bytes, [](char c) { return c == '[' || c == '{'; }) > deep) {
    return std::string(bytes);
  }
  Json json = Json::parse(bytes, nullptr, false);
  if (!json.is_object()) return std::string(bytes);
  json.erase("checksum");
  const auto text = [&] { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
  json["checksum"] = rehmc::content_hash(text());
  return text();
}

}  // namespace

REHMC_FUZZ(manifest) {
  const rehmc::RunFolder& run = rehmc::fuzz::run_folder();
  std::ofstream(run.manifest(), std::ios::binary) << sealed(bytes);
  const rehmc::Manifest manifest = rehmc::read_manifest(run);
  rehmc::essence(manifest);
  rehmc::recorded_columns(rehmc::names_of(manifest.quantities), manifest.settings);
}
