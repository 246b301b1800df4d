#include "page/page_circuit.hpp"

#include <cmath>
#include <cstdint>
#include <memory>

#include "count/circuit_shape.hpp"
#include "page/answer_object.hpp"
#include "treesample/count/count.hpp"
#include "treesample/exact/elimination.hpp"

namespace treesample {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostVariables = 2000;
constexpr double kMostEntries = 60'000;  // of all buckets of an elimination, which the circuit is about as large as
constexpr std::int64_t kMostDecisions = 20'000;  // of the search that makes the circuit: some milliseconds
constexpr std::size_t kMostWords = 150'000;      // a page of about a megabyte
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

bool is_small(const FactorGraph& graph) {
  if (graph.num_variables() == 0 || graph.num_variables() > kMostVariables || !graph.has_only_tables()) return false;
  return plan_elimination(graph, {.restarts = 2, .most_entries = kMostEntries}).is_possible();
}

std::shared_ptr<const Circuit> circuit_of(const Answer& answer, const Model& model) {
  if (answer.circuit) return answer.circuit;
  if (model.circuit) return model.circuit;
  const FactorGraph& graph = model.graph;
  if (!is_small(graph)) return nullptr;
  return count(graph, {.bytes = kMostBytes, .threads = 1}, {.most_decisions = kMostDecisions, .keep_circuit = true})
      .circuit;
}

Json logs_json(const std::vector<CountNumber>& numbers) {
  Json logs = Json::array();
  for (const CountNumber& number : numbers) logs.push_back(number.is_zero() ? Json("-inf") : json_number(number.log()));
  return logs;
}

}  // namespace

Json page_circuit_json(const Answer& answer, const Model& model) {
  const std::shared_ptr<const Circuit> circuit = circuit_of(answer, model);
  if (!circuit) return {};
  const CircuitShape& shape = circuit->shape();
  if (shape.words.size() > kMostWords) return {};
  return {{"words", shape.words},
          {"constants", logs_json(shape.constants)},
          {"weights", logs_json(shape.state_weights)},
          {"log_constant", json_number(shape.log_constant)}};
}

}  // namespace treesample
