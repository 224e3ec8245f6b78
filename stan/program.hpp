// A Stan program as it is read from its file, with what it includes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rehmc::stan {

struct Program {
  std::filesystem::path file;
  std::string name;                        ///< of the file, without .stan
  std::string code;                        ///< as it is in the file
  std::string whole;                       ///< with everything that it includes
  std::vector<std::string> include_paths;  ///< where the includes are searched, in order
};

/// Includes are searched in these folders, then in the program's own. NoInputError if the file does
/// not exist; DataError if it is not text in UTF-8.
Program read_program(const std::filesystem::path& file,
                     const std::vector<std::string>& include_paths);

/// The program of a run folder, which was stored with everything that it includes. DataError if it
/// still includes a file: it could be any file of whoever resumes the run.
Program read_stored_program(const std::filesystem::path& file);

/// Calls visit(position) for the characters of a program outside comments and strings, as long as
/// it returns true.
void visit_code(std::string_view code, const std::function<bool(std::size_t)>& visit);

/// The text of a program without its generated quantities, which come last; all of it if it has
/// none.
std::string without_generated(const std::string& code);

/// A program with the same parameters and an empty model: its log density is that of the Jacobian
/// of the constraints.
std::string only_parameters(const std::string& code);

/// Calls visit(position) for the characters from a position on that are outside comments and
/// strings, as long as it returns true.
void for_each_code(const std::string& code, std::size_t from,
                   const std::function<bool(std::size_t)>& visit);

}  // namespace rehmc::stan
