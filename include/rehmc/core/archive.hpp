// Converts values to bytes and back, for checkpoints and stored draws.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rehmc/core/error.hpp"

namespace rehmc {

/// Numbers and enums are stored as they are in memory (little-endian on all supported machines); so
/// are structs of them that declare `using stored_as_bytes = void`.
template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T> ||
    (std::is_trivially_copyable_v<T>&& requires { typename T::stored_as_bytes; });

/// Appends values to a string of bytes. A class that has `template <class A> void archive(A& a)`,
/// which calls `a(member, ...)`, is stored by it.
class ArchiveWriter {
 public:
  template <class... Values>
  void operator()(const Values&... values) {
    (write(values), ...);
  }
  /// Numbers whose count the reader knows.
  void numbers(std::span<const double> values) { raw(values.data(), values.size_bytes()); }
  void numbers(std::span<const float> values) { raw(values.data(), values.size_bytes()); }
  const std::string& bytes() const { return bytes_; }
  std::string take() && { return std::move(bytes_); }
  /// Reserves memory for this many bytes, because growing step by step would hold them twice.
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  void clear() { bytes_.clear(); }

 private:
  template <Plain T>
  void write(const T& value) {
    raw(&value, sizeof value);
  }
  template <class T>
  void write(const std::vector<T>& values) {
    write(static_cast<std::uint64_t>(values.size()));
    if constexpr (Plain<T>) {
      raw(values.data(), values.size() * sizeof(T));
    } else {
      for (const T& value : values) write(value);
    }
  }
  void write(const std::string& text) {
    write(static_cast<std::uint64_t>(text.size()));
    raw(text.data(), text.size());
  }
  template <class T, std::size_t n>
  void write(const std::array<T, n>& values) {
    for (const T& value : values) write(value);
  }
  template <class T>
  void write(const std::optional<T>& value) {
    write(value.has_value());
    if (value) write(*value);
  }
  template <class T>
  requires requires(T& value, ArchiveWriter& a) { value.archive(a); }
  void write(const T& value) {
    // The same function stores and restores, so it cannot be const; storing changes nothing.
    const_cast<T&>(value).archive(*this);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
  void raw(const void* data, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(data), size);
  }

  std::string bytes_;
};

/// Reads what an ArchiveWriter wrote; DataError if the bytes end too early.
class ArchiveReader {
 public:
  /// The bytes must outlive the reader.
  explicit ArchiveReader(std::string_view bytes) : bytes_(bytes) {}

  template <class... Values>
  void operator()(Values&... values) {
    (read(values), ...);
  }
  template <class T>
  T get() {
    T value{};
    read(value);
    return value;
  }
  /// Appends this many numbers.
  template <class Number>
  void numbers(std::size_t count, std::vector<Number>& to) {
    if (count > bytes_.size() / sizeof(Number)) end_too_early();
    const std::size_t before = to.size();
    to.resize(before + count);
    raw(to.data() + before, count * sizeof(Number));
  }
  /// Bytes that are left.
  std::size_t left() const { return bytes_.size(); }

 private:
  template <Plain T>
  requires(!std::is_enum_v<T>) void read(T& value) { raw(&value, sizeof value); }
  /// Other bytes than those of false and true would be undefined behaviour.
  void read(bool& value) { value = one_of(get<unsigned char>(), 1) != 0; }
  /// Nobody expects other values than those that the enumeration lists, from 0 to greatest().
  template <class T>
  requires std::is_enum_v<T>
  void read(T& value) {
    using Number = std::underlying_type_t<T>;
    value = static_cast<T>(one_of(get<Number>(), static_cast<Number>(greatest(T{}))));
  }
  template <class T>
  void read(std::vector<T>& values) {
    values.resize(size_of(Plain<T> ? sizeof(T) : 1));
    if constexpr (Plain<T>) {
      static_assert(!std::is_enum_v<T> && !std::is_same_v<T, bool>, "these are read one by one");
      raw(values.data(), values.size() * sizeof(T));
    } else {
      for (T& value : values) read(value);
    }
  }
  void read(std::string& text) {
    text.resize(size_of(1));
    raw(text.data(), text.size());
  }
  template <class T, std::size_t n>
  void read(std::array<T, n>& values) {
    for (T& value : values) read(value);
  }
  template <class T>
  void read(std::optional<T>& value) {
    value.reset();
    if (get<bool>()) read(value.emplace());
  }
  template <class T>
  requires requires(T& value, ArchiveReader& a) { value.archive(a); }
  void read(T& value) { value.archive(*this); }

  /// A count of items of at least this many bytes each; never more than can fit into what is left.
  std::size_t size_of(std::size_t least_bytes) {
    const auto count = get<std::uint64_t>();
    if (count > bytes_.size() / least_bytes) end_too_early();
    return static_cast<std::size_t>(count);
  }
  void raw(void* data, std::size_t size) {
    if (size > bytes_.size()) end_too_early();
    if (size > 0) std::memcpy(data, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  template <class Number>
  static Number one_of(Number value, std::type_identity_t<Number> greatest) {
    if (std::cmp_less(value, 0) || value > greatest) {
      throw DataError("a stored value is none of those that it can have");
    }
    return value;
  }
  [[noreturn]] static void end_too_early() { throw DataError("stored values end too early"); }

  std::string_view bytes_;
};

}  // namespace rehmc
