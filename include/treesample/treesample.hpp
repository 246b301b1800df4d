// Everything a program needs for inference with treesample. The README's example:
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
#include "treesample/baselines/gibbs.hpp"
#include "treesample/baselines/smc.hpp"
#include "treesample/count/circuit.hpp"
#include "treesample/count/count.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/evaluate/importance.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/exact/find_configuration.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/families/family.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/io/uai.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/reduce/simplify.hpp"
#include "treesample/search/anytime_search.hpp"
#include "treesample/search/q_uct_search.hpp"
#include "treesample/search/search_approximation.hpp"
#include "treesample/search/solved_marginals.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/tree/tree_sample.hpp"
#include "treesample/value/leaf_value.hpp"
#include "treesample/value/make_leaf_value.hpp"
#include "treesample/value/mini_bucket.hpp"
