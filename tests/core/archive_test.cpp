// Values as bytes: what is written is read back, and nothing is read beyond the end.
#include "rehmc/core/archive.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace rehmc::archive_test {
namespace {

struct Pair {
  int first = 0;
  std::vector<double> second;
  template <class Archive>
  void archive(Archive& archive) {
    archive(first, second);
  }
  bool operator==(const Pair&) const = default;
};

enum class Colour : std::uint8_t { red, green };
constexpr Colour greatest(Colour /*of*/) { return Colour::green; }

struct Everything {
  double number = 0;
  bool flag = false;
  Colour colour = Colour::red;
  std::string text;
  std::vector<std::string> texts;
  std::array<std::uint64_t, 3> counts{};
  std::optional<int> some;
  std::optional<int> none = 7;
  std::vector<Pair> pairs;
  template <class Archive>
  void archive(Archive& archive) {
    archive(number, flag, colour, text, texts, counts, some, none, pairs);
  }
  bool operator==(const Everything&) const = default;
};

Everything sample_values() {
  Everything values;
  values.number = 0.1;
  values.flag = true;
  values.colour = Colour::green;
  values.text = std::string("a\0b", 3);
  values.texts = {"", "x", std::string(1000, 'y')};
  values.counts = {1, 2, std::numeric_limits<std::uint64_t>::max()};
  values.some = -5;
  values.none.reset();
  values.pairs = {{1, {1.5, -0.0, std::numeric_limits<double>::infinity()}}, {2, {}}};
  return values;
}

TEST(Archive, RestoresWhatItStored) {
  ArchiveWriter writer;
  writer(sample_values());
  ArchiveReader reader(writer.bytes());
  EXPECT_EQ(reader.get<Everything>(), sample_values());
  EXPECT_EQ(reader.left(), 0U);
}

TEST(Archive, KeepsTheBitsOfNumbers) {
  for (const double x : {std::nan(""), -0.0, 5e-324, 0.1 + 0.2}) {
    ArchiveWriter writer;
    writer(x);
    writer.numbers(std::array{x, x});
    ArchiveReader reader(writer.bytes());
    std::vector<double> values{reader.get<double>()};
    reader.numbers(2, values);
    for (const double value : values) {
      EXPECT_EQ(std::memcmp(&value, &x, sizeof x), 0);
    }
  }
}

// Cut anywhere, or with a count that is too large: an error, never a read past the end or a huge
// allocation.
TEST(Archive, NoticesThatBytesAreMissing) {
  ArchiveWriter writer;
  writer(sample_values());
  for (std::size_t size = 0; size < writer.bytes().size(); ++size) {
    ArchiveReader reader(std::string_view(writer.bytes()).substr(0, size));
    EXPECT_THROW(reader.get<Everything>(), DataError) << size;
  }
  ArchiveWriter huge;
  huge(std::numeric_limits<std::uint64_t>::max());
  ArchiveReader reader(huge.bytes());
  EXPECT_THROW(reader.get<std::vector<double>>(), DataError);
  ArchiveReader text(huge.bytes());
  EXPECT_THROW(text.get<std::string>(), DataError);
}

// Found by fuzzing: undefined behaviour, or a value that nobody expects.
TEST(Archive, RefusesValuesThatATypeDoesNotHave) {
  for (const int byte : {2, 63, 255}) {
    const std::string bytes(1, static_cast<char>(byte));
    EXPECT_THROW(ArchiveReader(bytes).get<bool>(), DataError) << byte;
    EXPECT_THROW(ArchiveReader(bytes).get<Colour>(), DataError) << byte;
  }
  EXPECT_EQ(ArchiveReader(std::string(1, '\1')).get<Colour>(), Colour::green);
}

}  // namespace
}  // namespace rehmc::archive_test
