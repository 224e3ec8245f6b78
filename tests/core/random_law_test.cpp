// Random streams, statistically: moments, tails, Kolmogorov-Smirnov, chi-square and correlations.
//
// Every check here yields a p-value under the hypothesis that the numbers are perfect, and fails
// below 1e-9. There are fewer than 1000 checks, so all of them together raise a false alarm with
// probability below 1e-6; the seeds are fixed. REHMC_LONG_TESTS=1 takes 10^9 draws of each law
// instead of 2 10^7.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rehmc/core/numerics.hpp"
#include "rehmc/core/random.hpp"

namespace rehmc::random_law_test {
namespace {

constexpr double alarm = 1e-9;
using PValues = std::map<std::string, double>;

void expect_no_alarm(const PValues& p_values) {
  for (const auto& [name, p] : p_values) EXPECT_GE(p, alarm) << name;
}

double two_sided(double z) { return 2 * normal_cdf(-std::abs(z)); }

// Wilson & Hilferty 1931. Both too far from and too near to the expected counts are improbable.
double chi_square_p(double statistic, double degrees) {
  const double spread = 2 / (9 * degrees);
  return two_sided((std::cbrt(statistic / degrees) - (1 - spread)) / std::sqrt(spread));
}

double chi_square_p(const std::vector<std::uint64_t>& counts) {
  const double total = static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0ull));
  const double expected = total / static_cast<double>(counts.size());
  double statistic = 0;
  for (const std::uint64_t count : counts) {
    statistic += std::pow(static_cast<double>(count) - expected, 2) / expected;
  }
  return chi_square_p(statistic, static_cast<double>(counts.size() - 1));
}

// The asymptotic law of Kolmogorov's statistic.
double kolmogorov_p(double distance, double n) {
  const double x = distance * std::sqrt(n);
  if (x < 0.3) return 1;  // the series converges slowly where the probability is 1 - 1e-5 or more
  double p = 0;
  for (int k = 1; k <= 20; ++k) p += (k % 2 ? 2 : -2) * std::exp(-2.0 * k * k * x * x);
  return p;
}

// The smaller tail of the binomial law at `count`, doubled: exact, by summing outwards.
double binomial_p(double count, double n, double probability) {
  const double direction = count < n * probability ? -1 : 1;
  const double odds = probability / (1 - probability);
  double term = std::exp(std::lgamma(n + 1) - std::lgamma(count + 1) - std::lgamma(n - count + 1) +
                         count * std::log(probability) + (n - count) * std::log1p(-probability));
  double tail = 0;
  for (double k = count; k >= 0 && k <= n && term > 1e-17 * tail; k += direction) {
    tail += term;
    term *= direction > 0 ? (n - k) / (k + 1) * odds : k / ((n - k + 1) * odds);
  }
  return std::min(1.0, 2 * tail);
}

struct Law {
  std::array<double, 8> moments;  // E x, E x^2, ..., E x^8
  std::function<double(double)> cdf;
  double least;  // the cells of the histogram cover [least, least + width)
  double width;
  std::vector<double> thresholds;  // for counts beyond them; edges of cells
  bool two_sided_tails;
};

const Law normal_law{{0, 1, 0, 3, 0, 15, 0, 105}, normal_cdf, -8, 16, {2, 3, 4, 5}, true};
const Law uniform_law{{1. / 2, 1. / 3, 1. / 4, 1. / 5, 1. / 6, 1. / 7, 1. / 8, 1. / 9},
                      [](double x) { return std::clamp(x, 0.0, 1.0); },
                      0,
                      1,
                      {0.5, 1 - 0x1p-6, 1 - 0x1p-14},
                      false};
const Law exponential_law{{1, 2, 6, 24, 120, 720, 5040, 40320},
                          [](double x) { return -std::expm1(-x); },
                          0,
                          16,
                          {1, 5, 10, 13},
                          false};

// Collects numbers and compares them with a distribution.
class Comparison {
 public:
  explicit Comparison(const Law& law) : law_(law), cells_(1 << 16) {}

  void add(std::span<const double> numbers) {
    std::array<double, 4> sums{};
    const double scale = static_cast<double>(cells_.size()) / law_.width;
    const double last = static_cast<double>(cells_.size() - 1);
    for (const double x : numbers) {
      const double x2 = x * x;
      sums[0] += x;
      sums[1] += x2;
      sums[2] += x2 * x;
      sums[3] += x2 * x2;
      ++cells_[static_cast<std::size_t>(std::clamp((x - law_.least) * scale, 0.0, last))];
    }
    for (std::size_t k = 0; k < sums.size(); ++k) sums_[k] += sums[k];
    n_ += static_cast<double>(numbers.size());
  }

