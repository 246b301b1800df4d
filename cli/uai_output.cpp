#include "uai_output.hpp"

#include <fmt/format.h>

#include "terminal.hpp"
#include "treesample/io/uai_result.hpp"

namespace treesample::cli {

void write_uai_results(const Answer& answer, const ModelInput& input, const std::string& path, bool is_quiet) {
  if (answer.log_z) {
    write_uai_pr(*answer.log_z, path + ".PR");
  } else {
    note(is_quiet, fmt::format("the method has no estimate of log Z: {}.PR is not written", path));
  }
  if (!answer.marginals.empty() || input.model.graph.num_variables() == 0) {
    write_uai_mar(answer.marginals, path + ".MAR");
  } else {
    note(is_quiet, fmt::format("there are no marginals: {}.MAR is not written", path));
  }
}

}  // namespace treesample::cli
