#include "thread_team.hpp"

#include <algorithm>
#include <chrono>

#ifdef __linux__
#include <sched.h>
#endif

#include "treesample/error.hpp"

namespace treesample {
namespace {

constexpr std::chrono::microseconds kSpinTime(50);

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

int num_cores() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadTeam::ThreadTeam(int num_threads)
    : num_threads_(num_threads),
      spins_(num_threads <= num_cores()),
      parts_(static_cast<std::size_t>(std::clamp(num_threads, 1, 4096))) {
  check_range("ThreadTeam", "num_threads", num_threads, 1, 4096);
}

void ThreadTeam::start() {
  for (int worker = static_cast<int>(threads_.size()) + 1; worker < num_threads_; ++worker) {
    threads_.emplace_back([this, worker] { serve(worker); });
  }
}

ThreadTeam::~ThreadTeam() {
  cancel();
  gate_ |= kIsEnding;
  gate_.notify_all();
}

// Waking a thread takes as long as 50,000 additions, and the next loop often begins sooner than that. So threads spin
// for a while before they sleep.
template <typename IsTrue>
void ThreadTeam::spin_until(IsTrue is_true) const {
  if (!spins_ || is_true()) return;
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 16; ++i) {
      if (is_true()) return;
      relax();
    }
  }
}

void ThreadTeam::serve(int worker) {
  std::uint32_t served = ~std::uint32_t{0};  // the number of a round
  const auto is_new = [&](std::uint32_t gate) {
    return (gate & kIsEnding) != 0 || ((gate & kIsOpen) != 0 && gate / kRound != served);
  };
  while (true) {
    spin_until([&] { return is_new(gate_.load(std::memory_order_relaxed)); });
    std::uint32_t gate = gate_.load();
    while (!is_new(gate)) {
      gate_.wait(gate);
      gate = gate_.load();
    }
    if ((gate & kIsEnding) != 0) return;
    if (!enter(served)) continue;
    take_ranges(worker, nullptr);
    leave();
  }
}

// Returns false if the round was closed in the meantime.
bool ThreadTeam::enter(std::uint32_t& served) {
  std::uint32_t gate = gate_.load();
  while ((gate & kIsOpen) != 0) {
    if (gate_.compare_exchange_weak(gate, gate + 1)) {
      served = gate / kRound;
      return true;
    }
  }
  return false;
}

void ThreadTeam::leave() {
  const std::uint32_t before = gate_.fetch_sub(1);
  if ((before & kInside) != 1 || (before & kIsAwaited) == 0) return;
  ++num_closed_;
  num_closed_.notify_one();
}

// Post: no other thread is inside.
void ThreadTeam::close() {
  gate_ &= ~kIsOpen;
  const auto is_empty = [&] { return (gate_.load() & kInside) == 0; };
  spin_until(is_empty);
  if (is_empty()) return;
  const std::uint32_t num_closed = num_closed_.load();
  if ((gate_.fetch_or(kIsAwaited) & kInside) != 0) num_closed_.wait(num_closed);
  gate_ &= ~kIsAwaited;
}

void ThreadTeam::take_part(Part& part, int worker, const ShouldStop* should_stop) {
  while (!is_cancelled_ && part.next.load(std::memory_order_relaxed) < part.end) {
    const std::size_t first = part.next.fetch_add(grain_);
    if (first >= part.end) return;
    (*work_)(first, std::min(part.end, first + grain_), worker);
    if (should_stop != nullptr && *should_stop && (*should_stop)()) {
      was_stopped_ = true;
      is_cancelled_ = true;
    }
  }
}

// Takes the ranges of its own part first.
void ThreadTeam::take_ranges(int worker, const ShouldStop* should_stop) {
  const auto own = static_cast<std::size_t>(worker);
  try {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      take_part(parts_[(own + p) % parts_.size()], worker, should_stop);
    }
  } catch (...) {
    const std::scoped_lock lock(exception_mutex_);
    if (!exception_) exception_ = std::current_exception();
    is_cancelled_ = true;
  }
}

void ThreadTeam::begin(std::size_t count, std::size_t grain, const Work& work) {
  TS_ASSERT(grain > 0);
  cancel();
  work_ = &work;
  grain_ = grain;
  const std::size_t num_ranges = count / grain + (count % grain == 0 ? 0 : 1);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    parts_[p].next = num_ranges * p / parts_.size() * grain;
    parts_[p].end = std::min(count, num_ranges * (p + 1) / parts_.size() * grain);
  }
  is_cancelled_ = false;
  was_stopped_ = false;
  exception_ = nullptr;
  is_begun_ = true;
  if (num_threads_ == 1 || count <= grain) return;
  start();
  gate_ += kRound + kIsOpen;  // the number of the round wraps around
  gate_.notify_all();
}

void ThreadTeam::end(const ShouldStop& should_stop) {
  TS_ASSERT(is_begun_);
  take_ranges(0, &should_stop);
  close();
  is_begun_ = false;
  if (exception_) std::rethrow_exception(exception_);
  if (was_stopped_) throw Error(ErrorCode::kInterrupted, "ThreadTeam: asked to end");
}

void ThreadTeam::cancel() {
  if (!is_begun_) return;
  is_cancelled_ = true;
  close();
  is_begun_ = false;
}

void ThreadTeam::run(std::size_t count, std::size_t grain, const Work& work, const ShouldStop& should_stop) {
  begin(count, grain, work);
  end(should_stop);
}

}  // namespace treesample
