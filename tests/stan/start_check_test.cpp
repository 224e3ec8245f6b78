// The check of the interpreter before sampling: it finds wrong derivatives, or reports a skip.
#include "stan/start_check.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "rehmc/core/error.hpp"
#include "stan/model.hpp"
#include "stan/toolchain.hpp"

namespace rehmc::stan::start_check_test {
namespace {

namespace files = std::filesystem;

const files::path bridges = REHMC_TEST_BRIDGES;

/// During its lifetime, the cache folder is an empty one.
class OtherCache {
 public:
  OtherCache()
      : folder_(files::temp_directory_path() / ("rehmc-start-check-" + std::to_string(getpid()))) {
    files::create_directories(folder_);
    if (const char* const found = std::getenv("XDG_CACHE_HOME")) before_ = found;
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  ~OtherCache() {
    before_.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", before_.c_str(), 1);
    files::remove_all(folder_);
  }
  OtherCache(const OtherCache&) = delete;
  OtherCache& operator=(const OtherCache&) = delete;
  const files::path& folder() const { return folder_; }

 private:
  files::path folder_;
  std::string before_;
};

void expect_wrong(const std::string& message) {
  for (const char* part : {"p.stan: the interpreter's gradient is wrong", "with respect to lying",
                           "--stan-backend compile"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

TEST(StartCheck, EndsARunWhoseInterpreterIsWrong) {
  const OtherCache cache;
  const files::path installed = status(Part::interpreter).folder;
  const files::path library = installed / pin(Part::interpreter).needed.front();
  files::create_directories(library.parent_path());
  files::copy_file(bridges / "bridge_liar.so", library);
  std::ofstream(installed / "installed.json") << "{}";
  const files::path program = cache.folder() / "p.stan";
  std::ofstream(program) << "parameters { real honest; real lying; } model { }";
  try {
    make_file_model(program, "", "", {});
    FAIL() << "a wrong gradient was taken";
  } catch (const ModelError& error) {
    expect_wrong(error.what());
  }
}

/// The notes of a check with some data, or what it throws.
std::vector<std::string> check(const std::string& library, const std::string& data) {
  std::vector<std::string> notes;
  check_interpreter(BridgeDensity(bridges / library, data), "p.stan", "p.json",
                    [&](const std::string& note) { notes.push_back(note); });
  return notes;
}

TEST(StartCheck, LetsRightGradientsPass) { EXPECT_TRUE(check("bridge_good.so", "").empty()); }

// What is checked does not depend on the time a gradient takes, which a busy machine prolongs.
TEST(StartCheck, FindsAWrongGradientOfASlowOrLargeModel) {
  for (const char* data : {"{}", "{\"slow\": 1}", "{\"large\": 1}"}) {
    try {
      check("bridge_liar.so", data);
      ADD_FAILURE() << "a wrong gradient was taken: " << data;
    } catch (const ModelError& error) {
      expect_wrong(error.what());
    }
  }
}

TEST(StartCheck, ReportsThatNoPointCouldBeUsed) {
  const auto notes = check("bridge_liar.so", "{\"unusable\": 1}");
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("at any of 30 random points"), std::string::npos) << notes[0];
  EXPECT_NE(notes[0].find("`rehmc check-gradient p.stan --data p.json`"), std::string::npos)
      << notes[0];
}

}  // namespace
}  // namespace rehmc::stan::start_check_test
