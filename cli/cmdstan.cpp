// rehmc cmdstan-exe: an executable with CmdStan's arguments, for programs that expect CmdStan.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cmdstan_methods.hpp"
#include "command.hpp"
#include "print.hpp"
#include "print_error.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/run_folder.hpp"
#include "stan/cmdstan_arguments.hpp"
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
/// Its name follows this.
constexpr std::string_view name_mark = "# Model: ";

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
      "{}{}\n{}{}",
      own_path(), name_mark, program.name, mark, program.whole);
  write_whole(output, script);
  files::permissions(
      output, files::perms::owner_exec | files::perms::group_exec | files::perms::others_exec,
      files::perm_options::add);
  print("{}\n", output.string());
  return 0;
}

void print_info() {
  print(
      "stan_version_major = 2\nstan_version_minor = 39\nstan_version_patch = 0\n"
      "STAN_THREADS=true\nSTAN_MPI=false\nSTAN_OPENCL=false\nSTAN_NO_RANGE_CHECKS=false\n"
      "STAN_CPP_OPTIMS=false\nsampler = rehmc " REHMC_VERSION "\n");
}

void print_help() {
  print(
      "Runs a Stan program with rehmc, with CmdStan's arguments:\n\n"
      "  sample num_samples=1000 num_warmup=1000 save_warmup=0 thin=1 num_chains=1\n"
      "    adapt engaged=1 delta=0.8 gamma=0.05 kappa=0.75 t0=10 init_buffer=75 term_buffer=50 "
      "window=25\n"
      "    algorithm=hmc engine=nuts max_depth=10 | engine=static int_time=6.28\n"
      "    metric=diag_e metric_file=FILE stepsize=1\n"
      "  optimize jacobian=0\n"
      "  laplace mode=FILE jacobian=1 draws=1000\n"
      "  pathfinder num_paths=4 num_psis_draws=1000\n"
      "  generate_quantities fitted_params=FILE\n"
      "  log_prob constrained_params=FILE | unconstrained_params=FILE jacobian=1\n"
      "  data file=FILE\n"
      "  init=2 | init=FILE\n"
      "  random seed=N\n"
      "  output file=output.csv refresh=100\n"
      "  id=1 num_threads=1\n"
      "  info\n\n"
      "Of sample, recycled states, report and summary go to FILE.rehmc next to the output file.\n");
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

/// The program of the executable, as a file for the time of a run: its name is that of the model.
class ProgramFile {
 public:
  ProgramFile(const std::string& executable, const files::path& output)
      : folder_(output.string() + ".program") {
    const std::string text = read_file(executable);
    const std::size_t at = text.find(mark);
    const std::size_t named = text.find(name_mark);
    if (at == std::string::npos || named > at) {
      throw DataError(fmt::format("{}: contains no Stan program", executable));
    }
    const std::size_t begin = named + name_mark.size();
    const std::string name = text.substr(begin, text.find('\n', begin) - begin);
    file_ = folder_ / (files::path(name).filename().string() + ".stan");
    files::create_directories(folder_);
    write_whole(file_, std::string_view(text).substr(at + mark.size()));
  }
  ~ProgramFile() {
    std::error_code ignored;
    files::remove(file_, ignored);
    files::remove(folder_, ignored);
  }
  ProgramFile(const ProgramFile&) = delete;
  ProgramFile& operator=(const ProgramFile&) = delete;

  std::string path() const { return file_.string(); }

 private:
  files::path folder_;
  files::path file_;
};

int sample_as_cmdstan(const stan::CmdstanCall& call, const std::string& program) {
  const files::path folder = call.output.string() + ".rehmc";
  const RunFolder run(folder);
  std::vector<std::string> words{program};
  words.insert(words.end(), call.sample_words.begin(), call.sample_words.end());
  const std::string progress =
      fmt::format("cmdstan:{}:{}", call.refresh, call.chains > 1 ? call.id : 0);
  words.insert(words.end(), {"--output", folder.string(), "--force", "--progress", progress});
  const int code = sample_by_words(std::move(words), run.program().string());
  if (code != 0) return code;
  for (std::size_t chain = 0; chain < call.chains; ++chain) {
    write_whole(output_of(call.output, chain, call.chains, call.id), read_file(run.draws(chain)));
  }
  return 0;
}

int run_call(const std::string& executable, const std::vector<std::string>& words) {
  using Wants = stan::CmdstanCall::Wants;
  const stan::CmdstanCall call = stan::read_cmdstan_call(executable, words);
  if (call.wants == Wants::help) {
    print_help();
    return words.empty() ? 1 : 0;
  }
  if (call.wants == Wants::info) {
    print_info();
    return 0;
  }
  const ProgramFile program(executable, call.output);
  return call.wants == Wants::sample ? sample_as_cmdstan(call, program.path())
                                     : run_cmdstan_method(call, program.path());
}

/// Programs take exit codes for those of the C library, in which 65 is "Package not installed".
/// CmdStan's is 1.
int run_executable(const std::string& executable, const std::vector<std::string>& words) {
  try {
    return run_call(executable, words) == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    // Clients look for a line that begins like this.
    print("Error: {}\n", plain_message(error.what()));
    return 1;
  }
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
