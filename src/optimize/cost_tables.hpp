// A model as costs: integers that a search may shift between tables without any rounding.
//
//   cost of x_S in factor m   = floor((largest entry of m - psi_m(x_S)) scale) - 2, at least 0;  kTop where psi is -inf
//   log gamma_hat(x)         <= log_max - cost(x) / scale,        log_max = the sum of the largest entries
//
// Costs are rounded down, so that a lower bound of the cost of all configurations is a certified upper bound of their
// log density. How much is lost by that, at most three units per factor, is in `rounding`. The scale is such that the
// cost of the best known configuration is about 2^52: a unit is then a rounding error of the sums themselves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

using Cost = std::int64_t;
inline constexpr Cost kTop = Cost{1} << 60;      // impossible
inline constexpr Cost kTopLine = Cost{1} << 59;  // from here on it is impossible, whatever was shifted
inline constexpr Cost kLargestCost = Cost{1} << 53;

struct CostTable {
  std::vector<int> scope;
  std::vector<Cost> costs;  // row-major, last variable fastest
};

struct CostTables {
  std::vector<int> num_states;
  std::vector<CostTable> tables;
  double scale = 1.0;
  double log_max = 0.0;   // rounded up, with the rounding of the log-values themselves
  double rounding = 0.0;  // cost(x) / scale is smaller than log_max - log gamma_hat(x) by at most this
  // Where all differences in the tables are multiples of one number, in nats, up to step_error for a whole
  // configuration: two configurations differ by nothing or by at least this. Otherwise 0.
  double step = 0.0, step_error = 0.0;
  // A configuration that costs more than this is worse than the known one.
  Cost known = kTopLine;

  [[nodiscard]] Cost cost(std::span<const int> x) const;  // kTop and more: impossible
};

// `known`: a possible configuration of the model, which has tables only.
CostTables cost_tables(const FactorGraph& graph, const Configuration& known);

}  // namespace treesample
