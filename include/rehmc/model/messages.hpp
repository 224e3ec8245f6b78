// What models print while they run, and why they reject: lines, counted by kind.
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

/// Collects lines by kind: lines that differ only in their numbers are of one kind. Threads may
/// share it. Every model has one, which may be shared with others.
class ModelMessages {
 public:
  struct Kind {
    std::string first;  ///< the first line of this kind
    std::uint64_t count = 0;
  };
  /// Is called with every line, one at a time, in the thread of the model that printed it.
  using Listener = std::function<void(const std::string& line)>;

  void add(std::string_view line);
  /// In the order in which they first appeared; at most `most_kinds` of them.
  std::vector<Kind> kinds() const;
  /// Lines of further kinds.
  std::uint64_t others() const;
  void listen(Listener listener);
  /// From now on lines are lost, until whoever muted it takes that back.
  void mute(bool muted);

  static constexpr std::size_t most_kinds = 100;

 private:
  mutable std::mutex mutex_;
  std::vector<Kind> kinds_;
  std::map<std::string, std::size_t, std::less<>> places_;
  std::uint64_t others_ = 0;
  int muted_ = 0;  ///< how many have muted it
  Listener listener_;
};

/// While it lives, these messages take no lines: for points that are only tried out.
class MutedMessages {
 public:
  explicit MutedMessages(ModelMessages& messages) : messages_(messages) { messages_.mute(true); }
  ~MutedMessages() { messages_.mute(false); }
  MutedMessages(const MutedMessages&) = delete;
  MutedMessages& operator=(const MutedMessages&) = delete;

 private:
  ModelMessages& messages_;
};

/// While it lives, what a library prints in this thread goes to these messages, line by line.
///
/// The print function of a shared library gets the text and nothing else, so it cannot know which
/// model speaks. But a model prints only while it is called, in the thread that calls it: so each
/// call has a receiver, and the print function looks for that of its thread. A fiber never changes
/// in the middle of a call.
class MessageReceiver {
 public:
  explicit MessageReceiver(ModelMessages& messages);
  /// Adds what is left of a line that did not end.
  ~MessageReceiver();
  MessageReceiver(const MessageReceiver&) = delete;
  MessageReceiver& operator=(const MessageReceiver&) = delete;

  /// For the print function: text for the receiver of this thread. Without one, which happens only
  /// in threads that a library makes itself, it is lost.
  static void print(std::string_view text);

 private:
  void add(std::string_view text);

  ModelMessages& messages_;
  std::string waiting_;
  MessageReceiver* outer_;
};

}  // namespace rehmc
