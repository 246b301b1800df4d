// The information about one factor graph that a graph network needs: planned once, then shared by all threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

namespace nn {
struct PlanData;
}

// A factor of this kind is read through an encoding of its table, which may have any size and content. A factor of a
// kind that the network does not know is treated as this kind, if the network has it.
inline constexpr const char* kTableKind = "table";

struct GnnOptions {
  std::vector<std::string> kinds = {};  // of factors, any names; FACTOR GRAPHS 2 has "not" and "majority"
  int num_states = 2;                   // the largest number of states of a variable
  int iterations = 4;
  int global_after = 0;  // below `iterations`: a value of the whole graph is read after this iteration; 0: none

  // Throws kArgument.
  void validate() const;
  [[nodiscard]] int num_kinds() const { return static_cast<int>(kinds.size()); }
  bool operator==(const GnnOptions&) const = default;
};

// Copies are cheap: they share the plan, which never changes.
class GnnPlan {
 public:
  // `factor_kinds` has one kind per factor. Throws kArgument for a kind that the network does not know (if it has no
  // "table"), for a variable with too many states, and for a "table" factor that is a function. Factors of a kind other
  // than "table" must not depend on the order of their scope.
  GnnPlan(const FactorGraph& graph, std::span<const std::string> factor_kinds, const GnnOptions& options);

  [[nodiscard]] const GnnOptions& options() const;
  [[nodiscard]] int num_variables() const;
  // FactorGraph::shape() of the graph for which the plan was made.
  [[nodiscard]] std::uint64_t graph_shape() const;
  [[nodiscard]] const nn::PlanData& data() const { return *data_; }

 private:
  std::shared_ptr<const nn::PlanData> data_;
};

}  // namespace treesample
