// Reads CmdStan's words, group by group.
#include "cmdstan_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "rehmc/core/error.hpp"

namespace rehmc::stan {
namespace {

/// CmdStan's arguments: "data file=x.json" is {"data file", "x.json"}; a bare word opens a group,
/// or chooses it ("method=sample", "sample").
class Arguments {
 public:
  explicit Arguments(const std::vector<std::string>& words) {
    std::string group;
    for (const std::string& word : words) {
      const std::size_t equals = word.find('=');
      const std::string key = word.substr(0, equals);
      const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
      // Some have no file by default; whoever leaves another one empty has forgotten it.
      const bool may_be_empty = key == "file" || key == "metric_file" || key == "diagnostic_file";
      if (equals != std::string::npos && value.empty() && !may_be_empty) {
        throw ConfigError(fmt::format("{}: found nothing, expected a value", key));
      }
      if (equals == std::string::npos || key == "method" || key == "algorithm" || key == "engine") {
        group = equals == std::string::npos ? key : value;
        values_[key == group ? "group " + key : key] = value;
        groups_.push_back(group);
      } else {
        const bool grouped = key == "file" && (group == "data" || group == "output");
        values_[grouped ? group + " file" : key] = value;
      }
    }
  }

  bool has_group(const std::string& name) const {
    return std::find(groups_.begin(), groups_.end(), name) != groups_.end();
  }
  /// Removes an argument; those left in the end are unknown.
  std::string take(const std::string& name, const std::string& missing = "") {
    const auto found = values_.find(name);
    if (found == values_.end()) return missing;
    std::string value = found->second;
    values_.erase(found);
    return value;
  }
  const std::map<std::string, std::string>& left() const { return values_; }

 private:
  std::map<std::string, std::string> values_;
  std::vector<std::string> groups_;
};

/// A whole number of at least `least`, and nothing else.
std::uint64_t whole_number(const std::string& name, const std::string& text, std::uint64_t least) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < least) {
    throw ConfigError(
        fmt::format("{}: found '{}', expected a whole number of at least {}", name, text, least));
  }
  return value;
}

void require_number(const std::string& name, const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && stop == end && value >= 0) return;
  throw ConfigError(fmt::format("{}: found '{}', expected a number of at least 0", name, text));
}

/// 0 or 1, or the words that later versions of CmdStan take as well.
bool flag(Arguments& arguments, const std::string& name, const std::string& missing) {
  const std::string text = arguments.take(name, missing);
  if (text == "0" || text == "false") return false;
  if (text == "1" || text == "true") return true;
  throw ConfigError(fmt::format("{}: found '{}', expected 0, 1, false or true", name, text));
}

/// One of these words, of which the first stands for a missing one.
std::string choice(Arguments& arguments, const std::string& name,
                   const std::vector<std::string>& words) {
  const std::string text = arguments.take(name, words.front());
  if (std::ranges::find(words, text) != words.end()) return text;
  throw ConfigError(
      fmt::format("{}: found '{}', expected one of {}", name, text, fmt::join(words, ", ")));
}

/// The same run as arguments of rehmc sample.
std::vector<std::string> sample_words(Arguments& arguments) {
  std::vector<std::string> words{"--warmup-schedule", "stan"};
  const auto pass = [&](const std::string& theirs, const std::string& ours) {
    const std::string value = arguments.take(theirs);
    if (!value.empty()) words.insert(words.end(), {ours, value});
  };
  pass("num_samples", "--draws");
  pass("thin", "--thin");
  pass("delta", "--target-accept");
  pass("gamma", "--regularisation");
  pass("kappa", "--relaxation");
  pass("t0", "--offset");
  pass("init_buffer", "--first-phase");
  pass("term_buffer", "--last-phase");
  pass("window", "--first-window");
  pass("max_depth", "--max-depth");
  pass("int_time", "--path-length");
  pass("metric_file", "--metric-file");
  pass("stepsize", "--step-size");
  pass("data file", "--data");
  pass("init", "--init");
  pass("num_threads", "--threads");
  if (flag(arguments, "save_warmup", "0")) words.emplace_back("--save-warmup");
  const std::string warmup = arguments.take("num_warmup", "1000");
  const bool adapts = flag(arguments, "engaged", "1");
  words.insert(words.end(), {"--warmup", adapts ? warmup : "0"});
  const std::string metric = choice(arguments, "metric", {"diag_e", "dense_e", "unit_e"});
  words.insert(words.end(), {"--metric", metric.substr(0, metric.find('_'))});
  const std::string jitter = arguments.take("stepsize_jitter", "0");
  if (jitter.find_first_not_of("0.") != std::string::npos) {
    throw ConfigError(
        fmt::format("stepsize_jitter: found {}, but rehmc does not support it; leave it out "
                    "(engine=static already has paths of random length)",
                    jitter));
  }
  choice(arguments, "algorithm", {"hmc"});
  if (choice(arguments, "engine", {"nuts", "static"}) == "static") {
    words.insert(words.end(), {"--kernel", "hmc"});
  }
  return words;
}

