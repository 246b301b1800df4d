// One bucket in the linear domain: the product of tables over v and its separator S, one block at a time.
//
//   out(x_S) = sum over x_v of prod_i t_i(x_v, x_S restricted to the scope of t_i)
//
// Tables have their variables in the order of removal: v comes first and varies slowest. For one state of v, all tables
// are then read in the order in which `out` is written, with the same variables fastest. The innermost loops run over a
// block of consecutive x_S (of the fastest variables of S; bucket_chain.cpp says how many), whatever the number of
// states of v. Within a block a table is consecutive, constant, or looked up through a list of places, which serves all
// blocks and states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exact/linear_table.hpp"
#include "model/table_index.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

// A table within a block, at one state of v.
struct BlockOperand {
  enum class Shape { kConsecutive, kTwice, kListed };  // each entry once, each twice in a row, by the list

  const double* values = nullptr;
  const std::uint32_t* index = nullptr;  // the list of kListed
  Shape shape = Shape::kConsecutive;
};

// The largest entry of a block and its least one above 0. Entries below LinearError::kTiny become 0.
struct Extent {
  double largest = 0.0, least = std::numeric_limits<double>::infinity();
  bool is_lossy = false;    // such an entry occurred
  bool is_partial = false;  // entries that are multiplied by 0 were not computed: they may be larger than `largest`

  void include(std::span<double> block);
  void include(const Extent& other);
};

class LinearBucket {
 public:
  // The tables must outlive the bucket. Small ones are multiplied together first. In a chain of buckets
  // (bucket_chain.hpp) the message of the bucket `below`, which must outlive this one too, is one more table; it is
  // stored where `message_below` is not null. A block has all states of the last num_inner variables of the separator.
  LinearBucket(const FactorGraph& graph, int v, std::span<const int> separator,
               const std::vector<const LinearTable*>& tables, std::size_t num_inner,
               const LinearBucket* below = nullptr, double* message_below = nullptr);

  [[nodiscard]] std::size_t num_blocks() const { return num_blocks_; }
  [[nodiscard]] std::size_t block_size() const { return block_size_; }
  [[nodiscard]] std::size_t num_states() const { return num_states_; }
  // The variables of S that are constant in a block; the last one changes fastest from block to block.
  [[nodiscard]] std::size_t num_outer() const { return num_outer_; }
  [[nodiscard]] std::size_t outer_states(std::size_t axis) const {
    return static_cast<std::size_t>(graph_.num_states(separator_[axis]));
  }

  // Registers a table over v and a part of S, or over a part of S alone, that is not multiplied in: for
  // Cursor::accumulate.
  int add_place(std::span<const int> scope);
  [[nodiscard]] bool has_outer(int place, std::size_t axis) const {
    return places_[place].table.outer_strides[axis] != 0;
  }

  // A position in the walk over the blocks; several can be in use at once.
  class Cursor {
   public:
    Cursor(const LinearBucket& bucket, std::size_t block);
    void next();
    void move_to(std::size_t block);
    [[nodiscard]] std::size_t block() const { return block_; }
    [[nodiscard]] std::size_t first_entry() const { return block_ * bucket_->block_size_; }  // of out

    // out = the sum over all states of v.
    void sum(double* out);
    // out = ratio times the product at one state of v.
    void multiply(std::size_t state, const double* ratio, double* out);
    // table += block, for a registered table and the block of this state of v.
    void accumulate(int place, std::size_t state, const double* block, double* table) const;

    // Adds the extents of the messages below that sum() made, the nearest bucket first.
    void add_extents_below(std::span<Extent> extents) const;

   private:
    double gather_operands(std::size_t state);
    const double* spread(std::size_t table, std::size_t state, const double* values);
    const double* block_below(std::size_t state);
    void seek(std::size_t block);

    const LinearBucket* bucket_;
    std::size_t block_ = 0;
    std::vector<std::size_t> states_;   // of the outer variables
    std::vector<std::size_t> offsets_;  // by place
    std::vector<BlockOperand> operands_;
    struct Spread {
      const double* values = nullptr;  // that `block` was made from
      std::vector<double> block;
    };
    std::vector<Spread> spreads_;  // by table and state of v
    std::vector<double> buffer_;
    std::vector<Cursor> below_;  // by state of v, because each moves from block to block
    std::vector<double> block_below_;
    Extent extent_;  // of the blocks that this cursor made for the bucket above
  };

 private:
  struct Place {
    TablePlace table;  // relative to S
    BlockOperand::Shape shape = BlockOperand::Shape::kConsecutive;
    bool is_small = false;         // has few entries in a block
    std::size_t state_stride = 0;  // of v
  };

  const FactorGraph& graph_;
  int v_;
  std::vector<int> separator_;
  std::size_t num_outer_ = 0;  // variables of S that are not in the block
  std::size_t num_states_, block_size_ = 1, num_blocks_ = 1;
  std::vector<Place> places_;
  std::vector<const double*> values_;  // of the multiplied tables, in the first places; null for the message below
  const LinearBucket* below_;
  double* message_below_;
  std::size_t place_below_ = 0;
  std::vector<std::vector<double>> combined_;
};

}  // namespace treesample
