// What a model throws to end the run.
#pragma once

namespace rehmc {

/// Thrown by a model, it ends the run and reaches the caller of sample() as it is. Any other
/// exception is a fault of the point at which the model was called. It is no std::exception, so
/// that code that handles those lets it pass. To carry a cause, derive from it.
class Abort {
 public:
  Abort() = default;
  Abort(const Abort&) = default;
  Abort& operator=(const Abort&) = default;
  virtual ~Abort() = default;
};

}  // namespace rehmc
