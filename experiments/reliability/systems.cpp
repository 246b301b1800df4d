#include "reliability/systems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "treesample/math/log_domain.hpp"

namespace treesample::experiments {
namespace {

struct Units {
  int capacity;  // in MW
  double outage;
  int count;
};
constexpr std::array kRts79 = {Units{12, 0.02, 5},  Units{20, 0.10, 4},  Units{50, 0.01, 6},
                               Units{76, 0.02, 4},  Units{100, 0.04, 3}, Units{155, 0.04, 4},
                               Units{197, 0.05, 3}, Units{350, 0.08, 1}, Units{400, 0.12, 2}};
constexpr int kLoad = 2850;

// A part is up in state 1.
void add_part(FactorGraph& graph, const std::string& name, double outage) {
  const int part = graph.add_variable({2, name, {"down", "up"}});
  graph.add_table({part}, {std::log(outage), std::log1p(-outage)});
}

void add_failure(FactorGraph& graph, const Factor::Explained& function) {
  std::vector<int> scope(static_cast<std::size_t>(graph.num_variables()));
  std::iota(scope.begin(), scope.end(), 0);
  graph.add_factor(Factor::explained_function(scope, function)
                       .monotone(std::vector<Direction>(scope.size(), Direction::kDecreasing)));
}

struct Network {
  int num_nodes = 20;
  std::vector<std::array<int, 2>> links;
  int from = 0, to = 0;
};

// Built as the generalised Petersen graph GP(10, 2). `to` is the node that is farthest from `from`.
Network make_dodecahedron() {
  Network network;
  for (int i = 0; i < 10; ++i) {
    network.links.push_back({i, (i + 1) % 10});
    network.links.push_back({i, 10 + i});
    network.links.push_back({10 + i, 10 + (i + 2) % 10});
  }
  std::vector<int> distance(20, 20);
  distance[0] = 0;
  for (int round = 0; round < 20; ++round) {
    for (const auto& [a, b] : network.links) {
      distance[a] = std::min(distance[a], distance[b] + 1);
      distance[b] = std::min(distance[b], distance[a] + 1);
    }
  }
  network.to = static_cast<int>(std::max_element(distance.begin(), distance.end()) - distance.begin());
  return network;
}

// By breadth-first search. The witness is a shortest path that is up, or all links out of the reachable set, which are
// down.
FactorValue failure_of(const Network& network, std::span<const int> is_up) {
  std::vector<int> by_link(static_cast<std::size_t>(network.num_nodes), -1), reached = {network.from};
  std::vector<char> is_reached(static_cast<std::size_t>(network.num_nodes), 0);
  is_reached[network.from] = 1;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (int link = 0; link < static_cast<int>(network.links.size()); ++link) {
      const auto [a, b] = network.links[link];
      if (is_up[link] == 0 || (a != reached[i] && b != reached[i])) continue;
      const int next = a == reached[i] ? b : a;
      if (is_reached[next] != 0) continue;
      is_reached[next] = 1;
      by_link[next] = link;
      reached.push_back(next);
    }
  }
  std::vector<int> witness;
  if (is_reached[network.to] != 0) {
    for (int node = network.to; node != network.from;) {
      witness.push_back(by_link[node]);
      const auto [a, b] = network.links[by_link[node]];
      node = a == node ? b : a;
    }
    return {kNegInf, witness};
  }
  for (int link = 0; link < static_cast<int>(network.links.size()); ++link) {
    if (is_reached[network.links[link][0]] != is_reached[network.links[link][1]]) witness.push_back(link);
  }
  return {0.0, witness};
}

// Takes the links one after the other. A state says which nodes are connected, among the two terminals and the nodes
// that still have links to come. All terms are positive, so a small probability is as exact as a large one.
double disconnected(const Network& network, double q) {
  std::vector<int> last_link(static_cast<std::size_t>(network.num_nodes), 0);
  for (int link = 0; link < static_cast<int>(network.links.size()); ++link) {
    for (const int node : network.links[link]) last_link[node] = link;
  }
  last_link[network.from] = last_link[network.to] = static_cast<int>(network.links.size());
  std::vector<int> start(static_cast<std::size_t>(network.num_nodes));
  std::iota(start.begin(), start.end(), 0);
  std::map<std::vector<int>, double> states = {{start, 1.0}};
  for (int link = 0; link < static_cast<int>(network.links.size()); ++link) {
    std::map<std::vector<int>, double> next;
    for (const auto& [state, probability] : states) {
      for (const bool is_up : {false, true}) {
        std::vector<int> labels = state;
        const int old = labels[network.links[link][0]], merged = labels[network.links[link][1]];
        if (is_up) std::replace(labels.begin(), labels.end(), old, merged);
        for (int node = 0; node < network.num_nodes; ++node) {
          if (last_link[node] <= link) labels[node] = -1;  // the node is not needed any more
        }
        std::map<int, int> names;  // in the order of their first occurrence
        for (int& label : labels) {
          if (label >= 0) label = names.emplace(label, static_cast<int>(names.size())).first->second;
        }
        next[labels] += probability * (is_up ? 1.0 - q : q);
      }
    }
    states = std::move(next);
  }
  double sum = 0.0;
  for (const auto& [state, probability] : states) {
    if (state[network.from] != state[network.to]) sum += probability;
  }
  return sum;
}

}  // namespace

ReliabilitySystem rts79() {
  ReliabilitySystem system{"rts79", "RTS-79, loss of load", {}, 0.0};
  std::vector<int> capacities;
  std::map<int, double> distribution = {{0, 1.0}};  // of the capacity that is up
  for (const Units& units : kRts79) {
    for (int i = 0; i < units.count; ++i) {
      add_part(system.graph, fmt::format("{}MW_{}", units.capacity, i + 1), units.outage);
      capacities.push_back(units.capacity);
      std::map<int, double> next;
      for (const auto& [capacity, probability] : distribution) {
        next[capacity] += probability * units.outage;
        next[capacity + units.capacity] += probability * (1.0 - units.outage);
      }
      distribution = std::move(next);
    }
  }
  for (const auto& [capacity, probability] : distribution) {
    if (capacity < kLoad) system.probability += probability;
  }
  add_failure(system.graph, [capacities](std::span<const int> is_up) -> FactorValue {
    return {std::inner_product(capacities.begin(), capacities.end(), is_up.begin(), 0) < kLoad ? 0.0 : kNegInf};
  });
  return system;
}

ReliabilitySystem dodecahedron(double q) {
  const Network network = make_dodecahedron();
  ReliabilitySystem system{
      fmt::format("dodecahedron-{:g}", q), fmt::format("dodecahedron, q = {:g}", q), {}, disconnected(network, q)};
  for (std::size_t link = 0; link < network.links.size(); ++link) {
    add_part(system.graph, fmt::format("link{}_{}", network.links[link][0], network.links[link][1]), q);
  }
  add_failure(system.graph, [network](std::span<const int> is_up) { return failure_of(network, is_up); });
  return system;
}

std::vector<ReliabilitySystem> reliability_systems() { return {rts79(), dodecahedron(1e-2), dodecahedron(1e-3)}; }

}  // namespace treesample::experiments
