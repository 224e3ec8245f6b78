// Looks kernels up in their table.
#include "rehmc/kernel/kernel_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "makers.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/suggest.hpp"

namespace rehmc {

namespace {

struct Row {
  KernelKind kind;
  std::string_view name;
  KernelMaker make;
  KernelTraits traits;
};

#define REHMC_KERNEL_ROW(kind, name, make, ...) \
  Row{KernelKind::kind, name, make, KernelTraits{__VA_ARGS__}},
constexpr std::array table{REHMC_KERNELS(REHMC_KERNEL_ROW)};
#undef REHMC_KERNEL_ROW

const Row& find(KernelKind kind) {
  for (const Row& row : table) {
    if (row.kind == kind) return row;
  }
  throw ConfigError(fmt::format("kernel: unknown kind {}", static_cast<int>(kind)));
}

template <class Wanted>
std::string names_of(Wanted&& wanted) {
  std::vector<std::string_view> names;
  for (const Row& row : table) {
    if (wanted(row)) names.push_back(row.name);
  }
  const std::string_view last = names.back();
  names.pop_back();
  return names.empty() ? std::string(last) : fmt::format("{} or {}", fmt::join(names, ", "), last);
}

}  // namespace

KernelMaker maker(KernelKind kind) { return find(kind).make; }

const KernelTraits& traits(KernelKind kind) { return find(kind).traits; }

KernelKind first_kernel(TrajectoryShape shape) {
  return std::ranges::find(table, shape, [](const Row& row) { return row.traits.shape; })->kind;
}

std::string_view describe(KernelKind kind) noexcept {
  for (const Row& row : table) {
    if (row.kind == kind) return row.name;
  }
  return "unknown";
}

std::optional<KernelKind> find_kernel(std::string_view name) noexcept {
  for (const Row& row : table) {
    if (row.name == name) return row.kind;
  }
  return std::nullopt;
}

KernelKind parse_kernel(std::string_view name) {
  if (const auto kind = find_kernel(name)) return *kind;
  std::string known;
  std::vector<std::string> names;
  for (const Row& row : table) {
    known += (known.empty() ? "" : ", ") + std::string(row.name);
    names.emplace_back(row.name);
  }
  throw ConfigError(fmt::format("kernel: found '{}', expected one of {}{}", name, known,
                                did_you_mean(name, names)));
}

std::string kernel_names() {
  return names_of([](const Row&) { return true; });
}

std::string kernel_names(bool KernelTraits::*trait) {
  return names_of([trait](const Row& row) { return row.traits.*trait; });
}

}  // namespace rehmc
