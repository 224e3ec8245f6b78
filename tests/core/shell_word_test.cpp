// Words of commands and visible text: what a shell and a terminal make of them.
#include "rehmc/core/shell_word.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>

namespace rehmc::shell_word_test {
namespace {

/// What a shell takes a word for.
std::string as_shell_reads(const std::string& word) {
  const std::string call = "printf %s " + word;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(call.c_str(), "r"), &pclose);
  std::string text;
  std::array<char, 256> block{};
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), pipe.get())) {
    text.append(block.data(), count);
  }
  return text;
}

TEST(ShellWord, IsOneWordForAShell) {
  for (const std::string text : {"run", "a/b-1.csv", "with space", "it's", "$(touch x)", "a\\b",
                                 "`x`", "a;b", "*", "~", "#", "\"quoted\"", "\xc3\xa4", "$HOME"}) {
    EXPECT_EQ(as_shell_reads(shell_word(text)), text) << shell_word(text);
  }
  EXPECT_EQ(shell_word("run-1"), "run-1");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(ShellWord, ShowsControlCharactersAndStillMeansThem) {
  for (const std::string text : {"\x1b[31m", "\xff", "it's \x07",
                                 "back\\slash\x01"
                                 "1",
                                 "\xc2\x9b"}) {
    const std::string word = shell_word(text);
    EXPECT_EQ(word, visible(word));
    EXPECT_EQ(word.substr(0, 2), "$'");
  }
  EXPECT_EQ(shell_word("a\x1b"
                       "1"),
            "$'a\\x1b1'");
  EXPECT_EQ(shell_word("\xff'"), "$'\\xff\\''");
}

TEST(Visible, LeavesTextAsItIs) {
  const std::string text = "a b\tc\n\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80";
  EXPECT_EQ(visible(text), text);
}

TEST(Visible, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(visible("\x1b[0m"), "\\u001b[0m");
  EXPECT_EQ(visible("\r\x7f\b"), "\\u000d\\u007f\\u0008");
  EXPECT_EQ(visible("\xc2\x9b"), "\\u009b");
  EXPECT_EQ(visible(std::string("\0", 1)), "\\u0000");
}

// Overlong forms, surrogates, too large values, and bytes that are missing or alone.
TEST(Visible, ShowsBytesThatAreNotText) {
  for (const std::string text : {"\xff", "\x9b", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                                 "\xf4\x90\x80\x80", "\xe2\x82", "\xf0\x9f\x98"}) {
    const std::string shown = visible(text);
    EXPECT_EQ(shown.size(), 4 * text.size()) << shown;
    EXPECT_EQ(shown.substr(0, 2), "\\x");
  }
}

}  // namespace
}  // namespace rehmc::shell_word_test
