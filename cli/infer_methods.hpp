// The methods behind `treesample infer --method`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "answer.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/model/budget.hpp"

namespace treesample::cli {

struct InferOptions {
  std::string method = "auto", space = "andor", order = "min-fill", ties = "lowest", unit = "reward";
  std::string memory = "4G", resampling = "systematic", prior = "uniform", gibbs_mode = "restarts";
  std::string select = "q-uct", sampler = "lower", trace;
  std::int64_t budget = 100'000, seed = 0, num_samples = 0, num_importance = 1000, restarts = 0, max_tries = 10'000'000;
  std::int64_t num_sweeps = 10, burn_in = 0, num_messages = 5, oracle_workers = 1;
  std::string oracle_order = "arrival";
  double time = 0.0, gap = 0.0, confidence = 0.95, c = 1.0, epsilon = 0.1, ess_threshold = 0.5, damping = 0.0;
  bool is_quiet = false;
  bool sums_out = false;  // barren variables, before elimination or a search with bounds

  [[nodiscard]] BudgetUnit budget_unit() const {
    if (unit == "cost") return BudgetUnit::kCost;
    return unit == "factor" ? BudgetUnit::kFactor : BudgetUnit::kReward;
  }
  [[nodiscard]] EliminationOptions elimination() const;
};

inline const std::vector<std::string> kMethodWords = {"auto", "treesample", "exact", "sis", "smc", "gibbs", "bp"};

// Runs options.method, which must not be "auto", with progress on a terminal and Ctrl-C for the answer so far.
Answer run_method(const FactorGraph& graph, const InferOptions& options);

}  // namespace treesample::cli
