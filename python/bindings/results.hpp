// Results as Python sees them: arrays, the summary, the report, bytes.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "rehmc/output/sample_result.hpp"

namespace rehmc::python {

/// A result. It shows chains of equal length: of a run that was stopped, the draws beyond that, and
/// chains that had hardly begun, are kept for extending it.
class Result {
 public:
  explicit Result(SampleResult result) { replace(std::move(result)); }
  void replace(SampleResult result);

  const SampleResult& all() const { return all_; }
  const SampleResult& shown() const { return cut_ ? *cut_ : all_; }

 private:
  SampleResult all_;
  std::shared_ptr<const SampleResult> cut_;
};

/// Adds the class Result to the module.
void add_results(nanobind::module_& module);

}  // namespace rehmc::python
