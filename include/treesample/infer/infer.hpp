// One call: a model, a question and limits in; an answer out, with what is certified about it.
//
//   const treesample::Answer answer = treesample::infer(treesample::read_model("model.uai"), {}, {.seconds = 20});
//   answer.log_z, answer.lower, answer.upper, answer.marginals, answer.best ...
//
// It is what the command `treesample infer` does: evidence is applied, zeros are propagated, a method is chosen for the
// model and the limits, the time is split among its phases, and what they find is put together. The choice can be seen
// before (plan) and in the answer, and everything can be decided by the caller instead (infer/options.hpp).
#pragma once

#include <memory>
#include <utility>

#include "treesample/infer/answer.hpp"
#include "treesample/infer/options.hpp"
#include "treesample/infer/plan.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/oracle/oracle_set.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {

// A factor graph with what was observed and, where factors are computed by programs, the set that answers for them; or
// a circuit.
struct Model {
  Model(FactorGraph model_graph, Evidence observed = {})
      : graph(std::move(model_graph)), evidence(std::move(observed)) {}
  // A compiled model, which answers by itself: no method is chosen.
  explicit Model(std::shared_ptr<const Circuit> compiled, Evidence observed = {});
  explicit Model(std::shared_ptr<OracleSet> set, Evidence observed = {})
      : graph(set->graph()), evidence(std::move(observed)), programs(std::move(set)) {}

  FactorGraph graph;
  Evidence evidence;
  std::shared_ptr<OracleSet> programs;     // null without any
  std::shared_ptr<const Circuit> circuit;  // null unless the model is one; the graph is then one function
};

// Throws Error: kArgument (often an OptionError) for a request that makes no sense, kResource when the limits of memory
// do not allow it, kNumeric when a factor or a declared maximum is wrong. An interruption and a factor that fails for
// good end with the answer so far. The observer is told of every phase and asked in each of them whether to go on.
Answer infer(const Model& model, const Question& question = {}, const Limits& limits = {},
             const InferOptions& options = {}, const Observer& observer = {});

// The choice alone. It takes a part of the time limit: what elimination would cost has to be found out.
Plan plan(const Model& model, const Question& question = {}, const Limits& limits = {},
          const InferOptions& options = {}, const Observer& observer = {});

}  // namespace treesample
