// The blocks of a table, divided into parts by the joint states of some of its outer variables (model/table_index.hpp).
// Blocks of different parts differ in the state of such a variable. So if all tables to which blocks are added have
// these variables, two parts never write to the same entry.
#pragma once

#include <cstddef>
#include <vector>

namespace treesample {

class BlockParts {
 public:
  // Axes are the outer variables; add the fastest one first.
  void add_axis(std::size_t num_states, bool is_common) {
    Axes& axes = is_common ? common_ : others_;
    axes.steps.push_back({num_states, stride_});
    axes.size *= num_states;
    stride_ *= num_states;
  }

  [[nodiscard]] std::size_t size() const { return common_.size; }
  [[nodiscard]] std::size_t num_blocks() const { return others_.size; }  // of each part
  // The number in the table of block i of a part. The blocks of a part are in the order of the table.
  [[nodiscard]] std::size_t block(std::size_t part, std::size_t i) const { return common_.at(part) + others_.at(i); }

 private:
  struct Step {
    std::size_t num_states, stride;
  };
  struct Axes {
    std::vector<Step> steps;
    std::size_t size = 1;
    [[nodiscard]] std::size_t at(std::size_t index) const {
      std::size_t block = 0;
      for (const Step& step : steps) {
        block += index % step.num_states * step.stride;
        index /= step.num_states;
      }
      return block;
    }
  };
  Axes common_, others_;
  std::size_t stride_ = 1;
};

}  // namespace treesample
