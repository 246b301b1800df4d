// Small models of several kinds, on which annealed limits are compared with the exact log Z.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "treesample/exact/enumeration.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample::experiments {

struct AnnealedKind {
  std::string name;
  FactorGraph graph;
  Enumeration exact;
  int num_temperatures = 0;  // few, so that the weights vary
};
// Dense glasses, a Boltzmann machine, a Potts model, impossible states, a peak that most chains miss.
const std::vector<AnnealedKind>& annealed_kinds();

// An interval whose ends have half of the error probability each: from forward chains, and from chains that go back
// from exact samples.
struct AnnealedInterval {
  double lower = 0.0, upper = 0.0;
  double estimate = 0.0;
};
AnnealedInterval annealed_interval(const AnnealedKind& kind, double confidence, int num_chains, int num_samples,
                                   std::uint64_t seed);

}  // namespace treesample::experiments
