#include "unused_options.hpp"

namespace treesample::cli {
namespace {

struct Use {
  const char* methods;
  std::vector<const char*> options;
};

const std::vector<Use>& uses() {
  static const std::vector<Use> table = {
      {"treesample", {"--space", "--select", "--c", "--epsilon", "--ties", "--importance"}},
      {"treesample, sis, smc", {"--order", "--prior"}},
      {"treesample, sis, smc, gibbs, bp", {"--budget", "--budget-unit"}},
      {"treesample, sis, smc, exact", {"--memory", "--restarts"}},
      {"smc", {"--ess-threshold", "--resampling"}},
      {"gibbs", {"--sweeps", "--gibbs-mode", "--burn-in"}},
      {"bp", {"--messages", "--damping"}}};
  return table;
}

}  // namespace

std::vector<UnusedOption> unused_options(const CommandLine& line, const std::string& method) {
  std::vector<UnusedOption> result;
  for (const Use& use : uses()) {
    const bool is_used = (", " + std::string(use.methods) + ",").find(" " + method + ",") != std::string::npos;
    for (const char* option : use.options) {
      if (!is_used && line.is_given(option)) result.push_back({option, use.methods});
    }
  }
  return result;
}

}  // namespace treesample::cli
