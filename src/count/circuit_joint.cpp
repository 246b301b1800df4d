#include "count/circuit_joint.hpp"

#include <cstddef>
#include <utility>

#include "treesample/error.hpp"

namespace treesample {
namespace {

// One pass over the circuit for each joint state of all variables but the last.
class CircuitJoint {
 public:
  CircuitJoint(const ReducedModel& model, const ReducedQuery& query, const JointIndex& index,
               const ShouldStop& should_stop)
      : model_(model), query_(query), index_(index), should_stop_(should_stop), probabilities_(index.size(), 0.0) {}

  std::vector<double> of(const Circuit& circuit) {
    if (query_.variables.empty()) {
      probabilities_[query_.first] = 1.0;
    } else {
      add(circuit, 0, query_.first, 1.0);
    }
    return std::move(probabilities_);
  }

 private:
  void add(const Circuit& circuit, std::size_t i, std::size_t entry, double probability) {
    if (should_stop_()) throw Error(ErrorCode::kInterrupted, "joint query: asked to end");
    const int v = query_.variables[i];
    const std::vector<double> states = circuit.marginals()[v];
    for (std::size_t a = 0; a < states.size(); ++a) {
      if (states[a] == 0.0) continue;
      const auto state = static_cast<std::size_t>(model_.states_of[v][a]);
      const std::size_t next = entry + index_.stride(query_.places[i]) * state;
      if (i + 1 == query_.variables.size()) {
        probabilities_[next] = probability * states[a];
      } else {
        add(circuit.given({{v, static_cast<int>(a)}}), i + 1, next, probability * states[a]);
      }
    }
  }

  const ReducedModel& model_;
  const ReducedQuery& query_;
  const JointIndex& index_;
  const ShouldStop& should_stop_;
  std::vector<double> probabilities_;
};

}  // namespace

std::vector<double> joint_by_circuit(const Circuit& circuit, const ReducedModel& model, std::span<const int> variables,
                                     const JointIndex& index, const ShouldStop& should_stop) {
  const ReducedQuery query(model, variables, index);
  return CircuitJoint(model, query, index, should_stop).of(circuit);
}

}  // namespace treesample
