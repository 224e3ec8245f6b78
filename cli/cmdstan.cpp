// rehmc cmdstan-exe: an executable with CmdStan's arguments, for programs that expect CmdStan.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "print.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/suggest.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/run_folder.hpp"
#include "stan/process.hpp"
#include "stan/program.hpp"

namespace rehmc::cli {
namespace {

namespace files = std::filesystem;

struct ExeOptions {
  std::string program;
  std::string output;
  std::vector<std::string> include_paths;
};

/// In the executable, the program follows this line.
constexpr std::string_view mark = "---- Stan program ----\n";

std::string own_path() { return files::read_symlink("/proc/self/exe").string(); }

int write_executable(const ExeOptions& options) {
  const files::path file = options.program;
  if (file.extension() != ".stan") {
    throw ConfigError(fmt::format("{}: expected a Stan program, FILE.stan", options.program));
  }
  const stan::Program program = stan::read_program(file, options.include_paths);
  files::path output = options.output;
  if (output.empty()) output = files::path(file).replace_extension("");
  if (output.string().find('\'') != std::string::npos) {
    throw ConfigError(fmt::format("{}: the name must not contain a quote", output.string()));
  }
  const std::string script = fmt::format(
      "#!/bin/sh\n"
      "# Takes CmdStan's arguments and samples the Stan program below with rehmc.\n"
      "rehmc='{}'\n"
      "[ -x \"$rehmc\" ] || rehmc=rehmc\n"
      "exec \"$rehmc\" cmdstan-run \"$0\" \"$@\"\n"
      "{}{}",
      own_path(), mark, program.whole);
  write_whole(output, script);
  files::permissions(
      output, files::perms::owner_exec | files::perms::group_exec | files::perms::others_exec,
      files::perm_options::add);
  print("{}\n", output.string());
  return 0;
}

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

void print_info() {
  print(
      "stan_version_major = 2\nstan_version_minor = 39\nstan_version_patch = 0\n"
      "STAN_THREADS=true\nSTAN_MPI=false\nSTAN_OPENCL=false\nSTAN_NO_RANGE_CHECKS=false\n"
      "STAN_CPP_OPTIMS=false\nsampler = rehmc " REHMC_VERSION "\n");
}

void print_help() {
  print(
      "Samples a Stan program with rehmc, with CmdStan's arguments:\n\n"
      "  sample num_samples=1000 num_warmup=1000 save_warmup=0 thin=1 num_chains=1\n"
      "    adapt engaged=1 delta=0.8 gamma=0.05 kappa=0.75 t0=10 init_buffer=75 term_buffer=50 "
      "window=25\n"
      "    algorithm=hmc engine=nuts max_depth=10 | engine=static int_time=6.28\n"
      "    metric=diag_e metric_file=FILE stepsize=1\n"
      "  data file=FILE\n"
      "  init=2 | init=FILE\n"
      "  random seed=N\n"
      "  output file=output.csv refresh=100\n"
      "  id=1 num_threads=1\n"
      "  info\n\n"
      "Recycled states, report and summary go to FILE.rehmc next to the output file.\n");
}

/// The same run as arguments of rehmc sample.
std::vector<std::string> sample_words(Arguments& arguments) {
  std::vector<std::string> words;
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
  if (arguments.take("save_warmup", "0") == "1") words.emplace_back("--save-warmup");
  const std::string warmup = arguments.take("num_warmup", "1000");
  const bool adapts = arguments.take("engaged", "1") != "0";
  words.insert(words.end(), {"--warmup", adapts ? warmup : "0"});
  const std::string metric = arguments.take("metric", "diag_e");
  words.insert(words.end(), {"--metric", metric.substr(0, metric.find('_'))});
  const std::string jitter = arguments.take("stepsize_jitter", "0");
  if (jitter.find_first_not_of("0.") != std::string::npos) {
    throw ConfigError(
        fmt::format("stepsize_jitter: found {}, but rehmc does not support it; leave it out "
                    "(engine=static already has paths of random length)",
                    jitter));
  }
  if (arguments.take("engine", "nuts") == "static") {
    words.insert(words.end(), {"--kernel", "hmc"});
  }
  return words;
}

/// Drops arguments of CmdStan that rehmc does not need.
void forget_harmless(Arguments& arguments) {
  for (const char* name :
       {"method", "algorithm", "refresh", "sig_figs", "profile_file", "diagnostic_file",
        "save_cmdstan_config", "save_metric", "group sample", "group data", "group output",
        "group random", "group adapt", "group hmc", "group nuts", "group static"}) {
    arguments.take(name);
  }
}

/// CmdStan's name for the output of one chain.
files::path output_of(const files::path& file, std::size_t chain, std::size_t chains,
                      std::size_t id) {
  if (chains == 1) return file;
  files::path named = file;
  named.replace_filename(fmt::format("{}_{}{}", file.stem().string(), id + chain,
                                     file.has_extension() ? file.extension().string() : ".csv"));
  return named;
}

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

int run_executable(const std::string& executable, const std::vector<std::string>& words) {
  Arguments arguments(words);
  if (words.empty() || arguments.has_group("help") || arguments.has_group("help-all")) {
    print_help();
    return words.empty() ? static_cast<int>(ExitCode::usage) : 0;
  }
  if (arguments.has_group("info")) {
    print_info();
    return 0;
  }
  for (const char* method : {"optimize", "variational", "diagnose", "generate_quantities",
                             "pathfinder", "laplace", "log_prob", "fixed_param"}) {
    if (arguments.has_group(method)) {
      throw ConfigError(fmt::format(
          "rehmc only samples by Hamiltonian Monte Carlo and has no '{}'; use CmdStan for it",
          method));
    }
  }
  const files::path output = arguments.take("output file", "output.csv");
  const std::size_t chains = whole_number("num_chains", arguments.take("num_chains", "1"), 1);
  const std::size_t id = whole_number("id", arguments.take("id", "1"), 1);
  const std::string seed = arguments.take("seed");
  std::vector<std::string> sample{own_path(), "sample"};
  const files::path folder = output.string() + ".rehmc";
  const std::string text = read_file(executable);
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) {
    throw DataError(fmt::format("{}: contains no Stan program", executable));
  }
  const std::string name = files::path(executable).stem().string();
  const files::path program = output.string() + "." + name + ".stan";
  sample.push_back(program.string());
  const std::vector<std::string> chosen = sample_words(arguments);
  sample.insert(sample.end(), chosen.begin(), chosen.end());
  forget_harmless(arguments);
  if (!arguments.left().empty()) {
    throw ConfigError(fmt::format("unknown argument '{}'; `{} help` lists all arguments",
                                  arguments.left().begin()->first, executable));
  }
  // Processes of one chain each may share a seed, as with CmdStan, but not their random numbers.
  if (!seed.empty() && seed != "-1") {
    const bool alone = chains == 1 && id > 1;
    const std::uint64_t given = whole_number("seed", seed, 0);
    sample.insert(sample.end(),
                  {"--seed", std::to_string(alone ? given + (std::uint64_t{id} << 32) : given)});
  }
  sample.insert(sample.end(), {"--chains", std::to_string(chains), "--output", folder.string(),
                               "--force", "--progress", "none"});
  write_whole(program, std::string_view(text).substr(at + mark.size()));
  const stan::ProgramResult result = stan::run_program(sample);
  files::remove(program);
  print("{}", result.output);
  if (result.code != 0) return result.code;
  const RunFolder run(folder);
  for (std::size_t chain = 0; chain < chains; ++chain) {
    write_whole(output_of(output, chain, chains, id), read_file(run.draws(chain)));
  }
  return 0;
}

}  // namespace

void add_cmdstan_exe(Command app, Action& chosen) {
  Command command = app.subcommand(
      "cmdstan-exe", "Write an executable that takes CmdStan's arguments and samples with rehmc");
  const auto options = std::make_shared<ExeOptions>();
  command.option("PROGRAM", options->program, "FILE.stan").required();
  command.option("--output,-o", options->output, "the executable (default: FILE)")
      .type_name("FILE");
  command
      .option("--include-path", options->include_paths,
              "folder to search for files that the program includes")
      .type_name("DIR")
      .repeatable();
  command.when_chosen(
      [&chosen, options] { chosen = [options] { return write_executable(*options); }; });

  // What the executable calls; not for users.
  Command running = app.subcommand("cmdstan-run", "");
  running.hide();
  running.take_words();
  running.when_chosen([&chosen, running] {
    std::vector<std::string> words = running.words();
    if (words.empty()) throw UsageError("the executable is missing");
    const std::string executable = words.front();
    words.erase(words.begin());
    chosen = [executable, words] { return run_executable(executable, words); };
  });
}

}  // namespace rehmc::cli
