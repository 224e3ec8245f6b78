// rehmc generate: generated quantities of another program for the draws of a run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <string>

#include "command.hpp"
#include "new_folder.hpp"
#include "open_model.hpp"
#include "print.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/job/generate.hpp"
#include "rehmc/job/job.hpp"
#include "rehmc/output/durable_file.hpp"

namespace rehmc::cli {

namespace {

struct GenerateOptions {
  std::string run;
  ModelChoice program;
  std::string output;
};

std::string csv_of(const GeneratedQuantities& generated, std::size_t chain) {
  const std::size_t width = generated.names.size();
  std::string text = fmt::format("{}\n", fmt::join(generated.names, ","));
  const std::vector<double>& rows = generated.chains[chain];
  for (std::size_t at = 0; at < rows.size(); ++at) {
    fmt::format_to(std::back_inserter(text), "{}{}", rows[at], (at + 1) % width == 0 ? '\n' : ',');
  }
  return text;
}

int generate_quantities(GenerateOptions options) {
  const RunFolder folder(options.run);
  const Manifest manifest = read_manifest(folder);
  if (!manifest.settings.store_draws) {
    throw DataError(
        fmt::format("{}: has no draws, since it was sampled with --no-draws", options.run));
  }
  if (options.program.data.empty() && std::filesystem::exists(folder.data())) {
    options.program.data = folder.data().string();
  }
  if (!options.output.empty()) NewFolder::require_free(options.output);
  OpenedModel program = open_model(options.program, manifest.seed);
  if (!program.bridge) {
    throw ConfigError(fmt::format("{}: is not a Stan program", options.program.model));
  }
  const GeneratedQuantities generated = generate(*program.bridge, load_run(folder, manifest));
  NewFolder output(options.output.empty() ? program.identity.name : options.output);
  for (std::size_t chain = 0; chain < generated.chains.size(); ++chain) {
    write_whole(output.path() / fmt::format("generated-{}.csv", chain + 1),
                csv_of(generated, chain));
  }
  output.keep();
  if (generated.failures > 0) {
    tell("Note: the program failed for {} draws; their quantities are nan\n", generated.failures);
  }
  print("{}: {} quantities for {} chains\n", output.path().string(), generated.names.size(),
        generated.chains.size());
  return 0;
}

}  // namespace

void add_generate(Command app, Action& chosen) {
  Command command = app.subcommand(
      "generate", "Compute the generated quantities of another program for the draws of a run");
  const auto options = std::make_shared<GenerateOptions>();
  command.option("RUN", options->run, "the folder of the run").required();
  add_model_options(command, options->program);
  command
      .option("--output,-o", options->output,
              "new folder for generated-N.csv (default: the name of the program)")
      .type_name("DIR");
  command.when_chosen(
      [&chosen, options] { chosen = [options] { return generate_quantities(*options); }; });
}

}  // namespace rehmc::cli
