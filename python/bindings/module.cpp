// The module rehmc._core: the library for the Python package, which makes it friendly.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "models.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/job/manifest.hpp"
#include "results.hpp"
#include "runs.hpp"

namespace rehmc::python {

namespace nb = nanobind;

namespace {

/// The errors of the library, by the exception of Python that stands for each.
void add_errors(nb::module_& module) {
  static nb::object error = nb::exception<Error>(module, "Error", PyExc_RuntimeError);
  const auto both = [&](const char* name, PyObject* other) {
    return nb::module_::import_("builtins")
        .attr("type")(name, nb::make_tuple(error, nb::handle(other)), nb::dict());
  };
  static nb::object config = both("ConfigError", PyExc_ValueError);
  static nb::object data = both("DataError", PyExc_ValueError);
  static nb::object file = both("FileError", PyExc_OSError);
  static nb::object model = both("ModelError", PyExc_RuntimeError);
  for (auto& [name, each] : {std::pair{"ConfigError", config}, std::pair{"DataError", data},
                             std::pair{"FileError", file}, std::pair{"ModelError", model}}) {
    each.attr("__module__") = "rehmc";
    module.attr(name) = each;
  }
  error.attr("__module__") = "rehmc";
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const ConfigError& e) {
      PyErr_SetString(config.ptr(), e.what());
    } catch (const DataError& e) {
      PyErr_SetString(data.ptr(), e.what());
    } catch (const ModelError& e) {
      PyErr_SetString(model.ptr(), e.what());
    } catch (const NoInputError& e) {
      PyErr_SetString(file.ptr(), e.what());
    } catch (const CreateError& e) {
      PyErr_SetString(file.ptr(), e.what());
    } catch (const FileError& e) {
      PyErr_SetString(file.ptr(), e.what());
    }
  });
}

}  // namespace

}  // namespace rehmc::python

NB_MODULE(_core, module) {
  using namespace rehmc::python;
  module.attr("__version__") = rehmc::version();
  nanobind::set_leak_warnings(false);  // exceptions of the module live as long as the interpreter
  add_errors(module);
  add_models(module);
  add_results(module);
  add_runs(module);
}
