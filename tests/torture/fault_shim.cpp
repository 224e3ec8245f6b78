// Loaded by LD_PRELOAD: counts calls of the system, and lets those of a number fail.
//
// REHMC_FAULT=KIND:NUMBER:ERRNO:COUNT fails calls NUMBER to NUMBER + COUNT - 1 of that kind, with
// this errno. Calls of the kind `change` are all that change files; there the process is killed
// instead, before the call, or in the middle of a write. REHMC_FAULT_COUNTS=FILE gets the number of
// calls of each kind when the process exits. REHMC_FAULT_CLOCK=stopped lets all clocks show one
// instant, so that equal runs write equal bytes. Only calls after the beginning of main count: what
// other libraries do at their start is not ours.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <string_view>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

enum Kind {
  open_file,
  read_file,
  write_file,
  print_text,
  sync_file,
  rename_file,
  truncate_file,
  make_folder,
  remove_file,
  link_file,
  lock_file,
  map_memory,
  start_thread,
  allocate,
  allocate_hdf5,
  change_file,
};
constexpr std::array<std::string_view, 16> names{
    "open",   "read", "write", "print", "sync",   "rename", "truncate", "mkdir",
    "unlink", "link", "lock",  "mmap",  "thread", "alloc",  "hdf5",     "change"};

struct Plan {
  int kind = -1;
  long number = 0;
  int error = 0;
  long count = 1;
};

std::array<std::atomic<long>, names.size()> calls{};
std::atomic<bool> in_main = false;
Plan plan;

void read_plan() {
  const char* const text = std::getenv("REHMC_FAULT");
  std::array<char, 16> name{};
  if (text == nullptr) return;
  if (std::sscanf(text, "%15[a-z]:%ld:%d:%ld", name.data(), &plan.number, &plan.error,
                  &plan.count) != 4) {
    std::abort();
  }
  for (std::size_t kind = 0; kind < names.size(); ++kind) {
    if (names[kind] == name.data()) plan.kind = static_cast<int>(kind);
  }
  if (plan.kind < 0) std::abort();
}

void write_counts() {
  const char* const path = std::getenv("REHMC_FAULT_COUNTS");
  if (path == nullptr) return;
  std::array<char, 1024> text{};
  std::size_t size = 0;
  for (std::size_t kind = 0; kind < names.size(); ++kind) {
    size +=
        static_cast<std::size_t>(std::snprintf(text.data() + size, text.size() - size, "%s %ld\n",
                                               names[kind].data(), calls[kind].load()));
  }
  const auto file =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
  syscall(SYS_write, file, text.data(), size);
  syscall(SYS_close, file);
}

/// Whether the process must be killed before or in this call, which changes a file.
bool ends_here(Kind kind) {
  if (kind < write_file || kind > link_file || kind == print_text || !in_main) return false;
  return ++calls[change_file] == plan.number && plan.kind == change_file;
}

[[noreturn]] void end_process() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/// Counts a call, and sets errno if it must fail. `first`: whether it is the first that fails.
bool fails(Kind kind, bool* first = nullptr) {
  if (!in_main) return false;
  if (kind != write_file && ends_here(kind)) end_process();
  const long number = ++calls[kind];
  if (plan.kind != kind || number < plan.number || number >= plan.number + plan.count) return false;
  if (first != nullptr) *first = number == plan.number;
  errno = plan.error;
  return true;
}

/// The function of this name that the process would have called without us.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// A disk that gets full takes a part of the first write, and nothing of the later ones.
template <class Write>
ssize_t write_or_fail(std::size_t size, Write&& write) {
  bool first = false;
  if (ends_here(write_file)) {
    write(size / 2);
    end_process();
  }
  if (!fails(write_file, &first)) return write(size);
  return first && plan.count > 1 && size > 1 ? write(size / 2) : -1;
}

/// Where the code of HDF5 and netCDF is, which do not survive a failed allocation: those are
/// counted apart.
struct Code {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};
std::array<Code, 16> hdf5{};
std::size_t hdf5_parts = 0;

int find_hdf5(dl_phdr_info* library, std::size_t /*size*/, void* /*unused*/) {
  constexpr std::array parts{"libhdf5", "libnetcdf", "libz.so", "libsz.so"};
  const auto is_part = [&](const char* part) {
    return std::strstr(library->dlpi_name, part) != nullptr;
  };
  if (std::none_of(parts.begin(), parts.end(), is_part)) return 0;
  for (int part = 0; part < library->dlpi_phnum && hdf5_parts < hdf5.size(); ++part) {
    const auto& header = library->dlpi_phdr[part];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = library->dlpi_addr + header.p_vaddr;
    hdf5[hdf5_parts++] = {begin, begin + header.p_memsz};
  }
  return 0;
}

bool allocation_fails(const void* caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  for (std::size_t part = 0; part < hdf5_parts; ++part) {
    if (address >= hdf5[part].begin && address < hdf5[part].end) return fails(allocate_hdf5);
  }
  return fails(allocate);
}

constexpr std::time_t instant = 1'800'000'000;
bool clocks_stopped = false;

timespec real_time(clockid_t clock) {
  timespec now{};
  syscall(SYS_clock_gettime, clock, &now);
  return now;
}

constexpr int stream_error = 0x20;  // _IO_ERR_SEEN of glibc, which ferror() reads

}  // namespace

