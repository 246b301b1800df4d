// From a question to an answer: reduce the model, choose a method, run it, draw samples, and translate the result to
// the original model.
#include "treesample/infer/infer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "infer/answer_phases.hpp"
#include "infer/asked.hpp"
#include "infer/call_methods.hpp"
#include "infer/decided.hpp"
#include "infer/infer_circuit.hpp"
#include "infer/joint_queries.hpp"
#include "infer/known_order.hpp"
#include "infer/most_probable.hpp"
#include "infer/noise_option.hpp"
#include "infer/option_table.hpp"
#include "infer/phases.hpp"
#include "infer/planner.hpp"
#include "infer/policy.hpp"
#include "infer/time_limit.hpp"
#include "infer/words.hpp"
#include "treesample/io/evidence_file.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/names.hpp"
#include "treesample/model/network.hpp"
#include "treesample/search/first_bounds.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

struct Prepared {
  std::shared_ptr<const ReducedModel> model;
  SimplifyReport report;
  bool is_simplified = false;  // as the request allows
  Spending decided = {};       // on functions whose variables are all observed
};

// A network is made for the numbers of variables and states that it was trained on, and so is a value function: the
// model is then not simplified.
Prepared prepare(const Model& model, const InferRequest& request, const Run& run) {
  const InferOptions& options = request.options;
  const bool has_network = options.leaf && options.leaf->kind == LeafKind::kNetwork;
  Prepared prepared;
  prepared.is_simplified = options.simplify.value_or(true) && !has_network && !options.value_function;
  if (prepared.is_simplified && model.graph.has_only_tables()) {
    SimplifiedModel simplified = simplify(model.graph, model.evidence, run.time_box(policy::kSimplifyShare, HUGE_VAL));
    prepared.model = std::make_shared<const ReducedModel>(std::move(simplified.model));
    prepared.report = simplified.report;
  } else {
    auto [conditioned, spent] = condition_with_calls(model, request, run);
    prepared.model = std::make_shared<const ReducedModel>(std::move(conditioned));
    prepared.decided = spent;
  }
  return prepared;
}

// Calls of programs end with the time limit, because a program may hang.
class ProgramWatch {
 public:
  ProgramWatch(ProgramSet* programs, const Run& run, std::int64_t new_calls) : programs_(programs) {
    if (programs_ == nullptr) return;
    programs_->set_most_new(new_calls);
    before_ = programs_->set_should_stop([run] { return run.is_interrupted() || run.seconds_left() <= 0.0; });
    remark_before_ = programs_->set_remark([run](const std::string& text) { run.remark(text); });
  }
  ~ProgramWatch() {
    if (programs_ == nullptr) return;
    programs_->set_most_new(EvaluationQueue::kUnlimited);
    programs_->set_should_stop(std::move(before_));
    programs_->set_remark(std::move(remark_before_));
  }
  ProgramWatch(const ProgramWatch&) = delete;
  ProgramWatch& operator=(const ProgramWatch&) = delete;

 private:
  ProgramSet* programs_;
  ShouldStop before_;
  std::function<void(const std::string&)> remark_before_;
};

// A limit of memory that does not suffice is an error, unless the user has interrupted, who wants an answer.
void run_plan(Findings& found, const Task& task) {
  try {
    run_phases(found, task);
  } catch (const OptionError&) {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kResource) throw;
    found.is_given_up = task.run.is_interrupted() && task.graph.has_only_tables();
    if (found.is_given_up) return;
    const bool is_quarter = task.options().leaf == LeafChoice{LeafKind::kMiniBucket};
    throw OptionError(
        "memory",
        fmt::format("{} is not enough: {}{}", bytes_text(static_cast<double>(task.plan.request.limits.bytes)),
                    error.what(), is_quarter ? "; mini-buckets get a quarter of it (--leaf uniform does without)" : ""),
        ErrorCode::kResource);
  }
}

// Throws where programs failed, so that there is no answer.
void check_programs(Draft& draft, const ProgramSet* programs, const Run& run) {
  if (programs != nullptr) {
    draft.program_counts = programs->counts();
    draft.calls = programs->calls();
    // Without a single value of a program there is no answer, unless the user interrupted: an interruption may break a
    // program or pool before it is noticed here.
    const bool has_value =
        std::any_of(draft.program_counts.begin(), draft.program_counts.end(),
                    [](const OracleCounts& counts) { return counts.paid + counts.from_journal > 0; });
    if (draft.error && !has_value && !run.is_interrupted()) throw Error(*draft.error);
  }
  // A declared property of the model is wrong: nothing that was made from it is an answer.
  if (draft.error && draft.error->code() == ErrorCode::kArgument) throw Error(ErrorCode::kNumeric, draft.error->what());
}

