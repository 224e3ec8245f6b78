// Writes Stan CSV as CmdStan does, so that its readers accept it.
#include "rehmc/output/stan_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "metric_type.hpp"
#include "number_text.hpp"

namespace rehmc {

namespace {

constexpr std::string_view sampler_columns =
    "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,"
    "int_time__,energy_error__,n_recycled__,max_depth_hit__,mass__";

/// Wide enough for any number of draws.
constexpr std::size_t num_samples_width = 20;
constexpr std::size_t num_warmup_width = 10;

/// Lines `# key = value`, indented as a tree.
class Comments {
 public:
  void group(int level, std::string_view name) {
    fmt::format_to(std::back_inserter(text_), "# {:{}}{}\n", "", 2 * level, name);
  }
  template <class Value>
  void value(int level, std::string_view key, const Value& value) {
    fmt::format_to(std::back_inserter(text_), "# {:{}}{} = {}\n", "", 2 * level, key, value);
  }
  /// Text from the user: a line break in it would end the comment.
  void words(int level, std::string_view key, std::string words) {
    std::replace_if(
        words.begin(), words.end(), [](unsigned char c) { return c < ' '; }, '?');
    value(level, key, words);
  }

  std::size_t size() const { return text_.size(); }
  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

/// The form of metric that can hold the result of warmup: the one it estimates, or the initial one
/// if it is too short to estimate any.
MetricKind announced_metric(const StanCsvInfo& info) {
  const WarmupSettings& warmup = info.warmup;
  const auto first = warmup.initial_metric ? warmup.initial_metric->kind() : MetricKind::unit;
  // In full, the metric of many coordinates would take far more space than the draws.
  constexpr std::size_t most_in_full = 500;
  if (!warmup.metric && warmup.schedule == WarmupSchedule::pooled) {
    return info.dimension > most_in_full ? MetricKind::diagonal : MetricKind::dense;
  }
  return std::max(warmup.metric.value_or(MetricKind::diagonal),
                  first);  // the kinds are ordered by generality
}
static_assert(MetricKind::unit < MetricKind::diagonal && MetricKind::diagonal < MetricKind::dense &&
              MetricKind::dense < MetricKind::low_rank);

/// A pooled warmup may end before its last iteration: wide enough for any other number.
std::string num_warmup_field(const StanCsvInfo& info) {
  const auto iterations = static_cast<std::uint64_t>(info.warmup.iterations);
  const bool may_change = info.warmup.schedule == WarmupSchedule::pooled;
  return num_samples_field(iterations, may_change ? num_warmup_width : 0);
}

void write_adapt(Comments& comments, const WarmupSettings& warmup) {
  comments.group(2, "adapt");
  comments.value(3, "engaged", warmup.iterations > 0 ? 1 : 0);
  comments.value(3, "gamma", warmup.adapt_step_size.regularisation);
  comments.value(3, "delta", warmup.adapt_step_size.target_acceptance);
  comments.value(3, "kappa", warmup.adapt_step_size.relaxation);
  comments.value(3, "t0", warmup.adapt_step_size.offset);
  comments.value(3, "init_buffer", warmup.windows.first_phase);
  comments.value(3, "term_buffer", warmup.windows.last_phase);
  comments.value(3, "window", warmup.windows.first_window);
  comments.value(3, "save_metric", 1);
}

void write_algorithm(Comments& comments, const StanCsvInfo& info) {
  const KernelSettings& kernel = info.kernel;
  const WarmupSettings& warmup = info.warmup;
  const bool tree = traits(kernel.kind).shape == TrajectoryShape::tree;
  comments.value(2, "algorithm", "hmc");
  comments.group(3, "hmc");
  comments.value(4, "engine", tree ? "nuts" : "static");
  comments.group(5, tree ? "nuts" : "static");
  if (!tree) comments.value(6, "int_time", kernel.hmc.path_length);
  comments.value(6, "max_depth", kernel.nuts.max_depth);  // readers require it, also for paths
  comments.value(4, "metric", stan_metric_type(announced_metric(info)));
  comments.value(4, "metric_file", "");
  comments.value(4, "stepsize", warmup.step_size);
  comments.value(4, "stepsize_jitter", 0);
}

}  // namespace

StanCsvHead stan_csv_head(const StanCsvInfo& info, const std::vector<std::string>& names) {
  Comments comments;
  // The version of Stan whose format this is: the last one that wrote flags as 0 and 1, which all
  // readers accept.
  comments.value(0, "stan_version_major", 2);
  comments.value(0, "stan_version_minor", 32);
  comments.value(0, "stan_version_patch", 0);
  comments.words(0, "model", info.model + "_model");
  comments.words(0, "start_datetime", info.start_datetime);
  comments.value(0, "method", "sample");
  comments.group(1, "sample");
  StanCsvHead head;
  comments.value(2, "num_samples", num_samples_field(info.draws, num_samples_width));
  head.num_samples_width = num_samples_width;
  head.num_samples_at = comments.size() - num_samples_width - 1;
  comments.value(2, "num_warmup", num_warmup_field(info));
  comments.value(2, "save_warmup", info.save_warmup ? 1 : 0);
  comments.value(2, "thin", info.thin);
  write_adapt(comments, info.warmup);
  write_algorithm(comments, info);
  comments.value(2, "num_chains", info.chains);
  comments.value(0, "id", info.chain);
  comments.group(0, "data");
  comments.words(1, "file", info.data_file);
  comments.words(0, "init", info.init);
  comments.group(0, "random");
  comments.value(1, "seed", info.seed);
  comments.group(0, "output");
  comments.words(1, "file", info.output_file);
  comments.value(1, "diagnostic_file", "");
  comments.group(0, "rehmc");
  comments.words(1, "rehmc_version", info.version);
  comments.value(1, "kernel", describe(info.kernel.kind));
  comments.value(1, "recycle", describe(info.kernel.recycling));
  comments.value(1, "metric_from",
                 info.warmup.metric_from == MetricSource::recycled ? "recycled" : "draws");

  head.text = std::move(comments).take();
  head.text += sampler_columns;
  for (const std::string& name : names) (head.text += ',') += name;
  head.text += '\n';
  return head;
}

std::string num_samples_field(std::uint64_t draws, std::size_t width) {
  return fmt::format("{:<{}}", draws, width);
}

void append_stan_row(std::string& to, const ReadDraw& draw) {
  const auto add = [&](auto number) {
    append_number(to, number);
    to += ',';
  };
  const Transition& transition = *draw.transition;
  add(transition.state.log_density);
  add(transition.acceptance);
  add(transition.step_size);
  add(transition.depth);
  add(transition.leapfrogs);
  add(transition.ending == Ending::diverged ? 1 : 0);
  add(transition.energy);
  add(transition.path_length);
  add(transition.energy_error);
  add(draw.kept.size());
  add(transition.ending == Ending::depth_limit ? 1 : 0);
  add(transition.mass);
  for (const double value : draw.values) add(value);
  to.back() = '\n';
}

std::string stan_adaptation(const StanCsvInfo& info, const Tuning& tuning) {
  std::string text = "# Adaptation terminated\n# Step size = ";
  append_number(text, tuning.step_size);
  text += '\n';
  const auto row = [&](std::span<const double> numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      text += i == 0 ? "# " : ", ";
      append_number(text, numbers[i]);
    }
    text += '\n';
  };
  const std::string_view type = stan_metric_type(announced_metric(info));
  if (type == "unit_e") {
    text += "# No free parameters for unit metric\n";
  } else if (type == "diag_e") {
    text += "# Diagonal elements of inverse mass matrix:\n";
    row(tuning.metric->inverse_diagonal());
  } else {
    text += "# Elements of inverse mass matrix:\n";
    const std::size_t d = tuning.metric->dimension();
    const std::vector<double> matrix = full_inverse_mass(*tuning.metric);
    for (std::size_t i = 0; i < d; ++i) row(std::span(matrix).subspan(i * d, d));
  }
  return text;
}

std::string stan_timing(double seconds_warmup, double seconds_sampling) {
  // No exponents: rstan drops the letter, and readers count characters.
  return fmt::format(
      "# \n"
      "#  Elapsed Time: {:.6f} seconds (Warm-up)\n"
      "#                {:.6f} seconds (Sampling)\n"
      "#                {:.6f} seconds (Total)\n"
      "# \n",
      seconds_warmup, seconds_sampling, seconds_warmup + seconds_sampling);
}

StanCsvSink::StanCsvSink(const std::filesystem::path& path, StanCsvInfo info,
                         const std::vector<std::string>& names)
    : file_(path), info_(std::move(info)) {
  if (waits_for_warmup()) {
    names_of_head_ = names;
  } else {
    write_head(names);
  }
}

StanCsvSink::StanCsvSink(const std::filesystem::path& path, StanCsvInfo info,
                         const std::vector<std::string>& names, const FileSeal& seal,
                         std::uint64_t draws)
    : file_(path, seal), info_(std::move(info)), draws_(draws) {
  if (waits_for_warmup() && seal.bytes == 0) {
    names_of_head_ = names;
    return;
  }
  head_ = stan_csv_head(info_, names);
  head_.text.clear();
}

/// What a pooled warmup does is known when it is over. Rows of warmup need a head before.
bool StanCsvSink::waits_for_warmup() const {
  return info_.warmup.schedule == WarmupSchedule::pooled && info_.warmup.iterations > 0 &&
         !info_.save_warmup;
}

void StanCsvSink::write_head(const std::vector<std::string>& names) {
  head_ = stan_csv_head(info_, names);
  const bool both = info_.warmup.schedule == WarmupSchedule::pooled;
  file_.will_patch(head_.num_samples_at, (both ? counts_with_warmup(0) : counts()).size());
  file_.waiting() += std::exchange(head_.text, {});
}

void StanCsvSink::begin(const SamplingStart& start) {
  if (names_of_head_) {
    const MetricKind kind = start.tuning.metric->kind();
    info_.warmup.metric = kind == MetricKind::low_rank ? MetricKind::diagonal : kind;
    info_.warmup.initial_metric = nullptr;
    write_head(*names_of_head_);
    names_of_head_.reset();
  }
  file_.waiting() += stan_adaptation(info_, start.tuning);
}

void StanCsvSink::add(const ReadDraw& draw, std::uint64_t index) {
  (draw.of_warmup ? warmup_ : draws_) = index + 1;
  if (index % static_cast<std::uint64_t>(info_.thin) == 0) append_stan_row(file_.waiting(), draw);
}

std::string StanCsvSink::counts() const {
  return num_samples_field(draws_, head_.num_samples_width);
}

std::string StanCsvSink::counts_with_warmup(std::uint64_t warmup) const {
  return counts() + "\n#     num_warmup = " + num_samples_field(warmup, num_warmup_width);
}

void StanCsvSink::sync() {
  if (names_of_head_) return;
  // The number of iterations of a pooled warmup is known once they are recorded.
  const bool both = warmup_ > 0 && info_.warmup.schedule == WarmupSchedule::pooled;
  file_.patch(head_.num_samples_at, both ? counts_with_warmup(warmup_) : counts());
  file_.sync();
}

void StanCsvSink::finish(const ChainFacts& facts) {
  if (names_of_head_) return;
  if (info_.warmup.schedule == WarmupSchedule::pooled && facts.warmup_iterations > 0) {
    file_.patch(head_.num_samples_at, counts_with_warmup(facts.warmup_iterations));
  }
  file_.sync_closing(stan_timing(facts.seconds_warmup, facts.seconds_sampling));
}

}  // namespace rehmc
