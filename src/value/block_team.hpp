// Loops over the blocks of a large table (model/dense_table.hpp) on several threads, with the same bits for any number
// of threads.
//
// Blocks that only write entries of their own go to whichever thread is free. Blocks that are added up are divided into
// parts that go to different entries, or to different copies of them (value/block_fold.hpp).
//
// A small table is left to one thread, because waking others takes longer. Several small tables that are independent of
// each other form a wave, and the threads share them.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "math/unset_vector.hpp"
#include "model/dense_table.hpp"
#include "thread_team.hpp"
#include "treesample/stop.hpp"
#include "value/block_fold.hpp"

namespace treesample {

// Independent pieces of work. Small pieces run one per thread; large ones run one after another, each on all threads.
struct BlockWave {
  std::vector<int> small, large;
  std::size_t num_small_entries = 0, num_entries = 0;

  void add(int piece, std::size_t piece_entries);
};

class BlockTeam {
 public:
  explicit BlockTeam(ThreadTeam& team) : team_(&team), buffers_(static_cast<std::size_t>(team.size())) {}
  // A team of one thread that nothing ends.
  BlockTeam() : buffers_(1) {}

  // From now on `should_settle` ends a loop, and `should_stop` ends everything with Error (kInterrupted). Only the
  // calling thread asks them.
  void settle_by(const ShouldStop& should_settle) { settle_ = StopCheck(should_settle); }
  void stop_by(const ShouldStop& should_stop) { stop_ = StopCheck(should_stop); }
  // `num_entries` is the number of entries of all waves. Before each wave, `progress` is told which share of them is
  // done.
  void tell(TellShare progress, double num_entries);
  void set_done(double num_entries) { num_done_ = num_entries; }
  // Asked between pieces of work, with their number of entries. Once it is true, all loops are left unfinished and
  // return false.
  bool is_ended(std::size_t num_entries);

  // A team with the same threads that nothing ends.
  [[nodiscard]] BlockTeam unended() const;

  [[nodiscard]] int num_threads() const { return team_ == nullptr ? 1 : team_->size(); }

  // Scratch memory for the work of a loop: a buffer that belongs to one thread, counted from 0 to num_threads() - 1,
  // and is kept for later loops. Its contents are unspecified. Each thread makes its own buffer: if one thread made
  // them for all others before each loop, that would take longer than the loop.
  static constexpr std::size_t kNumBuffers = 4;
  [[nodiscard]] std::span<double> buffer(int thread, std::size_t which, std::size_t size) {
    UnsetVector& own = buffers_[static_cast<std::size_t>(thread)].of[which];
    if (own.size() < size) own = UnsetVector(size);
    return std::span(own).first(size);
  }

  // Calls work(team, piece) for all pieces; `team` is the one that has to do the piece.
  bool run_wave(const BlockWave& wave, const std::function<bool(BlockTeam& team, int piece)>& work);

  // Calls work(walk, thread) at every block. It takes about `cost` times the time of a look-up per entry.
  using Work = std::function<void(const BlockWalk& walk, int thread)>;
  bool for_each(BlockWalk& walk, std::size_t cost, const Work& work);

  // The same for blocks that are added up: calls work(walk, place, thread) at every block, in their order within a
  // part.
  using FoldWork = std::function<void(const BlockWalk& walk, const BlockFold::Place& place, int thread)>;
  bool fold(BlockWalk& walk, const BlockFold& parts, std::size_t cost, const FoldWork& work);
  // to = the sum of the copies, which are stored one after the other.
  bool add_copies(std::span<const double> copies, std::span<double> to);

  // Calls work(first, last) for ranges of at most `range` that make up 0 .. count - 1. The ranges are always the same.
  static constexpr std::size_t kRange = 4096;
  static constexpr std::size_t kLeastShared = BlockFold::kLeastDivided;  // entries
  bool for_ranges(std::size_t count, std::size_t cost, const std::function<void(std::size_t, std::size_t)>& work,
                  std::size_t range = kRange);
  bool fill(std::span<double> values, double value);

 private:
  [[nodiscard]] bool is_shared(const BlockWalk& walk) const {
    return num_threads() > 1 && walk.num_blocks() * walk.block_size() >= kLeastShared;
  }
  // The number of blocks of a walk that a thread takes at a time.
  [[nodiscard]] std::size_t grain(std::size_t num_blocks) const;
  // Calls team_->run(), asking is_ended() in between; `num_entries` are those of one piece.
  bool share(std::size_t count, std::size_t grain, std::size_t num_entries, const ThreadTeam::Work& work);

  struct alignas(64) Buffers {  // no cache line belongs to two threads
    std::array<UnsetVector, kNumBuffers> of;
  };

  ThreadTeam* team_ = nullptr;
  std::vector<Buffers> buffers_;  // by thread
  std::vector<BlockTeam> alone_;  // teams of one thread, by thread, for the small pieces of waves
  StopCheck settle_{ShouldStop()}, stop_{ShouldStop()};
  TellShare progress_;
  double num_entries_ = 0.0, num_done_ = 0.0;
};

}  // namespace treesample
