// `infer --uai-out`: the answer as result files of the UAI competitions.
#pragma once

#include <string>

#include "answer.hpp"

namespace treesample::cli {

// Writes PATH.PR, PATH.MAR, PATH.MAP and, for marginal MAP, PATH.MMAP. A result that the answer does not have (log Z
// for Gibbs sampling, marginals for Z = 0) is left out, with a remark unless quiet.
void write_uai_results(const Answer& answer, const ModelInput& input, const std::string& path, bool is_quiet);

}  // namespace treesample::cli
