// Systematic sampling: which entries it keeps, and how evenly.
#include "rehmc/recycle/systematic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "rehmc/recycle/kept.hpp"
#include "tests/trajectory/integers.hpp"

namespace rehmc::exact::systematic_test {
namespace {

using Entries = std::vector<Entry<int>>;

Entries random_entries(std::mt19937_64& engine, int size) {
  Entries entries;
  for (int i = 0; i < size; ++i) entries.push_back({i, std::exp(4 * uniform(engine))});
  return entries;
}

double total_weight(const Entries& entries) {
  double total = 0;
  for (const auto& entry : entries) total += entry.weight;
  return total;
}

/// The remaining entries with their hits.
std::vector<double> hits_of(const Entries& before, std::size_t count, double u) {
  Entries entries = before;
  std::size_t dropped = 0;
  sample_systematically(entries, count, u, [&](const auto&) { ++dropped; });
  EXPECT_EQ(entries.size() + dropped, before.size());
  std::vector<double> hits(before.size(), 0.0);
  int last = -1;
  for (const auto& entry : entries) {
    EXPECT_GT(entry.state, last);  // in order
    last = entry.state;
    hits[static_cast<std::size_t>(entry.state)] =
        entry.weight / total_weight(before) * static_cast<double>(count);
  }
  return hits;
}

// Point j lies at (u + j) W / K and hits the entry that covers it.
TEST(Systematic, HitsWhatThePointsHit) {
  std::mt19937_64 engine(1);
  for (int repeat = 0; repeat < 500; ++repeat) {
    const Entries entries = random_entries(engine, 1 + repeat % 17);
    const std::size_t count = 1 + static_cast<std::size_t>(repeat) % 13;
    const double u = uniform(engine);
    std::vector<double> expected(entries.size(), 0.0);
    for (std::size_t j = 0; j < count; ++j) {
      const double point =
          (u + static_cast<double>(j)) * total_weight(entries) / static_cast<double>(count);
      double cumulative = 0;
      std::size_t i = 0;
      while ((cumulative += entries[i].weight) < point) ++i;
      expected[i] += 1;
    }
    const std::vector<double> hits = hits_of(entries, count, u);
    for (std::size_t i = 0; i < entries.size(); ++i) ASSERT_NEAR(hits[i], expected[i], 1e-12);
  }
}

// Any consecutive entries get their share of the points, rounded down or up.
TEST(Systematic, IsEven) {
  std::mt19937_64 engine(2);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Entries entries = random_entries(engine, 12);
    const std::size_t count = 1 + static_cast<std::size_t>(repeat) % 9;
    const std::vector<double> hits = hits_of(entries, count, uniform(engine));
    for (std::size_t from = 0; from < entries.size(); ++from) {
      double points = 0;
      double weight = 0;
      for (std::size_t to = from; to < entries.size(); ++to) {
        points += hits[to];
        weight += entries[to].weight;
        const double share = weight / total_weight(entries) * static_cast<double>(count);
        ASSERT_LT(std::abs(points - share), 1 + 1e-9);
      }
    }
  }
}

// Rounding neither adds nor loses a point, however close u is to 0 or 1, and entries of weight 0
// are never hit.
TEST(Systematic, LaysExactlyAllPointsAtTheEndsOfU) {
  for (const double u : {0x1.0p-53, 0x1.0p-52, 0.5, 1 - 0x1.0p-52, 1 - 0x1.0p-53}) {
    for (std::size_t count = 1; count <= 40; ++count) {
      for (const Entries& entries :
           {Entries{{0, 1.0}, {1, 1.0}, {2, 1.0}}, Entries{{0, 0.1}, {1, 0.2}, {2, 0.3}, {3, 0.4}},
            Entries{{0, 0.0}, {1, 0.7}, {2, 0.0}}, Entries{{0, 1e300}, {1, 1e-300}},
            Entries{{0, 1.0 / 3}, {1, 1.0 / 7}, {2, 0.0}, {3, 0.0}}}) {
        const std::vector<double> hits = hits_of(entries, count, u);
        double points = 0;
        for (std::size_t i = 0; i < entries.size(); ++i) {
          points += hits[i];
          ASSERT_NEAR(hits[i], std::round(hits[i]), 1e-9);
        }
        ASSERT_NEAR(points, static_cast<double>(count), 1e-9) << "u = " << u;
      }
    }
  }
}

}  // namespace
}  // namespace rehmc::exact::systematic_test
