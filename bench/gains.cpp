// What recycling states and gradients gains, and whether its error bars are honest: `make gains`.
#include <fmt/format.h>

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "calibration.hpp"
#include "gains_options.hpp"
#include "gains_table.hpp"
#include "run_program.hpp"

namespace rehmc::bench {
namespace {

constexpr const char* usage =
    "rehmc_gains [OPTIONS] [FILE.json [RUNS [PART OF A LABEL]]]\n"
    "Prints what recycling and sharpening gain on the built-in models. Instead of that:\n"
    "  --calibration       whether error bars are honest, on targets with exact truths\n"
    "  --check             check those targets: gradients, truths, rare values\n"
    "Options:\n"
    "  --draws=N,...       of --calibration: draws per chain (default 100,250,1000,until), where\n"
    "                      until stands for --until \"mcse(mean)<=0.02*sd\"\n"
    "  --single            of --calibration: draws as other programs take them, one state each,\n"
    "                      after Stan's warmup\n"
    "  --raw=FILE.csv      of --calibration: also write all estimates of all runs\n"
    "  --threads=N         default: one per core\n";

enum class Task { gains, calibration, check };

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

int positive(std::string_view name, std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value > 0) return value;
  throw std::runtime_error(fmt::format("{}: found '{}', must be a positive number", name, text));
}

/// False if the word is not known.
bool read_option(std::string_view word, Task& task, GainsOptions& options) {
  const std::size_t sign = std::min(word.find('='), word.size());
  const std::string_view name = word.substr(0, sign);
  const std::string_view value = word.substr(std::min(sign + 1, word.size()));
  if (name == "--calibration") {
    task = Task::calibration;
  } else if (name == "--check") {
    task = Task::check;
  } else if (name == "--draws") {
    options.draws = split(value);
  } else if (word == "--single") {
    options.single = true;
  } else if (name == "--raw") {
    options.raw = value;
  } else if (name == "--threads") {
    options.threads = positive(name, value);
  } else {
    return false;
  }
  return true;
}

int run(int count, char** words) {
  Task task = Task::gains;
  GainsOptions options;
  std::vector<std::string> plain;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with('-')) {
      plain.emplace_back(word);
    } else if (!read_option(word, task, options)) {
      fmt::print("{}", usage);
      return 2;
    }
  }
  if (!plain.empty()) options.file = plain[0];
  if (plain.size() > 1) options.runs = positive("RUNS", plain[1]);
  if (plain.size() > 2) options.part = plain[2];
  if (task == Task::calibration) {
    write_calibration(options);
  } else if (task == Task::check) {
    check_targets(options);
  } else {
    write_gains_table(options);
  }
  return 0;
}

}  // namespace
}  // namespace rehmc::bench

int main(int count, char** words) {
  return rehmc::bench::run_program(rehmc::bench::run, count, words);
}
