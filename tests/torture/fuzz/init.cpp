// Fuzzes the reader of starting points.
#include "input_file.hpp"
#include "reader.hpp"
#include "rehmc/job/init_file.hpp"

REHMC_FUZZ(init) {
  const rehmc::fuzz::InputFile file(bytes);
  rehmc::read_init_file(file.path(), {"mu", "tau", "theta.1", "theta.2", "L.1.1", "L.2.1"});
}
