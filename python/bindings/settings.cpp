// Reads settings by name: words, and the numbers that the rooms declare.
#include "settings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/suggest.hpp"

namespace rehmc::python {

namespace nb = nanobind;

namespace {

using Read = std::function<void(nb::handle)>;

template <class Value>
Value value_of(const std::string& name, nb::handle given, const char* expected) {
  Value value{};
  // Booleans are whole numbers to Python, but no numbers to users.
  const bool wrong_bool = PyBool_Check(given.ptr()) != 0 && !std::is_same_v<Value, bool>;
  if (wrong_bool || !nb::try_cast<Value>(given, value)) {
    throw ConfigError(fmt::format("{}: found {}, expected {}", name,
                                  nb::cast<std::string>(nb::repr(given)), expected));
  }
  return value;
}

template <class Value>
const char* kind_of() {
  if constexpr (std::is_same_v<Value, bool>) return "True or False";
  return std::is_integral_v<Value> ? "a whole number" : "a number";
}

void add_words(std::map<std::string, Read>& all, RunSettings& run) {
  SampleSettings& sample = run.sample;
  const auto word = [&all](const std::string& name, std::function<void(const std::string&)> set) {
    all[name] = [name, set = std::move(set)](nb::handle given) {
      set(value_of<std::string>(name, given, "a string"));
    };
  };
  word("kernel", [&](const std::string& w) { sample.kernel.kind = parse_kernel(w); });
  word("recycle", [&](const std::string& w) { sample.kernel.recycling = parse_recycling(w); });
  word("metric", [&](const std::string& w) { sample.warmup.metric = parse_metric(w); });
  word("warmup_schedule",
       [&](const std::string& w) { sample.warmup.schedule = parse_warmup_schedule(w); });
  word("start", [&](const std::string& w) { sample.start_kind = parse_start(w); });
  word("metric_from",
       [&](const std::string& w) { sample.warmup.metric_from = parse_metric_source(w); });
  word("engine", [&](const std::string& w) { sample.engine = parse_engine(w); });
  word("until", [&](const std::string& w) { run.until = w; });
  const auto flag = [&all](const std::string& name, bool& value) {
    all[name] = [name, &value](nb::handle given) {
      value = value_of<bool>(name, given, kind_of<bool>());
    };
  };
  flag("sharpen", sample.sharpen);
  flag("recycle_generated", sample.recycle_generated);
  flag("save_warmup", run.save_warmup);
  all["init"] = [&sample](nb::handle given) {
    sample.start =
        value_of<std::vector<std::vector<double>>>("init", given, "one row of numbers per chain");
  };
}

std::map<std::string, Read> readers(RunSettings& run) {
  std::map<std::string, Read> all;
  add_words(all, run);
  for_each_setting(run, [&](std::string_view, const auto& setting, auto& owner) {
    const std::string name(setting.name);
    auto& value = owner.*(setting.field);
    using Value = std::decay_t<decltype(value)>;
    // Two rooms may share a name, which then means the same in both.
    const Read before = all.contains(name) ? all[name] : Read();
    all[name] = [name, before, &value](nb::handle given) {
      value = value_of<Value>(name, given, kind_of<Value>());
      if (before) before(given);
    };
  });
  return all;
}

}  // namespace

RunSettings settings_from(const nb::dict& given) {
  RunSettings run;
  run.sample.search_path_length = !given.contains("path_length");
  const std::map<std::string, Read> known = readers(run);
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    const auto found = known.find(name);
    if (found == known.end()) {
      std::vector<std::string> names;
      for (const auto& [each, read] : known) names.push_back(each);
      throw ConfigError(fmt::format("there is no setting '{}'{}", name, did_you_mean(name, names)));
    }
    found->second(value);
  }
  return run;
}

nb::list setting_names() {
  RunSettings run;
  nb::list names;
  for (const auto& [name, read] : readers(run)) names.append(name);
  return names;
}

}  // namespace rehmc::python
