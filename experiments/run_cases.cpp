#include "run_cases.hpp"

#include <fmt/format.h>

#include <utility>

namespace treesample::experiments {

std::optional<CaseRuns> run_cases(const std::string& experiment, const std::vector<std::string>& cases,
                                  const ExperimentOptions& options, const ComputeCase& compute,
                                  const RunControl& control) {
  const int num_cases = static_cast<int>(cases.size());
  std::vector<std::string> keys;
  for (int i = 0; i < options.num_instances; ++i) {
    for (const std::string& name : cases) keys.push_back(fmt::format("{}/{}", name, i));
  }
  RunStore store(run_file(options), fingerprint_of(experiment, options));
  std::optional<std::vector<Numbers>> all = run_instances(
      store, keys, [&](int k) { return compute(k % num_cases, k / num_cases); }, control);
  if (!all) return std::nullopt;
  return CaseRuns(*std::move(all), cases);
}

std::optional<CaseRuns> run_problems(const std::string& experiment, const ExperimentOptions& options,
                                     const std::function<std::optional<Numbers>(const Problem&, int instance)>& compute,
                                     const RunControl& control) {
  const std::vector<Problem> problems = paper_problems();
  std::vector<std::string> names;
  for (const Problem& problem : problems) names.push_back(to_string(problem));
  return run_cases(
      experiment, names, options, [&](int p, int i) { return compute(problems[p], i); }, control);
}

}  // namespace treesample::experiments
