// Threads that share loops over independent pieces of work.
//
// Each thread begins with a part of its own, the same one in every loop over as many pieces, so that it finds what it
// worked on before in its cache; one that is done goes on with what others have left. Which thread does which piece is
// thus left to chance, and a piece must not depend on others: results then have the same bits for any number of
// threads. Made of std::jthread: the loops here have pieces of equal cost and nothing nested, which is all that a
// scheduler with work stealing (oneTBB) would add, and the library stays free of one more dependency.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "treesample/space/limits.hpp"
#include "treesample/stop.hpp"

namespace treesample {

// All cores that this process may use, at least 1.
int num_cores();

// Of Limits: 0 is one per core.
inline int num_threads(const Limits& limits) { return limits.threads == 0 ? num_cores() : limits.threads; }

class ThreadTeam {
 public:
  // The calling thread is one of them; the others are started when there is something to share.
  explicit ThreadTeam(int num_threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  [[nodiscard]] int size() const { return num_threads_; }

  // work(first, last, worker) for ranges of at most `grain` that make up 0 .. count - 1; worker counts from 0 to
  // size() - 1. The calling thread asks should_stop after each of its own ranges; what is begun is then ended, and
  // Error (kInterrupted) thrown. An exception of the work ends it too, and is thrown here. Not to be called from the
  // work.
  using Work = std::function<void(std::size_t first, std::size_t last, int worker)>;
  void run(std::size_t count, std::size_t grain, const Work& work, const ShouldStop& should_stop = {});

  // The same in two steps, between which the calling thread does something else while the others work already. The
  // work must stay where it is; what is not ended is cancelled by the next one or the end of the team.
  void begin(std::size_t count, std::size_t grain, const Work& work);
  void end(const ShouldStop& should_stop = {});
  void cancel();

 private:
  static constexpr std::size_t kLine = 64;  // of a cache
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
  bool spins_;  // else whoever waits sleeps at once
  bool is_begun_ = false;
  // What run() has to share, while its round is open.
  const Work* work_ = nullptr;
  std::size_t grain_ = 1;
  std::vector<Part> parts_;
  std::atomic<bool> is_cancelled_ = false;
  bool was_stopped_ = false;
  std::mutex exception_mutex_;
  std::exception_ptr exception_;
  // A round, one run(), is open while it has ranges to take. Threads enter and leave it as they come: the calling one
  // closes it and waits for those inside alone, so that one that wakes up late keeps nobody waiting. The bits: how many
  // are inside, and below.
  alignas(kLine) std::atomic<std::uint32_t> gate_ = 0;
  static constexpr std::uint32_t kInside = 0xffff, kIsOpen = 1 << 16, kIsAwaited = 1 << 17, kIsEnding = 1 << 18,
                                 kRound = 1 << 19;  // and all above: its number
  std::atomic<std::uint32_t> num_closed_ = 0;       // changes when the last one leaves a round that is awaited
  std::vector<std::jthread> threads_;
};

}  // namespace treesample
