// The overhead of recycling: what is kept, what that takes, and the median of disturbed times.
#include "experiments/overhead.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "experiments/csv.hpp"
#include "tests/experiments/small_case.hpp"
#include "tests/output/folder.hpp"

namespace rehmc::experiments::overhead_test {
namespace {

using rehmc::testing::Folder;

TEST(Overhead, CountsWhatIsKeptAndRunsOnce) {
  const Folder folder;
  Workshop workshop = testing::small_workshop(folder, 1);
  int pieces = 0;
  workshop.finished = [&](const std::string&) { ++pieces; };
  const TestCase test_case = testing::small_case();
  const Preparation preparation = prepare(workshop, test_case);
  const Truth truth = find_truth(workshop, test_case, preparation);
  int densities = 0;
  const auto make_density = [&] {
    ++densities;
    return testing::small_case().density;
  };
  const std::vector<OverheadRow> rows =
      run_overhead(workshop, test_case, preparation, truth, make_density);
  ASSERT_EQ(rows.size(), 7U);
  for (const std::size_t first : {0U, 3U}) {
    EXPECT_EQ(rows[first].recycling, RecyclingKind::none);
    EXPECT_EQ(rows[first].time_percent.value, 0);
    EXPECT_EQ(rows[first].kept_states, 1);
    EXPECT_EQ(rows[first].bytes_per_draw, 4 * 8);  // three coordinates and a weight
    EXPECT_EQ(rows[first + 1].recycling, RecyclingKind::spread);
    EXPECT_LE(rows[first + 1].kept_states, 4);
    EXPECT_GT(rows[first + 1].kept_states, 2);
    EXPECT_EQ(rows[first + 1].bytes_per_draw, rows[first + 1].kept_states * 32);
  }
  // All states of paths of tau/2 to tau: their steps, and the start where one is rejected.
  const double steps = 0.75 * preparation.path_length / step_size(preparation, KernelKind::hmc);
  EXPECT_NEAR(rows[5].kept_states, steps + 0.5, 1);
  EXPECT_EQ(rows[6].recycling, RecyclingKind::stride);
  EXPECT_EQ(rows[6].kernel, KernelKind::hmc);
  EXPECT_GT(rows[6].kept_states, 2);
  EXPECT_LE(rows[6].kept_states, 4);

  const std::vector<OverheadRow> again =
      run_overhead(workshop, test_case, preparation, truth, make_density);
  EXPECT_EQ(pieces, 1);
  EXPECT_EQ(densities, 2) << "one for every build";
  EXPECT_EQ(again[2].time_percent.value, rows[2].time_percent.value);

  write_overhead(rows, folder.path());
  const Table table = Table::read(folder / "overhead.csv");
  ASSERT_EQ(table.rows(), 7U);
  EXPECT_EQ(table.text(1, "recycling"), "spread:4");
  EXPECT_EQ(table.text(4, "kernel"), "hmc");
  EXPECT_EQ(table.number(0, "time_percent"), 0);
}

TEST(Overhead, MedianIgnoresDisturbedTurns) {
  const Measured calm = median_of({3, 1, 2, 5, 4});
  EXPECT_EQ(calm.value, 3);
  EXPECT_NEAR(calm.error, 1.2533 * 2 / 1.349 / std::sqrt(5.0), 1e-12);
  const Measured disturbed = median_of({3, 1, 2, 5000, 4});
  EXPECT_EQ(disturbed.value, 3);
  EXPECT_EQ(disturbed.error, calm.error);
  EXPECT_EQ(median_of({1, 2}).value, 1.5);
}

}  // namespace
}  // namespace rehmc::experiments::overhead_test
