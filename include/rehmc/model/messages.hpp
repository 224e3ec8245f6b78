// What models print, and why they reject: lines, counted by kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
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
  /// Called with every line, one at a time, in the thread that printed it.
  using Listener = std::function<void(const std::string& line)>;

  void add(std::string_view line);
  /// In the order in which they first appeared; at most `most_kinds` of them.
  std::vector<Kind> kinds() const;
  /// Lines of further kinds.
  std::uint64_t others() const;
  void listen(Listener listener);
  /// Discards lines until it is unmuted.
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

/// Mutes these messages during its lifetime, for points that are only tried out.
class MutedMessages {
 public:
  explicit MutedMessages(ModelMessages& messages) : messages_(messages) { messages_.mute(true); }
  ~MutedMessages() { messages_.mute(false); }
  MutedMessages(const MutedMessages&) = delete;
  MutedMessages& operator=(const MutedMessages&) = delete;

 private:
  ModelMessages& messages_;
};

/// Splits text that comes in pieces into lines, without empty ones.
class LineSplitter {
 public:
  /// Calls `take(line)` for every line that this text ends.
  template <class Take>
  void add(std::string_view text, Take&& take) {
    waiting_ += text;
    std::size_t start = 0;
    for (std::size_t end = waiting_.find('\n'); end != std::string::npos;
         end = waiting_.find('\n', start)) {
      if (end > start) take(std::string_view(waiting_).substr(start, end - start));
      start = end + 1;
    }
    waiting_.erase(0, start);
  }
  /// The line that has not ended.
  const std::string& rest() const { return waiting_; }

 private:
  std::string waiting_;
};

/// During its lifetime, what a library prints in this thread goes to these messages, line by line.
///
/// The print function of a shared library only gets the text, so it cannot know which model printed
/// it. But a model prints only while it is called, mostly in the calling thread: so each call has a
/// receiver, and the print function uses the one of its thread. Fibers are never switched in the
/// middle of a call. For threads that a library starts itself, see LibraryMessages.
class MessageReceiver {
 public:
  explicit MessageReceiver(ModelMessages& messages);
  /// Adds the rest of an unfinished line.
  ~MessageReceiver();
  MessageReceiver(const MessageReceiver&) = delete;
  MessageReceiver& operator=(const MessageReceiver&) = delete;

  /// Passes text to the receiver of this thread; false if there is none.
  static bool print(std::string_view text);

 private:
  ModelMessages& messages_;
  LineSplitter lines_;
  MessageReceiver* outer_;
};

/// Receives the text that one library prints. A thread that the library starts itself, as a
/// parallel reduce_sum does, has no receiver, and any model of the library may have caused what it
/// prints: so its lines go to the messages of all its models. Threads may share it.
class LibraryMessages {
 public:
  /// Adds and removes the messages of a model. Models may share messages.
  void enter(ModelMessages& messages);
  /// Adds the rest of unfinished lines.
  void leave(ModelMessages& messages);
  /// For the print function: to the receiver of this thread, or else to all models.
  void print(std::string_view text);

 private:
  void add(std::string_view line);

  std::mutex mutex_;
  std::multiset<ModelMessages*> messages_;         ///< one entry per model
  std::map<std::thread::id, LineSplitter> lines_;  ///< of threads with an unfinished line
};

}  // namespace rehmc
