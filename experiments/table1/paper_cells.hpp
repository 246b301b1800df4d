// The paper's Table 1: means and standard deviations over 1000 problems, at 10,000 evaluations.
#pragma once

#include <optional>
#include <string>

#include "experiments/method.hpp"

namespace treesample::experiments {

constexpr int kPaperProblems = 1000;

struct PaperCell {
  double mean;
  double deviation;
};

// None if the paper has "--", and if it says that BP is exact.
std::optional<PaperCell> paper_cell(const std::string& family, Contender method);

// The paper has the KL of chains, and the delta-KL of factor graphs.
inline bool is_chain(const std::string& family) { return family == "chain" || family == "permuted-chain"; }

}  // namespace treesample::experiments
