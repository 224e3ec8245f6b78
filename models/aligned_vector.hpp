// A vector of doubles that starts on a cache line, so that no vector load straddles two.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rehmc {

/// The model's constants; the padding after the last one is zero.
class AlignedVector {
 public:
  explicit AlignedVector(std::size_t size = 0)
      : size_(size), lines_((size + line_size - 1) / line_size) {}

  std::size_t size() const { return size_; }
  double* data() { return lines_.empty() ? nullptr : lines_.front().values; }
  const double* data() const { return lines_.empty() ? nullptr : lines_.front().values; }
  double& operator[](std::size_t i) { return data()[i]; }
  double operator[](std::size_t i) const { return data()[i]; }
  operator std::span<double>() { return {data(), size_}; }
  operator std::span<const double>() const { return {data(), size_}; }

 private:
  static constexpr std::size_t line_size = 8;
  struct alignas(64) Line {
    double values[line_size] = {};
  };

  std::size_t size_;
  std::vector<Line> lines_;
};

}  // namespace rehmc
