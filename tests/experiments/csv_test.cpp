// Tables are read back as they were written; errors name the file and the cell.
#include "experiments/csv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "tests/model/messages.hpp"
#include "tests/output/folder.hpp"

namespace rehmc::experiments::csv_test {
namespace {

using rehmc::testing::expect_says;
using rehmc::testing::Folder;
using rehmc::testing::message_of;

Table read_text(const Folder& folder, const std::string& text) {
  std::ofstream(folder / "table.csv", std::ios::binary) << text;
  return Table::read(folder / "table.csv");
}

TEST(Csv, ComesBackAsItWasWritten) {
  const Folder folder;
  Table table({"case", "seed", "mean, sd", "remark"});
  const std::string remark = "says \"no\",\nthen <b>yes</b>\r";
  table.append({"gaussian", std::uint64_t{12345678901234567}, 1.0 / 3.0, remark});
  table.append({"", -3, 2e-17, ""});
  table.append({"cox", true, std::numeric_limits<double>::quiet_NaN(), "plain"});
  table.write(folder / "table.csv");

  const Table back = Table::read(folder / "table.csv");
  ASSERT_EQ(back.rows(), 3u);
  EXPECT_EQ(back.text(0, "seed"), "12345678901234567");
  EXPECT_EQ(back.text(0, "mean, sd"), "0.333333");
  EXPECT_EQ(back.text(0, "remark"), remark);
  EXPECT_EQ(back.text(1, "case"), "");
  EXPECT_EQ(back.number(1, "seed"), -3.0);
  EXPECT_EQ(back.number(1, "mean, sd"), 2e-17);
  EXPECT_TRUE(std::isnan(back.number(2, "mean, sd")));
  EXPECT_EQ(back.numbers("seed").size(), 3u);
}

TEST(Csv, KeepsPlainTextsPlain) {
  const Folder folder;
  Table table({"k", "log2"});
  table.append({1, 0.5});
  table.append({1000000, 123456.7});
  table.write(folder / "table.csv");
  EXPECT_EQ(read_file(folder / "table.csv"), "k,log2\n1,0.5\n1000000,123457\n");
}

TEST(Csv, TakesLineEndsOfOtherSystemsAndNoneAtTheEnd) {
  const Folder folder;
  const Table table = read_text(folder, "a,b\r\n1,\"x\"\r\n2,y");
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.text(0, "b"), "x");
  EXPECT_EQ(table.text(1, "b"), "y");
}

TEST(Csv, KeepsTheRowsThatOthersWrote) {
  const Folder folder;
  const std::filesystem::path file = folder / "table.csv";
  const auto merged = [&](Table table) {
    table.keep_others(file, {"case", "kernel"}, [](const Table& old, std::size_t row) {
      return old.text(row, "case") == "gone";
    });
    table.write(file);
    return read_file(file);
  };
  Table mine({"case", "kernel", "log2"});
  mine.append({"cox", "hmc", 1});
  mine.append({"cox", "hmc", 2});
  mine.append({"gone", "nuts", 3});
  // There is no such file yet.
  EXPECT_EQ(merged(mine), "case,kernel,log2\ncox,hmc,1\ncox,hmc,2\ngone,nuts,3\n");
  std::ofstream(file) << "case,kernel,log2\ncox,nuts,4\ncox,hmc,5\ngaussian,hmc,6\ncox,hmc,7\n"
                         "gone,hmc,8\n";
  EXPECT_EQ(merged(mine),
            "case,kernel,log2\ncox,nuts,4\ncox,hmc,1\ncox,hmc,2\ngaussian,hmc,6\ngone,nuts,3\n");
  expect_says(message_of<DataError>([&] {
                merged(Table({"case", "kernel"}));
              }),
              {"table.csv", "other columns"});
}

TEST(Csv, NamesFileRowAndColumn) {
  const Folder folder;
  const Table table = read_text(folder, "step_size,leapfrogs\n0.1,5\n0.2,many\n0.3,\n0.4,5x\n");
  for (const std::size_t row : {1, 2, 3}) {
    expect_says(message_of<DataError>([&] { table.number(row, "leapfrogs"); }),
                {"table.csv", "row " + std::to_string(row + 1), "leapfrogs"});
  }
  expect_says(message_of<DataError>([&] { table.numbers("leapfrogs"); }), {"row 2", "many"});
  expect_says(message_of<DataError>([&] { table.text(0, "leapfrog"); }),
              {"table.csv", "'leapfrog'", "did you mean 'leapfrogs'?"});
}

TEST(Csv, RefusesWhatIsNoTable) {
  const Folder folder;
  const auto fault = [&](const std::string& text) {
    return message_of<DataError>([&] { read_text(folder, text); });
  };
  // The quoted field goes over two lines, so the short row stands on the fourth.
  expect_says(fault("a,b\n\"1\n\",2\n3\n"), {"table.csv", "line 4", "1 fields", "2 columns"});
  expect_says(fault("a,b\n1,\"2\n"), {"line 2", "never closed"});
  expect_says(fault("a,b\n1,\"2\"x\n"), {"line 2", "closing quote"});
  expect_says(fault("a,a\n"), {"line 1", "two columns 'a'"});
  expect_says(fault(""), {"line 1", "without a name"});
  EXPECT_THROW(Table::read(folder / "none.csv"), NoInputError);
  EXPECT_THROW(Table({"a", "b"}).append({1}), std::logic_error);
}

}  // namespace
}  // namespace rehmc::experiments::csv_test
