// Every piece of every section is on the agenda.
#include "experiments/agenda.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace rehmc::experiments::agenda_test {
namespace {

struct Part {
  std::string section;
  std::vector<std::string> pieces;
};

/// The pieces of a section, or of a study, at scale smoke (tests/cli/paper_test.py checks that they
/// are made).
std::vector<Part> parts() {
  const std::vector<std::string> cases{"gaussian", "logistic", "volatility", "cox"};
  std::vector<Part> all;
  const auto add = [](Part& part, const std::string& study, int groups) {
    for (int g = 0; g < groups; ++g) part.pieces.push_back(study + "-" + std::to_string(g));
  };
  const auto lay_foundation = [&](Part& part, const std::string& name) {
    part.pieces.push_back(name + "-preparation");
    if (name != "gaussian") add(part, name + "-truth", 8);
  };
  Part overhead{"overhead", {}};
  for (const std::string& name : cases) {
    lay_foundation(overhead, name);
    overhead.pieces.push_back(name + "-overhead");
    Part& studies = all.emplace_back(Part{name, {}});
    lay_foundation(studies, name);
    for (const char* kernel : {"-hmc", "-nuts-slice", "-nuts"}) add(studies, name + kernel, 10);
    if (name == "gaussian")
      add(studies, "gaussian-hmc-251", 10), add(studies, "gaussian-hmc-near", 10);
    if (name == "logistic")
      add(studies, "logistic-hmc-9", 10), add(studies, "logistic-hmc-norm", 10);
    if (name == "volatility") {
      add(studies, "volatility-hmc-90", 5);
      add(studies, "volatility-hmc-norm", 5);
    }
    if (name == "cox") add(studies, "cox-hmc-small", 10);
  }
  Part& one = all.emplace_back(Part{"cox-hmc-small", {}});
  lay_foundation(one, "cox");
  add(one, "cox-hmc-small", 10);
  all.push_back(overhead);
  all.push_back({"trajectory", {}});
  for (const auto& [section, study, groups] :
       {std::tuple{"tuning", "gaussian-tuning", 5}, {"gradients", "gaussian-sharpening", 4}}) {
    Part& part = all.emplace_back(Part{section, {"gaussian-preparation"}});
    add(part, study, groups);
  }
  return all;
}

TEST(Agenda, IsDoneWithTheLastPieceOfEverySection) {
  for (const Part& part : parts()) {
    Agenda agenda(Scale::smoke, {part.section});
    double before = part.pieces.empty() ? 0 : agenda.done();
    for (const std::string& piece : part.pieces) {
      EXPECT_LT(before, 1 - 1e-9) << piece;
      agenda.finish(piece);
      EXPECT_GT(agenda.done(), before) << piece;
      before = agenda.done();
    }
    EXPECT_NEAR(agenda.done(), 1, 1e-9) << part.section;
  }
}

}  // namespace
}  // namespace rehmc::experiments::agenda_test
