// Methods side by side over budgets on one model.
//
// The error of a method is KL[P_X || P*] = log Z + delta-KL and, where it has an estimate of its own,
// |log Z estimate - log Z|. log Z comes from elimination where that is affordable, else from the importance
// estimate of the best search, and then has a standard error that every KL shares.
#pragma once

#include "method.hpp"
#include "report.hpp"
#include "run_instances.hpp"

namespace treesample::experiments {

struct CompareOptions {
  std::vector<MethodSetting> settings;
  std::vector<std::int64_t> budgets;  // ascending
  int num_runs = 5;                   // with different seeds; one is enough where nothing is random
  std::uint64_t seed = 0;
  int num_importance_samples = 10'000;  // for a reference that is not exact
  double max_elimination_entries = 1e9;
  double max_elimination_bytes = 4e9;
  std::string model_name;
  std::filesystem::path run_file = ":memory:";
  Fingerprint model_fingerprint;  // of the model's contents and of what the settings do not show
};

// None when interrupted. Throws Error (kNumeric) when no configuration is possible, so that there is nothing to
// compare with.
std::optional<Report> compare(const FactorGraph& graph, const CompareOptions& options, const RunControl& control);

}  // namespace treesample::experiments
