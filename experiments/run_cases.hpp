// The same number of instances of several cases, which is what most experiments are made of.
#pragma once

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
  // The numbers of an instance and a case are at instance * num_cases + case.
  CaseRuns(std::vector<Numbers> all, int num_cases)
      : all_(std::move(all)), num_cases_(static_cast<std::size_t>(num_cases)) {}

  // All instances of a case; valid as long as this is.
  [[nodiscard]] std::vector<const Numbers*> of(int which) const {
    std::vector<const Numbers*> instances;
    for (auto k = static_cast<std::size_t>(which); k < all_.size(); k += num_cases_) instances.push_back(&all_[k]);
    return instances;
  }

 private:
  std::vector<Numbers> all_;
  std::size_t num_cases_;
};

using ComputeCase = std::function<std::optional<Numbers>(int which, int instance)>;

// Kept in the run's file under CASE/INSTANCE. Cases take turns, so that the remaining time is foreseeable. None when
// the run was interrupted.
std::optional<CaseRuns> run_cases(const std::string& experiment, const std::vector<std::string>& cases,
                                  const ExperimentOptions& options, const ComputeCase& compute,
                                  const RunControl& control);

}  // namespace treesample::experiments
