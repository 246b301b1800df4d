// Methods side by side over budgets on one model.
//
// The error of a method is KL[P_X || P*] = log Z + delta-KL and, if it has its own estimate of log Z, the distance of
// that estimate from log Z. log Z comes from elimination if that is affordable. Otherwise it comes from the importance
// estimate of the best search, and has a standard error that all KLs share.
//
// The question may be the best configuration alone: the error of a method is then how far below the best of all runs
// its own best is, and nothing is paid beyond the budgets.
//
// A model with functions is compared in calls of them: budgets count calls, and runs are made one after the other,
// because programs answer one thread at a time. The comparison itself needs calls beyond the budgets, for log Z and for
// samples for the KL of searches. These are limited to `reference_calls` and divided beforehand (ReferencePlan). All
// runs share one set of programs, so a value that one run has paid for costs the next nothing; but each is charged as
// if it were alone.
#pragma once

#include "method.hpp"
#include "report.hpp"
#include "run_instances.hpp"

namespace treesample::experiments {

struct CompareOptions {
  std::vector<MethodSetting> settings;
  std::vector<std::int64_t> budgets;  // ascending
  Aim aim = Aim::kAll;                // kBest: only for models with functions
  int num_runs = 5;                   // with different seeds; one is enough if nothing is random
  std::uint64_t seed = 0;
  int num_importance_samples = 10'000;  // for a reference that is not exact
  std::int64_t reference_calls = 1000;  // for the reference of a model with functions, and for its KL; 0: neither
  double max_elimination_entries = 1e9;
  double max_elimination_bytes = 4e9;
  std::string model_name;
  std::filesystem::path run_file = ":memory:";
  Fingerprint model_fingerprint;  // of the model's contents, and of everything that the settings do not show
};

// How the reference calls of a model with functions are spent. All numbers are upper limits.
struct ReferencePlan {
  std::int64_t calls_each = 0;                     // of one configuration
  std::int64_t search_calls = 0;                   // of the search for log Z
  std::int64_t log_z_samples = 0, kl_samples = 0;  // kl_samples: for each run of a search
  std::int64_t num_kl_runs = 0;
  [[nodiscard]] std::int64_t calls() const {
    return search_calls + calls_each * (log_z_samples + num_kl_runs * kl_samples);
  }
};
ReferencePlan reference_plan(const FactorGraph& graph, const CompareOptions& options);
// An upper limit for the calls of the methods, over all runs together.
std::int64_t most_method_calls(const CompareOptions& options);

// None if it was interrupted. Throws Error (kNumeric) if no configuration is possible, because there is then nothing to
// compare with.
std::optional<Report> compare(const FactorGraph& graph, const CompareOptions& options, const RunControl& control);

}  // namespace treesample::experiments
