// The life of one chain of a job: opened or resumed, advanced, stored, closed.
#include "chain_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/output/checkpoint.hpp"
#include "rehmc/output/metric_file.hpp"
#include "rehmc/output/recycled_csv.hpp"
#include "rehmc/output/stan_csv.hpp"

namespace rehmc {

namespace {

constexpr std::size_t most_waiting = std::size_t{16} << 20;

StanCsvInfo csv_info(const Manifest& manifest, const RunFolder& folder, std::size_t chain) {
  const SampleSettings& sample = manifest.settings.sample;
  StanCsvInfo info;
  info.model = manifest.model.name;
  info.version = manifest.version;
  info.start_datetime = manifest.created;
  info.chain = static_cast<int>(chain) + 1;
  info.chains = sample.chains;
  info.seed = manifest.seed;
  info.draws = 0;  // patched with every checkpoint
  info.thin = manifest.settings.thin;
  info.save_warmup = manifest.settings.save_warmup;
  info.kernel = sample.kernel;
  info.warmup = sample.warmup;
  info.init = sample.start.empty() ? fmt::format("{}", sample.initial.initial_radius) : "given";
  info.output_file = folder.draws(chain).filename().string();
  return info;
}

bool recycles(const RunSettings& settings) {
  return settings.sample.kernel.recycling.kind != RecyclingKind::none;
}

}  // namespace

ChainResult load_chain(const RunFolder& folder, std::size_t chain, const Manifest& manifest,
                       const std::vector<std::size_t>& columns, const ChainFacts& facts) {
  ChainResult result;
  result.tuning = facts.tuning;
  result.gradients_warmup = facts.gradients_warmup;
  result.gradients_sampling = facts.gradients_sampling;
  result.divergences_warmup = facts.divergences_warmup;
  result.spot_check = facts.spot_check;
  result.seconds_warmup = facts.seconds_warmup;
  result.seconds_sampling = facts.seconds_sampling;
  result.faults = facts.faults;
  result.first_message = facts.first_message;
  result.quantity_failures = facts.quantity_failures;

  for (ChainRecord* record : {&result.record, &result.warmup}) {
    record->columns = columns;
    record->coordinates = manifest.coordinates.size();
    record->gradients = KeptGradients::yes;  // until a draw has none
    record->centre = facts.centre;
    record->centre.resize(columns.size());  // not known before sampling begins
  }
  if (facts.states_bytes == 0) return result;
  const std::filesystem::path path = folder.states(chain);
  const std::string bytes = read_file(path);
  if (bytes.size() < facts.states_bytes) {
    throw FileError(fmt::format("{}: has {} bytes, but the checkpoint knows of {}", path.string(),
                                bytes.size(), facts.states_bytes));
  }
  ArchiveReader reader(std::string_view(bytes).substr(0, facts.states_bytes));
  try {
    for (std::uint64_t i = 0; i < facts.warmup_stored; ++i) result.warmup.add_archived(reader);
    for (std::uint64_t i = 0; i < facts.draws; ++i) result.record.add_archived(reader);
    if (reader.left() != 0) throw DataError("there are more values than the checkpoint knows of");
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", path.string(), error.what()));
  }
  return result;
}

std::size_t DrawFiles::waiting() const {
  return draws.waiting().size() + states.waiting().size() +
         (recycled ? recycled->waiting().size() : 0);
}

void DrawFiles::sync() {
  draws.sync();
  states.sync();
  if (recycled) recycled->sync();
}

Address ChainJob::address() const {
  return {place_.manifest->seed, static_cast<std::uint32_t>(place_.chain), 0};
}

std::vector<std::string> ChainJob::names() const {
  return names_of(recorded_quantities(place_.manifest->quantities, *place_.columns));
}

/// Of what the model computes of a state, the gradient is not known.
SummedFeatures ChainJob::summed() const {
  const bool gradients = !settings().store_draws && settings().sample.sharpen &&
                         recycles(settings()) && place_.density->reads_coordinates();
  return gradients ? SummedFeatures::gradient_moments : SummedFeatures::moments;
}

void ChainJob::open() {
  if (chain_) return;
  reader_.emplace(*place_.density, *place_.columns, generated_of_kept(settings().sample));
  const StanCsvHead head =
      stan_csv_head(csv_info(*place_.manifest, *place_.folder, place_.chain), names());
  num_samples_at_ = head.num_samples_at;
  num_samples_width_ = head.num_samples_width;
  StoredCheckpoint stored = read_checkpoint(place_.folder->checkpoint(place_.chain));
  if (stored.found) {
    problems_ = std::move(stored.problems);
    resume(stored.content);
  } else {
    // Missing ones are no problem: the chain has not come to its first checkpoint.
    for (std::string& problem : stored.problems) {
      if (!problem.ends_with("is missing")) problems_.push_back(std::move(problem));
    }
    begin(head.text);
  }
  last_tick_ = last_checkpoint_ = Clock::now();
  report_progress(nullptr);
}

void ChainJob::begin(const std::string& csv_head) {
  const RunFolder& folder = *place_.folder;
  chain_ = std::make_unique<Chain>(*place_.density, settings().sample, address(), summed());
  if (!settings().store_draws) return;
  reader_->set_centre(chain_->state().position);
  warmup_ = ChainRecord(*reader_, 0);
  {
    const std::lock_guard lock(mutex_);
    record_ = warmup_;
  }
  files_.emplace(DrawFiles{GrowingFile(folder.draws(place_.chain)),
                           GrowingFile(folder.states(place_.chain)), std::nullopt});
  files_->draws.waiting() += csv_head;
  if (recycles(settings())) {
    files_->recycled.emplace(folder.recycled(place_.chain));
    files_->recycled->waiting() += recycled_csv_head(names());
  }
}

void ChainJob::resume(const std::string& checkpoint) {
  const RunFolder& folder = *place_.folder;
  ArchiveReader reader(checkpoint);
  auto stored = reader.get<StoredChain>();
  const ChainFacts& facts = stored.facts;
  ArchiveReader chain_reader(stored.chain);
  chain_ = std::make_unique<Chain>(*place_.density, settings().sample, address(), chain_reader,
                                   summed());
  if (!chain_->warming_up()) reader_->set_centre(chain_->centre());
  failures_ = facts.quantity_failures;
  seconds_warmup_ = facts.seconds_warmup;
  seconds_sampling_ = facts.seconds_sampling;
  if (stored.running) {
    running_ = std::make_shared<RunningRecord>(std::move(*stored.running));
  }
  if (!settings().store_draws) return;
  ChainResult loaded = load_chain(folder, place_.chain, *place_.manifest, *place_.columns, facts);
  {
    const std::lock_guard lock(mutex_);
    record_ = std::move(loaded.record);
  }
  warmup_ = std::move(loaded.warmup);
  files_.emplace(DrawFiles{GrowingFile(folder.draws(place_.chain), facts.draws_bytes),
                           GrowingFile(folder.states(place_.chain), facts.states_bytes),
                           std::nullopt});
  if (recycles(settings())) {
    files_->recycled.emplace(folder.recycled(place_.chain), facts.recycled_bytes);
  }
}

void ChainJob::begin_sampling() {
  chain_->begin_sampling();
  reader_->set_centre(chain_->centre());
  write_whole(place_.folder->metric(place_.chain), metric_json(chain_->tuning()));
  if (!settings().store_draws) {
    running_ =
        std::make_shared<RunningRecord>(reader_->centre(), rough_scale(), recycles(settings()),
                                        summed() == SummedFeatures::gradient_moments);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    // Kept also if nothing is to be sharpened: the Stein check needs them.
    record_ = ChainRecord(*reader_, static_cast<std::size_t>(settings().sample.draws),
                          KeptGradients::yes);
  }
  files_->draws.waiting() +=
      stan_adaptation(csv_info(*place_.manifest, *place_.folder, place_.chain), chain_->tuning());
}

/// A standard deviation of every recorded quantity, as well as the metric tells: that of a few
/// points about the centre.
std::vector<double> ChainJob::rough_scale() {
  constexpr int points = 32;
  std::vector<double> sd = chain_->tuning().metric->inverse_diagonal();
  for (double& value : sd) value = std::sqrt(value);
  if (reader_->reads_positions()) return sd;
  Stream stream(address(), Purpose::estimate);
  std::vector<double> squares(place_.columns->size(), 0.0);
  std::vector<double> point(sd.size());
  for (int k = 0; k < points; ++k) {
    for (std::size_t i = 0; i < sd.size(); ++i) {
      point[i] = chain_->centre()[i] + sd[i] * stream.normal();
    }
    const std::span<const double> values = reader_->read(point, &stream);
    for (std::size_t i = 0; i < squares.size(); ++i) {
      const double offset = values[i] - reader_->centre()[i];
      if (std::isfinite(offset)) squares[i] += offset * offset / points;
    }
  }
  for (double& value : squares) value = value > 0 ? std::sqrt(value) : 1.0;
  return squares;
}

void ChainJob::store_draw(const ChainRecord& record, std::size_t draw) {
  record.archive_draw(scratch_, draw,
                      settings().sample.sharpen && settings().store_gradients ? KeptGradients::yes
                                                                              : KeptGradients::no);
  files_->states.waiting() += scratch_.bytes();
  scratch_.clear();
  if (draw % static_cast<std::size_t>(settings().thin) != 0) return;
  append_stan_row(files_->draws.waiting(), record, draw);
  if (files_->recycled && &record == &record_) {
    append_recycled_rows(files_->recycled->waiting(), record, draw,
                         static_cast<int>(place_.chain) + 1);
  }
}

void ChainJob::step() {
  const bool warming_up = chain_->warming_up();
  const Transition& transition = chain_->step();
  report_progress(&transition);
  if (running_) {
    const ReadDraw& draw = reader_->read(transition, chain_->address());
    failures_ += draw.failures;
    running_->add(draw);
  } else if (!warming_up) {
    const ReadDraw& draw = reader_->read(transition, chain_->address());
    failures_ += draw.failures;
    {
      const std::lock_guard lock(mutex_);
      record_.add(draw, *reader_);
    }
    store_draw(record_, record_.size() - 1);
  } else if (settings().save_warmup) {
    Stream stream(chain_->address(), Purpose::generated);
    warmup_.add_draw(transition, reader_->read(transition.state.position, &stream));
    store_draw(warmup_, warmup_.size() - 1);
  }
}

void ChainJob::report_progress(const Transition* transition) {
  constexpr auto relaxed = std::memory_order_relaxed;
  ChainProgress& progress = *place_.progress;
  progress.iteration.store(chain_->iteration(), relaxed);
  progress.gradients.store(chain_->guard().evaluations(), relaxed);
  if (transition == nullptr) {
    progress.begun = true;
    progress.step_size.store(chain_->tuning().step_size, relaxed);
    progress.divergences.store(
        running_ ? running_->counts().divergences : record_.divergences.size(), relaxed);
    return;
  }
  progress.step_size.store(transition->step_size, relaxed);
  progress.depth.store(transition->depth, relaxed);
  if (!chain_->warming_up() && transition->ending == Ending::diverged) {
    progress.divergences.fetch_add(1, relaxed);
  }
}

void ChainJob::add_seconds() {
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - last_tick_).count() /
                         static_cast<double>(place_.chains_per_thread);
  (chain_->warming_up() ? seconds_warmup_ : seconds_sampling_) += seconds;
  last_tick_ = now;
}

