// Recycled states as CSV: every state that was kept, with its weight within its draw.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rehmc/output/chain_record.hpp"

namespace rehmc {

/// The line of columns: `chain__,iter__,slot__,log_weight__`, then the parameters.
std::string recycled_csv_head(const std::vector<std::string>& names);

/// One line for every state that was kept of a draw: the chain, the draw (from 1, over sampling,
/// before thinning), the place among the states of the draw (from 1), and the logarithm of the
/// weight; the weights of a draw sum to 1.
void append_recycled_rows(std::string& to, const ChainRecord& record, std::size_t draw, int chain);

}  // namespace rehmc