bool is_whole(const ReducedModel& model, const FactorGraph& original) {
  if (model.graph.num_variables() != original.num_variables()) return false;
  for (int v = 0; v < original.num_variables(); ++v) {
    if (model.graph.num_states(v) != original.num_states(v)) return false;
  }
  return true;
}

// Translates to the original model; the samples are translated already.
Answer lifted(Draft draft, bool has_programs, const Prepared& prepared, const FactorGraph& original) {
  const ReducedModel& model = *prepared.model;
  Answer answer = std::move(draft).answer(has_programs);
  const bool has_marginals =
      answer.log_z != kNegInf && !prepared.report.is_impossible && answer.marginals.size() == model.variable_of.size();
  if (has_marginals && !answer.marginal_errors.empty()) {
    std::vector<double> errors(model.fixed_states.size(), 0.0);
    for (std::size_t i = 0; i < answer.marginal_errors.size(); ++i) {
      errors[model.variable_of[i]] = answer.marginal_errors[i];
    }
    answer.marginal_errors = std::move(errors);
  }
  if (!has_marginals) answer.marginal_errors.clear();
  answer.marginals = has_marginals ? model.lift(answer.marginals) : Marginals();
  if (answer.best) {
    answer.best->x = model.lift(answer.best->x);
    // A store has sums and differences of values, which lose digits where those of unknown leaves are far off.
    if (original.has_only_tables()) answer.best->log_density = original.log_density(answer.best->x);
  }
  if (answer.approximation && !is_whole(model, original)) {
    answer.approximation = std::make_shared<LiftedApproximation>(prepared.model, std::move(answer.approximation));
  }
  answer.simplified = prepared.report;
  answer.num_variables_left = model.graph.num_variables();
  answer.num_factors_left = model.graph.num_factors();
  return answer;
}

// A program that gives leaf values becomes a value function.
InferOptions with_program(const InferOptions& options, const FactorGraph& graph, const Run& run) {
  InferOptions known = options;
  if (!options.leaf || options.leaf->kind != LeafKind::kProgram) return known;
  if (options.value_function) throw OptionError("leaf", "is a program, and a value function is given too");
  known.value_function = call_methods_for("leaf").program_value(
      options.leaf->path, graph, [run] { return run.is_interrupted() || run.seconds_left() <= 0.0; });
  return known;
}

// The value function in terms of the reduced model, whose variables have all of their states.
ValueFunction reduced_value(const ValueFunction& original, const std::shared_ptr<const ReducedModel>& model) {
  return [original, model](int variable, std::span<const int> prefixes, int count, std::span<double> q) {
    const std::size_t width = model->variable_of.size();
    std::vector<int> rows;
    for (int r = 0; r < count; ++r) {
      const auto row = rows.insert(rows.end(), model->fixed_states.begin(), model->fixed_states.end());
      for (std::size_t i = 0; i < width; ++i)
        row[model->variable_of[i]] = prefixes[static_cast<std::size_t>(r) * width + i];
    }
    original(model->variable_of[variable], rows, count, q);
  };
}

Plan planned(const AskedModel& added, const InferRequest& request, const Prepared& prepared, Run& run) {
  InferRequest asked = request;
  set_known_order(asked.options, added.model().graph, *prepared.model);
  if (request.options.value_function) {
    if (!asked.options.leaf) asked.options.leaf = LeafChoice{LeafKind::kFunction};
    asked.options.value_function = reduced_value(request.options.value_function, prepared.model);
  }
  if (prepared.model->graph.has_only_tables() && !added.model().graph.has_only_tables()) forget_calls(asked);
  const bool has_programs = added.model().programs != nullptr;
  if (request.options.method) check_method(*request.options.method, prepared.model->graph);
  return make_plan(prepared.model->graph, asked, has_programs, prepared.is_simplified, run, prepared.decided);
}

// The answer when the user interrupted before anything could be done.
Answer answer_at_once(const Model& model, const InferRequest& request, Run& run) {
  Plan plan = make_plan(model.graph, request, /*has_programs=*/false, /*is_simplified=*/false, run);
  Draft draft = first_answer({model.graph, plan, run});
  draft.seconds = run.seconds();
  draft.plan = std::move(plan);
  Answer answer = std::move(draft).answer();
  answer.num_variables_left = model.graph.num_variables();
  answer.num_factors_left = model.graph.num_factors();
  return answer;
}

