// Fuzzes the reader of metrics.
#include "input_file.hpp"
#include "reader.hpp"
#include "rehmc/output/metric_file.hpp"

REHMC_FUZZ(metric) {
  const rehmc::fuzz::InputFile file(bytes);
  rehmc::read_metric_file(file.path(), 2);
}
