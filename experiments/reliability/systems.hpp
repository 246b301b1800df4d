// Systems whose failure is a monotone function of their parts, with the exact probability computed by a method made for
// each.
#pragma once

#include <string>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample::experiments {

struct ReliabilitySystem {
  std::string name, title;
  FactorGraph graph;         // Z is the probability of failure
  double probability = 0.0;  // of failure, exact
};

// The generating capacity of the IEEE Reliability Test System of 1979, against the peak load of 2850 MW: 32 units with
// their capacities and forced outage rates as published (IEEE Transactions PAS-98, 1979). The exact probability comes
// from a convolution. The function only says whether the load is met.
ReliabilitySystem rts79();

// The dodecahedron: 20 nodes, and 30 links that fail with probability q. Are two opposite nodes connected? The witness
// is a path that is up, or a cut that is down. The exact probability is computed from the states of a frontier that
// passes over the nodes.
ReliabilitySystem dodecahedron(double q);

std::vector<ReliabilitySystem> reliability_systems();

}  // namespace treesample::experiments
