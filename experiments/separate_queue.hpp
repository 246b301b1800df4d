// The queue of a model whose runs are compared: no run learns from what another one has paid for.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "treesample/model/evaluation_queue.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample::experiments {

class SeparateQueue final : public EvaluationQueue {
 public:
  explicit SeparateQueue(FactorGraph graph) : graph_(std::move(graph)) {}

  [[nodiscard]] bool answers(int factor) const override { return queue().answers(factor); }
  [[nodiscard]] int num_workers() const override { return queue().num_workers(); }
  [[nodiscard]] int max_under_way() const override { return queue().max_under_way(); }
  [[nodiscard]] int num_pending() const override { return queue().num_pending(); }
  [[nodiscard]] std::int64_t num_left() const override { return queue().num_left(); }
  [[nodiscard]] std::int64_t num_answered() const override { return queue().num_answered(); }
  [[nodiscard]] bool can_repeat() const override { return queue().can_repeat(); }
  Ticket submit(std::vector<OracleQuestion> questions) override { return queue().submit(std::move(questions)); }
  std::vector<OracleAnswer> wait_any() override { return queue().wait_any(); }
  OracleAnswer wait(Ticket ticket) override { return queue().wait(ticket); }

 private:
  [[nodiscard]] EvaluationQueue& queue() const { return *graph_.evaluation_queue(); }

  FactorGraph graph_;  // keeps the queue
};

// The same graph for runs that are compared.
inline FactorGraph separated(const FactorGraph& graph) {
  FactorGraph result = graph;
  if (graph.evaluation_queue() != nullptr) result.set_evaluation_queue(std::make_shared<SeparateQueue>(graph));
  return result;
}

}  // namespace treesample::experiments
