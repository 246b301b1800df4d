#include "uai_output.hpp"

#include <fmt/format.h>

#include "terminal.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/uai_result.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample::cli {

void write_uai_results(const Answer& answer, const ModelInput& input, const std::string& path, bool is_quiet) {
  // A lower bound of -inf says nothing, but in a file it would say that Z is 0.
  const bool is_nothing = answer.log_z == kNegInf && !answer.is_exact;
  if (answer.log_z && !is_nothing) {
    write_uai_pr(*answer.log_z, path + ".PR");
  } else {
    note(is_quiet, fmt::format("the method has no estimate of log Z: {}.PR is not written", path));
  }
  if (!answer.marginals.empty() || input.model.graph.num_variables() == 0) {
    write_uai_mar(answer.marginals, path + ".MAR");
  } else {
    note(is_quiet, fmt::format("there are no marginals: {}.MAR is not written", path));
  }
  if (answer.best) {
    write_file_atomically(path + ".MAP", format_uai_map(answer.best->x));
  } else {
    note(is_quiet, fmt::format("there is no configuration: {}.MAP is not written", path));
  }
  if (!answer.map) return;
  Evidence states;
  for (std::size_t i = 0; i < answer.map->states.size(); ++i) {
    states.push_back({answer.map->variables[i], answer.map->states[i]});
  }
  write_file_atomically(path + ".MMAP", format_uai_mmap(states));
}

}  // namespace treesample::cli
