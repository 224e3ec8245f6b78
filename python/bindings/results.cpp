// Copies what results hold into arrays, and results into bytes and back.
#include "results.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/job/manifest.hpp"
#include "rehmc/output/foreign_draws.hpp"
#include "rehmc/output/stored_result.hpp"
#include "rehmc/report/report.hpp"
#include "rehmc/summary/calibrated_weights.hpp"
#include "rehmc/summary/run_summary.hpp"
#include "rehmc/summary/summary_json.hpp"

namespace rehmc::python {

namespace nb = nanobind;
using namespace nanobind::literals;

/// Chains that have not begun must not hide what the others have: of all numbers of chains, the one
/// that shows most draws.
void Result::replace(SampleResult result) {
  all_ = std::move(result);
  cut_.reset();
  const auto size = [](const ChainResult& chain) { return chain.record.size(); };
  std::vector<std::size_t> sizes;
  for (const ChainResult& chain : all_.chains) sizes.push_back(size(chain));
  std::ranges::sort(sizes, std::greater());
  if (sizes.front() == sizes.back()) return;
  std::size_t best = 0;
  for (std::size_t k = 1; k < sizes.size(); ++k) {
    if ((k + 1) * sizes[k] > (best + 1) * sizes[best]) best = k;
  }
  auto cut = std::make_shared<SampleResult>(all_);
  std::erase_if(cut->chains, [&](const ChainResult& chain) { return size(chain) < sizes[best]; });
  cut_to_shortest(*cut);
  cut_ = std::move(cut);
}

namespace {

template <class Number>
using Array = nb::ndarray<nb::numpy, Number>;

/// A copy that numpy owns.
template <class Number, class From>
Array<Number> array_of(const std::vector<From>& values, std::vector<std::size_t> shape) {
  auto* const data = new std::vector<Number>(values.begin(), values.end());
  const nb::capsule owner(data,
                          [](void* p) noexcept { delete static_cast<std::vector<Number>*>(p); });
  return Array<Number>(data->data(), shape.size(), shape.data(), owner);
}

const ChainRecord& record_of(const Result& result, std::size_t chain) {
  return result.shown().chains.at(chain).record;
}

Array<double> draws(const Result& result, std::size_t chain) {
  const ChainRecord& record = record_of(result, chain);
  return array_of<double>(record.draws, {record.size(), result.shown().names.size()});
}

/// All columns of the kept states; NaN for those that are not known of them.
std::vector<double> kept_values(const ChainRecord& record, std::size_t width) {
  if (!record.kept_columns) return record.kept;
  const std::size_t known = record.kept_dimension();
  std::vector<double> values(record.kept_weight.size() * width, std::nan(""));
  for (std::size_t i = 0; i < known; ++i) {
    const std::size_t column = (*record.kept_columns)[i];
    for (std::size_t k = 0; k < record.kept.size() / known; ++k) {
      values[k * width + column] = record.kept[k * known + i];
    }
  }
  return values;
}

nb::dict kept(const Result& result, std::size_t chain) {
  const ChainRecord& record = record_of(result, chain);
  const std::size_t states = record.kept_weight.size();
  const std::span<const double> positions = record.kept_positions();
  nb::dict all;
  all["values"] = array_of<double>(kept_values(record, result.shown().names.size()),
                                   {states, result.shown().names.size()});
  all["weight"] = array_of<double>(record.kept_weight, {states});
  all["end"] = array_of<std::int64_t>(record.kept_end, {record.kept_end.size()});
  if (record.gradients == KeptGradients::yes && !record.kept_gradient.empty()) {
    const std::size_t d = record.coordinates;
    all["positions"] =
        array_of<double>(std::vector<double>(positions.begin(), positions.end()), {states, d});
    all["gradients"] = array_of<double>(record.kept_gradient, {states, d});
  }
  return all;
}

nb::dict statistics(const Result& result, std::size_t chain) {
  const ChainRecord& record = record_of(result, chain);
  const std::size_t n = record.size();
  std::vector<bool> diverging(n);
  std::vector<bool> limited(n);
  for (std::size_t i = 0; i < n; ++i) {
    diverging[i] = record.ending[i] == Ending::diverged;
    limited[i] = record.ending[i] == Ending::depth_limit;
  }
  nb::dict all;
  all["lp"] = array_of<double>(record.log_density, {n});
  all["acceptance_rate"] = array_of<double>(record.acceptance, {n});
  all["step_size"] = array_of<double>(record.step_size, {n});
  all["energy"] = array_of<double>(record.energy, {n});
  all["energy_error"] = array_of<double>(record.energy_error, {n});
  all["tree_depth"] = array_of<std::int64_t>(record.depth, {n});
  all["n_steps"] = array_of<std::int64_t>(record.leapfrogs, {n});
  all["diverging"] = array_of<std::uint8_t>(diverging, {n});
  all["reached_max_treedepth"] = array_of<std::uint8_t>(limited, {n});
  return all;
}

/// One for every kept state, chain after chain.
Array<double> weights(const Result& result) {
  const std::vector<double> found = calibrated_weights(result.shown()).weights;
  return array_of<double>(found, {found.size()});
}

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// The same states with other quantities: rows for draws, and for kept states; -1 for those that
/// are no monotone function of one coordinate.
Result with_quantities(const Result& result, const std::vector<std::string>& names,
                       const std::vector<int>& coordinates, const std::vector<Matrix>& of_draws,
                       const std::vector<Matrix>& of_kept) {
  SampleResult changed = result.shown();
  std::vector<Quantity> quantities;
  for (std::size_t q = 0; q < names.size(); ++q) {
    Quantity& quantity = quantities.emplace_back();
    quantity.name = names[q];
    if (coordinates.at(q) >= 0) quantity.coordinate = static_cast<std::size_t>(coordinates[q]);
  }
  std::vector<ChainQuantities> values;
  for (std::size_t c = 0; c < of_draws.size(); ++c) {
    const auto copy = [](const Matrix& m) {
      return std::vector<double>(m.data(), m.data() + m.size());
    };
    values.push_back({copy(of_draws[c]), copy(of_kept.at(c))});
  }
  set_quantities(changed, std::move(quantities), values);
  return Result(std::move(changed));
}

RunSummary summary_of(const Result& result, bool sharpen) {
  const SampleResult& shown = result.shown();
  if (shown.chains.front().record.size() < 4) {
    throw DataError("there are fewer than 4 draws per chain, too few for a summary");
  }
  return summarise_run(shown, sharpen);
}

std::string summary_text(const Result& result, const std::string& model, bool sharpen) {
  const nb::gil_scoped_release release;
  return summary_json(summary_of(result, sharpen), model, result.shown().seed);
}

std::string report(const Result& result, const std::string& model, bool sharpen) {
  const nb::gil_scoped_release release;
  ReportInfo info;
  info.title = model;
  info.version = version();
  info.date = utc_now();
  info.command = "rehmc.sample(...)";
  return report_page(result.shown(), summary_of(result, sharpen), info);
}

nb::bytes to_bytes(const Result& result) {
  const std::string bytes = archive_result(result.all());
  return nb::bytes(bytes.data(), bytes.size());
}

Result from_bytes(const nb::bytes& bytes) {
  return Result(restore_result({bytes.c_str(), bytes.size()}));
}

std::vector<bool> generated(const Result& result) {
  std::vector<bool> all;
  for (const Quantity& quantity : result.shown().quantities) all.push_back(quantity.generated);
  return all;
}

nb::dict counts(const Result& result) {
  nb::dict all;
  std::vector<std::uint64_t> warmup;
  std::vector<std::uint64_t> sampling;
  std::vector<std::uint64_t> iterations;
  std::vector<std::size_t> taken;
  for (const ChainResult& chain : result.all().chains) {
    warmup.push_back(chain.gradients_warmup);
    sampling.push_back(chain.gradients_sampling);
    iterations.push_back(chain.warmup_iterations);
    taken.push_back(chain.record.size());
  }
  all["gradients_warmup"] = warmup;
  all["gradients_sampling"] = sampling;
  all["warmup_iterations"] = iterations;
  all["draws_taken"] = taken;
  return all;
}

}  // namespace

void add_results(nb::module_& module) {
  nb::class_<Result>(module, "Result")
      .def_prop_ro("names", [](const Result& r) { return r.shown().names; })
      .def_prop_ro("coordinates", [](const Result& r) { return r.shown().coordinates; })
      .def_prop_ro("generated", &generated)
      .def_prop_ro("seed", [](const Result& r) { return r.shown().seed; })
      .def_prop_ro("stopped", [](const Result& r) { return r.shown().stopped; })
      .def_prop_ro("chains", [](const Result& r) { return r.shown().chains.size(); })
      .def_prop_ro("size", [](const Result& r) { return r.shown().chains.front().record.size(); })
      .def_prop_ro("recycling",
                   [](const Result& r) { return describe(r.shown().kernel.recycling); })
      .def("counts", &counts)
      .def("draws", &draws, "chain"_a)
      .def("kept", &kept, "chain"_a)
      .def("weights", &weights)
      .def("statistics", &statistics, "chain"_a)
      .def("with_quantities", &with_quantities, "names"_a, "coordinates"_a, "draws"_a, "kept"_a)
      .def("summary", &summary_text, "model"_a, "sharpen"_a)
      .def("report", &report, "model"_a, "sharpen"_a)
      .def("to_bytes", &to_bytes);
  module.def("from_bytes", &from_bytes, "bytes"_a);
}

}  // namespace rehmc::python
