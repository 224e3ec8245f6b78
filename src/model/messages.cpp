// Sorts lines into kinds.
#include "rehmc/model/messages.hpp"

#include <utility>

namespace rehmc {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The line without its numbers, by which its kind is known.
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

void ModelMessages::clear() {
  const std::lock_guard lock(mutex_);
  kinds_.clear();
  places_.clear();
  others_ = 0;
}

ModelMessages& model_messages() {
  static ModelMessages messages;
  return messages;
}

}  // namespace rehmc