  PValues p_values() const {
    PValues found;
    for (std::size_t k = 1; k <= sums_.size(); ++k) {
      const double mean = law_.moments[k - 1];
      const double variance = law_.moments[2 * k - 1] - mean * mean;
      found[fmt::format("moment {}", k)] =
          two_sided((sums_[k - 1] / n_ - mean) / std::sqrt(variance / n_));
    }
    for (const double threshold : law_.thresholds) {
      std::uint64_t beyond = std::accumulate(cell_at(threshold), cells_.end(), 0ull);
      double probability = 1 - law_.cdf(threshold);
      if (law_.two_sided_tails) {
        beyond += std::accumulate(cells_.begin(), cell_at(-threshold), 0ull);
        probability = 2 * law_.cdf(-threshold);  // by symmetry, without cancellation
      }
      found[fmt::format("beyond {}", threshold)] =
          binomial_p(static_cast<double>(beyond), n_, probability);
    }
    // Kolmogorov's distance at the edges of the cells, which is at most the true one; and
    // chi-square over the cells, neighbours put together until 50 are expected: it sees grids and
    // gaps.
    double distance = 0, below = 0, statistic = 0, merged = 0, count = 0, expected = 0, left = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const bool last = i + 1 == cells_.size();
      const double edge =
          law_.least + law_.width * static_cast<double>(i + 1) / static_cast<double>(cells_.size());
      const double right = last ? 1 : law_.cdf(edge);
      below += static_cast<double>(cells_[i]);
      distance = std::max(distance, std::abs(below / n_ - right));
      count += static_cast<double>(cells_[i]);
      expected = n_ * (right - left);
      if ((expected >= 50 && n_ * (1 - right) >= 50) || last) {
        statistic += (count - expected) * (count - expected) / expected;
        merged += 1;
        count = 0;
        left = right;
      }
    }
    found["Kolmogorov-Smirnov"] = kolmogorov_p(distance, n_);
    found["chi-square"] = chi_square_p(statistic, merged - 1);
    return found;
  }

 private:
  std::vector<std::uint64_t>::const_iterator cell_at(double edge) const {
    return cells_.begin() + static_cast<std::ptrdiff_t>((edge - law_.least) / law_.width *
                                                        static_cast<double>(cells_.size()));
  }

  const Law& law_;
  std::vector<std::uint64_t> cells_;
  std::array<double, 4> sums_{};
  double n_ = 0;
};

std::uint64_t draws() {
  const char* wanted = std::getenv("REHMC_LONG_TESTS");
  return wanted && std::string(wanted) == "1" ? 1'000'000'000 : 20'000'000;
}

