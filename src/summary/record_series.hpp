// Private to summary/: the records of all chains as series of one parameter.
#pragma once

#include <cstddef>
#include <vector>

#include "rehmc/estimate/series.hpp"
#include "rehmc/run/sample.hpp"

namespace rehmc {

/// The per-draw moments of one parameter over all states of a trajectory, about one centre for all
/// chains.
struct CentredMoments {
  double centre = 0;
  std::vector<std::vector<double>> first;
  std::vector<std::vector<double>> second;
};
CentredMoments centred_moments(const SampleResult& result, std::size_t parameter);

/// One series per chain.
std::vector<Series> series_of(const std::vector<std::vector<double>>& chains);
/// The draws of one parameter.
std::vector<Series> drawn_series(const SampleResult& result, std::size_t parameter);
/// The values of one parameter at the kept states.
std::vector<Series> kept_series(const SampleResult& result, std::size_t parameter);
/// Where the kept states of every draw of a chain begin, then their number.
std::vector<std::size_t> kept_begins(const ChainRecord& record);

}  // namespace rehmc
