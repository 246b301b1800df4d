// Joint states of some variables of a model, and the same in a smaller model that was made of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "treesample/reduce/reduced_model.hpp"

namespace treesample {

// The entry of a joint table for these states of the original model, and the step to the next state of a variable.
class JointIndex {
 public:
  JointIndex(const FactorGraph& graph, std::span<const int> variables) : strides_(variables.size()) {
    for (std::size_t i = variables.size(); i-- > 0;) {
      strides_[i] = size_;
      size_ *= static_cast<std::size_t>(graph.num_states(variables[i]));
    }
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t stride(std::size_t i) const { return strides_[i]; }
  [[nodiscard]] std::size_t of(std::span<const int> variables, std::span<const int> x) const {
    std::size_t entry = 0;
    for (std::size_t i = 0; i < variables.size(); ++i) entry += strides_[i] * static_cast<std::size_t>(x[variables[i]]);
    return entry;
  }

 private:
  std::vector<std::size_t> strides_;
  std::size_t size_ = 1;
};

// The variables of a query in a reduced model: those that are left, with their places in the query, and the entry of
// the joint table where all of them have state 0.
struct ReducedQuery {
  std::vector<int> variables;
  std::vector<std::size_t> places;
  std::size_t first = 0;

  ReducedQuery(const ReducedModel& model, std::span<const int> query, const JointIndex& index) {
    for (std::size_t i = 0; i < query.size(); ++i) {
      const auto found = std::lower_bound(model.variable_of.begin(), model.variable_of.end(), query[i]);
      if (found != model.variable_of.end() && *found == query[i]) {
        variables.push_back(static_cast<int>(found - model.variable_of.begin()));
        places.push_back(i);
      } else {
        first += index.stride(i) * static_cast<std::size_t>(model.fixed_states[query[i]]);
      }
    }
  }
};

}  // namespace treesample
