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

namespace rehmc::stan {
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

TEST(StartCheck, LetsRightGradientsPass) {
  std::vector<std::string> notes;
  check_interpreter(BridgeDensity(bridges / "bridge_good.so", ""), "p.stan",
                    [&](const std::string& note) { notes.push_back(note); });
  EXPECT_TRUE(notes.empty());
}

TEST(StartCheck, ReportsIfTheModelIsTooSlowToBeChecked) {
  std::vector<std::string> notes;
  check_interpreter(BridgeDensity(bridges / "bridge_liar.so", "{\"slow\": 1}"), "p.stan",
                    [&](const std::string& note) { notes.push_back(note); });
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("p.stan: one gradient takes"), std::string::npos) << notes[0];
  EXPECT_NE(notes[0].find("rehmc check-gradient p.stan"), std::string::npos) << notes[0];
}

}  // namespace
}  // namespace rehmc::stan
