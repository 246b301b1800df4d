// Larger generated models with many zeros, for measuring count().
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/trials.hpp"
#include "support/zero_models.hpp"

namespace treesample::testing {

// A grid of noisy and deterministic gates: each variable depends on its left and upper neighbours. A share of the
// tables is deterministic with random outputs, the others have random numbers. The last variable is observed.
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

// One truck carries packages between places; every plan with num_steps steps is a solution. At each step there is a
// state variable for each package (a place, or in the truck) and one for the truck.
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
    // The truck moves to a neighbouring place or stays.
    add_condition(graph, {trucks[t], trucks[t + 1]}, [](std::span<const int> x) { return std::abs(x[0] - x[1]) <= 1; });
    for (const auto& package : packages) {
      add_condition(graph, {package[t], trucks[t], trucks[t + 1], package[t + 1]}, [&](std::span<const int> x) {
        if (x[0] == x[3]) return true;
        // Loading and unloading need the truck to stay at the place.
        return x[1] == x[2] && ((x[0] == x[1] && x[3] == in_truck) || (x[0] == in_truck && x[3] == x[1]));
      });
    }
    for (int a = 0; a < num_packages; ++a) {  // only one loading or unloading at a time
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
  FactorGraph graph = variables(size, colours);
  for (int e = 0; e < num_edges; ++e) {
    const std::vector<int> order = random.permutation(size);
    add_different(graph, order[0], order[1]);
  }
  return graph;
}

// A chain of parities. Half of all inputs have an odd sum.
inline FactorGraph odd_inputs(int num_inputs) {
  Circuit01 circuit;
  int last = circuit.input();
  for (int i = 1; i < num_inputs; ++i) last = circuit.parity({last, circuit.input()});
  circuit.set(last, 1);
  return circuit.graph;
}

// Random equations modulo 2, of three bits each, all fulfilled by one random configuration. The number of solutions is
// 2 to the power of (number of bits - rank); its logarithm is returned too.
inline std::pair<FactorGraph, double> parity_equations(Random& random, int num_bits, int num_equations) {
  FactorGraph graph;
  std::vector<int> x;
  for (int v = 0; v < num_bits; ++v) {
    graph.add_variable(2);
    x.push_back(below(random, 2));
  }
  std::vector<std::vector<char>> rows;  // in echelon form
  for (int e = 0; e < num_equations; ++e) {
    std::vector<int> scope = random.permutation(num_bits);
    scope.resize(3);
    const int parity = x[scope[0]] ^ x[scope[1]] ^ x[scope[2]];
    add_condition(graph, scope, [&](std::span<const int> y) { return (y[0] ^ y[1] ^ y[2]) == parity; });
    std::vector<char> row(static_cast<std::size_t>(num_bits), 0);
    for (const int v : scope) row[v] = 1;
    for (const std::vector<char>& known : rows) {
      const auto lead = std::find(known.begin(), known.end(), 1) - known.begin();
      if (row[lead] == 0) continue;
      for (int v = 0; v < num_bits; ++v) row[v] ^= known[v];
    }
    if (std::find(row.begin(), row.end(), 1) != row.end()) rows.push_back(std::move(row));
  }
  return {std::move(graph), (num_bits - static_cast<double>(rows.size())) * std::log(2.0)};
}

struct NamedModel {
  std::string name;
  FactorGraph graph;
  std::optional<double> log_solutions = {};  // if the number of solutions is known
};

// Models whose number of solutions is known: by a formula, a table or a factorisation.
inline std::vector<NamedModel> known_counts() {
  std::vector<NamedModel> models;
  for (const auto& [size, solutions] :
       {std::pair(8, 92), std::pair(10, 724), std::pair(11, 2680), std::pair(12, 14200)}) {
    models.push_back({"queens " + std::to_string(size), queens(size), std::log(solutions)});
  }
  models.push_back({"multiplier 8 x 8 bits, 233 times 241", multiplier(8, 56153), std::log(2.0)});
  models.push_back({"multiplier 10 x 10 bits, 1,009 times 1,013", multiplier(10, 1022117), std::log(2.0)});
  models.push_back({"multiplier 8 x 8 bits, product 0", multiplier(8, 0), std::log(511.0)});
  models.push_back({"multiplier 6 x 6 bits, product 720", multiplier(6, 720), std::log(12.0)});
  models.push_back({"parity of 200 inputs", odd_inputs(200), 199.0 * std::log(2.0)});
  Random random(1, "parity equations");
  for (const auto& [bits, equations] : {std::pair(40, 30), std::pair(60, 40)}) {
    auto [graph, log_solutions] = parity_equations(random, bits, equations);
    models.push_back({std::to_string(equations) + " random equations of " + std::to_string(bits) + " bits modulo 2",
                      std::move(graph), log_solutions});
  }
  models.push_back({"5-colourings of a cycle of 200", coloured_cycle(200, 5), 200.0 * std::log(4.0)});
  models.push_back({"3-colourings of a grid 5 x 5", coloured_grid(5, 5, 3), std::log(580986.0)});
  models.push_back({"8 pigeons in 10 holes", pigeons(8, 10), std::log(1814400.0)});
  models.push_back({"9 pigeons in 8 holes", pigeons(9, 8), kNegInf});
  return models;
}

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
