#include "treesample/exact/decomposed_model.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "exact/table_structure.hpp"
#include "model/table_index.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/space/varied_order.hpp"

namespace treesample {
namespace {

constexpr int kOrders = 16;

using Structures = std::map<int, TableStructure>;  // by factor

Structures structures_of(const FactorGraph& graph, const ShouldStop& should_stop) {
  Structures found;
  StopCheck stop(should_stop);
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    if (!factor.is_table()) return {};
    if (factor.is_clause()) continue;
    const auto num_entries = static_cast<std::int64_t>(factor.log_values().size());
    if (stop.is_asked(8 * num_entries)) throw Error(ErrorCode::kInterrupted, "DecomposedModel: asked to end");
    const std::vector<int> num_states = states_of_scope(graph, factor.scope());
    if (auto structure = table_structure(num_states, factor.log_values())) found.emplace(m, *std::move(structure));
  }
  return found;
}

// The times at which the variables are removed by a good order of the model where each chain is one variable, a
// neighbour of all its causes: a chain that takes its causes in this order has the same width.
std::vector<int> times_of(const FactorGraph& graph, const Structures& structures) {
  FactorGraph star;
  for (int v = 0; v < graph.num_variables(); ++v) star.add_variable(graph.num_states(v));
  const auto connect = [&](std::vector<int> scope) {
    const auto sizes = states_of_scope(star, scope);
    std::size_t num_entries = 1;
    for (const int count : sizes) num_entries *= static_cast<std::size_t>(count);
    star.add_table(std::move(scope), std::vector<double>(num_entries, 0.0));
  };
  for (int m = 0; m < graph.num_factors(); ++m) {
    const std::vector<int>& scope = graph.factor(m).scope();
    const auto found = structures.find(m);
    if (found == structures.end()) {
      for (std::size_t i = 0; i < scope.size(); ++i) {
        for (std::size_t j = i + 1; j < scope.size(); ++j) connect({scope[i], scope[j]});
      }
    } else if (found->second.kind == TableStructure::Kind::kMax) {
      const int z = star.add_variable(found->second.num_states);
      for (const int v : scope) connect({v, z});
    }
  }
  const Adjacency adjacency = adjacency_of(star);
  std::vector<double> log2_num_states;
  for (int v = 0; v < star.num_variables(); ++v) log2_num_states.push_back(std::log2(star.num_states(v)));
  std::vector<int> best;
  double least = HUGE_VAL;
  for (int restart = 0; restart < kOrders; ++restart) {
    double work = 0.0;
    const auto goes_on = [&](int v, std::span<const int> neighbours) {
      double log2_bucket = log2_num_states[v];
      for (const int u : neighbours) log2_bucket += log2_num_states[u];
      work += std::exp2(std::min(1000.0, log2_bucket));
      return work < least;
    };
    Random ties(0, "decomposed " + std::to_string(restart));
    auto order = elimination_order(adjacency, OrderKind::kMinFill, ties, {.goes_on = goes_on},
                                   varied_order(restart, log2_num_states));
    if (order.size() < adjacency.size()) continue;
    best = std::move(order);
    least = work;
  }
  std::vector<int> time(best.size());
  for (std::size_t t = 0; t < best.size(); ++t) time[best[t]] = static_cast<int>(t);
  return time;
}

void add_product(FactorGraph& graph, const std::vector<int>& scope, const TableStructure& structure) {
  for (std::size_t place = 0; place < scope.size(); ++place) {
    std::vector<double> log_values;
    for (const double value : structure.steps[place]) log_values.push_back(std::log(value));
    graph.add_table({scope[place]}, std::move(log_values));
  }
  graph.add_factor(Factor::table_of_sums({}, {structure.log_scale}));
}

// z_1 has the leak in its table, and the last z is the effect, or is 1.
void add_chain(FactorGraph& graph, const std::vector<int>& scope, const TableStructure& structure,
               const std::vector<int>& time) {
  const int num_states = structure.num_states;
  std::vector<int> causes;  // places
  for (int place = 0; place < std::ssize(scope); ++place) {
    if (place != structure.effect) causes.push_back(place);
  }
  std::sort(causes.begin(), causes.end(), [&](int a, int b) { return time[scope[a]] < time[scope[b]]; });
  int before = -1;
  for (const int place : causes) {
    const bool is_last = place == causes.back();
    const int cause = scope[place];
    std::vector<int> of_z(static_cast<std::size_t>(num_states));  // by state of the variable that z is
    for (int s = 0; s < num_states; ++s) of_z[is_last && structure.effect >= 0 ? structure.effect_state[s] : s] = s;
    int z = is_last ? (structure.effect >= 0 ? scope[structure.effect] : -1) : graph.add_variable(num_states);
    if (is_last && structure.effect < 0) of_z = {1};
    std::vector<double> log_values;
    for (int a = 0; a < (before < 0 ? 1 : num_states); ++a) {
      for (int x = 0; x < graph.num_states(cause); ++x) {
        for (const int s : of_z) {
          double value = 0.0;
          if (before >= 0) value = structure.step(place, x, a, s);
          for (int leak = 0; before < 0 && leak <= s; ++leak) {
            value += structure.start[leak] * structure.step(place, x, leak, s);
          }
          log_values.push_back(std::log(value));
        }
      }
    }
    std::vector<int> chained;
    if (before >= 0) chained.push_back(before);
    chained.push_back(cause);
    if (z >= 0) chained.push_back(z);
    graph.add_table(std::move(chained), std::move(log_values));
    before = z;
  }
  graph.add_factor(Factor::table_of_sums({}, {structure.log_scale}));
}

}  // namespace

DecomposedModel::DecomposedModel(const FactorGraph& graph, const ShouldStop& should_stop) {
  const Structures structures = structures_of(graph, should_stop);
  num_decomposed_ = static_cast<int>(structures.size());
  if (structures.empty()) {
    graph_ = graph;
    return;
  }
  const std::vector<int> time = times_of(graph, structures);
  for (int v = 0; v < graph.num_variables(); ++v) graph_.add_variable(graph.variable(v));
  for (int m = 0; m < graph.num_factors(); ++m) {
    const auto found = structures.find(m);
    if (found == structures.end()) {
      graph_.add_factor(graph.factor(m));
      continue;
    }
    const TableStructure& structure = found->second;
    if (structure.kind == TableStructure::Kind::kProduct) {
      add_product(graph_, graph.factor(m).scope(), structure);
    } else {
      add_chain(graph_, graph.factor(m).scope(), structure, time);
    }
    log_slack_ = std::nextafter(log_slack_ + structure.log_slack, HUGE_VAL);
  }
}

OriginalApproximation::OriginalApproximation(const FactorGraph& original,
                                             std::shared_ptr<const Approximation> decomposed, double log_z)
    : original_(original), decomposed_(std::move(decomposed)), log_z_(log_z) {}

Assignment OriginalApproximation::sample(Random& random) const {
  Assignment x = decomposed_->sample(random);
  x.resize(static_cast<std::size_t>(original_.num_variables()));
  return x;
}

double OriginalApproximation::log_prob(std::span<const int> x) const {
  const double log_density = original_.log_density(x);
  return log_density == kNegInf ? kNegInf : std::min(0.0, log_density - log_z_);
}

}  // namespace treesample
