// One chain between shared iterations.
#include "rehmc/adapt/pooled_warmup.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rehmc/core/error.hpp"
#include "tree_cost.hpp"

namespace rehmc {

namespace {

constexpr double first_stage = 12;
constexpr double growth = 1.5;
/// While the metric is poor, a long trajectory costs more than it teaches.
constexpr std::uint64_t early_stages = 2;
constexpr int early_depth = 6;
/// The step size that a stage begins with counts as this many trials with the acceptance asked for.
constexpr double trials_of_guess = 3;
/// In the first stage, the chain may still be on its way to the bulk of the target.
constexpr double first_stage_memory = 0.8;
constexpr double most_change = 2;
constexpr int arrival = 4;
/// Most states of a trajectory; most numbers that a stage holds.
constexpr std::size_t most_states = 32;
constexpr std::size_t least_states = 2;
constexpr double least_giving_draws = 4;
constexpr double most_pooled_numbers = 2e6;

/// Factors on the step size, evenly spread over a stage and over chains: what a step size costs is
/// known only where it was tried.
double step_factor(const Address& address) {
  constexpr double golden = 0.6180339887498949;
  constexpr double other = 0.7548776662466927;
  const double place =
      golden * static_cast<double>(address.iteration) + other * static_cast<double>(address.chain);
  return least_step_factor *
         std::pow(most_step_factor / least_step_factor, place - std::floor(place));
}

/// What the user gave; else what the search for a start found, as far as it is of the kind asked
/// for.
std::shared_ptr<const Metric> first_metric(const WarmupSettings& settings,
                                           std::shared_ptr<const Metric> found) {
  if (settings.initial_metric != nullptr) return settings.initial_metric;
  if (settings.iterations == 0 || settings.metric == MetricKind::unit) return nullptr;
  if (found == nullptr || settings.metric != MetricKind::diagonal) return found;
  return make_diagonal_metric(found->inverse_diagonal());
}

}  // namespace

int end_of_stage(std::uint64_t stage, int iterations) {
  const double end = std::floor(first_stage * std::pow(growth, static_cast<double>(stage)));
  // A last stage that would be shorter than half of it is joined to the one before.
  return end * (1 + growth) / 2 > iterations ? iterations : static_cast<int>(end);
}

PooledWarmup::PooledWarmup(std::unique_ptr<Kernel> kernel, const WarmupSettings& settings,
                           const Address& address, std::shared_ptr<const Metric> found)
    : kernel_settings_(kernel->settings()),
      kernel_(std::move(kernel)),
      settings_((settings.check(), settings)),
      address_(address) {
  tuning_ = {settings.step_size, first_metric(settings, std::move(found))};
  if (!tuning_.metric) tuning_.metric = make_unit_metric(kernel_->guard().dimension());
  shared_.tuning = tuning_;
  shared_.ended = settings.iterations == 0;
  if (done()) return;
  if (settings.search_step_size) {
    Stream stream(this->address(), Purpose::step_size);
    tuning_.step_size = find_step_size(*kernel_, tuning_, stream);
  }
  shared_.tuning = tuning_;
  use_kernel(true);
  begin_stage();
}

PooledWarmup::PooledWarmup(std::unique_ptr<Kernel> kernel, const WarmupSettings& settings,
                           const Address& address, ArchiveReader& stored)
    : kernel_settings_(kernel->settings()),
      kernel_(std::move(kernel)),
      settings_((settings.check(), settings)),
      address_(address) {
  stored(*kernel_, tuning_, shared_, troubles_, iteration_, previous_, current_, trials_,
         log_densities_);
  require_whole();
  if (!done()) use_kernel(shared_.stage < early_stages);
}

void PooledWarmup::require_whole() const {
  const std::size_t d = kernel_->guard().dimension();
  const auto of_model = [d](const StateSample& sample) {
    const std::size_t states = sample.weights.size();
    const auto fits = [&](const std::vector<double>& rows) {
      return rows.size() % d == 0 && rows.size() / d == states;
    };
    return fits(sample.positions) && fits(sample.gradients) &&
           (sample.dimension == d || (sample.dimension == 0 && states == 0));
  };
  const auto end = [this](std::uint64_t stage) {
    return end_of_stage(stage, settings_.iterations);
  };
  const std::uint64_t stage = shared_.stage;
  const bool in_stage = iteration_ >= (stage == 0 ? 0 : end(stage - 1)) && iteration_ <= end(stage);
  const std::vector<double>& own = shared_.own_step_sizes;
  const bool fits = tuning_.metric->dimension() == d && shared_.tuning.metric->dimension() == d &&
                    of_model(previous_) && of_model(current_) &&
                    (own.empty() || own.size() > address_.chain % most_chains_of_group) &&
                    (done() || (in_stage && !trials_.empty()));
  if (!fits) throw DataError("the stored warmup does not fit its settings and its model");
}

void PooledWarmup::archive(ArchiveWriter& archive) const {
  archive(*kernel_, tuning_, shared_, troubles_, iteration_, previous_, current_, trials_,
          log_densities_);
}

/// Moves the chain to a kernel with or without the limit on trees that early stages have.
void PooledWarmup::use_kernel(bool early) {
  KernelSettings wanted = kernel_settings_;
  if (early) wanted.nuts.max_depth = std::min(wanted.nuts.max_depth, early_depth);
  ArchiveWriter writer;
  writer(*kernel_);
  kernel_ = make_kernel(kernel_->guard().density(), wanted);
  ArchiveReader reader(writer.bytes());
  reader(*kernel_);
  kernel_->record_visits(!done() && settings_.metric != MetricKind::unit);
  early_ = early;
}

void PooledWarmup::begin_stage() {
  trials_.assign(1, {.step_size = tuning_.step_size,
                     .acceptance = settings_.adapt_step_size.target_acceptance,
                     .weight = trials_of_guess});
}

Address PooledWarmup::address() const {
  return {address_.seed, address_.chain, static_cast<std::uint64_t>(iteration_)};
}

/// How many states of this draw are kept. In many dimensions, only some draws give any.
std::size_t PooledWarmup::states_of_draw() const {
  const int begin = shared_.stage == 0 ? 0 : end_of_stage(shared_.stage - 1, settings_.iterations);
  const double draws = end_of_stage(shared_.stage, settings_.iterations) - begin;
  const double most = most_pooled_numbers / (2 * static_cast<double>(kernel_->guard().dimension()));
  if (most >= least_states * draws) {
    return std::min(static_cast<std::size_t>(most / draws), most_states);
  }
  const double giving = std::max(least_giving_draws, std::floor(most / least_states));
  const auto stride = static_cast<int>(std::ceil(draws / giving));
  return (iteration_ - begin) % stride == stride - 1 ? least_states : 0;
}

const Transition& PooledWarmup::step() {
  if (done() || waiting())
    throw ConfigError("warmup: this stage is over; adopt what the group agrees on");
  Tuning tried = tuning_;
  if (!early_) tried.step_size *= step_factor(address());
  const Transition& transition = kernel_->transition(tried, address());
  const bool arriving = iteration_ < arrival;
  if (settings_.metric != MetricKind::unit && !arriving) {
    if (const std::size_t states = states_of_draw(); states > 0) current_.add(transition, states);
  }
  log_densities_.push_back(transition.state.log_density);
  const double memory = shared_.stage == 0 ? first_stage_memory : 1;
  for (StepTrial& trial : trials_) trial.weight *= memory;
  // A divergence cuts a trajectory short.
  const double leapfrogs = transition.ending == Ending::diverged ? 0 : transition.leapfrogs;
  trials_.push_back({tried.step_size, std::clamp(transition.acceptance, 0.0, 1.0), 1, leapfrogs});
  const double fitted = fit_step_size(trials_, settings_.adapt_step_size.target_acceptance);
  tuning_.step_size =
      std::clamp(fitted, tuning_.step_size / most_change, tuning_.step_size * most_change);
  ++iteration_;
  return transition;
}

ChainSet PooledWarmup::place() const {
  return ChainSet{1} << (address_.chain % most_chains_of_group);
}

void PooledWarmup::adopt(const SharedTuning& shared) {
  shared_ = shared;
  tuning_ = shared.tuning;
  if (done()) take_own_end();
  previous_ = std::move(current_);
  current_ = {};
  log_densities_.clear();
  if (done() || (early_ && shared_.stage >= early_stages)) use_kernel(false);
  if (!done()) begin_stage();
}

/// What is not shared when warmup is over.
void PooledWarmup::take_own_end() {
  troubles_ = shared_.troubles;
  if ((shared_.apart & place()) != 0) troubles_ |= WarmupTrouble::apart;
  if (shared_.own_step_sizes.empty()) return;
  const double own = shared_.own_step_sizes[address_.chain % most_chains_of_group];
  if (own == 0) return;
  tuning_.step_size = own;
  troubles_ |= WarmupTrouble::own_step_size;
}

void PooledWarmup::restart(std::span<const double> position) {
  kernel_->set_position(position);
  previous_ = {};
}

StageEvidence PooledWarmup::evidence() const {
  // Without the guess that the stage began with.
  return {shared_, previous_, current_, std::span(trials_).subspan(1), log_densities_};
}

FrozenKernel PooledWarmup::finish() && {
  if (!done()) throw ConfigError("warmup: the group has not ended it");
  return {std::move(kernel_), std::move(tuning_)};
}

}  // namespace rehmc
