// Makes models of functions, of Stan programs and of the built-in densities.
#include "models.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "callbacks.hpp"
#include "models/registry.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "rehmc/core/hash.hpp"
#include "stan/model.hpp"

namespace rehmc::python {

namespace nb = nanobind;
using namespace nanobind::literals;

namespace {

/// Of code that cannot be read: its kind and its parameters, and what its maker says it is.
ModelIdentity identity_of(const std::string& kind, const std::string& name,
                          const std::vector<std::string>& names, const std::string& version) {
  std::string all = kind + "\n" + name + "\n" + version;
  for (const std::string& each : names) all += "\n" + each;
  return {name, content_hash(all)};
}

Model function_model(nb::object single, nb::object many, nb::object reject,
                     const std::vector<std::string>& names, const std::string& name,
                     const std::string& version, bool packed) {
  PythonFunctions functions;
  functions.packed = packed;
  functions.single = share(std::move(single));
  functions.reject = share(std::move(reject));
  functions.dimension = names.size();
  functions.names = names;
  const bool batched = !many.is_none();
  if (batched) functions.many = share(std::move(many));
  auto shared = std::make_shared<const PythonFunctions>(std::move(functions));
  Density density = batched ? Density(PythonBatchDensity(shared)) : Density(PythonDensity(shared));
  return {std::move(density), identity_of("python", name, names, version)};
}

Model c_model(std::uintptr_t function, std::uintptr_t data, nb::object owner,
              const std::vector<std::string>& names, const std::string& name,
              const std::string& version) {
  if (function == 0) throw ConfigError("the address of the compiled function is 0");
  return {CDensity(reinterpret_cast<CDensity::Function>(function), reinterpret_cast<void*>(data),
                   share(std::move(owner)), names),
          identity_of("c", name, names, version)};
}

Model stan_model(const std::string& file, const std::string& data, const std::string& data_file,
                 const std::string& backend, std::uint64_t seed, const std::string& name) {
  stan::ModelOptions options;
  options.backend = stan::parse_backend(backend);
  options.seed = static_cast<std::uint32_t>(seed);
  options.name = name;
  const nb::gil_scoped_release release;
  stan::FileModel made = stan::make_file_model(file, data, data_file, options);
  Model model{made.density, {made.name, made.identity}, data, made.program, "", made.density};
  if (made.program.empty()) {
    model.identity.made_by["library"] = content_hash(read_file(file));
    model.library = file;
  } else {
    model.identity.made_by["stan_backend"] = stan::describe(made.backend);
  }
  return model;
}

Model built_in_model(const std::string& name, const std::string& data) {
  BuiltModel built = make_model(name, data, data.empty() ? "" : "data");
  return {std::move(built.density), {built.name, built.identity}, data};
}

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void require_columns(std::size_t found, std::size_t expected) {
  if (found == expected) return;
  throw DataError(fmt::format("found points of {} coordinates, expected {}", found, expected));
}

/// The log densities and gradients of the rows.
nb::tuple evaluate(const Model& model, const Matrix& points) {
  const std::size_t d = model.density.dimension();
  require_columns(points.shape(1), d);
  const std::size_t rows = points.shape(0);
  std::vector<double> values(rows);
  std::vector<double> gradients(rows * d);
  {
    const nb::gil_scoped_release release;
    Density density = model.density;
    for (std::size_t r = 0; r < rows; ++r) {
      values[r] = density({points.data() + r * d, d}, std::span(gradients).subspan(r * d, d));
    }
  }
  return nb::make_tuple(values, gradients);
}

/// The quantities of the rows, row after row; NaN where the model cannot compute them.
std::vector<double> quantities(const Model& model, const Matrix& points) {
  Density density = model.density;
  const std::size_t d = density.dimension();
  require_columns(points.shape(1), d);
  const std::size_t width = density.quantities().size();
  std::vector<double> values(points.shape(0) * width, std::nan(""));
  for (std::size_t r = 0; r < points.shape(0); ++r) {
    try {
      density.evaluate_quantities({points.data() + r * d, d},
                                  std::span(values).subspan(r * width, width), nullptr);
    } catch (const std::domain_error&) {
      continue;  // what was not written stays NaN
    }
  }
  return values;
}

std::vector<double> unconstrain(const Model& model, const std::string& json) {
  if (!model.bridge) throw ConfigError("only Stan programs can transform parameters back");
  return model.bridge->unconstrain(json);
}

}  // namespace

void add_models(nb::module_& module) {
  nb::class_<Model>(module, "Model")
      .def_prop_ro("dimension", [](const Model& model) { return model.density.dimension(); })
      .def_prop_ro("names", [](const Model& model) { return model.density.names(); })
      .def_prop_ro("quantities",
                   [](const Model& model) { return names_of(model.density.quantities()); })
      .def_prop_ro("name", [](const Model& model) { return model.identity.name; })
      .def_prop_ro("identity", [](const Model& model) { return model.identity.hash; })
      .def_prop_ro("batched", [](const Model& model) { return model.density.is_batched(); })
      .def("evaluate", &evaluate, "points"_a)
      .def("read", &quantities, "points"_a)
      .def("unconstrain", &unconstrain, "json"_a);
  module.def("function_model", &function_model, "single"_a, "many"_a.none(), "reject"_a, "names"_a,
             "name"_a, "version"_a, "packed"_a);
  module.def("c_model", &c_model, "function"_a, "data"_a, "owner"_a.none(), "names"_a, "name"_a,
             "version"_a);
  module.def("stan_model", &stan_model, "file"_a, "data"_a, "data_file"_a, "backend"_a, "seed"_a,
             "name"_a);
  module.def("built_in_model", &built_in_model, "name"_a, "data"_a);
}

}  // namespace rehmc::python