bool wants_first_bounds(const InferRequest& request, const Run& run) {
  return run.is_watched() && !run.is_interrupted() &&
         request.options.select.value_or(SelectRule::kGap) == SelectRule::kGap &&
         request.options.method.value_or(Method::kSearch) == Method::kSearch;
}

// The answer for a model that contains everything that the question adds (AskedModel).
Answer answer_of(const AskedModel& asked, const InferRequest& request, Run& run) {
  const Model& model = asked.model();
  run.set_size(std::int64_t{model.graph.num_variables()} + model.graph.num_factors());
  const ProgramWatch watch(model.programs.get(), run, request.limits.new_calls);
  // Making a model of tables smaller can take long; applying evidence to functions calls them, which is done once.
  const bool tells_first = wants_first_bounds(request, run);
  if (tells_first && model.graph.has_only_tables()) {
    tell_first_bounds(condition(model.graph, model.evidence).graph, request.options.seed, run);
  }
  if (run.is_overdue() && model.evidence.empty() && model.graph.has_only_tables()) {
    return asked.answered(answer_at_once(model, request, run));
  }
  const Prepared prepared = prepare(model, request, run);
  const FactorGraph& graph = prepared.model->graph;
  if (tells_first && !model.graph.has_only_tables()) tell_first_bounds(graph, request.options.seed, run);
  run.set_log_error(prepared.report.log_error + error_of_decided(prepared.decided.calls, request.options, run));
  Plan plan = planned(asked, request, prepared, run);
  for (const std::string& remark : plan.remarks) run.remark(remark);
  const Task task{graph, plan, run, &model.graph, prepared.model.get()};
  const double limit = run.time_limit();
  Findings found;
  Draft& draft = found.draft;
  run_plan(found, task);
  run.set_time_limit(limit);  // samples may have all that is left
  draft.seconds = run.seconds();
  const bool has_bought = draft.spent.reward_evaluations > 0 && (!model.programs || draft.spent.calls > 0);
  const bool is_limited = plan.request.limits.budget != Limits::kUnlimited;
  if (is_a_search(plan.method) && is_limited && draft.stop == StopReason::kBudget && !has_bought) {
    run.remark(fmt::format("--budget {} ({}) buys {}: the first step of the search costs more",
                           plan.request.limits.budget, option_text(plan.request, "budget-unit"),
                           model.programs ? "no call" : "nothing"));
  }
  finish_phases(found, task);
  check_programs(draft, model.programs.get(), run);
  // A wait for a program ends as interrupted when the time is over.
  if (!run.is_interrupted() && draft.stop == StopReason::kInterrupted) draft.stop = StopReason::kTime;
  draft.spent += prepared.decided;
  draft.plan = std::move(plan);
  std::vector<std::vector<double>> joints;
  if (const auto* const circuit = dynamic_cast<const Circuit*>(draft.approximation.get());
      circuit && asked.has_joint()) {
    joints = joints_by_circuit(*circuit, *prepared.model, asked, run.until());
  }
  Answer answer = lifted(std::move(draft), model.programs != nullptr, prepared, model.graph);
  say_why_no_marginals(answer, model.graph, run);
  return asked.answered(std::move(answer), joints);
}

// Only evidence can be added to a circuit.
Answer by_circuit(const Model& model, InferRequest request, const Run& run, const Observer& observer) {
  Model hard = model;
  hard.soft_evidence.clear();
  const AskedModel asked(hard, request);
  request.question.query.clear();  // answered from the marginals, and by the circuit
  Answer answer =
      model.circuit ? infer_circuit(model, request, observer) : compile_and_answer(model, request, observer);
  std::vector<std::vector<double>> joints;
  if (const auto* const circuit = dynamic_cast<const Circuit*>(answer.approximation.get())) {
    joints = joints_by_circuit(*circuit, condition(model.graph, {}), asked, run.until());
  }
  answer = asked.answered(std::move(answer), joints);
  add_joint_queries(answer, asked, request, run);
  if (!model.circuit) judge_evidence(answer, model, run);
  return answer;
}

// A queue knows which calls are new; so where these are limited, functions of this process get one.
Model with_queue(const Model& given, const InferRequest& request) {
  Model model = given;
  const bool has_queue = given.graph.evaluation_queue() != nullptr;
  if (request.limits.new_calls == Limits::kUnlimited || has_queue || given.circuit || given.graph.has_only_tables())
    return model;
  model.programs = call_methods_for("new-calls").queue_of_functions(given.graph);
  model.graph = model.programs->graph();
  model.graph.set_evaluation_queue(model.programs);  // an answer that keeps the graph keeps the queue, too
  return model;
}

