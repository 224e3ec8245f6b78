// Records for tests: empty ones to be filled by hand, and their draws as sinks get them.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <vector>

#include "rehmc/output/chain_record.hpp"

namespace rehmc::testing {

inline ChainRecord empty_record(std::size_t columns, std::size_t draws) {
  QuantityReader reader(
      FunctionDensity(columns, [](std::span<const double>, std::span<double>) { return 0.0; }), {});
  reader.set_centre(std::vector<double>(columns, 0.0));
  return ChainRecord(reader, draws);
}

/// Draw i of a record, as a sink gets it; without gradients and divergences.
class DrawOf {
 public:
  DrawOf(const ChainRecord& record, std::size_t i) {
    transition_.state.position = record.draw(i);
    transition_.state.log_density = record.log_density[i];
    transition_.acceptance = record.acceptance[i];
    transition_.step_size = record.step_size[i];
    transition_.energy = record.energy[i];
    transition_.energy_error = record.energy_error[i];
    transition_.path_length = record.path_length[i];
    transition_.mass = record.mass[i];
    transition_.depth = record.depth[i];
    transition_.leapfrogs = record.leapfrogs[i];
    transition_.ending = record.ending[i];
    const std::size_t d = record.dimension();
    const std::size_t end = i < record.kept_end.size() ? record.kept_end[i] : 0;
    for (std::size_t k = record.kept_begin(i); k < end; ++k) {
      kept_.push_back({{std::span(record.kept).subspan(k * d, d), {}, 0}, record.kept_weight[k]});
    }
    draw_.transition = &transition_;
    draw_.values = transition_.state.position;
    draw_.kept = kept_;
  }
  DrawOf(const DrawOf&) = delete;
  DrawOf& operator=(const DrawOf&) = delete;

  operator const ReadDraw&() const { return draw_; }

 private:
  Transition transition_;
  std::vector<WeightedState> kept_;
  ReadDraw draw_;
};

/// The draws and their statistics, to the bit.
inline void expect_same_draws(const ChainRecord& found, const ChainRecord& expected) {
  EXPECT_EQ(found.draws, expected.draws);
  EXPECT_EQ(found.log_density, expected.log_density);
  EXPECT_EQ(found.acceptance, expected.acceptance);
  EXPECT_EQ(found.step_size, expected.step_size);
  EXPECT_EQ(found.energy, expected.energy);
  EXPECT_EQ(found.energy_error, expected.energy_error);
  EXPECT_EQ(found.path_length, expected.path_length);
  EXPECT_EQ(found.mass, expected.mass);
  EXPECT_EQ(found.depth, expected.depth);
  EXPECT_EQ(found.leapfrogs, expected.leapfrogs);
  EXPECT_EQ(found.ending, expected.ending);
}

}  // namespace rehmc::testing
