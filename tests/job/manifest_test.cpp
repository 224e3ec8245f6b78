// What a manifest tells of quantities comes back.
#include "rehmc/job/manifest.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/job/create_folder.hpp"

namespace rehmc {
namespace {

Manifest with_scaled_quantity(std::size_t multiplier) {
  Manifest manifest;
  manifest.version = version();
  manifest.created = utc_now();
  manifest.model = {"places", "none"};
  manifest.coordinates = {"mu", "sigma", "x"};
  manifest.quantities = {{"mu", 0U}, {"sigma", 1U}, {"x"}};
  manifest.quantities[1].map = CoordinateMap::exponential;
  manifest.quantities[2].scaled = {2, MappedCoordinate{0, CoordinateMap::identity},
                                   MappedCoordinate{multiplier, CoordinateMap::exponential}};
  return manifest;
}

class ManifestOfQuantities : public testing::Test {
 protected:
  ManifestOfQuantities() { std::filesystem::remove_all(folder_.path()); }
  ~ManifestOfQuantities() override { std::filesystem::remove_all(folder_.path()); }

  Manifest stored(const Manifest& manifest) {
    const RunLock lock = create_run_folder(folder_, true);
    write_manifest(folder_, manifest);
    return read_manifest(folder_);
  }

 private:
  RunFolder folder_{std::filesystem::temp_directory_path() / "manifest-of-quantities"};
};

TEST_F(ManifestOfQuantities, KeepsOffsetsAndMultipliers) {
  const std::vector<Quantity> read = stored(with_scaled_quantity(1)).quantities;
  ASSERT_EQ(read.size(), 3U);
  EXPECT_FALSE(read[0].scaled.has_value());
  ASSERT_TRUE(read[2].scaled.has_value());
  EXPECT_EQ(read[2].scaled->coordinate, 2U);
  EXPECT_EQ(read[2].scaled->offset, (MappedCoordinate{0, CoordinateMap::identity}));
  EXPECT_EQ(read[2].scaled->multiplier, (MappedCoordinate{1, CoordinateMap::exponential}));
  EXPECT_EQ(read[2].value_at(std::vector<double>{5, 0, 2}), 7);
}

TEST_F(ManifestOfQuantities, CoordinatesThatDoNotExistAreRefused) {
  EXPECT_THROW(stored(with_scaled_quantity(3)), DataError);
}

}  // namespace
}  // namespace rehmc
