// Runs all chains of a job, checks `until` at fixed numbers of draws, and loads stored runs.
#include "rehmc/job/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "chain_job.hpp"
#include "chain_sinks.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/shell_word.hpp"
#include "rehmc/estimate/convergence.hpp"
#include "rehmc/job/finish.hpp"
#include "rehmc/job/until.hpp"
#include "rehmc/output/checkpoint.hpp"
#include "rehmc/output/kept_quantities.hpp"
#include "rehmc/run/groups.hpp"
#include "rehmc/summary/sharpening.hpp"

namespace rehmc {

namespace {

/// A result without chains.
SampleResult empty_result(const Manifest& manifest, const std::vector<std::size_t>& columns) {
  SampleResult result;
  result.quantities = recorded_quantities(manifest.quantities, columns);
  result.names = names_of(result.quantities);
  result.coordinates = manifest.coordinates;
  result.seed = manifest.seed;
  result.kernel = manifest.settings.sample.kernel;
  result.recycle_generated = manifest.settings.sample.recycle_generated;
  return result;
}

}  // namespace

Job::Job(const Density& density, const Manifest& manifest, const RunFolder& folder,
         ThreadHooks hooks)
    : manifest_(manifest),
      folder_(folder),
      essence_(essence(manifest)),
      columns_(recorded_columns(names_of(manifest.quantities), manifest.settings)),
      progress_(static_cast<std::size_t>(manifest.settings.sample.chains),
                static_cast<std::uint64_t>(manifest.settings.sample.warmup.iterations),
                static_cast<std::uint64_t>(manifest.settings.sample.draws)),
      engine_(density, manifest.settings.sample.engine_settings(), std::move(hooks)),
      result_(empty_result(manifest_, columns_)) {
  result_.chains.resize(progress_.chains.size());
  for (std::size_t c = 0; c < result_.chains.size(); ++c) {
    chains_.push_back(std::make_unique<ChainJob>(
        ChainJob::Place{&engine_.density(c), &manifest_, &essence_, &folder_, &columns_, c,
                        engine_.chains_per_thread(), &progress_.chains[c], &result_.chains[c]}));
  }
}

Job::~Job() = default;

void Job::run_chains_to(std::uint64_t draws, const std::atomic<int>& interrupts) {
  progress_.draws = draws;
  std::atomic<bool> failed = false;
  const Stop stop{&interrupts, &failed};
  // Chains in warmup hold many states: only as many of them as keep the engine busy.
  for (const ChainRange& range :
       ranges_at_once(manifest_.settings.sample, engine_.chains_at_once())) {
    if (!stop.raised()) run_range_to(draws, range, failed, stop);
  }
}

void Job::run_range_to(std::uint64_t draws, const ChainRange& range, std::atomic<bool>& failed,
                       const Stop& stop) {
  const auto chain = [this](std::size_t c) { return chains_[c]->chain(); };
  if (manifest_.settings.sample.warmup.schedule == WarmupSchedule::pooled)
    open_groups(range, failed, stop);
  for (bool pooled = true; pooled;) {
    engine_.run(failed, range, [&](std::size_t c) {
      if (stop.raised()) return;
      chains_[c]->open();
      chains_[c]->advance(draws, stop);
    });
    pooled = !stop.raised() && pool_groups(range, chain);
    for (const ChainRange& group : groups_of(range)) store_group(group, stop.raised());
  }
}

void Job::open_groups(const ChainRange& range, std::atomic<bool>& failed, const Stop& stop) {
  engine_.run(failed, range, [&](std::size_t c) {
    if (!stop.raised()) chains_[c]->open();
  });
  if (stop.raised()) return;
  for (const ChainRange& group : groups_of(range)) {
    bool alike = true;
    for (std::size_t c = group.first; c < group.end; ++c) {
      alike = alike && chains_[c]->warmup_stage() == chains_[group.first]->warmup_stage();
    }
    // The bits will be the same.
    for (std::size_t c = group.first; !alike && c < group.end; ++c) chains_[c]->start_again();
  }
}

void Job::store_group(const ChainRange& group, bool stopped) {
  bool due = stopped;
  for (std::size_t c = group.first; c < group.end; ++c) due = due || chains_[c]->must_store();
  for (std::size_t c = group.first; due && c < group.end; ++c) chains_[c]->store_warmup();
}

void Job::run(const std::atomic<int>& interrupts) {
  const auto most = static_cast<std::uint64_t>(manifest_.settings.sample.draws);
  if (manifest_.settings.until.empty()) return run_chains_to(most, interrupts);

  const std::vector<Condition> conditions = parse_until(manifest_.settings.until);
  std::uint64_t done = 0;
  for (auto& chain : chains_) {
    chain->open();
    done = std::max(done, chain->draws());
  }
  for (std::uint64_t look = next_look(done, most);; look = next_look(look + 1, most)) {
    run_chains_to(look, interrupts);
    if (interrupts != 0) return;
    if (judge_until(conditions, look, look == most) || look == most) {
      stopped_at_ = look;
      return;
    }
  }
}

bool Job::judge_until(const std::vector<Condition>& conditions, std::uint64_t draws, bool last) {
  const auto uses_kept = [](const Condition& c) { return c.about_error() || c.about_gradients(); };
  if (std::ranges::any_of(conditions, uses_kept)) {
    read_kept(engine_.density(0), summarised_columns(manifest_.settings, result_), result_);
  }
  RunEstimates now;
  now.parameters = summarise(result_);
  const Look look{now.parameters, &now.sharpening, result_.chains.size(), draws};
  const auto met = [&](const Condition& condition) { return judge(condition, look).met; };
  const auto about_gradients = [](const Condition& c) { return c.about_gradients(); };
  // To use the gradients costs most of a look: only if the other conditions hold, and those on
  // MCSEs may hold.
  bool may_be_met = std::ranges::all_of(
      conditions, [&](const Condition& c) { return c.about_gradients() || met(c); });
  // Gradients that are not stored are known before an interruption and not after it, but both must
  // stop at the same draw.
  const bool known = !manifest_.settings.store_draws || manifest_.settings.store_gradients;
  bool sharpened = false;
  if (known && std::ranges::any_of(conditions, about_gradients)) {
    may_be_met = may_be_met && furthest_meet(conditions, look);
    sharpened = may_be_met || last;
  }
  if (sharpened) {
    now.sharpening = sharpen_run(result_, now.parameters, !manifest_.settings.sample.sharpen);
  }
  until_verdict_.clear();
  bool all_met = may_be_met;
  for (const Condition& condition : conditions) {
    const Verdict verdict = judge(condition, look);
    all_met = all_met && verdict.met;
    until_verdict_ +=
        fmt::format("{}{}: {} at {} draws per chain", until_verdict_.empty() ? "" : "; ",
                    condition.text, verdict.met ? "reached" : "not reached", draws);
    if (!verdict.worst_name.empty()) {
      until_verdict_ +=
          fmt::format(" (worst: {:.4g} for {})", verdict.worst_value, verdict.worst_name);
    }
  }
  estimates_.reset();
  if (sharpened) estimates_ = std::move(now);
  return all_met;
}

bool Job::furthest_meet(const std::vector<Condition>& conditions, const Look& look) const {
  if (!manifest_.settings.sample.sharpen) return true;
  constexpr std::size_t one_in = 8;
  const std::vector<std::size_t> few =
      furthest(conditions, look, (look.parameters.size() + one_in - 1) / one_in);
  const std::vector<ParameterSummary> rows = sharpen_some(result_, look.parameters, few);
  const Look sharpened{rows, nullptr, look.chains, look.draws};
  return std::ranges::all_of(conditions, [&](const Condition& condition) {
    return !condition.about_error() || judge(condition, sharpened).met;
  });
}

std::optional<RunEstimates> Job::take_estimates() && {
  if (!stopped_at_) return std::nullopt;
  return std::move(estimates_);
}

bool Job::complete() const {
  const std::uint64_t goal =
      stopped_at_.value_or(static_cast<std::uint64_t>(manifest_.settings.sample.draws));
  return std::all_of(chains_.begin(), chains_.end(),
                     [&](const auto& chain) { return chain->opened() && chain->draws() >= goal; });
}

std::vector<std::string> Job::problems() const {
  std::vector<std::string> all;
  for (const auto& chain : chains_) {
    all.insert(all.end(), chain->problems().begin(), chain->problems().end());
  }
  return all;
}

std::size_t Job::draws_so_far() const {
  std::size_t shortest = std::numeric_limits<std::size_t>::max();
  for (const auto& chain : chains_) {
    chain->with_record([&](const ChainRecord& r) { shortest = std::min(shortest, r.size()); });
  }
  return shortest * chains_.size();
}

std::optional<Convergence> Job::converges(std::size_t scalar) const {
  constexpr std::size_t least_draws = 20;
  std::vector<std::vector<double>> values(chains_.size());
  std::size_t size = std::numeric_limits<std::size_t>::max();
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    chains_[c]->with_record([&](const ChainRecord& record) {
      size = std::min(size, record.size());
      if (scalar == 0) {
        values[c] = record.log_density;
        return;
      }
      for (std::size_t i = 0; i < record.size(); ++i) {
        values[c].push_back(record.draws[i * record.dimension() + scalar - 1]);
      }
    });
  }
  if (size < least_draws) return std::nullopt;
  std::vector<Series> chains;
  for (const auto& chain : values) chains.push_back({chain.data(), size, 1});
  return convergence(chains);
}

