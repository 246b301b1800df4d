// Everything that a program needs for inference with treesample; stable, see docs/api.md. The README's example:
//
//   treesample::FactorGraph graph;
//   for (int v = 0; v < 10; ++v) graph.add_variable(3);
//   // Tables hold logarithms.
//   for (int v = 0; v + 1 < 10; ++v) graph.add_table({v, v + 1}, {1.0, 0, 0, 0, 1.2, 0, 0, 0, 1.4});
//   const treesample::Answer answer = treesample::infer(graph, {.samples = 3}, {.seconds = 10});
//   answer.log_z, answer.lower, answer.upper, answer.marginals, answer.best, answer.samples
//
// examples/quick_start.cpp is the whole program; a test compares its output.
#pragma once

#include "treesample/baselines/belief_propagation.hpp"
#include "treesample/baselines/frequencies.hpp"
#include "treesample/baselines/gibbs.hpp"
#include "treesample/baselines/metropolis.hpp"
#include "treesample/baselines/smc.hpp"
#include "treesample/blackbox/black_box.hpp"
#include "treesample/calls/black_box_answer.hpp"
#include "treesample/count/count.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/annealed_importance.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/exact/decisions.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/exact/expected_counts.hpp"
#include "treesample/exact/kept_elimination.hpp"
#include "treesample/exact/many_cases.hpp"
#include "treesample/exact/map_search.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/exact/time_slices.hpp"
#include "treesample/executor.hpp"
#include "treesample/families/family.hpp"
#include "treesample/infer/answer.hpp"
#include "treesample/infer/cases.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/infer/model_input.hpp"
#include "treesample/infer/options.hpp"
#include "treesample/infer/plan.hpp"
#include "treesample/infer/question.hpp"
#include "treesample/io/evidence_file.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/io/program_set.hpp"
#include "treesample/io/uai.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/math/random.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/model/names.hpp"
#include "treesample/model/only_if.hpp"
#include "treesample/oracle/oracle_set.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/reduce/intervention.hpp"
#include "treesample/search/search.hpp"
#include "treesample/search/search_approximation.hpp"
#include "treesample/space/limits.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/thread_executor.hpp"
#include "treesample/tree/tree_sample.hpp"
#include "treesample/value/function_value.hpp"
#include "treesample/value/leaf_choice.hpp"
#include "treesample/value/leaf_value.hpp"
#include "treesample/value/make_leaf_value.hpp"
