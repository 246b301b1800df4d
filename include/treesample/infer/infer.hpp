// One call: a model, a question and limits in; an answer out, with what is certified about it.
//
//   const treesample::Answer answer = treesample::infer(treesample::read_model("model.uai"), {}, {.seconds = 20});
//   answer.log_z, answer.lower, answer.upper, answer.marginals, answer.best ...
//
//   treesample::Model network(treesample::read_model("asia.bif"));
//   network.observe("xray", "yes").observe_soft("smoke", {0.8, 0.2});
//   treesample::infer(network, {.query = {{"lung"}, {"lung", "tub"}}}).queries[1].probabilities ...
//
// The command `treesample infer` does just this: evidence is applied, zeros are propagated, a method is chosen for the
// model and the limits, the time is split among its phases, and their results are put together. The choice can be seen
// beforehand (plan) and in the answer, and the caller can decide everything instead (infer/options.hpp).
#pragma once

#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "treesample/infer/answer.hpp"
#include "treesample/infer/options.hpp"
#include "treesample/infer/plan.hpp"
#include "treesample/io/program_set.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {

// A factor graph with its observations and, where factors are computed by programs, the set that evaluates them; or a
// circuit.
struct Model {
  Model(FactorGraph model_graph, Evidence observed = {})
      : graph(std::move(model_graph)), evidence(std::move(observed)) {}
  // A compiled model. The circuit itself answers: no method is chosen.
  explicit Model(std::shared_ptr<const Circuit> compiled, Evidence observed = {});
  explicit Model(std::shared_ptr<ProgramSet> set, Evidence observed = {})
      : graph(set->graph()), evidence(std::move(observed)), programs(std::move(set)) {}

  // Add observations by name (model/names.hpp). Throw Error (kArgument) for unknown names and states, with those that
  // were probably meant, and for a variable in two states.
  Model& observe(std::string_view variable, std::string_view state);
  Model& observe_soft(std::string_view variable, std::vector<double> weights);  // one per state
  Model& observe(const Observations& more);

  FactorGraph graph;
  Evidence evidence;
  SoftEvidence soft_evidence = {};
  std::shared_ptr<ProgramSet> programs;    // null without any
  std::shared_ptr<const Circuit> circuit;  // null unless the model is one; the graph is then one function
};

// A time limit of infinity is one that the caller did not name: for a model of tables, infer() then takes 10 seconds,
// unless a budget, a method or an option of the search is given. This one is no limit at all.
inline constexpr double kNoTimeLimit = std::numeric_limits<double>::max();

// Throws Error: kArgument (often an OptionError) for a request that makes no sense, kResource when the limits of memory
// do not allow it, kNumeric when a factor or a declared maximum is wrong. After an interruption, or when a factor fails
// permanently, the result is the answer so far. The observer is told of every phase and can end each of them.
Answer infer(const Model& model, const Question& question = {}, const Limits& limits = {},
             const InferOptions& options = {}, const Observer& observer = {});

// Only the choice. It takes a part of the time limit, because the cost of elimination has to be found out.
Plan plan(const Model& model, const Question& question = {}, const Limits& limits = {},
          const InferOptions& options = {}, const Observer& observer = {});

}  // namespace treesample
