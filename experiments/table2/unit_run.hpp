// Runs units of training and stores their numbers. Shows the remaining time, which is predicted from episodes.
#pragma once

#include <optional>
#include <vector>

#include "experiments/experiment.hpp"
#include "training_units.hpp"

namespace treesample::experiments {

TrainingSize size_of(const ExperimentOptions& options);

// The settings that the report shows; training has the same ones in all units.
Fingerprint shown_training(const std::string& experiment, const TrainingSize& size);

// None if it was interrupted.
std::optional<std::vector<Numbers>> run_units(const std::string& experiment, const std::vector<TrainingUnit>& units,
                                              const ExperimentOptions& options, const RunControl& control);

}  // namespace treesample::experiments
