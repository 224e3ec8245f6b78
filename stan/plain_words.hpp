// What Stan and its interpreter say about a program or its data, in the words of its users.
#pragma once

#include <string>

namespace rehmc::stan {

/// A message about data or parameters, without the vocabulary of the libraries that made it.
std::string plain_words(std::string message);

/// What of a program the interpreter does not support, as in "tuples"; empty if its message does
/// not tell in words.
std::string plain_refusal(std::string message);

}  // namespace rehmc::stan
