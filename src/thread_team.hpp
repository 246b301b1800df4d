// Threads that share loops over independent pieces of work.
//
// Each thread begins with its own part, which is the same in every loop over as many pieces, so that it finds its
// earlier data in its cache. A thread that has finished its part continues with pieces that others have left. Chance
// thus decides which thread does which piece, and pieces must not depend on each other; results then have the same bits
// for any number of threads. The team is made of std::jthread. A scheduler with work stealing (oneTBB) would be one
// more dependency, and would only help with pieces of unequal cost and nested loops, which do not occur here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "treesample/stop.hpp"

namespace treesample {

// The number of cores that this process may use, at least 1.
int num_cores();

class ThreadTeam {
 public:
  // The calling thread is one of the team. The others are started when there is something to share.
  explicit ThreadTeam(int num_threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  [[nodiscard]] int size() const { return num_threads_; }

  // Calls work(first, last, worker) for ranges of at most `grain` that make up 0 .. count - 1; `worker` counts from 0
  // to size() - 1. The calling thread asks should_stop after each of its own ranges; if it says stop, ranges that were
  // begun are completed, and Error (kInterrupted) is thrown. An exception of the work ends the loop too, and is thrown
  // here. Must not be called from within the work.
  using Work = std::function<void(std::size_t first, std::size_t last, int worker)>;
  void run(std::size_t count, std::size_t grain, const Work& work, const ShouldStop& should_stop = {});

  // The same in two steps: between them, the calling thread does something else while the others already work. `work`
  // must stay where it is in memory. A loop that is not finished by end() is cancelled by the next one, or when the
  // team is destroyed.
  void begin(std::size_t count, std::size_t grain, const Work& work);
  void end(const ShouldStop& should_stop = {});
  void cancel();

 private:
  static constexpr std::size_t kLine = 64;  // bytes of a cache line
  struct alignas(kLine) Part {              // of one thread, in a cache line of its own
    std::atomic<std::size_t> next = 0;
    std::size_t end = 0;
  };

  void start();
  void serve(int worker);
  [[nodiscard]] bool enter(std::uint32_t& served);
  void leave();
  void close();
  void take_ranges(int worker, const ShouldStop* should_stop);
  void take_part(Part& part, int worker, const ShouldStop* should_stop);
  template <typename IsTrue>
  void spin_until(IsTrue is_true) const;

  int num_threads_;
  bool spins_;  // if false, a waiting thread sleeps at once
  bool is_begun_ = false;
  // The loop that run() shares while its round is open.
  const Work* work_ = nullptr;
  std::size_t grain_ = 1;
  std::vector<Part> parts_;
  std::atomic<bool> is_cancelled_ = false;
  bool was_stopped_ = false;
  std::mutex exception_mutex_;
  std::exception_ptr exception_;
  // A round is one call of run(). It is open while it has ranges to take, and threads enter and leave it at any time.
  // The calling thread closes it and waits only for those inside, so that a thread that wakes up late delays nobody.
  // The bits: the number of threads inside, then the flags below.
  alignas(kLine) std::atomic<std::uint32_t> gate_ = 0;
  static constexpr std::uint32_t kInside = 0xffff, kIsOpen = 1 << 16, kIsAwaited = 1 << 17, kIsEnding = 1 << 18,
                                 kRound = 1 << 19;  // this bit and all above it: the number of the round
  std::atomic<std::uint32_t> num_closed_ = 0;       // changes when the last thread leaves a round that is awaited
  std::vector<std::jthread> threads_;
};

}  // namespace treesample
