// Runs units of training and keeps them, with the time that is left as episodes tell it.
#pragma once

#include <optional>
#include <vector>

#include "experiments/experiment.hpp"
#include "training_units.hpp"

namespace treesample::experiments {

TrainingSize size_of(const ExperimentOptions& options);

// What the report shows of what numbers depend on; training has the same settings in all units.
Fingerprint shown_training(const std::string& experiment, const TrainingSize& size);

// None when interrupted.
std::optional<std::vector<Numbers>> run_units(const std::string& experiment, const std::vector<TrainingUnit>& units,
                                              const ExperimentOptions& options, const RunControl& control);

}  // namespace treesample::experiments
