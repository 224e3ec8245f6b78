// Fuzzes the words of --recycle: what is accepted describes itself by words that mean the same.
#include <cstdlib>

#include "reader.hpp"
#include "rehmc/recycle/recycling.hpp"

REHMC_FUZZ(recycle) {
  const rehmc::Recycling recycling = rehmc::parse_recycling(bytes);
  recycling.check();
  const rehmc::Recycling again = rehmc::parse_recycling(rehmc::describe(recycling));
  if (again.kind != recycling.kind || again.count != recycling.count) std::abort();
}
