// Sorts lines into kinds, and finds the model that printed them.
#include "rehmc/model/messages.hpp"

#include <utility>

namespace rehmc {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The line without its numbers, which identifies its kind.
std::string without_numbers(std::string_view line) {
  std::string rest;
  bool in_number = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool digit_follows = i + 1 < line.size() && is_digit(line[i + 1]);
    const bool begins = is_digit(c) || ((c == '-' || c == '.') && digit_follows);
    const bool goes_on = in_number && (is_digit(c) || c == '.' || c == 'e' || c == '+' || c == '-');
    if (begins || goes_on) {
      if (!in_number) rest.push_back('#');
      in_number = true;
    } else {
      in_number = false;
      rest.push_back(c);
    }
  }
  return rest;
}

}  // namespace

void ModelMessages::add(std::string_view line) {
  std::string kind = without_numbers(line);
  const std::lock_guard lock(mutex_);
  if (muted_ > 0) return;
  const auto found = places_.find(kind);
  if (found != places_.end()) {
    ++kinds_[found->second].count;
  } else if (kinds_.size() < most_kinds) {
    places_.emplace(std::move(kind), kinds_.size());
    kinds_.push_back({std::string(line), 1});
  } else {
    ++others_;
  }
  if (listener_) listener_(std::string(line));
}

std::vector<ModelMessages::Kind> ModelMessages::kinds() const {
  const std::lock_guard lock(mutex_);
  return kinds_;
}

std::uint64_t ModelMessages::others() const {
  const std::lock_guard lock(mutex_);
  return others_;
}

void ModelMessages::listen(Listener listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

void ModelMessages::mute(bool muted) {
  const std::lock_guard lock(mutex_);
  muted_ += muted ? 1 : -1;
}

namespace {

thread_local MessageReceiver* receiver_of_thread = nullptr;

}  // namespace

MessageReceiver::MessageReceiver(ModelMessages& messages)
    : messages_(messages), outer_(std::exchange(receiver_of_thread, this)) {}

MessageReceiver::~MessageReceiver() {
  receiver_of_thread = outer_;
  if (!lines_.rest().empty()) messages_.add(lines_.rest());
}

bool MessageReceiver::print(std::string_view text) {
  MessageReceiver* const receiver = receiver_of_thread;
  if (receiver == nullptr) return false;
  receiver->lines_.add(text, [&](std::string_view line) { receiver->messages_.add(line); });
  return true;
}

void LibraryMessages::enter(ModelMessages& messages) {
  const std::lock_guard lock(mutex_);
  messages_.insert(&messages);
}

void LibraryMessages::leave(ModelMessages& messages) {
  const std::lock_guard lock(mutex_);
  for (const auto& [thread, lines] : lines_) add(lines.rest());
  lines_.clear();
  messages_.erase(messages_.find(&messages));
}

void LibraryMessages::print(std::string_view text) {
  if (MessageReceiver::print(text)) return;
  const std::lock_guard lock(mutex_);
  const auto lines = lines_.try_emplace(std::this_thread::get_id()).first;
  lines->second.add(text, [&](std::string_view line) { add(line); });
  if (lines->second.rest().empty()) lines_.erase(lines);
}

void LibraryMessages::add(std::string_view line) {
  for (auto at = messages_.begin(); at != messages_.end(); at = messages_.upper_bound(*at)) {
    (*at)->add(line);
  }
}

}  // namespace rehmc
