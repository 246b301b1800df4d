#include "treesample/infer/option_groups.hpp"

#include <algorithm>
#include <vector>

namespace treesample {
namespace {

struct Group {
  const char* title;
  std::vector<std::string_view> options;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> all = {
      {"What to ask", {"question", "query", "map", "k-best", "sensitivity", "value-for", "samples"}},
      {"Limits", {"time", "gap", "calls", "new-calls", "budget", "budget-unit", "memory", "threads"}},
      {"Method", {"method", "seed", "simplify", "compile", "resume"}},
      {"Search (treesample)",
       {"select", "space", "order", "prior", "network-values", "root-samples", "when-full", "restarts", "c", "epsilon",
        "bonus", "ties", "trace", "importance", "confidence", "sampler", "max-tries"}},
      {"Baselines (smc, gibbs, bp)",
       {"ess-threshold", "resampling", "sweeps", "gibbs-mode", "burn-in", "messages", "damping"}},
      {"Programs as factors (.json models)", {"oracle-workers", "oracle-order", "error-share"}},
  };
  return all;
}

}  // namespace

const char* option_group(std::string_view name) {
  for (const Group& group : groups()) {
    if (std::find(group.options.begin(), group.options.end(), name) != group.options.end()) return group.title;
  }
  return "Other options";
}

}  // namespace treesample
