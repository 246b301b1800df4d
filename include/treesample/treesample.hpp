// Everything a program needs for inference with treesample. The README's example:
//
//   treesample::FactorGraph graph;
//   for (int v = 0; v < 10; ++v) graph.add_variable(3);
//   for (int v = 0; v + 1 < 10; ++v) graph.add_table({v, v + 1}, {1.0, 0, 0, 0, 1.2, 0, 0, 0, 1.4});
//   const auto kind = treesample::SpaceKind::kAndOr;
//   const auto space = treesample::make_search_space(graph, treesample::search_order(graph, kind, {}), kind);
//   const auto result = treesample::tree_sample(graph, space, {.budget = 1000});
//   result.approximation.log_z();                                  // with is_exact() the true log Z
//   treesample::Random random(1);
//   result.approximation.sample(random);                           // one state per variable
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
#include "treesample/evaluate/solved_marginals.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/exact/find_configuration.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/families/family.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/io/uai.hpp"
#include "treesample/model/evidence.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/model/search_space.hpp"
#include "treesample/model/simplify.hpp"
#include "treesample/search/anytime_search.hpp"
#include "treesample/search/bounded_approximation.hpp"
#include "treesample/search/tree_sample.hpp"
#include "treesample/value/fallback.hpp"
#include "treesample/value/mini_bucket.hpp"
