// Larger models with many zeros, made here: what count() is measured on.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/zero_models.hpp"

namespace treesample::testing {

// A grid of noisy and deterministic gates: each variable depends on its left and upper neighbours; a share of the
// tables is deterministic with random outputs, the others have random numbers. The last one is observed.
inline FactorGraph deterministic_grid(Random& random, int size, double deterministic) {
  FactorGraph graph;
  for (int v = 0; v < size * size; ++v) graph.add_variable(2);
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      std::vector<int> scope;
      if (x > 0) scope.push_back(y * size + x - 1);
      if (y > 0) scope.push_back((y - 1) * size + x);
      scope.push_back(y * size + x);
      const bool is_deterministic = scope.size() > 1 && random.uniform() < deterministic;
      std::vector<double> values;
      for (std::size_t row = 0; row < std::size_t{1} << (scope.size() - 1); ++row) {
        const double p = random.uniform();
        const bool is_one = p < 0.5;
        values.push_back(is_deterministic ? (is_one ? kNegInf : 0.0) : std::log1p(-p));
        values.push_back(is_deterministic ? (is_one ? 0.0 : kNegInf) : std::log(p));
      }
      graph.add_table(scope, values);
    }
  }
  graph.add_table({size * size - 1}, {kNegInf, 0.0});
  return graph;
}

// Packages are carried between places by one truck; every plan of so many steps is a solution. One state variable for
// each package (a place, or in the truck) and one for the truck, at each step.
inline FactorGraph logistics(int num_places, int num_packages, int num_steps) {
  FactorGraph graph;
  std::vector<int> trucks;
  std::vector<std::vector<int>> packages(static_cast<std::size_t>(num_packages));
  for (int t = 0; t <= num_steps; ++t) {
    trucks.push_back(graph.add_variable(num_places));
    for (auto& package : packages) package.push_back(graph.add_variable(num_places + 1));
  }
  const int in_truck = num_places;
  for (int t = 0; t < num_steps; ++t) {
    // One place on or back, or it stays.
    add_condition(graph, {trucks[t], trucks[t + 1]}, [](std::span<const int> x) { return std::abs(x[0] - x[1]) <= 1; });
    for (const auto& package : packages) {
      add_condition(graph, {package[t], trucks[t], trucks[t + 1], package[t + 1]}, [&](std::span<const int> x) {
        if (x[0] == x[3]) return true;
        // Loading and unloading need a truck that stands there.
        return x[1] == x[2] && ((x[0] == x[1] && x[3] == in_truck) || (x[0] == in_truck && x[3] == x[1]));
      });
    }
    for (int a = 0; a < num_packages; ++a) {  // one loading or unloading at a time
      for (int b = a + 1; b < num_packages; ++b) {
        add_condition(graph, {packages[a][t], packages[a][t + 1], packages[b][t], packages[b][t + 1]},
                      [](std::span<const int> x) { return x[0] == x[1] || x[2] == x[3]; });
      }
    }
  }
  const auto set = [&](int v, int state) {
    std::vector<double> values(static_cast<std::size_t>(graph.num_states(v)), kNegInf);
    values[state] = 0.0;
    graph.add_table({v}, std::move(values));
  };
  set(trucks.front(), 0);
  for (int p = 0; p < num_packages; ++p) {
    set(packages[p].front(), p % num_places);
    set(packages[p].back(), (p + num_places / 2) % num_places);
  }
  return graph;
}

inline FactorGraph coloured_random_graph(Random& random, int size, int num_edges, int colours) {
  FactorGraph graph;
  for (int v = 0; v < size; ++v) graph.add_variable(colours);
  for (int e = 0; e < num_edges; ++e) {
    const std::vector<int> order = random.permutation(size);
    add_different(graph, order[0], order[1]);
  }
  return graph;
}

struct NamedModel {
  std::string name;
  FactorGraph graph;
};

inline std::vector<NamedModel> zero_benchmarks() {
  std::vector<NamedModel> models;
  const auto stream = [](const char* name) { return Random(1, name); };
  Random a = stream("3-cnf 60"), b = stream("3-cnf 80"), c = stream("grid 75"), d = stream("grid 90"),
         e = stream("colour"), f = stream("3-cnf 100"), g = stream("grid 50");
  models.push_back({"random 3-CNF, 60 variables, 150 clauses", random_clauses(a, 60, 150)});
  models.push_back({"random 3-CNF, 80 variables, 270 clauses", random_clauses(b, 80, 270)});
  models.push_back({"random 3-CNF, 100 variables, 380 clauses", random_clauses(f, 100, 380)});
  models.push_back({"grid 14 x 14, 50 % deterministic", deterministic_grid(g, 14, 0.5)});
  models.push_back({"grid 20 x 20, 75 % deterministic", deterministic_grid(c, 20, 0.75)});
  models.push_back({"grid 30 x 30, 90 % deterministic", deterministic_grid(d, 30, 0.9)});
  models.push_back({"multiplier 8 x 8 bits, product 56,153", multiplier(8, 56153)});
  models.push_back({"multiplier 10 x 10 bits, product 1,022,117", multiplier(10, 1022117)});
  models.push_back({"multiplier 14 x 14 bits, product 260,045,867", multiplier(14, 260045867)});
  models.push_back({"queens 10", queens(10)});
  models.push_back({"queens 11", queens(11)});
  models.push_back({"3-colourings of a random graph, 70 variables, 120 edges", coloured_random_graph(e, 70, 120, 3)});
  models.push_back({"4-colourings of a grid 8 x 8", coloured_grid(8, 8, 4)});
  models.push_back({"logistics, 3 places, 4 packages, 12 steps", logistics(3, 4, 12)});
  models.push_back({"logistics, 3 places, 4 packages, 20 steps", logistics(3, 4, 20)});
  models.push_back({"logistics, 4 places, 6 packages, 26 steps", logistics(4, 6, 26)});
  return models;
}

}  // namespace treesample::testing
