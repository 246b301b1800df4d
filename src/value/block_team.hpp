// Loops over the blocks of a large table (model/dense_table.hpp) by several threads, with the same bits for any number
// of them.
//
// Blocks that only write entries of their own are shared out as they come. Where blocks are added up, they are divided
// into parts that go to different entries, or to different copies of them (value/block_fold.hpp).
//
// Small tables are left to one thread, because waking others takes longer; several of them that do not need each other
// are a wave, whose members are shared out.
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

// Pieces of work that do not need each other. What is small is done by one thread each, the rest one after the other
// by all of them.
struct BlockWave {
  std::vector<int> small, large;
  std::size_t num_small_entries = 0, num_entries = 0;

  void add(int piece, std::size_t piece_entries);
};

class BlockTeam {
 public:
  explicit BlockTeam(ThreadTeam& team) : team_(&team), buffers_(static_cast<std::size_t>(team.size())) {}
  // One thread that nobody ends.
  BlockTeam() : buffers_(1) {}

  // From now on: what ends a loop, and what ends everything with Error (kInterrupted). Both are asked by the calling
  // thread alone.
  void settle_by(const ShouldStop& should_settle) { settle_ = StopCheck(should_settle); }
  void stop_by(const ShouldStop& should_stop) { stop_ = StopCheck(should_stop); }
  // Of so many entries of all waves, how many are done: told before each of them.
  void tell(TellShare progress, double num_entries);
  void set_done(double num_entries) { num_done_ = num_entries; }
  // Between pieces of work of so many entries. All loops are unfinished, and return false, once this is true.
  bool is_ended(std::size_t num_entries);

  // The same threads, whom nobody ends.
  [[nodiscard]] BlockTeam unended() const;

  [[nodiscard]] int num_threads() const { return team_ == nullptr ? 1 : team_->size(); }

  // Scratch memory for the work of a loop: a buffer that belongs to one thread, counted from 0 to num_threads() - 1,
  // and is kept for later loops. It holds no particular values. Made by the thread itself, because one thread that
  // makes the buffers of all others before each loop takes longer than the loop.
  static constexpr std::size_t kNumBuffers = 4;
  [[nodiscard]] std::span<double> buffer(int thread, std::size_t which, std::size_t size) {
    UnsetVector& own = buffers_[static_cast<std::size_t>(thread)].of[which];
    if (own.size() < size) own = UnsetVector(size);
    return std::span(own).first(size);
  }

  // work(team, piece) for all of them, with the team that is to do it.
  bool run_wave(const BlockWave& wave, const std::function<bool(BlockTeam& team, int piece)>& work);

  // work(walk, thread) at every block; it takes about `cost` times the time of a look-up per entry.
  using Work = std::function<void(const BlockWalk& walk, int thread)>;
  bool for_each(BlockWalk& walk, std::size_t cost, const Work& work);

  // The same where blocks are added up: work(walk, place, thread) at every block, those of a part in their order.
  using FoldWork = std::function<void(const BlockWalk& walk, const BlockFold::Place& place, int thread)>;
  bool fold(BlockWalk& walk, const BlockFold& parts, std::size_t cost, const FoldWork& work);
  // to = the sum of the copies, one after the other.
  bool add_copies(std::span<const double> copies, std::span<double> to);

  // work(first, last) for ranges of at most `range` that make up 0 .. count - 1; always the same ones.
  static constexpr std::size_t kRange = 4096;
  static constexpr std::size_t kLeastShared = BlockFold::kLeastDivided;  // entries
  bool for_ranges(std::size_t count, std::size_t cost, const std::function<void(std::size_t, std::size_t)>& work,
                  std::size_t range = kRange);
  bool fill(std::span<double> values, double value);

 private:
  [[nodiscard]] bool is_shared(const BlockWalk& walk) const {
    return num_threads() > 1 && walk.num_blocks() * walk.block_size() >= kLeastShared;
  }
  // Blocks of a walk that a thread takes at a time.
  [[nodiscard]] std::size_t grain(std::size_t num_blocks) const;
  // team_->run() with the questions of is_ended(); `num_entries` are those of one piece.
  bool share(std::size_t count, std::size_t grain, std::size_t num_entries, const ThreadTeam::Work& work);

  struct alignas(64) Buffers {  // no cache line belongs to two threads
    std::array<UnsetVector, kNumBuffers> of;
  };

  ThreadTeam* team_ = nullptr;
  std::vector<Buffers> buffers_;  // by thread
  std::vector<BlockTeam> alone_;  // by thread, of waves
  StopCheck settle_{ShouldStop()}, stop_{ShouldStop()};
  TellShare progress_;
  double num_entries_ = 0.0, num_done_ = 0.0;
};

}  // namespace treesample
