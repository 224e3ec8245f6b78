// Cuts a run into folds and computes the features that all scalars share.
#include "stein_run.hpp"

#include <algorithm>
#include <utility>

#include "rehmc/estimate/recycled.hpp"
#include "tails.hpp"

namespace rehmc::stein {

namespace {

/// Up to this dimension all fields that are linear in the state are affordable.
constexpr Index quadratic_dimension = 10;
constexpr Index columns_at_once = 32;
/// From so many draws on, coefficients from half of them are nearly as good as from three quarters:
/// squared errors grow by 1 to 12% (docs/sharpening-theory.md), and two folds take half the time.
constexpr std::size_t many_draws = 4000;

}  // namespace

Run::Run(std::span<const GradientStates> chains, const SharpenSettings& settings)
    : table(chains), errors(table.chains, table.draws_per_chain), chains_(chains) {
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
    least = std::min(least, to_index(table.draws()) - fold.count());
  }
  return least;
}

Index Run::powers(std::size_t fold) const {
  constexpr double bounded = 0.02;
  return power_fields(shape_virial[fold] <= bounded ? highest_power : 2);
}

CoordinateStates Run::coordinate(std::size_t fold, Index i) {
  return {table, frames[fold], i, along_c(fold, i)};
}

Eigen::VectorXd Run::along_c(std::size_t fold, Index i) {
  const SteinFrame& frame = frames[fold];
  if (products_.empty()) {
    for (const SteinFrame& each : frames) {
      products_.push_back({each.shared_products(table.gradients), 0, {}});
    }
  }
  Products& products = products_[fold];
  if (i < products.first || i >= products.first + products.u.cols()) {
    // A caller that goes from one coordinate to the next gets many at once.
    if (i != products.first + products.u.cols()) {
      return frame.products(table.gradients, products.shared, i, 1).col(0);
    }
    products.first = i;
    const Index count = std::min(columns_at_once, table.dimension() - i);
    products.u = frame.products(table.gradients, products.shared, i, count);
  }
  return products.u.col(i - products.first);
}

double Run::training_shape(std::size_t fold, const Eigen::VectorXd& values) const {
  return shape_of(values(training_rows_[fold]));
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

std::size_t Run::fold_of(Index draw) const {
  const auto of_draw = [&](const Fold& fold) { return draw >= fold.begin && draw < fold.end; };
  return static_cast<std::size_t>(std::find_if(folds.begin(), folds.end(), of_draw) -
                                  folds.begin());
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
  const bool cheap = table.dimension() <= small_dimension && table.draws() < many_draws;
  const std::size_t wanted = cheap ? most : 2;
  // Whole chains if there are several; else blocks of the only one.
  const std::size_t pieces = table.chains > 1 ? table.chains : table.draws();
  const std::size_t length = table.draws() / pieces;
  const std::size_t count = std::min(wanted, pieces);
  for (std::size_t f = 0; f < count; ++f) {
    folds.push_back(
        {to_index(f * pieces / count * length), to_index((f + 1) * pieces / count * length)});
  }
}

SteinFrame Run::fit_frame(const Fold& fold) const {
  // In higher dimension only a few directions are fitted, which need no more states.
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
    SharedGroups& fold_groups = groups.emplace_back();
    std::vector<Index>& coordinates = fold_groups.coordinates;
    if (d + blocks[f].cols() <= room) {
      for (Index i = 0; i < d; ++i) {
        if (shape_u[f][i] <= heaviest_tail) coordinates.push_back(i);
      }
    }
    std::vector<Index> light_blocks;
    for (Index b = 0; b < blocks[f].cols(); ++b) {
      if (!too_heavy(outside(folds[f], blocks[f].col(b)))) light_blocks.push_back(b);
    }
    fold_groups.linear = {0, to_index(coordinates.size())};
    fold_groups.virial = {fold_groups.linear.end(), to_index(light_blocks.size())};
    Eigen::MatrixXd columns(to_index(table.draws()), fold_groups.virial.end());
    fold_groups.linear.of(columns) = linear_means[f](Eigen::all, coordinates);
    fold_groups.virial.of(columns) = blocks[f](Eigen::all, light_blocks);
    shared.emplace_back(std::move(columns), folds[f]);
  }
  if (d > quadratic_dimension || d * d + d > room) return;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    const Eigen::MatrixXd more = quadratic_features(f);
    groups[f].quadratic = {groups[f].virial.end(), more.cols()};
    Eigen::MatrixXd columns(more.rows(), groups[f].quadratic.end());
    columns << shared[f].columns(), more;
    quadratic.emplace_back(std::move(columns), folds[f]);
  }
}

Eigen::VectorXd Run::outside(const Fold& fold, const Eigen::VectorXd& series) {
  Eigen::VectorXd rest(series.size() - fold.count());
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
  std::vector<ColumnRange>& places = rows_of_quadratic_.emplace_back();
  for (Index i = 0; i < d; ++i) {
    const Eigen::MatrixXd rows = light_row_features(fold, i, along_c(fold, i));
    places.push_back({groups[fold].virial.end() + used, rows.cols()});
    features.middleCols(used, rows.cols()) = rows;
    used += rows.cols();
  }
  features.conservativeResize(Eigen::NoChange, used);
  return features;
}

Eigen::MatrixXd Run::row_features(std::size_t fold, Index i, const Eigen::VectorXd& u) const {
  if (fold < rows_of_quadratic_.size()) {
    const auto& columns = quadratic[fold].columns();
    return rows_of_quadratic_[fold][static_cast<std::size_t>(i)].of(columns);
  }
  return light_row_features(fold, i, u);
}

Eigen::MatrixXd Run::light_row_features(std::size_t fold, Index i, const Eigen::VectorXd& u) const {
  const SteinFrame& frame = frames[fold];
  const std::vector<Index> light = light_rows(fold, i);
  Eigen::MatrixXd features(to_index(table.draws()), to_index(light.size()));
  for (Index place = 0; place < features.cols(); ++place) {
    const Index k = light[static_cast<std::size_t>(place)];
    const double correlation = frame.correlation(k, i);
    const double* x = table.positions.col(k).data();
    const double centre = frame.centre[k];
    const double inverse = 1 / frame.scale[k];
    features.col(place) =
        table.draw_means([&](Index s) { return (x[s] - centre) * inverse * u[s] + correlation; });
  }
  return features;
}

}  // namespace rehmc::stein
