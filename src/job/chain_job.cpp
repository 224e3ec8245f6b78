// Starts or resumes one chain of a job, advances it, stores it and closes its files.
#include "chain_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "rehmc/core/hash.hpp"
#include "rehmc/output/checkpoint.hpp"
#include "rehmc/output/durable_file.hpp"

namespace rehmc {

namespace {

constexpr std::size_t most_waiting = std::size_t{16} << 20;

}  // namespace

/// If the model computes the quantities, their gradients are not known.
SummedFeatures ChainJob::summed() const {
  const bool gradients = !settings().store_draws && settings().sample.sharpen &&
                         recycles(settings()) && place_.density->reads_coordinates();
  return gradients ? SummedFeatures::gradient_moments : SummedFeatures::moments;
}

std::optional<ChainCheckpoint> ChainJob::read_stored() {
  StoredCheckpoint stored = read_checkpoint(place_.folder->checkpoint(place_.chain));
  if (stored.found) {
    for (const std::string& problem : stored.problems) {
      problems_.push_back(problem + "; continued from an earlier state");
    }
    return parse_checkpoint(stored.content, *place_.folder, *place_.essence, place_.chain);
  }
  // A missing checkpoint is no problem: the chain has not reached its first one.
  for (std::string& problem : stored.problems) {
    if (!problem.ends_with("is missing")) {
      problems_.push_back(std::move(problem) + "; the chain started over");
    }
  }
  return std::nullopt;
}

/// The checkpoint has all that the metric file contains.
void ChainJob::restore_metric_file(const ChainCheckpoint& stored) {
  if (stored.metric_hash.empty()) return;
  const std::filesystem::path path = place_.folder->metric(place_.chain);
  const bool there = std::filesystem::exists(path);
  if (there && file_hash(path) == stored.metric_hash) return;
  write_whole(path, metric_json(stored.facts().tuning));
  problems_.push_back(fmt::format("{}: {}; it was written again", path.string(),
                                  there ? "was changed after rehmc wrote it" : "was missing"));
}

std::unique_ptr<Chain> ChainJob::make_chain(const ChainCheckpoint* stored) const {
  const std::size_t number = place_.chain + static_cast<std::size_t>(settings().first_chain) - 1;
  const Address address{place_.manifest->seed, static_cast<std::uint32_t>(number), 0};
  if (stored == nullptr) {
    return std::make_unique<Chain>(*place_.density, settings().sample, address, summed());
  }
  return of_this_layout(*place_.folder, place_.chain, [&] {
    ArchiveReader reader(stored->chain);
    return std::make_unique<Chain>(*place_.density, settings().sample, address, reader, summed());
  });
}

void ChainJob::open() {
  if (opened()) return;
  const std::optional<ChainCheckpoint> checkpoint = read_stored();
  open_from(checkpoint ? &*checkpoint : nullptr);
}

void ChainJob::start_again() {
  const std::filesystem::path last = place_.folder->checkpoint(place_.chain);
  // They would not fit the new files.
  for (const auto& file : {last, previous_checkpoint(last)}) std::filesystem::remove(file);
  loop_.reset();
  sinks_.reset();
  open_from(nullptr);
}

void ChainJob::open_from(const ChainCheckpoint* stored) {
  std::unique_ptr<Chain> chain = make_chain(stored);
  // Text and running summaries need the quantities of kept states at once.
  const bool later = settings().store_draws && !settings().recycled_csv;
  QuantityReader reader(*place_.density, *place_.columns, generated_of_kept(settings().sample),
                        later ? KeptQuantities::later : KeptQuantities::now);
  ChainResult begun;
  if (stored != nullptr) {
    restore_metric_file(*stored);
    begun = load_chain(*place_.folder, place_.chain, *place_.manifest, *place_.columns, *stored);
  } else {
    begun.record = begun.warmup = ChainRecord(reader, 0);
  }
  ChainResult& result = *place_.result;
  {
    const std::lock_guard lock(mutex_);
    result = std::move(begun);
  }
  sinks_.emplace(ChainSinks::Place{*place_.manifest, *place_.folder, *place_.columns, place_.chain},
                 result, stored, summed() == SummedFeatures::gradient_moments, mutex_);
  place_.progress->divergences =
      result.running ? result.running->counts().divergences : result.record.divergences.size();
  loop_ = std::make_unique<ChainLoop>(
      std::move(chain), std::move(reader), sinks_->list(),
      ChainLoop::Options{settings().save_warmup, place_.chains_per_thread, place_.progress});
  last_checkpoint_ = Clock::now();
}

bool ChainJob::checkpoint_is_due() const {
  if (sinks_->waiting() > most_waiting) return true;
  const std::chrono::duration<double> wanted(settings().checkpoint_seconds);
  // However large they are, the checkpoints of all chains of the thread must not take more than a
  // fiftieth of its time.
  return Clock::now() - last_checkpoint_ >=
         std::max<std::chrono::duration<double>>(wanted,
                                                 50 * checkpoint_took_ * place_.chains_per_thread);
}

void ChainJob::advance(std::uint64_t draws, const Stop& stop) {
  loop_->advance(draws, stop, [this] {
    if (shares_warmup() || !checkpoint_is_due()) return;
    loop_->count_time();
    checkpoint();
  });
  if (!shares_warmup()) store();
}

std::uint64_t ChainJob::warmup_stage() const {
  if (!shares_warmup() || loop_->chain().warm()) return std::numeric_limits<std::uint64_t>::max();
  return loop_->chain().pooled()->evidence().shared.stage;
}

bool ChainJob::must_store() const {
  return shares_warmup() && (loop_->chain().warm() || checkpoint_is_due());
}

void ChainJob::store_warmup() {
  if (shares_warmup()) store();
}

void ChainJob::store() {
  checkpoint();
  place_.result->facts() = loop_->chain().facts();
  sinks_->finish(*place_.result);
}

void ChainJob::checkpoint() {
  const auto begin = Clock::now();
  sinks_->sync();
  ChainCheckpoint checkpoint;
  checkpoint.origin = origin_of(*place_.essence, place_.chain);
  sinks_->mark(checkpoint);
  ArchiveWriter chain;
  chain(loop_->chain());
  checkpoint.chain = std::move(chain).take();
  store_checkpoint(place_.folder->checkpoint(place_.chain), checkpoint);
  last_checkpoint_ = Clock::now();
  checkpoint_took_ = last_checkpoint_ - begin;
}

}  // namespace rehmc
