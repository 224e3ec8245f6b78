// rehmc cmdstan-exe: an executable with CmdStan's arguments, for programs that expect CmdStan.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "print.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/run_folder.hpp"
#include "stan/cmdstan_arguments.hpp"
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

/// CmdStan's name for the output of one chain.
files::path output_of(const files::path& file, std::size_t chain, std::size_t chains,
                      std::size_t id) {
  if (chains == 1) return file;
  files::path named = file;
  named.replace_filename(fmt::format("{}_{}{}", file.stem().string(), id + chain,
                                     file.has_extension() ? file.extension().string() : ".csv"));
  return named;
}

int run_executable(const std::string& executable, const std::vector<std::string>& words) {
  using stan::CmdstanCall;
  const CmdstanCall call = stan::read_cmdstan_call(executable, words);
  if (call.wants == CmdstanCall::Wants::help) {
    print_help();
    return words.empty() ? static_cast<int>(ExitCode::usage) : 0;
  }
  if (call.wants == CmdstanCall::Wants::info) {
    print_info();
    return 0;
  }
  const files::path folder = call.output.string() + ".rehmc";
  const std::string text = read_file(executable);
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) {
    throw DataError(fmt::format("{}: contains no Stan program", executable));
  }
  const std::string name = files::path(executable).stem().string();
  const files::path program = call.output.string() + "." + name + ".stan";
  std::vector<std::string> sample{own_path(), "sample", program.string()};
  sample.insert(sample.end(), call.sample_words.begin(), call.sample_words.end());
  sample.insert(sample.end(), {"--output", folder.string(), "--force", "--progress", "none"});
  write_whole(program, std::string_view(text).substr(at + mark.size()));
  const stan::ProgramResult result = stan::run_program(sample);
  files::remove(program);
  print("{}", result.output);
  if (result.code != 0) return result.code;
  const RunFolder run(folder);
  for (std::size_t chain = 0; chain < call.chains; ++chain) {
    write_whole(output_of(call.output, chain, call.chains, call.id), read_file(run.draws(chain)));
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
