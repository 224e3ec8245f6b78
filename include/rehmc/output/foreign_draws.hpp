// Draws that others made, as a result; and other quantities for the columns of a result.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rehmc/output/sample_result.hpp"

namespace rehmc {

/// One chain of any sampler, draw after draw.
struct ForeignChain {
  std::span<const double> positions;      ///< a row of d coordinates for every draw
  std::span<const double> gradients{};    ///< of the log density there, likewise; empty if unknown
  std::span<const double> log_density{};  ///< empty if unknown
  std::vector<bool> diverging{};  ///< whether the trajectory of a draw diverged; empty: none did
};

/// A result with these draws, which summarise() and sharpen_run() accept. Every draw is the only
/// state that its trajectory kept, so that there are no recycled estimates. Positions must be
/// without constraints, and gradients those of the density of such positions. DataError if the
/// numbers do not fit together or are not finite.
SampleResult from_draws(const std::vector<std::string>& names,
                        std::span<const ForeignChain> chains);

/// The result of CmdStan's diagnostic files, as read_stan_csv() read them: positions without
/// constraints x, momenta p_x, and gradients g_x of the potential energy, minus ours. DataError if
/// the columns are others.
SampleResult from_diagnostics(const SampleResult& csv);

/// The quantities of one chain, computed by somebody else: a row for every draw, and one for every
/// kept state.
struct ChainQuantities {
  std::vector<double> draws;
  std::vector<double> kept;
};

/// Replaces the coordinates, which the columns of a result must be, by other quantities of the same
/// states; like those that a model computes, they are averaged over the kept states. The positions
/// of kept states remain, for sharpening. DataError if the numbers do not fit together.
void set_quantities(SampleResult& result, std::vector<Quantity> quantities,
                    std::span<const ChainQuantities> values);

}  // namespace rehmc
