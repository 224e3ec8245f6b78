// A queue of chains, and threads that take them from it: one at a time, or a batch of them.
#include "rehmc/run/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "fiber_batch.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {

namespace {

/// Calls the hooks around what a thread does.
class InThread {
 public:
  explicit InThread(const ThreadHooks& hooks) : hooks_(hooks) {
    if (hooks_.begin) hooks_.begin();
  }
  ~InThread() {
    if (hooks_.end) hooks_.end();
  }
  InThread(const InThread&) = delete;
  InThread& operator=(const InThread&) = delete;

 private:
  const ThreadHooks& hooks_;
};

std::size_t divided_up(std::size_t number, std::size_t by) { return (number + by - 1) / by; }

/// If a thread cannot be started, `failed` ends those that were.
void in_threads(std::size_t threads, std::atomic<bool>& failed,
                const std::function<void(std::size_t)>& run) {
  std::vector<std::jthread> others;
  others.reserve(threads);
  try {
    for (std::size_t t = 1; t < threads; ++t) others.emplace_back([&run, t] { run(t); });
  } catch (const std::system_error& error) {
    failed = true;
    throw SystemError(fmt::format(
        "threads: cannot start thread {} of {}: {}; choose fewer threads, or raise the limit of "
        "the system (ulimit -u)",
        others.size() + 2, threads, error.code().message()));
  } catch (...) {
    failed = true;
    throw;
  }
  run(0);
}

}  // namespace

std::string_view describe(EngineKind kind) noexcept {
  return kind == EngineKind::batch ? "batch" : "threads";
}

EngineKind parse_engine(std::string_view name) {
  for (const EngineKind kind : {EngineKind::threads, EngineKind::batch}) {
    if (name == describe(kind)) return kind;
  }
  throw ConfigError(fmt::format("engine: found '{}', expected one of threads, batch", name));
}

/// Which chain runs next, and which failed.
class Engine::Queue {
 public:
  Queue(const ChainRange& range, std::atomic<bool>& failed)
      : range_(range), errors_(range.end - range.first), next_(range.first), failed_(failed) {}

  /// Takes chains until none is left. Never throws.
  template <class Work>
  void serve(Work&& work) {
    for (std::size_t chain = next_++; chain < range_.end && !failed_; chain = next_++) {
      try {
        work(chain);
      } catch (...) {
        errors_[chain - range_.first] = std::current_exception();
        failed_ = true;
      }
    }
  }

  void throw_first() const {
    for (const auto& error : errors_) {
      if (error) std::rethrow_exception(error);
    }
  }

 private:
  ChainRange range_;
  std::vector<std::exception_ptr> errors_;
  std::atomic<std::size_t> next_;
  std::atomic<bool>& failed_;
};

/// Passes the gradient requests of one chain to the batch that it runs in.
class Engine::Relay final : public Evaluator {
 public:
  explicit Relay(FiberBatch& idle) : idle_(idle), batch_(&idle) {}

  double evaluate(std::span<const double> x, std::span<double> gradient) override {
    return batch_->evaluate(x, gradient);
  }
  void enter(FiberBatch& batch) { batch_ = &batch; }
  void leave() { batch_ = &idle_; }

 private:
  FiberBatch& idle_;
  FiberBatch* batch_;
};

struct Engine::Seat {
  Seat(const Density& model, FiberBatch& idle)
      : relay(std::make_shared<Relay>(idle)), density(model.through(relay)) {}
  std::shared_ptr<Relay> relay;
  Density density;
};

/// One batch per thread, and a place in a batch for every chain.
class Engine::Batches {
 public:
  Batches(const Density& density, std::size_t chains, std::size_t threads, std::size_t fibers)
      : density_(density), idle_(density, 1), seats_(chains) {
    for (std::size_t t = 0; t < threads; ++t) batches_.emplace_back(density, fibers);
  }

  Seat& seat(std::size_t chain) {
    if (!seats_[chain]) seats_[chain].emplace(density_, idle_);
    return *seats_[chain];
  }

  void run(std::size_t thread, Queue& queue, const std::function<void(std::size_t)>& work) {
    FiberBatch& batch = batches_[thread];
    batch.run([&] {
      queue.serve([&](std::size_t chain) {
        const Visit visit(*seat(chain).relay, batch);
        work(chain);
      });
    });
  }

 private:
  struct Visit {
    Visit(Relay& r, FiberBatch& batch) : relay(r) { relay.enter(batch); }
    ~Visit() { relay.leave(); }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    Relay& relay;
  };

  const Density& density_;
  FiberBatch idle_;  ///< for requests of chains that are not running
  std::deque<FiberBatch> batches_;
  std::vector<std::optional<Seat>> seats_;
};

Engine::Engine(const Density& density, const EngineSettings& settings, ThreadHooks hooks)
    : density_(density), hooks_(std::move(hooks)), chains_(settings.chains) {
  require_setting("chains", static_cast<double>(settings.chains), at_least(1));
  require_setting("batch", static_cast<double>(settings.batch), at_least(1));
  const std::size_t wanted =
      settings.threads > 0 ? settings.threads : std::max(1U, std::thread::hardware_concurrency());
  threads_ = std::min(wanted, chains_);
  if (settings.kind != EngineKind::batch || !density.is_batched()) return;
  // As even as possible, so that no chains are left over for a small batch at the end.
  const std::size_t of_thread = divided_up(chains_, threads_);
  fibers_ = divided_up(of_thread, divided_up(of_thread, settings.batch));
  batches_ = std::make_unique<Batches>(density_, chains_, threads_, fibers_);
}

Engine::~Engine() = default;

const Density& Engine::density(std::size_t chain) {
  return batches_ ? batches_->seat(chain).density : density_;
}

void Engine::run(std::atomic<bool>& failed, const std::function<void(std::size_t)>& work) {
  run(failed, {0, chains_}, work);
}

void Engine::run(std::atomic<bool>& failed, const ChainRange& range,
                 const std::function<void(std::size_t)>& work) {
  Queue queue(range, failed);
  in_threads(threads_, failed, [&](std::size_t thread) {
    const InThread inside(hooks_);
    if (batches_) {
      batches_->run(thread, queue, work);
    } else {
      queue.serve(work);
    }
  });
  queue.throw_first();
}

}  // namespace rehmc
