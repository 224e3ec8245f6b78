// Printing: nothing that is printed can command the terminal, and no failed write goes unnoticed.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace rehmc::cli {

/// To standard output and standard error, with control characters made visible: names come from
/// files. A write that fails is remembered, and the program goes on.
void write_output(std::string_view text);
void write_message(std::string_view text);
/// Our own control characters, to standard error.
void write_controls(std::string_view text);

template <class... Values>
void print(fmt::format_string<Values...> format, Values&&... values) {
  write_output(fmt::format(format, std::forward<Values>(values)...));
}

/// A message, as opposed to a result: to standard error.
template <class... Values>
void tell(fmt::format_string<Values...> format, Values&&... values) {
  write_message(fmt::format(format, std::forward<Values>(values)...));
}

/// What main() returns: the code, or that of a write error if something could not be printed.
int finish_printing(int code);

}  // namespace rehmc::cli
