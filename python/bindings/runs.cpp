// Runs samplers without the interpreter's lock, and shows what they did so far.
#include "runs.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "callbacks.hpp"
#include "models.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/job/create_folder.hpp"
#include "rehmc/job/finish.hpp"
#include "rehmc/job/job.hpp"
#include "rehmc/model/padded.hpp"
#include "rehmc/output/durable_file.hpp"
#include "rehmc/output/foreign_draws.hpp"
#include "rehmc/output/kept_quantities.hpp"
#include "rehmc/run/sample.hpp"
#include "results.hpp"
#include "settings.hpp"
#include "stan/kept_library.hpp"

namespace rehmc::python {

namespace nb = nanobind;
using namespace nanobind::literals;

namespace {

/// Watches and stops a run from other threads.
class Control {
 public:
  void interrupt() { interrupts_ = 1; }
  bool interrupted() const { return interrupts_ != 0; }
  void interrupt_model() const { threads_.interrupt(); }

  SampleControl begin(const SampleSettings& settings) {
    const auto chains = static_cast<std::size_t>(settings.chains);
    own_ =
        std::make_shared<Progress>(chains, static_cast<std::uint64_t>(settings.warmup.iterations),
                                   static_cast<std::uint64_t>(settings.draws));
    show(own_.get());
    return {&interrupts_, own_.get(), threads_.hooks(), true};
  }
  ThreadHooks hooks() { return threads_.hooks(); }
  const std::atomic<int>& interrupts() const { return interrupts_; }
  void show(const Progress* progress) { progress_ = progress; }

  /// Of every chain: iterations, those of warmup, gradients, divergences, step size.
  using Row = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, double>;
  std::vector<Row> rows() const {
    std::vector<Row> rows;
    const Progress* const progress = progress_;
    if (progress == nullptr) return rows;
    for (const ChainProgress& chain : progress->chains) {
      rows.emplace_back(chain.iteration, chain.warmup, chain.gradients, chain.divergences,
                        chain.step_size);
    }
    return rows;
  }
  std::uint64_t draws() const {
    const Progress* const progress = progress_;
    return progress == nullptr ? 0 : progress->draws.load();
  }

