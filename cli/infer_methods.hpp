// The methods behind `treesample infer --method`.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "answer.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/model/budget.hpp"

namespace treesample::cli {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct InferOptions {
  std::string method = "auto", space = "andor", order = "min-fill", ties = "lowest", unit = "reward";
  std::string memory = "4G", resampling = "systematic", prior = "uniform", gibbs_mode = "restarts";
  std::string select = "q-uct", sampler = "lower", trace;
  std::int64_t budget = 100'000, seed = 0, num_samples = 0, num_importance = 1000, restarts = 0, max_tries = 10'000'000;
  std::int64_t num_calls = 1000;  // of --calls; the methods read budget and unit
  std::int64_t num_sweeps = 10, burn_in = 0, num_messages = 5, oracle_workers = 1;
  std::string oracle_order = "arrival";
  double time = 0.0, gap = 0.0, confidence = 0.95, c = 1.0, epsilon = 0.1, ess_threshold = 0.5, damping = 0.0;
  bool is_quiet = false;
  std::int64_t min_samples = 0;  // of methods that draw, whatever the budget; more than 0 where the user named none
  bool sums_out = false;         // barren variables, before elimination or a search with bounds
  double log_error = 0.0;        // of log Z, by what simplification dropped (SimplifyReport)
  std::optional<EliminationOptions> elimination;  // with the order that was found when the method was chosen
  Stopwatch clock;                                // --time counts from here: reading, orders and bounds included

  [[nodiscard]] BudgetUnit budget_unit() const {
    if (unit == "cost") return BudgetUnit::kCost;
    if (unit == "call") return BudgetUnit::kCall;
    return unit == "factor" ? BudgetUnit::kFactor : BudgetUnit::kReward;
  }
  // What --time leaves; infinite without one.
  [[nodiscard]] double seconds_left() const { return time > 0.0 ? std::max(0.0, time - clock.seconds()) : HUGE_VAL; }
};

inline const std::vector<std::string> kMethodWords = {"auto", "treesample", "exact", "sis", "smc", "gibbs", "bp"};

// Elimination; nothing when it would not be done within --time.
std::optional<Answer> eliminate(const FactorGraph& whole, const InferOptions& options);

// Runs options.method, which must be neither "auto" nor "exact", with progress on a terminal and Ctrl-C for the answer
// so far.
Answer run_method(const FactorGraph& graph, const InferOptions& options);

}  // namespace treesample::cli
