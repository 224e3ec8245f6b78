// Reads the records of all chains one parameter at a time.
#include "record_series.hpp"

namespace rehmc {

CentredMoments centred_moments(const SampleResult& result, std::size_t parameter) {
  CentredMoments moments;
  moments.centre = result.chains.front().record.centre[parameter];
  for (const ChainResult& chain : result.chains) {
    const ChainRecord& record = chain.record;
    const std::size_t d = record.kept_dimension();
    const std::size_t place = record.kept_place(parameter).value();
    const double shift = record.centre[parameter] - moments.centre;
    auto& first = moments.first.emplace_back(record.size());
    auto& second = moments.second.emplace_back(record.size());
    for (std::size_t i = 0; i < record.size(); ++i) {
      const double offset = record.mean_offset[i * d + place];
      first[i] = offset + shift;
      second[i] = record.mean_square[i * d + place] + shift * (2 * offset + shift);
    }
  }
  return moments;
}

std::vector<Series> series_of(const std::vector<std::vector<double>>& chains) {
  std::vector<Series> series;
  for (const auto& chain : chains) series.push_back({chain.data(), chain.size(), 1});
  return series;
}

std::vector<Series> drawn_series(const SampleResult& result, std::size_t parameter) {
  std::vector<Series> series;
  for (const ChainResult& chain : result.chains) {
    series.push_back({chain.record.draws.data() + parameter, chain.record.size(),
                      static_cast<std::ptrdiff_t>(chain.record.dimension())});
  }
  return series;
}

std::vector<Series> kept_series(const SampleResult& result, std::size_t parameter) {
  std::vector<Series> series;
  for (const ChainResult& chain : result.chains) {
    const ChainRecord& record = chain.record;
    series.push_back({record.kept.data() + record.kept_place(parameter).value(),
                      record.kept_weight.size(),
                      static_cast<std::ptrdiff_t>(record.kept_dimension())});
  }
  return series;
}

std::vector<std::size_t> kept_begins(const ChainRecord& record) {
  std::vector<std::size_t> begins{0};
  begins.insert(begins.end(), record.kept_end.begin(), record.kept_end.end());
  return begins;
}

}  // namespace rehmc