 private:
  std::atomic<int> interrupts_ = 0;
  Threads threads_;
  std::shared_ptr<Progress> own_;
  std::atomic<const Progress*> progress_ = nullptr;
};

/// Runs `work` without the lock; an abort becomes the exception of Python that caused it.
template <class Work>
auto without_lock(Work&& work) {
  std::optional<PythonAbort> abort;
  try {
    const nb::gil_scoped_release release;
    return work();
  } catch (const PythonAbort& thrown) {
    abort = thrown;
  }
  abort->restore();
  throw nb::python_error();
}

/// With the engine for batches, models whose bits depend on the width get one width for all calls.
Density density_for(const Model& model, const SampleSettings& settings, std::size_t width) {
  const bool pads = width > 0 && settings.engine == EngineKind::batch && model.density.is_batched();
  return pads ? padded(model.density, width) : model.density;
}

Result sample_in_memory(const Model& model, const nb::dict& given, std::uint64_t seed,
                        Control& control, std::size_t width) {
  RunSettings run = settings_from(given);
  run.check();
  run.sample.seed = seed;
  SampleControl watch = control.begin(run.sample);
  return without_lock(
      [&] { return Result(sample(density_for(model, run.sample, width), run.sample, watch)); });
}

void extend_in_memory(Result& result, const Model& model, const nb::dict& given, Control& control,
                      std::size_t width) {
  RunSettings run = settings_from(given);
  run.check();
  run.sample.seed = result.all().seed;
  SampleControl watch = control.begin(run.sample);
  without_lock([&] {
    SampleResult longer = result.all();
    extend(longer, density_for(model, run.sample, width), run.sample, watch);
    result.replace(std::move(longer));
    return 0;
  });
}

/// The run of a folder, sampled until it is complete or interrupted.
Result run_job(const Model& model, const Manifest& manifest, const RunFolder& folder,
               Control& control, std::size_t width) {
  const SampleSettings& settings = manifest.settings.sample;
  return without_lock([&] {
    Job job(density_for(model, settings, width), manifest, folder, control.hooks());
    control.show(&job.progress());
    struct Hide {
      ~Hide() { control.show(nullptr); }
      Control& control;
    } hide{control};
    job.run(control.interrupts());
    const bool complete = job.complete();
    std::optional<RunEstimates> estimates = std::move(job).take_estimates();
    SampleResult result = std::move(job).take_result();
    result.stopped = !complete;
    std::uint64_t shortest = result.chains.front().record.size();
    for (const ChainResult& chain : result.chains) {
      shortest = std::min<std::uint64_t>(shortest, chain.record.size());
    }
    constexpr std::uint64_t least_draws = 4;  // with fewer there is no summary
    if (shortest >= least_draws) {
      finish_run(folder, manifest, result, &model.density, std::move(estimates));
    }
    read_kept(model.density, columns_of_states(result), result);
    return Result(std::move(result));
  });
}

void store_model(const Model& model, const RunFolder& folder, Manifest& manifest) {
  const auto store = [&](const std::filesystem::path& file, const std::string& text) {
    if (text.empty()) return;
    write_whole(file, text);
    manifest.files[file.filename().string()] = content_hash(text);
  };
  store(folder.data(), model.data);
  store(folder.program(), model.program);
  if (!model.library.empty()) stan::keep_library(model.library);
}

Result sample_in_folder(const Model& model, const nb::dict& given, std::uint64_t seed,
                        Control& control, std::size_t width, const std::string& path, bool force) {
  Manifest manifest;
  manifest.seed = seed;
  manifest.settings = settings_from(given);
  manifest.settings.check();
  manifest.settings.sample.seed = seed;
  manifest.version = version();
  manifest.created = utc_now();
  manifest.model = model.identity;
  manifest.quantities = model.density.quantities();
  manifest.coordinates = model.density.names();
  recorded_columns(names_of(manifest.quantities), manifest.settings);
  const RunFolder folder{std::filesystem::path(path)};
  const RunLock lock = create_run_folder(folder, force);
  try {
    store_model(model, folder, manifest);
    write_manifest(folder, manifest);
    return run_job(model, manifest, folder, control, width);
  } catch (...) {
    // A run that failed before its first checkpoint would fail again.
    if (!folder.has_checkpoint()) remove_run(folder);
    throw;
  }
}

Result continue_in_folder(const Model& model, const std::string& path, Control& control,
                          std::size_t width, int more_draws) {
  const RunFolder folder{std::filesystem::path(path)};
  read_manifest(folder);  // whether it is a run folder at all
  const RunLock lock(folder);
  Manifest manifest = read_manifest(folder);
  if (manifest.model.hash != model.identity.hash) {
    throw DataError(fmt::format(
        "{}: the model {} is not the one that was sampled: its code, its data or its parameters "
        "changed; start a new run",
        path, manifest.model.name));
  }
  require_growing_files(folder, manifest);
  if (more_draws > 0) {
    manifest.settings.until.clear();
    manifest.settings.sample.draws += more_draws;
    manifest.settings.check();
    write_manifest(folder, manifest);
  }
  return run_job(model, manifest, folder, control, width);
}

/// The result of a folder, with the model's name, seed and settings.
nb::tuple load_folder(const std::string& path) {
  const RunFolder folder{std::filesystem::path(path)};
  const Manifest manifest = read_manifest(folder);
  SampleResult loaded = load_run(folder, manifest);
  // Without the model, kept states have the values that follow from a coordinate alone.
  if (!read_kept_without_model(columns_of_states(loaded), loaded)) {
    read_kept_without_model(columns_of_parameters(loaded), loaded);
  }
  Result result(std::move(loaded));
  const SampleSettings& sample = manifest.settings.sample;
  nb::dict settings;
  settings["draws"] = sample.draws;
  settings["chains"] = sample.chains;
  settings["engine"] = std::string(describe(sample.engine));
  settings["recycle"] = describe(sample.kernel.recycling);
  settings["sharpen"] = sample.sharpen;
  nb::object made_by = nb::cast(nb::dict());
  for (const auto& [key, value] : manifest.model.made_by) made_by[nb::str(key.c_str())] = value;
  return nb::make_tuple(std::move(result), manifest.model.name, settings, made_by);
}

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// One matrix of positions per chain; gradients and divergences likewise, or none at all.
Result foreign_result(const std::vector<std::string>& names, const std::vector<Matrix>& positions,
                      const std::vector<Matrix>& gradients, const std::vector<Flags>& diverging) {
  std::vector<ForeignChain> chains;
  for (std::size_t c = 0; c < positions.size(); ++c) {
    ForeignChain& chain = chains.emplace_back();
    chain.positions = {positions[c].data(), positions[c].size()};
    if (!gradients.empty()) {
      chain.gradients = {gradients.at(c).data(), gradients.at(c).size()};
    }
    if (!diverging.empty()) {
      const bool* const flags = diverging.at(c).data();
      chain.diverging.assign(flags, flags + diverging.at(c).size());
    }
  }
  return Result(from_draws(names, chains));
}

}  // namespace

void add_runs(nb::module_& module) {
  nb::class_<Control>(module, "Control")
      .def(nb::init<>())
      .def("interrupt", &Control::interrupt)
      .def("interrupt_model", &Control::interrupt_model)
      .def_prop_ro("interrupted", &Control::interrupted)
      .def_prop_ro("draws", &Control::draws)
      .def("rows", &Control::rows);
  module.def("sample", &sample_in_memory, "model"_a, "settings"_a, "seed"_a, "control"_a,
             "width"_a);
  module.def("extend", &extend_in_memory, "result"_a, "model"_a, "settings"_a, "control"_a,
             "width"_a);
  module.def("sample_in_folder", &sample_in_folder, "model"_a, "settings"_a, "seed"_a, "control"_a,
             "width"_a, "path"_a, "force"_a);
  module.def("continue_in_folder", &continue_in_folder, "model"_a, "path"_a, "control"_a, "width"_a,
             "more_draws"_a);
  module.def("load_folder", &load_folder, "path"_a);
  module.def("foreign_result", &foreign_result, "names"_a, "positions"_a, "gradients"_a,
             "diverging"_a);
  module.def("fresh_seed", &fresh_seed);
  module.def("check_settings", [](const nb::dict& given) { settings_from(given).check(); });
  module.def("setting_names", &setting_names);
}

}  // namespace rehmc::python
