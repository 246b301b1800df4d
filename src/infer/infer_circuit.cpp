#include "infer/infer_circuit.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "infer/counting.hpp"
#include "infer/phase_verbs.hpp"
#include "infer/planner.hpp"
#include "infer/policy.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// The answer for a graph with its evidence, by the circuit for both.
Answer answer_by_circuit(Plan plan, const FactorGraph& graph, const std::shared_ptr<const Circuit>& circuit,
                         const Run& run) {
  Findings found;
  Draft& draft = found.draft;
  const Task task{graph, plan, run};
  set_compiled(draft, circuit, task);
  draft.seconds = run.seconds();
  if (task.question().samples > 0) draw_samples(found, task, {run});
  draft.plan = std::move(plan);
  draft.num_variables_left = graph.num_variables();
  draft.num_factors_left = graph.num_factors();
  return std::move(draft).answer();
}

// Soft evidence becomes weights of states.
std::shared_ptr<const Circuit> observed(const Circuit& circuit, const Model& model) {
  if (model.soft_evidence.empty()) return std::make_shared<const Circuit>(circuit.given(model.evidence));
  FactorGraph variables;
  for (int v = 0; v < circuit.num_variables(); ++v) variables.add_variable(circuit.num_states(v));
  Circuit weighted = circuit;
  for (const StateWeights& weights : state_weights(with_soft_evidence(std::move(variables), model.soft_evidence))) {
    weighted = weighted.with(weights);
  }
  return std::make_shared<const Circuit>(weighted.given(model.evidence));
}

// A circuit is made of the model without its evidence, whose log Z is none of the question.
Observer without_bounds(const Observer& observer) {
  if (!observer.progress) return observer;
  Observer quiet = observer;
  quiet.progress = [tell = observer.progress](Progress now) {
    now.log_z = {};
    now.estimate.reset();
    tell(now);
  };
  return quiet;
}

Error why_no_circuit(const CountResult& counted, const Run& run) {
  if (counted.report.log_z.upper == kNegInf) {
    return {ErrorCode::kNumeric, "the model without its evidence is impossible"};
  }
  if (run.is_interrupted()) return {ErrorCode::kInterrupted, "interrupted"};
  const bool is_memory = counted.is_solved || counted.report.stop == StopReason::kMemory;
  return {ErrorCode::kResource, is_memory                                  ? "it does not fit into the memory"
                                : counted.report.stop == StopReason::kTime ? "the time is over"
                                                                           : "the search ended before"};
}

}  // namespace

Model::Model(std::shared_ptr<const Circuit> compiled, Evidence observed)
    : evidence(std::move(observed)), circuit(std::move(compiled)) {
  check_argument(circuit != nullptr, "Model", "there is no circuit");
  std::vector<int> all(static_cast<std::size_t>(circuit->num_variables()));
  std::iota(all.begin(), all.end(), 0);
  for (const int v : all) graph.add_variable(circuit->num_states(v));
  graph.add_factor(Factor::function(std::move(all),
                                    [compiled = circuit](std::span<const int> x) { return compiled->log_density(x); }));
}

Plan plan_for_circuit(const Model& model, InferRequest request, Run& run) {
  const std::optional<Method> method = request.options.method;
  if (method && method != Method::kCount) {
    throw OptionError(
        "method", fmt::format("is {}: a circuit answers by itself, allowed are auto and count", to_string(*method)));
  }
  request.options.method = Method::kCount;
  Plan plan = make_plan(model.graph, request, false, false, run);
  plan.reasons = {"the model is a circuit: one pass over its nodes answers"};
  plan.phases.clear();
  return plan;
}

Answer infer_circuit(const Model& model, const InferRequest& request, const Observer& observer) {
  Run run(request.limits.seconds, observer);
  Plan plan = plan_for_circuit(model, request, run);
  for (const std::string& remark : plan.remarks) run.remark(remark);
  return answer_by_circuit(std::move(plan), with_soft_evidence(model.graph, model.soft_evidence),
                           observed(*model.circuit, model), run);
}

Answer compile_and_answer(const Model& model, const InferRequest& request, const Observer& observer) {
  const bool is_observed = !model.evidence.empty() || !model.soft_evidence.empty();
  Run run(request.limits.seconds, is_observed ? without_bounds(observer) : observer);
  Plan plan = make_plan(model.graph, request, model.programs != nullptr, false, run);
  for (const std::string& remark : plan.remarks) run.remark(remark);
  observed_states(model.graph, model.evidence);  // throws now rather than after the work
  const CountResult counted = compile_within({model.graph, plan, run}, count_time(run, policy::kCompileEnd));
  if (counted.circuit) {
    Answer answer = answer_by_circuit(std::move(plan), with_soft_evidence(model.graph, model.soft_evidence),
                                      observed(*counted.circuit, model), run);
    answer.method = fmt::format("count: {}; {}", counted.report.brief(), answer.method);
    answer.circuit = counted.circuit;
    return answer;
  }
  const Error why = why_no_circuit(counted, run);
  run.remark(fmt::format("--compile: there is no circuit, {}", why.what()));
  InferRequest rest = request;
  rest.options.compile.reset();
  rest.options.old_words.clear();  // said already
  rest.limits.seconds = run.seconds_left();
  Answer answer = infer(model, rest.question, rest.limits, rest.options, observer);
  answer.no_circuit = why;
  return answer;
}

}  // namespace treesample
