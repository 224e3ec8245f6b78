// Reading and writing the choice of recycling.
#include "rehmc/recycle/recycling.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "rehmc/core/error.hpp"
#include "rehmc/core/settings.hpp"

namespace rehmc {

namespace {

struct Named {
  std::string_view name;
  RecyclingKind kind;
  bool counted;
};
constexpr std::array<Named, 7> names{{{"none", RecyclingKind::none, false},
                                      {"all", RecyclingKind::all, false},
                                      {"spread", RecyclingKind::spread, true},
                                      {"simple", RecyclingKind::simple, true},
                                      {"accept-each", RecyclingKind::accept_each, false},
                                      {"stride", RecyclingKind::stride, true},
                                      {"recursive", RecyclingKind::recursive, true}}};

const Named& entry(RecyclingKind kind) {
  for (const Named& named : names) {
    if (named.kind == kind) return named;
  }
  throw ConfigError(fmt::format("recycle: unknown kind {}", static_cast<int>(kind)));
}

}  // namespace

void Recycling::check() const {
  if (entry(kind).counted) {
    // The time of `simple` grows with K, whatever the number of states.
    const double most = kind == RecyclingKind::simple ? 1e4 : 1e6;
    require_setting("recycle count K", static_cast<double>(count), between(1, most));
  }
}

Recycling parse_recycling(std::string_view text) {
  const auto fail = [&](std::string_view why) -> ConfigError {
    return ConfigError(
        fmt::format("recycle: found '{}': {}; use none, all, K, spread:K, simple:K, recursive:K, "
                    "accept-each or "
                    "stride:K",
                    text, why));
  };
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto count_of = [&](std::string_view digits) {
    std::size_t count = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (error != std::errc{} || end != digits.data() + digits.size()) {
      throw fail("K must be a whole number");
    }
    return count;
  };
  Recycling recycling;
  if (colon == std::string_view::npos && !name.empty() &&
      name.find_first_not_of("0123456789") == std::string_view::npos) {
    recycling.count = count_of(name);
    recycling.check();
    return recycling;
  }
  for (const Named& named : names) {
    if (named.name != name) continue;
    recycling.kind = named.kind;
    if (named.counted) {
      if (colon == std::string_view::npos) throw fail("K is missing");
      recycling.count = count_of(text.substr(colon + 1));
    } else if (colon != std::string_view::npos) {
      throw fail("no K is used here");
    }
    recycling.check();
    return recycling;
  }
  throw fail("unknown choice");
}

std::string describe(const Recycling& recycling) {
  const Named& named = entry(recycling.kind);
  return named.counted ? fmt::format("{}:{}", named.name, recycling.count)
                       : std::string(named.name);
}

}  // namespace rehmc
