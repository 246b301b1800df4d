#include "memory_limit.hpp"

#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <thread>

#include "treesample/formula/count_formula.hpp"

namespace treesample::cli {
namespace {

constexpr const char* kRefused = "out of memory: the model and the work on it need more than is allowed (--memory)";
// Of kOwnMemory: code and libraries, which are no data.
constexpr std::size_t kCode = std::size_t{16} << 20;
constexpr std::size_t kReserve = std::size_t{16} << 20;  // of the same
constexpr std::size_t kStack = std::size_t{8} << 20;     // what the system sets aside for a thread
// A sanitizer's own memory counts as data, and is larger than all that anybody would allow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsWatched = true;
#else
constexpr bool kIsWatched = false;
#endif

std::atomic<rlim_t>& last_limit() {
  static std::atomic<rlim_t> limit = 0;
  return limit;
}

// Called where the system has refused. What unwinds may need memory, as trees of JSON do when they are destroyed, and
// nobody could say anything if it got none: there is a reserve for it.
void give_way() {
  rlimit limit{};
  ::getrlimit(RLIMIT_DATA, &limit);
  const bool has_more = limit.rlim_cur < last_limit();
  limit.rlim_cur = last_limit();
  if (!has_more || ::setrlimit(RLIMIT_DATA, &limit) != 0 || std::uncaught_exceptions() == 0) throw std::bad_alloc();
}

// Where even the reserve does not suffice, in a place that cannot fail.
[[noreturn]] void say_and_end() {
  if (const std::exception_ptr now = std::current_exception()) {
    try {
      std::rethrow_exception(now);
    } catch (const std::bad_alloc&) {
      for (const char* const part : {"treesample: ", refused_memory_text(), "\n"}) {
        [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, part, std::strlen(part));
      }
      ::_exit(EX_UNAVAILABLE);
    } catch (...) {
    }
  }
  std::abort();
}

}  // namespace

void keep_to_memory(std::size_t bytes, int num_threads, std::int64_t num_workers) {
  rlimit limit{};
  if (kIsWatched || ::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  if (num_threads == 0) num_threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto stacks = static_cast<rlim_t>(num_threads - 1 + num_workers) * kStack;
  const auto most = static_cast<rlim_t>(bytes) + (kOwnMemory - kCode - kReserve) + stacks;
  if (most < static_cast<rlim_t>(bytes)) return;  // more than there can be
  limit.rlim_cur = std::min({limit.rlim_cur, limit.rlim_max, most});
  last_limit() = std::min(limit.rlim_cur + kReserve, limit.rlim_max);
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) return;
  std::set_new_handler(give_way);
  refuse_integers_by_exceptions();
  std::set_terminate(say_and_end);
}

const char* refused_memory_text() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "out of memory";
  return kRefused;
}

}  // namespace treesample::cli
