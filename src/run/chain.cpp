// A chain: its warmup, or its kernel with fixed tuning, and a few counts.
#include "rehmc/run/chain.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rehmc/adapt/path_length.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/model/spot_check.hpp"

namespace rehmc {

namespace {

using Phase = std::variant<Warmup, PooledWarmup, FrozenKernel>;

std::optional<StartSearch> search_of(const SampleSettings& settings) {
  if (!settings.start.empty()) return std::nullopt;
  return StartSearch{settings.initial, settings.climbs()};
}

/// A random point, or what a climb from there finds.
FoundStart search_start(Guard& guard, const StartSearch& search, const Address& address) {
  FoundStart found{random_initial_point(guard, search.initial, address), nullptr, 0};
  return search.climbs ? find_start(guard, found.position, address) : found;
}

Phase start(const Density& density, const SampleSettings& settings, const Address& address,
            ChainFacts& facts) {
  Guard guard(density);
  FoundStart found;
  if (settings.start.empty()) {
    found = search_start(guard, {settings.initial, settings.climbs()}, address);
    if (settings.climbs()) {
      facts.gradients_start = guard.evaluations();
      facts.story.start =
          found.metric ? StartOutcome::pathfinder : StartOutcome::pathfinder_no_help;
    }
  } else {
    const std::size_t given = settings.start.size() == 1 ? 0 : address.chain;
    found.position = given_initial_point(guard, settings.start[given]);
    facts.story.start = StartOutcome::given;
  }
  auto kernel = make_kernel(density, settings.kernel);
  kernel->set_position(found.position);
  if (settings.warmup.schedule == WarmupSchedule::pooled) {
    return PooledWarmup(std::move(kernel), settings.warmup, address, std::move(found.metric));
  }
  return Warmup(std::move(kernel), settings.warmup, address);
}

Phase restore(const Density& density, const SampleSettings& settings, const Address& address,
              const ChainFacts& facts, ArchiveReader& stored) {
  if (facts.tuning.metric->dimension() != density.dimension()) {
    throw DataError("the stored chain is of another dimension than the model");
  }
  KernelSettings of_kernel = settings.kernel;
  if (facts.story.path_length > 0) of_kernel.hmc.path_length = facts.story.path_length;
  auto kernel = make_kernel(density, of_kernel);
  if (!facts.sampling && settings.warmup.schedule == WarmupSchedule::pooled) {
    return PooledWarmup(std::move(kernel), settings.warmup, address, stored);
  }
  if (!facts.sampling) return Warmup(std::move(kernel), settings.warmup, address, stored);
  stored(*kernel);
  return FrozenKernel(std::move(kernel), facts.tuning);
}

bool searches_path_length(const SampleSettings& settings) {
  const KernelSettings& kernel = settings.kernel;
  return settings.search_path_length && settings.warmup.iterations > 0 &&
         traits(kernel.kind).settings == SettingsGroup::hmc && kernel.hmc.path_steps == 0;
}

/// Gradients as Stein features take them: C g over the diagonal of C, with C the inverse of the
/// mass matrix, so that correlated coordinates explain each other. For a diagonal C that is g
/// itself, and nothing is mapped.
GradientMap mapped_by(const std::shared_ptr<const Metric>& metric) {
  if (metric->kind() == MetricKind::unit || metric->kind() == MetricKind::diagonal) return {};
  return [metric, diagonal = metric->inverse_diagonal()](std::span<const double> gradient,
                                                         std::span<double> mapped) {
    metric->inverse_mass_times(gradient, mapped);
    for (std::size_t i = 0; i < mapped.size(); ++i) mapped[i] /= diagonal[i];
  };
}

}  // namespace

Chain::Chain(const Density& density, const SampleSettings& settings, const Address& address,
             SummedFeatures summed)
    : address_(address),
      chains_(static_cast<std::size_t>(settings.chains)),
      search_(search_of(settings)),
      summed_(summed),
      search_path_length_(searches_path_length(settings)),
      phase_(start(density, settings, address, facts_)) {}

Chain::Chain(const Density& density, const SampleSettings& settings, const Address& address,
             ArchiveReader& stored, SummedFeatures summed)
    : address_(address),
      chains_(static_cast<std::size_t>(settings.chains)),
      search_(search_of(settings)),
      facts_(stored.get<ChainFacts>()),
      summed_(summed),
      search_path_length_(searches_path_length(settings)),
      phase_(restore(density, settings, address, facts_, stored)) {
  if (facts_.iterations > 0) address_.iteration = facts_.iterations - 1;
  if (warming_up()) return;
  stored(centre_);
  if (centre_.size() != density.dimension()) {
    throw DataError("the stored centre is of another dimension than the model");
  }
  use_features(std::get<FrozenKernel>(phase_));
}

void Chain::archive(ArchiveWriter& archive) const {
  archive(facts());
  if (pooled() != nullptr) {
    archive(*pooled());
  } else if (warming_up()) {
    archive(std::get<Warmup>(phase_));
  } else {
    archive(kernel(), centre_);
  }
}

ChainFacts Chain::facts() const {
  ChainFacts facts = facts_;
  facts.tuning = tuning();
  const std::uint64_t all = gradients(guard());
  if (!facts.sampling) facts.gradients_warmup = all;
  facts.gradients_sampling = all - facts.gradients_warmup;
  for (std::size_t f = 0; f < fault_count; ++f) {
    facts.faults[f] = guard().faults(static_cast<Fault>(f));
  }
  facts.first_message = guard().first_message();
  return facts;
}

void Chain::add_seconds(double seconds) {
  (warming_up() ? facts_.seconds_warmup : facts_.seconds_sampling) += seconds;
}

bool Chain::warm() const {
  if (pooled() != nullptr) return pooled()->done();
  return warming_up() && std::get<Warmup>(phase_).done();
}

void Chain::adopt(const SharedTuning& shared) {
  tell_stage(shared);
  auto& warmup = std::get<PooledWarmup>(phase_);
  warmup.adopt(shared);
  facts_.warmup_troubles = warmup.troubles();
  if (search_ && warmup.must_restart()) restart(warmup);
}

void Chain::restart(PooledWarmup& warmup) {
  Guard guard(kernel().guard().density());
  try {
    const Address now{address_.seed, address_.chain, facts_.iterations};
    warmup.restart(search_start(guard, *search_, now).position);
    facts_.restarted = true;
  } catch (const ModelError&) {
    // No usable point was found in so many tries: the chain stays.
  }
  facts_.gradients_start += guard.evaluations();
}

void Chain::tell_stage(const SharedTuning& shared) {
  std::vector<StageStory>& stages = facts_.story.stages;
  StageStory stage = shared.story;
  stage.gradients = guard().evaluations();
  for (const StageStory& before : stages) stage.gradients -= before.gradients;
  stages.push_back(std::move(stage));
  if (!shared.ended) return;
  facts_.story.condition = shared.end.condition;
  facts_.story.condition_left = shared.end.condition_left;
  facts_.story.ended = shared.end.ended;
}

/// What Stan's schedule, or none, has to tell.
void Chain::tell_end(const Tuning& tuning) {
  WarmupStory& story = facts_.story;
  if (!story.ended.empty()) return;
  story.ended = facts_.iterations > 0 ? "all iterations are done" : "there was none";
  story.condition = condition_number(*tuning.metric, *make_unit_metric(tuning.metric->dimension()));
}

void Chain::begin_sampling() {
  FrozenKernel frozen = pooled() != nullptr ? std::get<PooledWarmup>(std::move(phase_)).finish()
                                            : std::get<Warmup>(std::move(phase_)).finish();
  facts_.sampling = true;
  facts_.warmup_iterations = facts_.iterations;
  tell_end(frozen.tuning());
  if (search_path_length_) frozen = with_path_length(std::move(frozen));
  facts_.gradients_warmup = gradients(frozen.guard());
  const auto position = frozen.state().position;
  centre_.assign(position.begin(), position.end());
  use_features(frozen);
  check_gradient(frozen);
  phase_.emplace<FrozenKernel>(std::move(frozen));
}

std::uint64_t Chain::gradients(const Guard& guard) const {
  return facts_.gradients_start + facts_.story.gradients_path + guard.evaluations();
}

/// Searches for the path length, by addresses that no iteration has, and moves the chain to a
/// kernel that has it.
FrozenKernel Chain::with_path_length(FrozenKernel frozen) {
  constexpr std::uint64_t beyond_iterations = std::uint64_t{1} << 62U;
  const Density& density = frozen.guard().density();
  KernelSettings settings = frozen.kernel().settings();
  const FoundPathLength found =
      find_path_length(density, settings, frozen.tuning(), frozen.state().position,
                       {address_.seed, address_.chain, beyond_iterations});
  facts_.story.path_length = settings.hmc.path_length = found.path_length;
  facts_.story.gradients_path = found.gradients;
  ArchiveWriter writer;
  writer(frozen.kernel());
  auto kernel = make_kernel(density, settings);
  ArchiveReader reader(writer.bytes());
  reader(*kernel);
  return {std::move(kernel), frozen.tuning()};
}

void Chain::check_gradient(const FrozenKernel& frozen) {
  // About a fiftieth of the cost of warmup, but in few dimensions at least every coordinate once
  // over all chains. Chains check different coordinates.
  constexpr std::uint64_t gradients_per_direction = 250;
  constexpr std::size_t most_checked = 100;
  const std::size_t d = frozen.guard().dimension();
  const std::size_t share = d > most_checked ? 0 : (d + chains_ - 1) / chains_;
  const auto affordable =
      static_cast<std::size_t>(facts_.gradients_warmup / gradients_per_direction + 1);
  const std::size_t count = std::max(share, affordable);
  const std::size_t first = address_.chain * (share > 0 ? share : count);
  std::vector<double> steps = frozen.tuning().metric->inverse_diagonal();
  for (double& step : steps) step = std::sqrt(step);
  Stream stream(address_, Purpose::spot_check);
  facts_.spot_check = spot_check(frozen.guard().density(), frozen.state().position, steps,
                                 first % d, count, stream);
}

void Chain::use_features(FrozenKernel& frozen) {
  if (summed_ == SummedFeatures::gradient_moments) {
    features_ =
        std::make_unique<GradientMomentFeatures>(centre_, mapped_by(frozen.tuning().metric));
  } else {
    features_ = std::make_unique<MomentFeatures>(centre_);
  }
  frozen.use_features(features_.get());
}

const Transition& Chain::step() {
  address_.iteration = facts_.iterations++;
  if (auto* frozen = std::get_if<FrozenKernel>(&phase_)) return frozen->transition(address_);
  const Transition& transition =
      pooled() != nullptr ? std::get<PooledWarmup>(phase_).step() : std::get<Warmup>(phase_).step();
  if (transition.ending == Ending::diverged) ++facts_.divergences_warmup;
  return transition;
}

const Tuning& Chain::tuning() const {
  return std::visit([](const auto& phase) -> const Tuning& { return phase.tuning(); }, phase_);
}

const Kernel& Chain::kernel() const {
  return std::visit([](const auto& phase) -> const Kernel& { return phase.kernel(); }, phase_);
}

}  // namespace rehmc