// Draws in pieces whose length is not a multiple of the generator's batches.
template <class Fill>
PValues compare(const Law& law, std::uint64_t n, Fill fill) {
  Comparison comparison(law);
  std::vector<double> piece(10'007);
  for (std::uint64_t done = 0; done < n; done += piece.size()) {
    fill(std::span(piece));
    comparison.add(piece);
  }
  PValues found = comparison.p_values();
  for (const auto& [name, p] : found)
    ::testing::Test::RecordProperty(name, fmt::format("{:.3g}", p));
  return found;
}

template <class Draw>
auto one_by_one(Draw draw) {
  return [draw](std::span<double> out) { std::generate(out.begin(), out.end(), draw); };
}

TEST(StreamLaw, filled_normals) {
  Stream stream({.seed = 101}, Purpose::test);
  expect_no_alarm(
      compare(normal_law, draws(), [&](std::span<double> out) { stream.fill_normal(out); }));
}

TEST(StreamLaw, scalar_normals) {
  Stream stream({.seed = 102}, Purpose::test);
  expect_no_alarm(compare(normal_law, draws() / 10, one_by_one([&] { return stream.normal(); })));
}

TEST(StreamLaw, uniforms) {
  Stream stream({.seed = 103}, Purpose::test);
  expect_no_alarm(compare(uniform_law, draws(), one_by_one([&] { return stream.uniform(); })));
}

TEST(StreamLaw, exponentials) {
  Stream stream({.seed = 104}, Purpose::test);
  expect_no_alarm(
      compare(exponential_law, draws(), one_by_one([&] { return stream.exponential(); })));
}

// The chain uses the first numbers of very many short streams, so these must be as good as one
// long stream.
TEST(StreamLaw, first_numbers_of_successive_streams) {
  Address address{.seed = 105};
  expect_no_alarm(compare(uniform_law, 1'000'000, one_by_one([&] {
                            ++address.iteration;
                            return Stream(address, Purpose::acceptance).uniform();
                          })));
  expect_no_alarm(compare(uniform_law, 1'000'000, one_by_one([&] {
                            ++address.chain;
                            return Stream(address, Purpose::acceptance).uniform();
                          })));
  expect_no_alarm(compare(uniform_law, 1'000'000, one_by_one([&] {
                            ++address.seed;
                            return Stream(address, Purpose::acceptance).uniform();
                          })));
}

// Negative controls: slightly wrong numbers, and which of the same checks must detect them.
void expect_alarm(const PValues& p_values, const std::vector<std::string>& names) {
  for (const std::string& name : names) EXPECT_LT(p_values.at(name), alarm) << name;
}

TEST(StreamLaw, finds_out_the_sum_of_twelve_uniforms) {
  Stream stream({.seed = 106}, Purpose::test);
  const auto found = compare(normal_law, 5'000'000, one_by_one([&] {
                               double sum = -6;
                               for (int i = 0; i < 12; ++i) sum += stream.uniform();
                               return sum;
                             }));
  expect_alarm(found, {"moment 4", "beyond 3", "beyond 4", "Kolmogorov-Smirnov", "chi-square"});
}

TEST(StreamLaw, finds_out_normals_that_are_shifted_coarse_or_cut) {
  Stream stream({.seed = 107}, Purpose::test);
  const auto changed = [&](auto change) {
    return compare(normal_law, 5'000'000, [&, change](std::span<double> out) {
      stream.fill_normal(out);
      std::transform(out.begin(), out.end(), out.begin(), change);
    });
  };
  expect_alarm(changed([](double x) { return x + 0.006; }), {"moment 1", "Kolmogorov-Smirnov"});
  expect_alarm(changed([](double x) { return x * 1.006; }), {"moment 2", "moment 4"});
  expect_alarm(changed([](double x) { return std::ldexp(std::floor(std::ldexp(x, 11)), -11); }),
               {"chi-square"});
  expect_alarm(changed([](double x) { return std::abs(x) > 4 ? 0.0 : x; }), {"beyond 4"});
}

TEST(StreamLaw, finds_out_exponentials_with_too_short_a_tail) {
  Stream stream({.seed = 108}, Purpose::test);
  const auto found = compare(exponential_law, 5'000'000, one_by_one([&] {
                               const auto k = static_cast<double>(stream.below(1 << 12));
                               return -std::log(std::ldexp(k + 0.5, -12));
                             }));
  expect_alarm(found, {"beyond 10", "chi-square"});
}

TEST(StreamLaw, no_normal_comes_twice) {
  // Equal pairs expected among n: n^2/2 times the integral of density^2 times the gap between
  // doubles (about 1.2e-16), 3e-7 for n = 2^17. Coarser numbers would repeat often.
  std::vector<double> normals(1 << 17);
  Stream({.seed = 109}, Purpose::test).fill_normal(normals);
  std::sort(normals.begin(), normals.end());
  EXPECT_EQ(std::adjacent_find(normals.begin(), normals.end()), normals.end());
}

TEST(StreamLaw, normals_are_uncorrelated_at_every_distance_and_so_are_their_squares) {
  // Distances to 40 cover both normals of a pair (8 apart) and neighbouring batches.
  constexpr std::size_t n = 1 << 20;
  std::vector<double> x(n + 40);
  Stream({.seed = 110}, Purpose::test).fill_normal(x);
  PValues found;
  for (std::size_t lag = 1; lag <= 40; ++lag) {
    double plain = 0, squares = 0, mixed = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double y = x[i + lag];
      plain += x[i] * y;                               // variance 1
      squares += (x[i] * x[i] - 1) * (y * y - 1) / 2;  // variance 1
      mixed += x[i] * (y * y - 1) / std::sqrt(2.0);    // variance 1
    }
    const std::string at = " at distance " + std::to_string(lag);
    found["values" + at] = two_sided(plain / std::sqrt(n));
    found["squares" + at] = two_sided(squares / std::sqrt(n));
    found["value and square" + at] = two_sided(mixed / std::sqrt(n));
  }
  expect_no_alarm(found);
}

