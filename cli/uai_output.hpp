// `infer --uai-out`: the answer as result files of the UAI competitions.
#pragma once

#include <string>

#include "answer.hpp"

namespace treesample::cli {

// Writes PATH.PR, PATH.MAR, PATH.MAP and, for marginal MAP, PATH.MMAP. What the method does not have (Gibbs sampling:
// log Z; Z = 0: marginals) is left out, with a remark unless quiet.
void write_uai_results(const Answer& answer, const ModelInput& input, const std::string& path, bool is_quiet);

}  // namespace treesample::cli
