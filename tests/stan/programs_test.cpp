// The preparation of Stan programs: data, includes, the cache, other programs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "rehmc/core/error.hpp"
#include "rehmc/core/files.hpp"
#include "stan/cache.hpp"
#include "stan/data.hpp"
#include "stan/process.hpp"
#include "stan/program.hpp"

namespace rehmc::stan::programs_test {
namespace {

namespace files = std::filesystem;

/// An empty folder for one test.
class Programs : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        files::temp_directory_path() /
        (std::string("rehmc-") + testing::UnitTest::GetInstance()->current_test_info()->name() +
         "-" + std::to_string(::getpid()));
    files::remove_all(folder_);
    files::create_directories(folder_);
  }
  void TearDown() override { files::remove_all(folder_); }
  files::path write(const std::string& name, const std::string& text) const {
    files::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  files::path folder_;
};

bool always(const files::path&) { return true; }

template <class F>
std::string message(const F& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Data, BareNaNAndInfinityAreQuoted) {
  EXPECT_EQ(strict_json(R"({"a": NaN, "b": [-Infinity, Infinity, 1], "c": -Inf})", "f"),
            R"({"a": "NaN", "b": ["-Infinity", "Infinity", 1], "c": "-Inf"})");
  const std::string strict = R"({"NaN": "a \"NaN, Infinity", "x": -1e3, "n": null})";
  EXPECT_EQ(strict_json(strict, "f"), strict);
}

TEST(Data, ReportsWhereItIsNotJson) {
  EXPECT_NE(message([] { strict_json("{\"a\": }", "d.json"); }).find("d.json: is not JSON"),
            std::string::npos);
  EXPECT_NE(message([] { strict_json("[1]", "d.json"); }).find("contains no object"),
            std::string::npos);
  EXPECT_NE(message([] { strict_json("", "d.json"); }).find("is not JSON"), std::string::npos);
}

TEST(Data, TakesOneMoreKey) {
  EXPECT_EQ(with_key(" { } ", "k", "1"), " {\"k\":1 } ");
  EXPECT_EQ(with_key("{\"a\": 2}", "k", "1"), "{\"k\":1,\"a\": 2}");
}

TEST_F(Programs, IncludeFilesInTheOrderOfFolders) {
  write("a/part.stan", "from a\n");
  write("b/part.stan", "from b\n#include deeper.stan");
  write("b/deeper.stan", "deep");
  const files::path file = write("p.stan",
                                 "first\n  #include <part.stan>\n/* a comment\n#include part.stan\n"
                                 "*/ last // /* no comment\n#include \"deeper.stan\"\n");
  const Program program = read_program(file, {folder_ / "b", folder_ / "a"});
  EXPECT_EQ(program.name, "p");
  EXPECT_EQ(program.whole,
            "first\nfrom b\ndeep\n/* a comment\n#include part.stan\n*/ last // /* no "
            "comment\ndeep\n");
  EXPECT_EQ(program.include_paths.back(), folder_.string());
}

TEST(Program, GeneratedQuantitiesAreCutOff) {
  const std::string rest =
      "// generated quantities {\n/* generated */ data { real generated; }\n"
      "model { print(\"} generated {\"); generated ~ normal(0, 1); }\n";
  EXPECT_EQ(without_generated(rest + "generated /* and */ quantities { real z = 1; }\n"), rest);
  EXPECT_EQ(without_generated(rest), rest);
}

TEST_F(Programs, CircularIncludesEnd) {
  write("a.stan", "#include b.stan\n");
  write("b.stan", "#include a.stan\n");
  EXPECT_NO_THROW(read_program(folder_ / "a.stan", {}));
}

TEST_F(Programs, MustBeText) {
  for (const std::string bytes :
       {"\xff", "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80"}) {
    const files::path file = write("p.stan", "// first\n// " + bytes + "\n");
    EXPECT_NE(message([&] { read_program(file, {}); }).find("line 2 is not text in UTF-8"),
              std::string::npos);
  }
  EXPECT_NO_THROW(read_program(write("p.stan", "// \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\n"), {}));
  EXPECT_THROW(read_program(write("p.stan", std::string("a\0b", 3)), {}), DataError);
}

TEST_F(Programs, CacheHoldsCompleteFoldersOnly) {
  const files::path target = folder_ / "cache" / "thing";
  EXPECT_THROW(make_cached(target, always,
                           [](const files::path& unfinished) {
                             std::ofstream(unfinished / "half") << "half";
                             throw std::runtime_error("the disk is full");
                           }),
               std::runtime_error);
  EXPECT_FALSE(files::exists(target));
  // What a killed process left there does not matter.
  write("cache/.thing.unfinished/half", "half");
  make_cached(target, always,
              [](const files::path& unfinished) { std::ofstream(unfinished / "whole") << "w"; });
  EXPECT_TRUE(files::exists(target / "whole"));
  EXPECT_FALSE(files::exists(target / "half"));
}

TEST_F(Programs, CacheIsFilledByOneAtATime) {
  const files::path target = folder_ / "cache" / "thing";
  write("cache/thing/damaged", "");
  const auto is_whole = [](const files::path& folder) { return files::exists(folder / "whole"); };
  std::atomic<int> fills{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&] {
      make_cached(target, is_whole, [&](const files::path& unfinished) {
        ++fills;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        std::ofstream(unfinished / "whole") << "w";
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fills, 1);
  EXPECT_TRUE(files::exists(target / "whole"));
  EXPECT_FALSE(files::exists(target / "damaged"));
}

TEST_F(Programs, CacheThatCannotBeWrittenIsNamed) {
  const files::path file = write("file", "");
  const std::string told =
      message([&] { make_cached(file / "thing", always, [](const files::path&) {}); });
  EXPECT_NE(told.find("cannot create the cache folder"), std::string::npos) << told;
  EXPECT_NE(told.find("XDG_CACHE_HOME"), std::string::npos) << told;
}

TEST(Process, GivesOutputAndCode) {
  const ProgramResult result = run_program({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}).code, 128 + 9);
  EXPECT_THROW(run_program({"no-such-program-anywhere"}), NoInputError);
  EXPECT_FALSE(find_program("sh").empty());
  EXPECT_TRUE(find_program("no-such-program-anywhere").empty());
}

}  // namespace
}  // namespace rehmc::stan::programs_test
