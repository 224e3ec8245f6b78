// Leapfrog steps in pooled memory.
#include "rehmc/dynamics/leapfrog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {

Leapfrog::Leapfrog(Density density) : states_(density.dimension()), guard_(std::move(density)) {}

void Leapfrog::use(const Tuning& tuning) {
  require_setting("step_size", tuning.step_size, positive_finite());
  if (tuning.metric == nullptr) throw ConfigError("metric: none given; use make_unit_metric(d)");
  if (tuning.metric->dimension() != dimension()) {
    throw ConfigError(fmt::format("metric: has {} coordinates, the model has {}",
                                  tuning.metric->dimension(), dimension()));
  }
  const bool same_metric = tuning_.metric == tuning.metric;
  tuning_ = tuning;
  if (same_metric) return;
  passes_ = make_leapfrog_passes(*tuning_.metric);
  if (!momenta_ || momentum_vectors_ != passes_->momentum_vectors()) {
    momentum_vectors_ = passes_->momentum_vectors();
    momenta_.emplace(momentum_vectors_ * vector_stride(dimension()));
  }
}

Leapfrog::MomentumHandle Leapfrog::draw_momentum(Stream& stream) {
  const MomentumHandle momentum = momenta_->take();
  tuning_.metric->draw_momentum(stream, {momenta_->data(momentum), dimension()});
  return momentum;
}

Leapfrog::Point Leapfrog::begin_with(StateHandle state, MomentumHandle momentum) {
  const double kinetic = passes_->begin(states_.gradient(state), momenta_->data(momentum));
  states_.energy(state) = kinetic - states_.log_density(state);
  return {state, momentum, kinetic};
}

Leapfrog::Point Leapfrog::begin(StateHandle state, Stream& stream) {
  return begin_with(state, draw_momentum(stream));
}

Leapfrog::Point Leapfrog::begin(StateHandle state, Stream& stream, const KeptMomentum& kept) {
  const MomentumHandle handle = draw_momentum(stream);
  double* momentum = momenta_->data(handle);
  const double fresh = std::sqrt(1 - kept.share * kept.share);
  for (std::size_t i = 0; i < dimension(); ++i) {
    momentum[i] = kept.share * kept.momentum[i] + fresh * momentum[i];
  }
  return begin_with(state, handle);
}

Leapfrog::Front Leapfrog::step(Front& from, Direction direction) {
  const double signed_step = static_cast<double>(direction) * tuning_.step_size;
  const PhaseView start{states_.position(from.point.state), states_.gradient(from.point.state),
                        momenta_->data(from.point.momentum)};
  if (!from.next) {
    from.next = states_.take();
    passes_->drift(signed_step, start, states_.position(*from.next));
  }
  const StateHandle to = *from.next;
  from.next.reset();
  const std::size_t d = dimension();
  const double* position = states_.position(to);
  double* gradient = states_.gradient(to);
  const double log_density = guard_.evaluate({position, d}, {gradient, d});
  states_.log_density(to) = log_density;

  const MomentumHandle momentum = momenta_->take();
  const StateHandle next = states_.take();
  const double kinetic = passes_->kick_and_drift(
      signed_step, start, {position, gradient, momenta_->data(momentum)}, states_.position(next));
  double energy = kinetic - log_density;
  // A gradient that is not finite makes the kinetic energy so: no pass is spent to look for it.
  if (!std::isfinite(energy)) {
    guard_.check_gradient({gradient, d});
    energy = std::numeric_limits<double>::infinity();
  }
  states_.energy(to) = energy;
  return {{to, momentum, kinetic}, next};
}

void Leapfrog::keep_divergence(const Point& from, Front& to, Direction direction) {
  // Nobody needs the momentum at the end of the failed step: its buffer takes the start's. A step
  // backward is a step forward with the opposite momentum.
  const double* start = momentum(from);
  const auto sign = static_cast<double>(direction);
  std::transform(start, start + dimension(), momenta_->data(to.point.momentum),
                 [sign](double entry) { return sign * entry; });
  states_.retain(from.state);
  if (to.next) states_.release(*to.next);
  divergent_ = DivergentStep{from.state, to.point, direction, guard_.last_fault()};
}

void Leapfrog::drop_divergence() {
  if (!divergent_) return;
  states_.release(divergent_->start);
  states_.release(divergent_->end.state);
  momenta_->release(divergent_->end.momentum);
  divergent_.reset();
}

Divergence Leapfrog::divergence() const {
  return {states_.view(divergent_->start).position,
          {momentum(divergent_->end), dimension()},
          states_.view(divergent_->end.state).position,
          divergent_->fault};
}

}  // namespace rehmc
