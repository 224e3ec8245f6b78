// Cuts a run into folds and computes the features that all scalars share.
#include "stein_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "pareto.hpp"

namespace rehmc::stein {

namespace {

/// Up to this dimension all fields that are linear in the state are affordable.
constexpr Index quadratic_dimension = 10;
constexpr Index columns_at_once = 32;
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double Errors::squared_error(const Eigen::Ref<const Eigen::VectorXd>& series) {
  const double mean = series.mean();
  const double variance =
      (series.array() - mean).square().sum() / static_cast<double>(series.size() - 1);
  if (!(variance > 0)) return variance;
  // In units of its sd: an effective size is not defined for numbers that hardly differ.
  series_.values.resize(static_cast<std::size_t>(series.size()));
  Eigen::Map<Eigen::VectorXd>(series_.values.data(), series.size()) =
      (series.array() - mean) / std::sqrt(variance);
  effective_ = effective_size_.of_split(series_);
  return variance / effective_;
}

double Errors::raised_error(const Eigen::Ref<const Eigen::VectorXd>& series) {
  const double squared = squared_error(series);
  if (!(squared > 0)) return squared;
  // Twice the 2 of theory, since a skewness that rare draws make is more often seen too small.
  constexpr double by_skewness = 4;
  const double skewness = skewness_of_mean();
  return (1 + by_skewness * skewness * skewness) * squared;
}

double Errors::reported_error(const Eigen::Ref<const Eigen::VectorXd>& series) {
  const double raised = raised_error(series);
  if (!(raised > 0)) return raised;
  // Those without a fourth moment are among the series with a large one, which is told faster.
  constexpr double small_kurtosis = 5;
  const auto values = Eigen::Map<const Eigen::ArrayXd>(series_.values.data(), series.size());
  const bool heavy =
      values.square().square().mean() > small_kurtosis && shape_about_mean(series) > surely_known;
  if (!heavy) return raised;
  // By simulation: one draw in some hundreds decides the variance of such a remainder. Where rare
  // draws lie to both sides alike, those that were not seen do the mean no harm.
  constexpr double draws_of_a_rare_one = 900;
  const double one_sided = values.cube().sum() / values.abs().cube().sum();
  return (1 + draws_of_a_rare_one * one_sided * one_sided / effective_) * raised;
}

double Errors::skewness_of_mean() const {
  constexpr std::size_t batches_per_chain = 50;
  const std::size_t n = series_.iterations;
  const std::size_t length = std::max<std::size_t>(1, n / batches_per_chain);
  double squares = 0;
  double cubes = 0;
  for (std::size_t c = 0; c < series_.chains; ++c) {
    const std::span<const double> chain = std::span(series_.values).subspan(c * n, n);
    for (std::size_t begin = 0; begin + length <= n; begin += length) {
      double sum = 0;
      for (const double value : chain.subspan(begin, length)) sum += value;
      squares += sum * sum;
      cubes += sum * sum * sum;
    }
  }
  return squares > 0 ? cubes / std::pow(squares, 1.5) : 0.0;
}

double Errors::score(const Eigen::Ref<const Eigen::VectorXd>& series) {
  const double squared = squared_error(series);
  if (!(squared > 0)) return nan_value;
  const auto values = Eigen::Map<const Eigen::ArrayXd>(series_.values.data(), series.size());
  const double kurtosis = values.square().square().mean();
  // Hall (1992), Journal of the Royal Statistical Society B 54: a skewed law makes Student's t
  // skewed to the other side; this cubic undoes it to second order.
  const double t = series.mean() / std::sqrt(squared);
  const double s = skewness_of_mean();
  const double straight = t + s * t * t / 3 + s * s * t * t * t / 27 + s / 6;
  // Satterthwaite (1946): a squared error with the relative variance 2 / degrees; then Wallace
  // (1959), Annals of Mathematical Statistics 30: the normal score of Student's t.
  const double degrees = 2 * effective_ / std::max(kurtosis - 1, 1.0);
  return (8 * degrees + 1) / (8 * degrees + 3) *
         std::sqrt(degrees * std::log1p(straight * straight / degrees));
}

double shape_of(const Eigen::Ref<const Eigen::VectorXd>& values) {
  const Eigen::VectorXd sizes = values.cwiseAbs();
  return tail_shape({sizes.data(), static_cast<std::size_t>(sizes.size())});
}

double shape_about_mean(const Eigen::Ref<const Eigen::VectorXd>& values) {
  return shape_of((values.array() - values.mean()).matrix());
}

bool too_heavy(const Eigen::Ref<const Eigen::VectorXd>& series) {
  return !series.allFinite() || shape_about_mean(series) > heaviest_tail;
}

Run::Run(std::span<const GradientStates> chains, const SharpenSettings& settings)
    : table(chains), errors(table), chains_(chains) {
  cut_folds();
  for (const Fold& fold : folds) frames.push_back(fit_frame(fold));
  usable = std::all_of(frames.begin(), frames.end(), [](const SteinFrame& frame) {
    return frame.scale.allFinite() && frame.centre.allFinite() && frame.scale.minCoeff() > 0;
  });
  if (!usable) return;
  measure_tails();
  share_columns(settings);
}

Index Run::training_draws() const {
  Index least = to_index(table.draws());
  for (const Fold& fold : folds) {
    least = std::min(least, to_index(table.draws()) - (fold.end - fold.begin));
  }
  return least;
}

Index Run::powers(std::size_t fold) const {
  constexpr double bounded = 0.02;
  return power_fields(shape_virial[fold] <= bounded ? highest_power : 2);
}

CoordinateStates Run::coordinate(std::size_t fold, Index i) {
  const SteinFrame& frame = frames[fold];
  if (products_.empty()) {
    for (const SteinFrame& each : frames) {
      products_.push_back({each.shared_products(table.gradients), 0, {}});
    }
  }
  Products& products = products_[fold];
  if (i < products.first || i >= products.first + products.u.cols()) {
    // Those who go from one coordinate to the next get many at once.
    if (i != products.first + products.u.cols()) {
      return {table, frame, i, frame.products(table.gradients, products.shared, i, 1).col(0)};
    }
    products.first = i;
    const Index count = std::min(columns_at_once, table.dimension() - i);
    products.u = frame.products(table.gradients, products.shared, i, count);
  }
  return {table, frame, i, products.u.col(i - products.first)};
}

double Run::training_shape(std::size_t fold, const Eigen::VectorXd& values) const {
  return shape_of(values(training_rows_[fold]));
}

double Run::shape(const Eigen::VectorXd& values) const {
  return shape_of(values(one_state_per_draw({0, 0})));
}

bool Run::is_coordinate(const ScalarStates& scalar) const {
  if (!scalar.coordinate) return false;
  return std::equal(scalar.values.begin(), scalar.values.end(), chains_.begin(), chains_.end(),
                    [&](const Series& values, const GradientStates& chain) {
                      return values.data == chain.positions.data() + *scalar.coordinate &&
                             values.stride == table.dimension() &&
                             values.size == chain.weights.size();
                    });
}

Eigen::MatrixXd Run::spare() {
  if (spares_.empty()) return {};
  Eigen::MatrixXd matrix = std::move(spares_.back());
  spares_.pop_back();
  return matrix;
}

void Run::give_back(Eigen::MatrixXd matrix) {
  if (matrix.size() > 0) spares_.push_back(std::move(matrix));
}

Index Run::state_of(std::size_t n) const {
  return to_index((table.begins[n] + table.begins[n + 1]) / 2);
}

std::vector<Index> Run::training_states(const Fold& fold, std::size_t enough) const {
  const std::size_t first = table.begins[static_cast<std::size_t>(fold.begin)];
  const std::size_t last = table.begins[static_cast<std::size_t>(fold.end)];
  const auto states = static_cast<std::size_t>(table.states());
  const std::size_t stride = std::max<std::size_t>(1, (states - (last - first)) / enough);
  std::vector<Index> rows;
  for (std::size_t s = 0; s < states; s += stride) {
    if (s < first || s >= last) rows.push_back(to_index(s));
  }
  return rows;
}

std::vector<Index> Run::light_rows(std::size_t fold, Index i) const {
  std::vector<Index> light;
  for (Index k = 0; k < table.dimension(); ++k) {
    if (shape_z[fold][k] + shape_u[fold][i] <= heaviest_tail) light.push_back(k);
  }
  return light;
}

void Run::cut_folds() {
  constexpr std::size_t most = 4;
  const std::size_t wanted = table.dimension() <= small_dimension ? most : 2;
  // Whole chains, if there are several; else blocks of the one.
  const std::size_t pieces = table.chains > 1 ? table.chains : table.draws();
  const std::size_t length = table.draws() / pieces;
  const std::size_t count = std::min(wanted, pieces);
  for (std::size_t f = 0; f < count; ++f) {
    folds.push_back(
        {to_index(f * pieces / count * length), to_index((f + 1) * pieces / count * length)});
  }
}

SteinFrame Run::fit_frame(const Fold& fold) const {
  // Of more coordinates, few directions alone are fitted.
  const std::size_t enough =
      std::clamp<std::size_t>(10 * static_cast<std::size_t>(table.dimension()), 4000, 10'000);
  const std::vector<Index> rows = training_states(fold, enough);
  return SteinFrame::fit(table.positions(rows, Eigen::all), table.gradients(rows, Eigen::all),
                         table.weights(rows), static_cast<double>(training_draws()));
}

void Run::measure_tails() {
  const Index d = table.dimension();
  for (std::size_t f = 0; f < folds.size(); ++f) {
    shape_z.emplace_back(d);
    shape_u.emplace_back(d);
    const std::vector<Index>& rows = training_rows_.emplace_back(one_state_per_draw(folds[f]));
    const Eigen::MatrixXd gradients = table.gradients(rows, Eigen::all);
    const Eigen::MatrixXd u = frames[f].products(gradients);
    constexpr Index some = 20;
    const Index stride = (d + some - 1) / some;
    double virials = 0;
    for (Index i = 0; i < d; ++i) {
      const Eigen::VectorXd offset = table.positions.col(i)(rows).array() - frames[f].centre[i];
      shape_z[f][i] = std::max(0.0, shape_of(offset));
      shape_u[f][i] = std::max(0.0, shape_of(u.col(i)));
      if (i % stride == 0) virials += shape_of(offset.cwiseProduct(gradients.col(i)));
    }
    const Index seen = (d + stride - 1) / stride;
    shape_virial.push_back(virials / static_cast<double>(seen));
  }
}

std::vector<Index> Run::one_state_per_draw(const Fold& left_out) const {
  std::vector<Index> rows;
  for (std::size_t n = 0; n < table.draws(); ++n) {
    const bool inside = to_index(n) >= left_out.begin && to_index(n) < left_out.end;
    if (!inside) rows.push_back(state_of(n));
  }
  return rows;
}

void Run::share_columns(const SharpenSettings& settings) {
  const Index d = table.dimension();
  const Eigen::MatrixXd gradient_means = table.draw_means_of(table.gradients);
  std::vector<Eigen::MatrixXd> linear_means;
  for (const SteinFrame& frame : frames) {
    linear_means.push_back(frame.products(gradient_means));
    blocks.push_back(block_features(frame, settings));
  }
  const Index room = training_draws() / draws_per_feature - power_fields(highest_power) -
                     to_index(standard_probabilities.size());
  for (std::size_t f = 0; f < folds.size(); ++f) {
    auto& coordinates = linear.emplace_back();
    if (d + blocks[f].cols() <= room) {
      for (Index i = 0; i < d; ++i) {
        if (shape_u[f][i] <= heaviest_tail) coordinates.push_back(i);
      }
    }
    Eigen::MatrixXd columns(to_index(table.draws()),
                            to_index(coordinates.size()) + blocks[f].cols());
    Index used = 0;
    for (const Index i : coordinates) columns.col(used++) = linear_means[f].col(i);
    for (Index b = 0; b < blocks[f].cols(); ++b) {
      if (!too_heavy(outside(folds[f], blocks[f].col(b)))) columns.col(used++) = blocks[f].col(b);
    }
    columns.conservativeResize(Eigen::NoChange, used);
    shared.emplace_back(std::move(columns), folds[f]);
  }
  if (d <= quadratic_dimension && d * d + d <= room) {
    for (std::size_t f = 0; f < folds.size(); ++f) {
      const Eigen::MatrixXd more = quadratic_features(f);
      Eigen::MatrixXd columns(more.rows(), shared[f].size() + more.cols());
      columns << shared[f].columns(), more;
      quadratic.emplace_back(std::move(columns), folds[f]);
    }
  }
}

Eigen::VectorXd Run::outside(const Fold& fold, const Eigen::VectorXd& series) {
  Eigen::VectorXd rest(series.size() - (fold.end - fold.begin));
  rest << series.head(fold.begin), series.tail(series.size() - fold.end);
  return rest;
}

Eigen::MatrixXd Run::block_features(const SteinFrame& frame, const SharpenSettings& settings) {
  constexpr std::size_t most_blocks = 50;
  const std::size_t count = settings.blocks.size() <= most_blocks ? settings.blocks.size() : 0;
  Eigen::MatrixXd features(to_index(table.draws()), to_index(count));
  block_first.clear();
  for (std::size_t b = 0; b < count; ++b) {
    const std::vector<std::size_t>& block = settings.blocks[b];
    block_first.push_back(to_index(block.front()));
    Eigen::VectorXd of_states =
        Eigen::VectorXd::Constant(table.states(), static_cast<double>(block.size()));
    for (const std::size_t k : block) {
      const Index i = to_index(k);
      of_states.array() +=
          (table.positions.col(i).array() - frame.centre[i]) * table.gradients.col(i).array();
    }
    features.col(to_index(b)) = table.draw_means([&](Index s) { return of_states[s]; });
  }
  return features;
}

Eigen::MatrixXd Run::quadratic_features(std::size_t fold) {
  const Index d = table.dimension();
  Eigen::MatrixXd features(to_index(table.draws()), d * d);
  Index used = 0;
  for (Index i = 0; i < d; ++i) {
    const std::vector<Index> light = light_rows(fold, i);
    features.middleCols(used, to_index(light.size())) =
        row_features(fold, i, coordinate(fold, i))(Eigen::all, light);
    used += to_index(light.size());
  }
  features.conservativeResize(Eigen::NoChange, used);
  return features;
}

Eigen::MatrixXd Run::row_features(std::size_t fold, Index i, const CoordinateStates& own) const {
  const Index d = table.dimension();
  const SteinFrame& frame = frames[fold];
  Eigen::MatrixXd features(to_index(table.draws()), d);
  for (Index k = 0; k < d; ++k) {
    const double correlation = frame.correlation(k, i);
    const double* x = table.positions.col(k).data();
    const double centre = frame.centre[k];
    const double inverse = 1 / frame.scale[k];
    features.col(k) = table.draw_means(
        [&](Index s) { return (x[s] - centre) * inverse * own.u[s] + correlation; });
  }
  return features;
}

}  // namespace rehmc::stein
