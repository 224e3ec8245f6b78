// Fibers by Boost.Context: scheduling, and the state that is swapped when fibers switch.
#include "fiber_batch.hpp"

#include <cxxabi.h>
#include <unistd.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstring>
#include <exception>
#include <utility>

#include "rehmc/core/abort.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace rehmc {

namespace {

namespace context = boost::context;

/// Reserved address space; only the pages that a fiber touches take memory. Eigen's products take
/// up to 128 KiB of stack each.
constexpr std::size_t stack_bytes = std::size_t{1} << 20;

/// Boost's own is compiled in a file that Debian's static library does not have for shared objects,
/// such as the module of Python.
struct StackTraits {
  static std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  static std::size_t default_size() { return stack_bytes; }
};
using ProtectedStack = context::basic_protected_fixedsize_stack<StackTraits>;

/// An allocator for a stack that is owned elsewhere.
struct KeptStack {
  void deallocate(context::stack_context&) const noexcept {}
};

/// The exceptions that a thread is currently handling (Itanium C++ ABI, section 2.2.2): they belong
/// to the fiber that handles them.
struct HandledExceptions {
  void* caught = nullptr;
  unsigned int uncaught = 0;

  void swap_with_thread() {
    void* const globals = abi::__cxa_get_globals();
    HandledExceptions of_thread;
    std::memcpy(&of_thread, globals, sizeof of_thread);
    std::memcpy(globals, this, sizeof *this);
    *this = of_thread;
  }
};

/// Informs sanitizers, if any, that the stack changes.
class StackSwitch {
 public:
  explicit StackSwitch([[maybe_unused]] const context::stack_context& stack) {
#if defined(__SANITIZE_ADDRESS__)
    bottom_ = static_cast<char*>(stack.sp) - stack.size;
    size_ = stack.size;
#endif
#if defined(__SANITIZE_THREAD__)
    fiber_ = __tsan_create_fiber(0);
#endif
  }
#if defined(__SANITIZE_THREAD__)
  ~StackSwitch() { __tsan_destroy_fiber(fiber_); }
#else
  ~StackSwitch() = default;
#endif
  StackSwitch(const StackSwitch&) = delete;
  StackSwitch& operator=(const StackSwitch&) = delete;

  // The scheduler is about to switch to the fiber; the scheduler is back.
  void leave_scheduler() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&scheduler_fake_stack_, bottom_, size_);
#endif
#if defined(__SANITIZE_THREAD__)
    scheduler_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber_, 0);
#endif
  }
  void reach_scheduler() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(scheduler_fake_stack_, nullptr, nullptr);
#endif
  }
  // The fiber has started; it is about to switch to the scheduler, for the last time if it has
  // ended.
  void reach_fiber() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fiber_fake_stack_, &scheduler_bottom_, &scheduler_size_);
#endif
  }
  void leave_fiber([[maybe_unused]] bool ended) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(ended ? nullptr : &fiber_fake_stack_, scheduler_bottom_,
                                   scheduler_size_);
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(scheduler_, 0);
#endif
  }

#if defined(__SANITIZE_ADDRESS__)
 private:
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
  const void* scheduler_bottom_ = nullptr;
  std::size_t scheduler_size_ = 0;
  void* scheduler_fake_stack_ = nullptr;
  void* fiber_fake_stack_ = nullptr;
#endif
#if defined(__SANITIZE_THREAD__)
 private:
  void* fiber_ = nullptr;
  void* scheduler_ = nullptr;
#endif
};

std::size_t stride_of(std::size_t dimension) {
  // One cache line more than needed, so that equal coordinates do not map to the same cache sets.
  constexpr std::size_t line = 8;
  return (dimension + line - 1) / line * line + line;
}

}  // namespace

FiberBatch::Columns::Columns(std::size_t dimension, std::size_t columns)
    : columns_(columns), stride_(stride_of(dimension)), values_(columns) {
  const std::size_t size = 2 * columns_ * stride_;
  data_.reset(static_cast<double*>(::operator new[](size * sizeof(double), std::align_val_t{64})));
  std::fill_n(data_.get(), size, 0.0);
}

