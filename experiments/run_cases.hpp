// Runs the same number of instances of several cases; most experiments consist of that.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment.hpp"

namespace treesample::experiments {

class CaseRuns {
 public:
  // The numbers of an instance and a case are at position (instance * number of cases + case).
  CaseRuns(std::vector<Numbers> all, std::vector<std::string> cases) : all_(std::move(all)), cases_(std::move(cases)) {}

  // All instances of a case; valid as long as this object lives.
  [[nodiscard]] std::vector<const Numbers*> of(std::size_t which) const {
    std::vector<const Numbers*> instances;
    for (std::size_t k = which; k < all_.size(); k += cases_.size()) instances.push_back(&all_[k]);
    return instances;
  }
  [[nodiscard]] std::vector<const Numbers*> at(const std::string& name) const {
    return of(static_cast<std::size_t>(std::find(cases_.begin(), cases_.end(), name) - cases_.begin()));
  }

 private:
  std::vector<Numbers> all_;
  std::vector<std::string> cases_;
};

using ComputeCase = std::function<std::optional<Numbers>(int which, int instance)>;

// Results are stored in the run's file under CASE/INSTANCE. Cases take turns, so that the remaining time can be
// predicted. None if the run was interrupted.
std::optional<CaseRuns> run_cases(const std::string& experiment, const std::vector<std::string>& cases,
                                  const ExperimentOptions& options, const ComputeCase& compute,
                                  const RunControl& control);
// The paper's problems as cases.
std::optional<CaseRuns> run_problems(const std::string& experiment, const ExperimentOptions& options,
                                     const std::function<std::optional<Numbers>(const Problem&, int instance)>& compute,
                                     const RunControl& control);

}  // namespace treesample::experiments
