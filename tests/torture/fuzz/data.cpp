// Fuzzes the reader of a model's data, with every kind of value that models read.
#include <string>

#include "models/data_reader.hpp"
#include "reader.hpp"

REHMC_FUZZ(data) {
  using rehmc::at_least;
  rehmc::DataReader data(std::string(bytes), "data.json",
                         {"dimension", "seed", "n", "x", "y", "rows", "counts", "flags"});
  data.dimension(2);
  data.seed(1);
  data.integer("n", 3, at_least(1));
  data.number("x", 1, at_least(0));
  data.numbers("y", {1, 2}, at_least(0));
  if (data.has("rows")) data.matrix("rows", at_least(0));
  if (data.has("counts")) data.whole_numbers("counts", at_least(0));
  if (data.has("flags")) data.zeros_and_ones("flags");
}
