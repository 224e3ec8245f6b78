// The table of kernels: one row per kernel, with everything that distinguishes it from the others.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace rehmc {

/// How the states of a trajectory are reached.
enum class TrajectoryShape {
  path,  ///< steps in one direction
  tree,  ///< doublings in random directions
};

/// Which group of KernelSettings a kernel reads.
enum class SettingsGroup {
  nuts,
  hmc,
  own,  ///< none: a registered kernel has what it was registered with
};

/// What other code may ask about a kernel, instead of testing for its kind.
struct KernelTraits {
  TrajectoryShape shape;
  SettingsGroup settings;
  /// All states that may be chosen weigh the same, as on a slice.
  bool equal_weights = false;
  /// A state is drawn from every subtree while the trajectory grows, which `spread` then uses.
  bool selects_while_growing = false;
  /// Each step is accepted or rejected by itself, so that accept_each and stride are possible.
  bool accepts_each_step = false;
  /// Part of the momentum may be kept from draw to draw: HmcSettings::momentum_kept.
  bool keeps_momentum = false;
  /// The path begins and ends with a window of states: HmcSettings::window.
  bool has_windows = false;
};

/// One row per kernel: its name in code, its name for users, the function that makes it (declared
/// by this table, defined in src/kernel), and its traits. A new kernel is one file and one row.
// clang-format off
#define REHMC_KERNELS(row)                                                                         \
  /* multinomial NUTS, as current Stan runs it */                                                  \
  row(nuts, "nuts", make_multinomial_nuts,                                                         \
      .shape = TrajectoryShape::tree, .settings = SettingsGroup::nuts,                             \
      .selects_while_growing = true)                                                               \
  /* slice NUTS of Hoffman & Gelman (2014) */                                                      \
  row(nuts_slice, "nuts-slice", make_slice_nuts,                                                   \
      .shape = TrajectoryShape::tree, .settings = SettingsGroup::nuts,                             \
      .equal_weights = true, .selects_while_growing = true)                                        \
  /* HMC with paths of fixed or random length */                                                   \
  row(hmc, "hmc", make_path_hmc,                                                                   \
      .shape = TrajectoryShape::path, .settings = SettingsGroup::hmc,                              \
      .accepts_each_step = true, .keeps_momentum = true)                                           \
  /* paths that begin at a random place within themselves: Calderhead (2014), Bernton et al.       \
     (2015) */                                                                                     \
  row(symmetric, "symmetric", make_symmetric,                                                      \
      .shape = TrajectoryShape::path, .settings = SettingsGroup::hmc)                              \
  /* paths from one window of states to another: Neal (1994) */                                    \
  row(windows, "windows", make_windows,                                                            \
      .shape = TrajectoryShape::path, .settings = SettingsGroup::hmc, .has_windows = true)
// clang-format on

#define REHMC_KERNEL_NAME(name, ...) name,
enum class KernelKind { REHMC_KERNELS(REHMC_KERNEL_NAME) };
#undef REHMC_KERNEL_NAME

#define REHMC_KERNEL_KIND(name, ...) KernelKind::name,
constexpr KernelKind greatest(KernelKind /*of*/) {
  return std::max({REHMC_KERNELS(REHMC_KERNEL_KIND) KernelKind{}});
}
#undef REHMC_KERNEL_KIND

/// The traits of a kernel. ConfigError for an unknown kind.
const KernelTraits& traits(KernelKind kind);

/// The first kernel of this shape in the table.
KernelKind first_kernel(TrajectoryShape shape);

/// The name users give a kernel.
std::string_view describe(KernelKind kind) noexcept;
/// The kernel of this name, if there is one.
std::optional<KernelKind> find_kernel(std::string_view name) noexcept;
/// The kernel of this name. ConfigError lists the names there are.
KernelKind parse_kernel(std::string_view name);
/// The names there are: "nuts, nuts-slice or hmc".
std::string kernel_names();
/// The names of the kernels with this trait, likewise.
std::string kernel_names(bool KernelTraits::*trait);

}  // namespace rehmc
