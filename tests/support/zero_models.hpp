// Models with many zeros for tests and benchmarks: random ones, and some whose number of solutions is known.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "support/random_models.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample::testing {

// A factor that is 1 where the states fulfil the condition and 0 elsewhere.
inline void add_condition(FactorGraph& graph, const std::vector<int>& scope,
                          const std::function<bool(std::span<const int>)>& holds) {
  std::vector<double> values;
  std::vector<int> states(scope.size(), 0);
  for (bool goes_on = true; goes_on;) {
    values.push_back(holds(states) ? 0.0 : kNegInf);
    goes_on = false;
    for (std::size_t i = scope.size(); i-- > 0 && !goes_on;) {
      if (++states[i] < graph.num_states(scope[i])) {
        goes_on = true;
      } else {
        states[i] = 0;
      }
    }
  }
  graph.add_table(scope, std::move(values));
}

// A clause: at least one of the variables is in its state.
inline void add_clause(FactorGraph& graph, const std::vector<int>& scope, const std::vector<int>& wanted) {
  add_condition(graph, scope, [&](std::span<const int> states) {
    return !std::equal(states.begin(), states.end(), wanted.begin(), [](int a, int b) { return a != b; });
  });
}

// One variable per row: the column of its queen.
inline FactorGraph queens(int size) {
  FactorGraph graph = variables(size, size);
  for (int a = 0; a < size; ++a) {
    for (int b = a + 1; b < size; ++b) {
      add_condition(graph, {a, b},
                    [&](std::span<const int> x) { return x[0] != x[1] && std::abs(x[0] - x[1]) != b - a; });
    }
  }
  return graph;
}

inline void add_different(FactorGraph& graph, int a, int b) {
  add_condition(graph, {a, b}, [](std::span<const int> x) { return x[0] != x[1]; });
}

// It has (k - 1)^n + (-1)^n (k - 1) colourings.
inline FactorGraph coloured_cycle(int size, int colours) {
  FactorGraph graph = variables(size, colours);
  for (int v = 0; v < size; ++v) add_different(graph, v, (v + 1) % size);
  return graph;
}

inline FactorGraph coloured_grid(int width, int height, int colours) {
  FactorGraph graph;
  for (int v = 0; v < width * height; ++v) graph.add_variable(colours);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      if (x + 1 < width) add_different(graph, y * width + x, y * width + x + 1);
      if (y + 1 < height) add_different(graph, y * width + x, (y + 1) * width + x);
    }
  }
  return graph;
}

// Pigeons in different holes. There is no solution if there are more pigeons than holes; otherwise m! / (m - n)! for n
// pigeons and m holes.
inline FactorGraph pigeons(int num_pigeons, int num_holes) {
  FactorGraph graph = variables(num_pigeons, num_holes);
  for (int a = 0; a < num_pigeons; ++a) {
    for (int b = a + 1; b < num_pigeons; ++b) add_different(graph, a, b);
  }
  return graph;
}

// Gates over variables with two states.
class Circuit01 {
 public:
  int input() { return graph.add_variable(2); }
  int gate(const std::vector<int>& inputs, const std::function<int(std::span<const int>)>& function) {
    const int output = graph.add_variable(2);
    std::vector<int> scope = inputs;
    scope.push_back(output);
    add_condition(graph, scope,
                  [&](std::span<const int> x) { return function(x.first(x.size() - 1)) == x[x.size() - 1]; });
    return output;
  }
  int conjunction(int a, int b) {
    return gate({a, b}, [](std::span<const int> x) { return x[0] & x[1]; });
  }
  int parity(const std::vector<int>& inputs) {
    return gate(inputs, [](std::span<const int> x) {
      int sum = 0;
      for (const int bit : x) sum ^= bit;
      return sum;
    });
  }
  int majority(int a, int b, int c) {
    return gate({a, b, c}, [](std::span<const int> x) { return x[0] + x[1] + x[2] >= 2 ? 1 : 0; });
  }
  int constant(int state) {
    const int v = input();
    set(v, state);
    return v;
  }
  void set(int variable, int state) {
    std::vector<double> values(2, kNegInf);
    values[state] = 0.0;
    graph.add_table({variable}, std::move(values));
  }

  FactorGraph graph;
};