extern "C" {

using Main = int(int, char**, char**);
static Main* real_main = nullptr;

static int counted_main(int count, char** words, char** environment) {
  read_plan();
  clocks_stopped = std::getenv("REHMC_FAULT_CLOCK") != nullptr;
  std::atexit(write_counts);
  dl_iterate_phdr(find_hdf5, nullptr);
  in_main = true;
  return real_main(count, words, environment);
}

int __libc_start_main(Main* program, int count, char** words, void (*begin)(), void (*end)(),
                      void (*unload)(), void* stack) {
  real_main = program;
  const auto start =
      next<int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*)>("__libc_start_main");
  return start(counted_main, count, words, begin, end, unload, stack);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return fails(open_file) ? -1 : static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open(path, flags, mode);
}
std::FILE* fopen(const char* path, const char* mode) {
  static const auto real = next<std::FILE*(const char*, const char*)>("fopen");
  return fails(open_file) ? nullptr : real(path, mode);
}
std::FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }

ssize_t read(int file, void* to, std::size_t size) {
  return fails(read_file) ? -1 : syscall(SYS_read, file, to, size);
}
ssize_t pread(int file, void* to, std::size_t size, off_t at) {
  return fails(read_file) ? -1 : syscall(SYS_pread64, file, to, size, at);
}
ssize_t pread64(int file, void* to, std::size_t size, off_t at) {
  return pread(file, to, size, at);
}
std::size_t fread(void* to, std::size_t size, std::size_t count, std::FILE* file) {
  static const auto real = next<std::size_t(void*, std::size_t, std::size_t, std::FILE*)>("fread");
  if (!fails(read_file)) return real(to, size, count, file);
  file->_flags |= stream_error;
  return 0;
}

ssize_t write(int file, const void* from, std::size_t size) {
  return write_or_fail(size,
                       [&](std::size_t part) { return syscall(SYS_write, file, from, part); });
}
ssize_t pwrite(int file, const void* from, std::size_t size, off_t at) {
  return write_or_fail(
      size, [&](std::size_t part) { return syscall(SYS_pwrite64, file, from, part, at); });
}
ssize_t pwrite64(int file, const void* from, std::size_t size, off_t at) {
  return pwrite(file, from, size, at);
}
std::size_t fwrite(const void* from, std::size_t size, std::size_t count, std::FILE* file) {
  static const auto real =
      next<std::size_t(const void*, std::size_t, std::size_t, std::FILE*)>("fwrite");
  if (!fails(print_text)) return real(from, size, count, file);
  file->_flags |= stream_error;
  return 0;
}

int fsync(int file) { return fails(sync_file) ? -1 : static_cast<int>(syscall(SYS_fsync, file)); }
int fdatasync(int file) {
  return fails(sync_file) ? -1 : static_cast<int>(syscall(SYS_fdatasync, file));
}
int rename(const char* from, const char* to) {
  return fails(rename_file) ? -1 : static_cast<int>(syscall(SYS_rename, from, to));
}
int ftruncate(int file, off_t size) {
  return fails(truncate_file) ? -1 : static_cast<int>(syscall(SYS_ftruncate, file, size));
}
int ftruncate64(int file, off_t size) { return ftruncate(file, size); }
int mkdir(const char* path, mode_t mode) {
  return fails(make_folder) ? -1 : static_cast<int>(syscall(SYS_mkdir, path, mode));
}
int unlink(const char* path) {
  return fails(remove_file) ? -1 : static_cast<int>(syscall(SYS_unlink, path));
}
int remove(const char* path) {
  static const auto real = next<int(const char*)>("remove");
  return fails(remove_file) ? -1 : real(path);
}
int unlinkat(int folder, const char* path, int flags) {
  return fails(remove_file) ? -1 : static_cast<int>(syscall(SYS_unlinkat, folder, path, flags));
}
int link(const char* from, const char* to) {
  return fails(link_file) ? -1 : static_cast<int>(syscall(SYS_link, from, to));
}
int flock(int file, int operation) {
  return fails(lock_file) ? -1 : static_cast<int>(syscall(SYS_flock, file, operation));
}
void* mmap(void* where, std::size_t size, int protection, int flags, int file, off_t at) {
  static const auto real = next<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
  return fails(map_memory) ? MAP_FAILED : real(where, size, protection, flags, file, at);
}
void* mmap64(void* where, std::size_t size, int protection, int flags, int file, off_t at) {
  return mmap(where, size, protection, flags, file, at);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*begin)(void*),
                   void* argument) {
  static const auto real =
      next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return fails(start_thread) ? plan.error : real(thread, attributes, begin, argument);
}

int clock_gettime(clockid_t clock, timespec* now) {
  *now = clocks_stopped ? timespec{instant, 0} : real_time(clock);
  return 0;
}
std::time_t time(std::time_t* now) {
  const std::time_t seconds = clocks_stopped ? instant : real_time(CLOCK_REALTIME).tv_sec;
  if (now != nullptr) *now = seconds;
  return seconds;
}
/// Waits as long as the caller believes to.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  static const auto real = next<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>(
      "pthread_cond_clockwait");
  if (!clocks_stopped) return real(condition, mutex, clock, until);
  timespec then = real_time(clock);
  then.tv_sec += until->tv_sec - instant;
  then.tv_nsec += until->tv_nsec;
  if (then.tv_nsec >= 1'000'000'000) {
    then.tv_nsec -= 1'000'000'000;
    ++then.tv_sec;
  }
  return real(condition, mutex, clock, &then);
}

void* malloc(std::size_t size) {
  return allocation_fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  return allocation_fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  return allocation_fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return allocation_fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  return allocation_fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
}
// The C library would call malloc() for whoever called it.
char* strdup(const char* text) {
  const std::size_t size = std::strlen(text) + 1;
  if (allocation_fails(__builtin_return_address(0))) return nullptr;
  return static_cast<char*>(std::memcpy(__libc_malloc(size), text, size));
}
int posix_memalign(void** to, std::size_t alignment, std::size_t size) {
  if (allocation_fails(__builtin_return_address(0))) return plan.error;
  *to = __libc_memalign(alignment, size);
  return *to == nullptr ? ENOMEM : 0;
}
}
