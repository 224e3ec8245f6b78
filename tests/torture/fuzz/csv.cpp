// Fuzzes the reader of Stan CSV.
#include <array>

#include "input_file.hpp"
#include "reader.hpp"
#include "rehmc/output/stan_csv_reader.hpp"

REHMC_FUZZ(csv) {
  const rehmc::fuzz::InputFile file(bytes);
  rehmc::read_stan_csv(std::array{file.path()});
}