Batch FiberBatch::Columns::part(std::size_t first, std::size_t columns) {
  return {columns, stride_, position(first), values_.data() + first, gradient(first)};
}

/// The answer to a fiber in addition to its column; it is on the fiber's stack while the fiber
/// waits.
struct FiberBatch::Request {
  std::exception_ptr error;
};

struct FiberBatch::Fiber {
  explicit Fiber(const context::stack_context& stack) : sanitizers(stack) {}

  context::fiber own;        ///< while the scheduler runs; empty once it has ended
  context::fiber scheduler;  ///< while this fiber runs
  HandledExceptions exceptions;
  StackSwitch sanitizers;
};

FiberBatch::Stack::Stack() : place_(ProtectedStack(stack_bytes).allocate()) {}

FiberBatch::Stack::~Stack() { ProtectedStack(stack_bytes).deallocate(place_); }

FiberBatch::FiberBatch(const Density& density, std::size_t fibers)
    : density_(density), stacks_(fibers), columns_(density.dimension(), fibers) {
  requests_.reserve(fibers);
}

FiberBatch::~FiberBatch() = default;

void FiberBatch::wake(Fiber& fiber) {
  running_ = &fiber;
  fiber.exceptions.swap_with_thread();
  fiber.sanitizers.leave_scheduler();
  fiber.own = std::move(fiber.own).resume();
  fiber.sanitizers.reach_scheduler();
  fiber.exceptions.swap_with_thread();
  running_ = nullptr;
}

void FiberBatch::wait(Fiber& fiber) {
  fiber.sanitizers.leave_fiber(false);
  fiber.scheduler = std::move(fiber.scheduler).resume();
  fiber.sanitizers.reach_fiber();
}

void FiberBatch::run(const std::function<void()>& body) {
  std::vector<std::unique_ptr<Fiber>> fibers;
  for (const Stack& each : stacks_) {
    const context::stack_context& stack = each.place();
    Fiber& fiber = *fibers.emplace_back(std::make_unique<Fiber>(stack));
    fiber.own =
        context::fiber(std::allocator_arg, context::preallocated(stack.sp, stack.size, stack),
                       KeptStack{}, [&fiber, &body](context::fiber&& scheduler) {
                         fiber.sanitizers.reach_fiber();
                         fiber.scheduler = std::move(scheduler);
                         body();
                         fiber.sanitizers.leave_fiber(true);
                         return std::move(fiber.scheduler);
                       });
  }
  while (!fibers.empty()) {
    // In the order of their columns, so that a fiber reads its answer before another overwrites it.
    for (const auto& fiber : fibers) wake(*fiber);
    std::erase_if(fibers, [](const auto& fiber) { return !fiber->own; });
    if (!fibers.empty()) answer();
  }
}

void FiberBatch::ask(std::size_t column, std::span<const double> x,
                     std::span<const double> gradient) {
  std::ranges::copy(x, columns_.position(column));
  // What the model does not write stays unchanged, so that the guard can detect it.
  std::ranges::copy(gradient, columns_.gradient(column));
}

double FiberBatch::evaluate(std::span<const double> x, std::span<double> gradient) {
  std::size_t column = 0;
  if (running_ == nullptr) {
    ask(column, x, gradient);
    density_.evaluate_batch(columns_.part(column, 1));
  } else {
    column = requests_.size();
    ask(column, x, gradient);
    Request request;
    requests_.push_back(&request);
    wait(*running_);
    if (request.error) std::rethrow_exception(request.error);
  }
  std::copy_n(columns_.gradient(column), gradient.size(), gradient.begin());
  return columns_.value(column);
}

void FiberBatch::answer() {
  try {
    density_.evaluate_batch(columns_.part(0, requests_.size()));
  } catch (const Abort&) {
    for (Request* request : requests_) request->error = std::current_exception();
  } catch (...) {
    // One by one, so that each fiber gets the error of its own column.
    for (std::size_t column = 0; column < requests_.size(); ++column) {
      try {
        density_.evaluate_batch(columns_.part(column, 1));
      } catch (...) {
        requests_[column]->error = std::current_exception();
      }
    }
  }
  requests_.clear();
}

}  // namespace rehmc