TEST(StreamLaw, streams_of_neighbouring_addresses_are_independent) {
  const Address home{.seed = 111, .chain = 5, .iteration = 77};
  const std::pair<Address, Purpose> neighbours[] = {
      {{.seed = 112, .chain = 5, .iteration = 77}, Purpose::slice},
      {{.seed = 111, .chain = 6, .iteration = 77}, Purpose::slice},
      {{.seed = 111, .chain = 4, .iteration = 77}, Purpose::slice},
      {{.seed = 111, .chain = 5, .iteration = 78}, Purpose::slice},
      {{.seed = 111, .chain = 5, .iteration = 77 + (1ull << 32)}, Purpose::slice},
      {{.seed = 111, .chain = 77, .iteration = 5}, Purpose::slice},
      {{.seed = 111, .chain = 5, .iteration = 77}, Purpose::selection},
      {{.seed = 111, .chain = 5, .iteration = 77}, Purpose::direction}};
  constexpr int n = 200'000;
  PValues found;
  for (std::size_t i = 0; i < std::size(neighbours); ++i) {
    Stream one(home, Purpose::slice);
    Stream other(neighbours[i].first, neighbours[i].second);
    double differing_bits = 0, product = 0;
    for (int k = 0; k < n; ++k) {
      const std::uint64_t a = one.bits();
      const std::uint64_t b = other.bits();
      differing_bits += std::popcount(a ^ b);
      product += (std::ldexp(static_cast<double>(a), -64) - 0.5) *
                 (std::ldexp(static_cast<double>(b), -64) - 0.5);
    }
    const std::string with = " with neighbour " + std::to_string(i);
    found["bits" + with] = two_sided((differing_bits - 32.0 * n) / std::sqrt(16.0 * n));
    found["product" + with] = two_sided(12 * product / std::sqrt(n));
  }
  expect_no_alarm(found);
}

TEST(StreamLaw, below_is_uniform) {
  Stream stream({.seed = 113}, Purpose::test);
  PValues found;
  for (const std::uint64_t n : {2, 3, 10, 1000}) {
    std::vector<std::uint64_t> counts(n);
    for (int i = 0; i < 1'000'000; ++i) ++counts.at(stream.below(n));
    found["below " + std::to_string(n)] = chi_square_p(counts);
  }
  EXPECT_EQ(stream.below(1), 0);

  // Of 3 2^62 results, a product without rejection would give every third twice as often.
  std::vector<std::uint64_t> remainders(3);
  std::vector<std::uint64_t> naive(3);
  for (int i = 0; i < 1'000'000; ++i) {
    ++remainders[stream.below(3ull << 62) % 3];
    __extension__ using Wide = unsigned __int128;
    ++naive[static_cast<std::uint64_t>((Wide{stream.bits()} * (3ull << 62)) >> 64) % 3];
  }
  found["below 3 2^62"] = chi_square_p(remainders);
  expect_no_alarm(found);
  EXPECT_LT(chi_square_p(naive), alarm);
}

TEST(StreamLaw, shuffle_gives_every_order_alike) {
  Stream stream({.seed = 114}, Purpose::test);
  std::map<std::array<int, 4>, std::uint64_t> orders;
  for (int i = 0; i < 240'000; ++i) {
    std::array<int, 4> items{0, 1, 2, 3};
    stream.shuffle(std::span<int>(items));
    ++orders[items];
  }
  ASSERT_EQ(orders.size(), 24);
  std::vector<std::uint64_t> counts;
  for (const auto& [order, count] : orders) counts.push_back(count);
  expect_no_alarm({{"orders", chi_square_p(counts)}});

  // More items than one word can order: each is equally likely to come first and last.
  constexpr std::size_t many = 20;
  std::vector<std::uint64_t> first(many);
  std::vector<std::uint64_t> last(many);
  for (int i = 0; i < 40'000; ++i) {
    std::array<std::size_t, many> items{};
    std::iota(items.begin(), items.end(), 0);
    stream.shuffle(std::span<std::size_t>(items));
    ++first[items.front()];
    ++last[items.back()];
  }
  expect_no_alarm({{"first", chi_square_p(first)}, {"last", chi_square_p(last)}});

  std::vector<int> none;
  stream.shuffle(std::span<int>(none));
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace rehmc::random_law_test