// An array multiplier for two numbers of `bits` bits whose product is given. Its solutions are the divisors d of the
// product for which d and product / d have at most that many bits.
inline FactorGraph multiplier(int bits, unsigned long long product) {
  Circuit01 circuit;
  std::vector<int> a, b;
  for (int i = 0; i < bits; ++i) a.push_back(circuit.input());
  for (int i = 0; i < bits; ++i) b.push_back(circuit.input());
  constexpr int kZero = -1;
  std::vector<int> sum(static_cast<std::size_t>(2 * bits), kZero);
  for (int j = 0; j < bits; ++j) {
    int carry = kZero;
    for (int i = 0; i < bits; ++i) {
      int& place = sum[i + j];
      std::vector<int> terms{circuit.conjunction(a[i], b[j])};
      if (place != kZero) terms.push_back(place);
      if (carry != kZero) terms.push_back(carry);
      place = terms.size() == 1 ? terms[0] : circuit.parity(terms);
      carry = terms.size() == 1   ? kZero
              : terms.size() == 2 ? circuit.conjunction(terms[0], terms[1])
                                  : circuit.majority(terms[0], terms[1], terms[2]);
    }
    sum[j + bits] = carry;
  }
  for (int i = 0; i < 2 * bits; ++i) {
    if (sum[i] == kZero) sum[i] = circuit.constant(0);
  }
  for (int i = 0; i < 2 * bits; ++i) circuit.set(sum[i], static_cast<int>(product >> i & 1U));
  return std::move(circuit.graph);
}

struct RandomCspOptions {
  int num_variables = 8;
  int max_states = 4;
  int num_factors = 9;
  int max_arity = 3;
  double zeros = 0.5;  // share of the entries
  double flat = 0.5;   // share of factors whose other entries are all 1
  double scale = 1.0;  // scale of the log-values
  int num_levels = 0;  // number of different log-values of a factor; 0: all differ
  int num_blocks = 1;  // a scope lies within a block or, rarely, anywhere
  double across_blocks = 0.1;
};

// Scopes lie in blocks. So there are components, equal residues, and impossible components beside possible ones.
inline FactorGraph random_csp(Random& random, const RandomCspOptions& options) {
  const auto below = [&](int end) { return static_cast<int>(random.below(static_cast<std::uint64_t>(end))); };
  FactorGraph graph = variables(options.num_variables, 2 + below(options.max_states - 1));
  const int num_blocks = std::min(options.num_blocks, options.num_variables);
  const int block_size = options.num_variables / num_blocks;
  for (int m = 0; m < options.num_factors; ++m) {
    const bool is_anywhere = random.uniform() < options.across_blocks;
    const int first = is_anywhere ? 0 : below(num_blocks) * block_size;
    const int size = is_anywhere ? options.num_variables : block_size;
    std::vector<int> scope = random.permutation(size);
    scope.resize(static_cast<std::size_t>(std::min(size, 1 + below(options.max_arity))));
    std::size_t num_entries = 1;
    for (int& v : scope) {
      v += first;
      num_entries *= static_cast<std::size_t>(graph.num_states(v));
    }
    const bool is_flat = random.uniform() < options.flat;
    const bool has_zeros = scope.size() > 1 || random.uniform() < 0.3;
    std::vector<double> values(num_entries);
    for (double& value : values) {
      const double number = options.num_levels == 0 ? random.normal() : 0.5 * below(options.num_levels);
      value = has_zeros && random.uniform() < options.zeros ? kNegInf : is_flat ? 0.0 : options.scale * number;
    }
    graph.add_table(std::move(scope), std::move(values));
  }
  return graph;
}

// Random clauses of three literals.
inline FactorGraph random_clauses(Random& random, int num_variables, int num_clauses, int length = 3) {
  FactorGraph graph = variables(num_variables, 2);
  for (int m = 0; m < num_clauses; ++m) {
    std::vector<int> scope, wanted;
    while (static_cast<int>(scope.size()) < length) {
      const int v = static_cast<int>(random.below(static_cast<std::uint64_t>(num_variables)));
      if (std::find(scope.begin(), scope.end(), v) != scope.end()) continue;
      scope.push_back(v);
      wanted.push_back(static_cast<int>(random.below(2)));
    }
    add_clause(graph, scope, wanted);
  }
  return graph;
}

// Blocks of random clauses near the ratio at which half of them are impossible, with some clauses across blocks, and
// with weights.
inline FactorGraph clause_blocks(Random& random, int num_blocks, int block_size, double clauses_per_variable,
                                 double across_blocks) {
  const auto below = [&](int end) { return static_cast<int>(random.below(static_cast<std::uint64_t>(end))); };
  FactorGraph graph;
  const int num_variables = num_blocks * block_size;
  for (int v = 0; v < num_variables; ++v) graph.add_variable(2);
  const int num_clauses = static_cast<int>(clauses_per_variable * num_variables);
  for (int m = 0; m < num_clauses; ++m) {
    const bool is_across = random.uniform() < across_blocks;
    const int first = is_across ? 0 : below(num_blocks) * block_size;
    std::vector<int> scope = random.permutation(is_across ? num_variables : block_size), wanted;
    scope.resize(3);
    for (int& v : scope) {
      v += first;
      wanted.push_back(below(2));
    }
    add_clause(graph, scope, wanted);
  }
  for (int v = 0; v < num_variables; v += 3) graph.add_table({v}, {0.0, random.normal()});
  return graph;
}

}  // namespace treesample::testing