SampleResult load_run(const RunFolder& folder, const Manifest& manifest) {
  const std::vector<std::size_t> columns =
      recorded_columns(names_of(manifest.quantities), manifest.settings);
  SampleResult result = empty_result(manifest, columns);
  const std::vector<ChainCheckpoint> checkpoints = stored_checkpoints(folder, manifest);
  for (std::size_t chain = 0; chain < checkpoints.size(); ++chain) {
    result.chains.push_back(load_chain(folder, chain, manifest, columns, checkpoints[chain]));
  }
  return result;
}

void require_growing_files(const RunFolder& folder, const Manifest& manifest) {
  const std::vector<std::size_t> columns =
      recorded_columns(names_of(manifest.quantities), manifest.settings);
  const std::string run = essence(manifest);
  for (std::size_t chain = 0; chain < static_cast<std::size_t>(manifest.settings.sample.chains);
       ++chain) {
    const StoredCheckpoint stored = read_checkpoint(folder.checkpoint(chain));
    if (!stored.found) continue;
    const ChainCheckpoint checkpoint = parse_checkpoint(stored.content, folder, run, chain);
    load_chain(folder, chain, manifest, columns, checkpoint);
    if (!manifest.settings.store_draws) continue;
    require_sealed(folder, chain, folder.draws(chain), checkpoint.draws_seal);
    if (writes_recycled_csv(manifest.settings)) {
      require_sealed(folder, chain, folder.recycled(chain), checkpoint.recycled_seal);
    }
  }
}

}  // namespace rehmc
