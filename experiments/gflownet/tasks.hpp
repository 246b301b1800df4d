// The tasks of `reproduce gflownet`, and the truth about each.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/gflownet/flow_program.hpp"

namespace treesample::experiments {

struct FlowTask {
  std::string word;   // on the command line
  std::string title;  // in tables
  std::function<std::unique_ptr<FlowProgram>(std::uint64_t seed)> make;
  // For searches, the same objects with one path to each; empty: `make` has one path or is used as it is.
  std::function<std::unique_ptr<FlowProgram>(std::uint64_t seed)> make_tree = {};
  double size = 0.0;                                // objects
  double log_largest = HUGE_VAL;                    // no log reward is larger; +inf where that is not known beforehand
  std::int64_t most_calls = std::int64_t{1} << 40;  // larger budgets are left out
  std::int64_t most_learned = 3'000;                // the same for the black box, because of its own time
  // log Z where the objects are too many to be listed.
  std::function<double(std::uint64_t seed)> log_z = {};
  [[nodiscard]] bool can_list() const { return !log_z; }
};

const std::vector<FlowTask>& flow_tasks();

// All objects of a task with their rewards.
class FlowTruth {
 public:
  explicit FlowTruth(NumberedProgram& program);

  [[nodiscard]] const std::vector<StateId>& ends() const { return ends_; }
  [[nodiscard]] const std::vector<double>& log_rewards() const { return log_rewards_; }  // of the ends
  [[nodiscard]] double log_z() const { return log_z_; }
  [[nodiscard]] std::size_t place(StateId end) const { return places_[end]; }  // in `ends`
  // The end with this encoding; none if there is no such object.
  [[nodiscard]] std::optional<StateId> find(const std::vector<int>& encoding) const;

  // Encodings are cells of a table, row-major.
  [[nodiscard]] const std::vector<int>& num_values() const { return num_values_; }
  [[nodiscard]] std::size_t cell_of(const std::vector<int>& encoding) const;
  // 0 for each cell that is an object, -inf for the others.
  [[nodiscard]] std::vector<double> possible_cells() const;

 private:
  std::vector<StateId> ends_;
  std::vector<double> log_rewards_;
  double log_z_ = 0.0;
  std::vector<std::size_t> places_;  // of all states
  std::vector<int> num_values_;      // of each entry of an encoding
  std::vector<std::int64_t> cells_;  // the end at each encoding; -1: none
};

}  // namespace treesample::experiments
