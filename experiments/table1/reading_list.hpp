// The readings of the paper's text that are tried for Table 1: of the families, and of the methods.
//
// A reading of a column is one of the family and one of each method in it, so the number of readings of a column is the
// product of these numbers. Everything that the paper tuned (c, thresholds, sweeps, messages) is tuned here as it did,
// by the lowest error, and is no part of a reading.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/method.hpp"
#include "treesample/baselines/belief_propagation.hpp"
#include "treesample/baselines/gibbs.hpp"
#include "treesample/baselines/resampling.hpp"
#include "treesample/space/order.hpp"
#include "treesample/tree/tree_sample.hpp"

namespace treesample::experiments {

struct FamilyReading {
  std::string family;
  std::string word;  // the fields that differ from the letter; "letter" if none does
  std::map<std::string, double> values;
  OrderKind order;
};

// A method with one setting of what is tuned.
struct TunedRun {
  Contender method;
  double tuned = 0.0;  // c, the threshold t, sweeps, or message steps
  TieRule ties = TieRule::kLowest;
  ResamplingScheme resampling = ResamplingScheme::kMultinomial;
  bool resamples_last = false;
  GibbsCharge gibbs_charge = GibbsCharge::kState;
  BpCharge bp_charge = BpCharge::kFactor;

  [[nodiscard]] std::string word() const;  // of the method's reading and the setting: "tree random c=3"
};

struct MethodReading {
  Contender method;
  std::string word;                // "multinomial, last"; the first reading of a method is that of the letter
  std::vector<TunedRun> settings;  // one for each value that is tried
};

// All readings of a family; the letter is the first one. The last one of each is `descendants`.
std::vector<FamilyReading> family_readings(const std::string& family);
// The family as an independent implementation reads it: the environment `treesample` of gfn-maxent-rl (Deleu et al.
// 2024, arXiv 2402.10309).
inline constexpr const char* kDescendants = "gfn-maxent-rl";

// The methods that the paper's column has, each with its readings.
std::vector<std::vector<MethodReading>> method_readings(const std::string& family);

// The paper's error on one problem, KL on chains and delta-KL on factor graphs; none if the budget does not pay for a
// sample.
std::optional<double> error_of(const FactorGraph& graph, OrderKind order, double log_z, bool is_kl, const TunedRun& run,
                               std::int64_t budget, std::uint64_t seed);

}  // namespace treesample::experiments