// Without what a question of log Z alone leaves out.
Question asked(const Question& question) {
  Question known = question;
  if (question.aim == Aim::kLogZ) known.marginals = known.best = false;
  return known;
}

// The time before what else is asked.
Run run_of_method(const Run& run, const Model& model, const InferRequest& request, const AskedModel& asked,
                  const Observer& observer) {
  const double before_joints = asked.has_joint() ? policy::kJointStart : 1.0;
  const double share = run.has_time_limit() ? std::min(share_of_method(model, request), before_joints) : 1.0;
  return run.part(run.time_limit() * share, observer);
}

// Where only the best configuration is asked for, its proof is what the run worked for.
StopReason end_for_best(const Answer& answer, const Run& run) {
  if (answer.error || answer.log_z == kNegInf) return answer.stop;
  if (answer.is_best_optimal == true) return StopReason::kExact;
  if (run.has_time_limit() && run.seconds_left() <= 0.0) return StopReason::kTime;
  return answer.stop == StopReason::kExact ? StopReason::kBudget : answer.stop;
}

Answer by_method(const Model& model, const InferRequest& request, const Run& run, const Observer& observer) {
  const AskedModel asked(model, request);
  Run method = run_of_method(run, model, request, asked, observer);
  Answer answer = answer_of(asked, request, method);
  add_joint_queries(answer, asked, request, run);
  method.finish();
  run_answer_phases(answer, model, request, run);
  if (request.question.aim == Aim::kBest && model.graph.has_only_tables()) answer.stop = end_for_best(answer, run);
  return answer;
}

}  // namespace

Model& Model::observe(std::string_view variable, std::string_view state) {
  const Names names(graph);
  const int v = names.variable(variable);
  return observe(Observations{{{v, names.state(v, state)}}, {}});
}

Model& Model::observe_soft(std::string_view variable, std::vector<double> weights) {
  return observe(Observations{{}, {{Names(graph).variable(variable), std::move(weights)}}});
}

Model& Model::observe(const Observations& more) {
  Observations known{evidence, soft_evidence};
  treesample::observe(known, Names(graph), more);
  for (const SoftObservation& seen : more.soft) {
    check_range("Model::observe_soft", "variable", seen.variable, 0, graph.num_variables() - 1);
    const std::string problem = weights_problem(seen.weights, graph.num_states(seen.variable));
    check_argument(problem.empty(), "Model::observe_soft", problem);
  }
  evidence = std::move(known.states);
  soft_evidence = std::move(known.soft);
  return *this;
}

Plan plan(const Model& model, const Question& question, const Limits& limits, const InferOptions& options,
          const Observer& observer) {
  return plan_by(TimeSource::real(), model, question, limits, options, observer);
}

Answer infer(const Model& model, const Question& question, const Limits& limits, const InferOptions& options,
             const Observer& observer) {
  return infer_by(TimeSource::real(), model, question, limits, options, observer);
}

Plan plan_by(const TimeSource& time, const Model& model, const Question& question, const Limits& limits,
             const InferOptions& options, const Observer& observer) {
  InferRequest request{asked(question), limits, options};
  Run run = begin_run(model, request, observer, time);
  if (model.circuit) return plan_for_circuit(model, request, run);
  request.options = with_program(options, model.graph, run);
  const AskedModel asked(model, request);
  Prepared prepared = prepare(without_decided(asked.model()), request, run);
  prepared.decided = decided_calls(asked.model());
  Run method = run_of_method(run, model, request, asked, observer);
  Plan plan = planned(asked, request, prepared, method);
  for (PlannedPhase& phase : planned_answer_phases(model, request, run.time_limit())) {
    plan.phases.push_back(std::move(phase));
  }
  return plan;
}

Answer infer_by(const TimeSource& time, const Model& given, const Question& question, const Limits& limits,
                const InferOptions& options, const Observer& observer) {
  InferRequest request{asked(question), limits, options};
  const Model model = with_queue(given, request);
  const Run run = begin_run(model, request, observer, time);
  run.set_size(std::int64_t{model.graph.num_variables()} + model.graph.num_factors());
  request.options = with_program(options, model.graph, run);
  static_cast<void>(map_variables(model, question));
  const bool is_by_circuit = model.circuit || options.compile == true;
  request.validate();
  check_questions(model, request, is_by_circuit);
  Answer answer = is_by_circuit ? by_circuit(model, request, run, observer) : by_method(model, request, run, observer);
  // Also where log Z was exact before: a proof, samples or another part of the answer may be cut short.
  if (run.is_interrupted()) answer.stop = StopReason::kInterrupted;
  return answer;
}

}  // namespace treesample
