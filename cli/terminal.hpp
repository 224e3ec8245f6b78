// What the terminal can do: its width, and whether the cursor may be moved.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rehmc::cli {

/// Columns for text: those of the terminal, else $COLUMNS, else 80.
std::size_t text_width();

/// Whether stderr is a terminal where lines can be drawn again; not with TERM=dumb.
bool can_redraw();

/// Breaks a paragraph into lines for people: only where standard output is a terminal, or COLUMNS
/// is set, because programs look for whole sentences. Lines but the first begin with the indent.
std::string wrapped(std::string_view text, std::size_t indent = 0);

}  // namespace rehmc::cli
