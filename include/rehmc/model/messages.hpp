// What models say while they run: the lines of print() and the reasons of rejections, counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace rehmc {

/// Collects lines by kind: lines that differ in their numbers alone are of one kind. Threads may
/// share it.
class ModelMessages {
 public:
  struct Kind {
    std::string first;  ///< the first line of this kind
    std::uint64_t count = 0;
  };
  /// Is called with every line, one at a time, by the thread that said it.
  using Listener = std::function<void(const std::string& line)>;

  void add(std::string_view line);
  /// In the order in which they first came; at most `most_kinds` of them.
  std::vector<Kind> kinds() const;
  /// Lines of further kinds.
  std::uint64_t others() const;
  void listen(Listener listener);
  /// From now on lines are lost, until whoever muted it takes that back.
  void mute(bool muted);
  /// Forgets all lines.
  void clear();

  static constexpr std::size_t most_kinds = 100;

 private:
  mutable std::mutex mutex_;
  std::vector<Kind> kinds_;
  std::map<std::string, std::size_t, std::less<>> places_;
  std::uint64_t others_ = 0;
  int muted_ = 0;  ///< how many want it so
  Listener listener_;
};

/// The one collection of this process: a shared library's print function knows no other place.
ModelMessages& model_messages();

/// While it lives, nobody hears what models say: at points that were only tried out, say.
class MutedMessages {
 public:
  MutedMessages() { model_messages().mute(true); }
  ~MutedMessages() { model_messages().mute(false); }
  MutedMessages(const MutedMessages&) = delete;
  MutedMessages& operator=(const MutedMessages&) = delete;
};

}  // namespace rehmc