/// Drops arguments of CmdStan that rehmc does not need.
void forget_harmless(Arguments& arguments) {
  for (const char* name :
       {"sig_figs", "profile_file", "diagnostic_file", "save_cmdstan_config", "save_metric",
        "group sample", "group data", "group output", "group random", "group adapt", "group hmc",
        "group nuts", "group static"}) {
    arguments.take(name);
  }
}

void refuse_other_methods(const Arguments& arguments) {
  for (const char* method : {"variational", "diagnose", "fixed_param"}) {
    if (!arguments.has_group(method)) continue;
    throw ConfigError(fmt::format("rehmc has no '{}'; use CmdStan for it", method));
  }
}

/// What the other methods need; their tolerances and histories are our own.
void read_method(Arguments& arguments, CmdstanCall& call) {
  using Wants = CmdstanCall::Wants;
  call.data = arguments.take("data file");
  call.init = arguments.take("init");
  const auto number = [&](const char* name, const char* missing) {
    return whole_number(name, arguments.take(name, missing), 1);
  };
  if (call.wants == Wants::optimize) {
    call.jacobian = flag(arguments, "jacobian", "0");
    choice(arguments, "algorithm", {"lbfgs", "bfgs", "newton"});
  }
  if (call.wants == Wants::laplace) {
    call.jacobian = flag(arguments, "jacobian", "1");
    call.input = arguments.take("mode");
    call.draws = number("draws", "1000");
  }
  if (call.wants == Wants::pathfinder) {
    const std::string draws = arguments.take("num_draws", "1000");
    call.draws = whole_number("num_psis_draws", arguments.take("num_psis_draws", draws), 1);
    call.chains = number("num_paths", "4");
  }
  if (call.wants == Wants::generate) call.input = arguments.take("fitted_params");
  if (call.wants == Wants::log_prob) {
    call.jacobian = flag(arguments, "jacobian", "1");
    call.input = arguments.take("constrained_params");
    const std::string unconstrained = arguments.take("unconstrained_params");
    call.unconstrained = !unconstrained.empty();
    if (call.unconstrained) call.input = unconstrained;
  }
  for (const char* name :
       {"history_size", "iter", "max_lbfgs_iters", "num_elbo_draws", "num_chains"}) {
    number(name, "1");
  }
  const std::string threads = arguments.take("num_threads", "1");
  if (threads != "-1") whole_number("num_threads", threads, 1);
  for (const char* name :
       {"init_alpha", "tol_obj", "tol_rel_obj", "tol_grad", "tol_rel_grad", "tol_param"}) {
    require_number(name, arguments.take(name, "0"));
  }
  for (const char* name :
       {"save_iterations", "save_single_paths", "psis_resample", "calculate_lp"}) {
    flag(arguments, name, "0");
  }
  for (const char* name :
       {"group optimize", "group laplace", "group pathfinder", "group generate_quantities",
        "group log_prob", "group lbfgs", "group bfgs", "group newton"}) {
    arguments.take(name);
  }
}

CmdstanCall::Wants method_of(const Arguments& arguments) {
  using Wants = CmdstanCall::Wants;
  for (const auto& [name, wants] : {std::pair{"optimize", Wants::optimize},
                                    {"laplace", Wants::laplace},
                                    {"pathfinder", Wants::pathfinder},
                                    {"generate_quantities", Wants::generate},
                                    {"log_prob", Wants::log_prob}}) {
    if (arguments.has_group(name)) return wants;
  }
  return Wants::sample;
}

}  // namespace

CmdstanCall read_cmdstan_call(const std::string& executable,
                              const std::vector<std::string>& words) {
  CmdstanCall call;
  Arguments arguments(words);
  if (words.empty() || arguments.has_group("help") || arguments.has_group("help-all")) {
    call.wants = CmdstanCall::Wants::help;
    return call;
  }
  if (arguments.has_group("info")) {
    call.wants = CmdstanCall::Wants::info;
    return call;
  }
  refuse_other_methods(arguments);
  choice(arguments, "method",
         {"sample", "optimize", "laplace", "pathfinder", "generate_quantities", "log_prob"});
  call.wants = method_of(arguments);
  call.output = arguments.take("output file", "output.csv");
  call.id = whole_number("id", arguments.take("id", "1"), 1);
  call.refresh = whole_number("refresh", arguments.take("refresh", "100"), 0);
  const std::string seed = arguments.take("seed");
  if (!seed.empty() && seed != "-1") call.seed = whole_number("seed", seed, 0);
  if (call.wants == CmdstanCall::Wants::sample) {
    call.chains = whole_number("num_chains", arguments.take("num_chains", "1"), 1);
    call.sample_words = sample_words(arguments);
    const auto add = [&](const char* option, std::uint64_t value) {
      call.sample_words.insert(call.sample_words.end(), {option, std::to_string(value)});
    };
    if (call.seed) add("--seed", *call.seed);
    add("--chains", call.chains);
    // Chain 3 of a seed is the same in a process of its own.
    if (call.id > 1) add("--first-chain", call.id);
  } else {
    read_method(arguments, call);
  }
  forget_harmless(arguments);
  if (!arguments.left().empty()) {
    throw ConfigError(fmt::format("unknown argument '{}'; `{} help` lists all arguments",
                                  arguments.left().begin()->first, executable));
  }
  return call;
}

}  // namespace rehmc::stan