bool ChainJob::checkpoint_is_due() const {
  if (files_ && files_->waiting() > most_waiting) return true;
  const std::chrono::duration<double> wanted(settings().checkpoint_seconds);
  // However large a checkpoint is, it must not take more than a fiftieth of the time, in which all
  // chains of the thread store theirs.
  return Clock::now() - last_checkpoint_ >=
         std::max<std::chrono::duration<double>>(wanted,
                                                 50 * checkpoint_took_ * place_.chains_per_thread);
}

void ChainJob::advance(std::uint64_t draws, const Stop& stop) {
  last_tick_ = Clock::now();
  for (;;) {
    if (chain_->warm()) {
      add_seconds();
      begin_sampling();
    }
    if (stop.raised()) break;
    if (!chain_->warming_up() && this->draws() >= draws) break;
    step();
    if (checkpoint_is_due()) checkpoint();
  }
  checkpoint();
  if (files_) files_->draws.sync_closing(stan_timing(seconds_warmup_, seconds_sampling_));
}

void ChainJob::checkpoint() {
  add_seconds();
  const auto begin = Clock::now();
  if (files_) {
    files_->draws.patch(num_samples_at_, num_samples_field(record_.size(), num_samples_width_));
    files_->sync();
  }

  ChainFacts facts;
  const ChainResult now = chain_result(*chain_, {});
  facts.iteration = chain_->iteration();
  facts.warmup_stored = warmup_.size();
  facts.draws = draws();
  facts.sampling = !chain_->warming_up();
  facts.tuning = now.tuning;
  facts.centre = record_.centre;
  facts.gradients_warmup = now.gradients_warmup;
  facts.gradients_sampling = now.gradients_sampling;
  facts.divergences_warmup = now.divergences_warmup;
  facts.spot_check = now.spot_check;
  facts.seconds_warmup = seconds_warmup_;
  facts.seconds_sampling = seconds_sampling_;
  facts.faults = now.faults;
  facts.first_message = now.first_message;
  facts.quantity_failures = failures_;
  if (files_) {
    facts.draws_bytes = files_->draws.size();
    facts.recycled_bytes = files_->recycled ? files_->recycled->size() : 0;
    facts.states_bytes = files_->states.size();
  }
  ArchiveWriter chain;
  chain(*chain_);
  // As StoredChain, but without a copy of the running record, which may be large.
  ArchiveWriter all;
  constexpr std::size_t small_things = 4096;
  all.reserve(chain.bytes().size() + facts.tuning.metric->numbers().size() * sizeof(double) +
              (running_ ? running_->summary().bytes() : 0) + small_things);
  all(facts, chain.bytes(), running_ != nullptr);
  if (running_) all(*running_);
  write_checkpoint(place_.folder->checkpoint(place_.chain), all.bytes());
  last_checkpoint_ = Clock::now();
  checkpoint_took_ = last_checkpoint_ - begin;
}

ChainResult ChainJob::result() const {
  if (!opened()) return {.record = record_, .tuning = {}};
  ChainResult result = chain_result(*chain_, record_);
  result.warmup = warmup_;
  result.running = running_;
  result.quantity_failures = failures_;
  result.seconds_warmup = seconds_warmup_;
  result.seconds_sampling = seconds_sampling_;
  return result;
}

}  // namespace rehmc
