// Iterates a chain, and records its time and progress.
#include "rehmc/run/chain_loop.hpp"

#include <utility>

namespace rehmc {

ChainLoop::ChainLoop(std::unique_ptr<Chain> chain, QuantityReader reader, std::vector<Sink*> sinks,
                     const Options& options)
    : chain_(std::move(chain)),
      reader_(std::move(reader)),
      sinks_(std::move(sinks)),
      options_(options) {
  if (!chain_->warming_up()) {
    draws_ = chain_->iteration() - chain_->warmup_iterations();
    reader_.set_centre(chain_->centre());
  }
  if (ChainProgress* progress = options_.progress) {
    progress->iteration = chain_->iteration();
    progress->gradients = chain_->gradients();
    progress->step_size = chain_->tuning().step_size;
    if (!chain_->warming_up()) progress->warmup = chain_->warmup_iterations();
    progress->begun = true;
  }
}

void ChainLoop::advance(std::uint64_t draws, const Stop& stop,
                        const std::function<void()>& after_draw) {
  last_tick_ = Clock::now();
  for (;;) {
    if (chain_->warm()) {
      count_time();
      begin_sampling();
    }
    if (stop.raised() || chain_->waiting()) break;
    if (!chain_->warming_up() && draws_ >= draws) break;
    step();
    if (after_draw) after_draw();
  }
  count_time();
}

void ChainLoop::begin_sampling() {
  chain_->begin_sampling();
  reader_.set_centre(chain_->centre());
  if (options_.progress != nullptr) options_.progress->warmup = chain_->warmup_iterations();
  const SamplingStart start{chain_->tuning(),
                            chain_->centre(),
                            reader_,
                            {chain_->address().seed, chain_->address().chain, 0}};
  for (Sink* sink : sinks_) sink->begin(start);
}

void ChainLoop::step() {
  const bool warming_up = chain_->warming_up();
  const std::uint64_t index = warming_up ? chain_->iteration() : draws_;
  const Transition& transition = chain_->step();
  show(transition);
  if (warming_up && !options_.warmup_draws) return;
  const ReadDraw& draw = warming_up ? reader_.read_warmup(transition, chain_->address())
                                    : reader_.read(transition, chain_->address());
  chain_->add_failures(draw.failures);
  for (Sink* sink : sinks_) sink->add(draw, index);
  if (!warming_up) ++draws_;
}

void ChainLoop::count_time() {
  const auto now = Clock::now();
  chain_->add_seconds(std::chrono::duration<double>(now - last_tick_).count() /
                      static_cast<double>(options_.chains_per_thread));
  last_tick_ = now;
}

void ChainLoop::show(const Transition& transition) {
  ChainProgress* const progress = options_.progress;
  if (progress == nullptr) return;
  constexpr auto relaxed = std::memory_order_relaxed;
  progress->iteration.store(chain_->iteration(), relaxed);
  progress->gradients.store(chain_->gradients(), relaxed);
  progress->step_size.store(transition.step_size, relaxed);
  progress->depth.store(transition.depth, relaxed);
  if (!chain_->warming_up() && transition.ending == Ending::diverged) {
    progress->divergences.fetch_add(1, relaxed);
  }
}

}  // namespace rehmc
