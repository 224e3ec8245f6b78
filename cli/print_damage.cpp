// Prints what damaged_files() finds.
#include "print_damage.hpp"

#include "print.hpp"
#include "rehmc/core/shell_word.hpp"
#include "rehmc/job/check_run.hpp"

namespace rehmc::cli {

void print_damage(const RunFolder& folder, const Manifest& manifest) {
  const std::vector<std::string> damaged = damaged_files(folder, manifest);
  for (const std::string& text : damaged) tell("Note: {}\n", text);
  if (damaged.empty()) return;
  tell("The result above does not depend on these files. All of them: rehmc check {}\n",
       shell_word(folder.path().string()));
}

}  // namespace rehmc::cli
