// The errors that rehmc throws, each with its exit code (BSD sysexits, as in Stan).
#pragma once

#include <stdexcept>
#include <string>

namespace rehmc {

/// Exit codes of the command; the library only carries them.
enum class ExitCode : int {
  ok = 0,
  usage = 64,
  data = 65,
  no_input = 66,
  software = 70,
  system = 71,
  cannot_create = 73,
  input_output = 74,
  config = 78,
  interrupted = 130,
};

/// Base of every error that rehmc throws on purpose.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// A setting out of its range, or settings that contradict each other.
class ConfigError : public Error {
 public:
  explicit ConfigError(const std::string& message) : Error(ExitCode::config, message) {}
};

/// Data that a model or an estimator cannot use.
class DataError : public Error {
 public:
  explicit DataError(const std::string& message) : Error(ExitCode::data, message) {}
};

/// A file that does not exist or cannot be read.
class NoInputError : public Error {
 public:
  explicit NoInputError(const std::string& message) : Error(ExitCode::no_input, message) {}
};

/// A file or folder that cannot be created: it already exists, or its location is not writable.
class CreateError : public Error {
 public:
  explicit CreateError(const std::string& message) : Error(ExitCode::cannot_create, message) {}
};

/// A file that could not be written or read completely, for example because the disk is full.
class FileError : public Error {
 public:
  explicit FileError(const std::string& message) : Error(ExitCode::input_output, message) {}
};

/// Something that the system did not give: memory, threads.
class SystemError : public Error {
 public:
  explicit SystemError(const std::string& message) : Error(ExitCode::system, message) {}
};

/// A log density that cannot be sampled: no finite start, a gradient that was not written, ...
class ModelError : public Error {
 public:
  explicit ModelError(const std::string& message) : Error(ExitCode::software, message) {}
};

}  // namespace rehmc
