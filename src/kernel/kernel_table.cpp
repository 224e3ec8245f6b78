// Looks kernels up: those of the table, and those that users registered.
#include "rehmc/kernel/kernel_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <mutex>
#include <vector>

#include "makers.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/core/suggest.hpp"
#include "rehmc/kernel/register_kernel.hpp"

namespace rehmc {

namespace {

/// All kernels in the order of their kinds. They never move.
class KnownKernels {
 public:
  KnownKernels() {
#define REHMC_KERNEL_ROW(kind, name, make, ...) \
  kernels_.push_back(NamedKernel{name, make, KernelTraits{__VA_ARGS__}});
    REHMC_KERNELS(REHMC_KERNEL_ROW)
#undef REHMC_KERNEL_ROW
  }

  KernelKind add(NamedKernel kernel) {
    const std::lock_guard lock(mutex_);
    kernels_.push_back(std::move(kernel));
    return static_cast<KernelKind>(kernels_.size() - 1);
  }
  const NamedKernel* find(KernelKind kind) {
    const std::lock_guard lock(mutex_);
    const auto place = static_cast<std::size_t>(kind);
    return place < kernels_.size() ? &kernels_[place] : nullptr;
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return kernels_.size();
  }

 private:
  std::mutex mutex_;
  std::deque<NamedKernel> kernels_;
};

KnownKernels& known() {
  static KnownKernels kernels;
  return kernels;
}

const NamedKernel& find(KernelKind kind) {
  if (const NamedKernel* kernel = known().find(kind)) return *kernel;
  throw ConfigError(fmt::format("kernel: unknown kind {}", static_cast<int>(kind)));
}

/// The first kernel that is wanted.
template <class Wanted>
std::optional<KernelKind> first_of(Wanted&& wanted) {
  for (std::size_t i = 0; i < known().count(); ++i) {
    const auto kind = static_cast<KernelKind>(i);
    if (wanted(find(kind))) return kind;
  }
  return std::nullopt;
}

template <class Wanted>
std::vector<std::string_view> names_of(Wanted&& wanted) {
  std::vector<std::string_view> names;
  first_of([&](const NamedKernel& kernel) {
    if (wanted(kernel)) names.push_back(kernel.name);
    return false;
  });
  return names;
}

std::string listed(std::vector<std::string_view> names) {
  const std::string_view last = names.back();
  names.pop_back();
  return names.empty() ? std::string(last) : fmt::format("{} or {}", fmt::join(names, ", "), last);
}

constexpr auto any = [](const NamedKernel&) { return true; };

}  // namespace

KernelMaker maker(KernelKind kind) { return find(kind).make; }

const KernelTraits& traits(KernelKind kind) { return find(kind).traits; }

KernelKind first_kernel(TrajectoryShape shape) {
  return *first_of([shape](const NamedKernel& kernel) { return kernel.traits.shape == shape; });
}

std::string_view describe(KernelKind kind) noexcept {
  const NamedKernel* kernel = known().find(kind);
  return kernel == nullptr ? "unknown" : std::string_view(kernel->name);
}

std::optional<KernelKind> find_kernel(std::string_view name) noexcept {
  return first_of([name](const NamedKernel& kernel) { return kernel.name == name; });
}

KernelKind parse_kernel(std::string_view name) {
  if (const auto kind = find_kernel(name)) return *kind;
  const auto all = names_of(any);
  const std::vector<std::string> names(all.begin(), all.end());
  throw ConfigError(fmt::format("kernel: found '{}', expected one of {}{}", name,
                                fmt::join(names, ", "), did_you_mean(name, names)));
}

std::string kernel_names() { return listed(names_of(any)); }

std::string kernel_names(bool KernelTraits::*trait) {
  return listed(names_of([trait](const NamedKernel& kernel) { return kernel.traits.*trait; }));
}

KernelKind register_kernel(NamedKernel kernel) {
  const auto allowed = [](char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0 ||
           std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-';
  };
  if (kernel.name.empty() || !std::ranges::all_of(kernel.name, allowed)) {
    throw ConfigError(fmt::format(
        "kernel: found the name '{}', expected lower-case letters, digits and '-'", kernel.name));
  }
  if (find_kernel(kernel.name)) {
    throw ConfigError(fmt::format("kernel: the name '{}' is taken", kernel.name));
  }
  return known().add(std::move(kernel));
}

}  // namespace rehmc
