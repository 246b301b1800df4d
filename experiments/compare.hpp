// Methods side by side over budgets on one model.
//
// The error of a method is KL[P_X || P*] = log Z + delta-KL and, where it has an estimate of its own,
// |log Z estimate - log Z|. log Z comes from elimination where that is affordable, else from the importance
// estimate of the best search, and then has a standard error that every KL shares.
//
// The question may be the best configuration alone: the error of a method is then how far below the best of all runs
// its own best is, and nothing is paid beyond the budgets.
//
// A model with functions is compared in calls of them: budgets count calls, and runs are made one after the other,
// because programs answer one thread at a time. What the comparison itself needs beyond the budgets, log Z and samples
// for the KL and the total variation of searches, is limited to `reference_calls` and split beforehand (ReferencePlan).
// All runs share one set of programs, so that what one has paid for costs the next nothing; each is charged as if it
// were alone, and none learns from the values of another.
#pragma once

#include "method.hpp"
#include "report.hpp"
#include "run_instances.hpp"

namespace treesample::experiments {

struct CompareOptions {
  std::vector<MethodSetting> settings;
  std::vector<std::int64_t> budgets;  // ascending
  Aim aim = Aim::kAll;                // kBest: of models with functions
  int num_runs = 5;                   // with different seeds; one is enough where nothing is random
  std::uint64_t seed = 0;
  int num_importance_samples = 10'000;  // for a reference that is not exact
  std::int64_t reference_calls = 1000;  // the same for a model with functions, and for its KL; 0: there is neither
  double max_elimination_entries = 1e9;
  double max_elimination_bytes = 4e9;
  std::string model_name;
  std::filesystem::path run_file = ":memory:";
  Fingerprint model_fingerprint;  // of the model's contents and of what the settings do not show
};

// How the reference calls of a model with functions are spent. All numbers are the most.
struct ReferencePlan {
  std::int64_t calls_each = 0;                     // of one configuration
  std::int64_t search_calls = 0;                   // of the search for log Z
  std::int64_t log_z_samples = 0, kl_samples = 0;  // the latter of each run of a search
  std::int64_t num_kl_runs = 0;
  [[nodiscard]] std::int64_t calls() const {
    return search_calls + calls_each * (log_z_samples + num_kl_runs * kl_samples);
  }
};
ReferencePlan reference_plan(const FactorGraph& graph, const CompareOptions& options);
// What the methods may call, all runs together.
std::int64_t most_method_calls(const CompareOptions& options);

// None when interrupted. Throws Error (kNumeric) when no configuration is possible, so that there is nothing to
// compare with.
std::optional<Report> compare(const FactorGraph& whole, const CompareOptions& options, const RunControl& control);

}  // namespace treesample::experiments
