// A model file with programs can run anything with the user's rights, so the user is asked first.
#pragma once

#include <vector>

#include "command.hpp"
#include "file_roles.hpp"
#include "treesample/io/json_model.hpp"

namespace treesample::cli {

// How a command uses the programs of a model.
struct ProgramUse {
  bool runs_them = true;    // false if it only reads the model
  bool is_allowed = false;  // set by --allow-programs
  bool is_quiet = false;    // true: programs that were allowed beforehand are not shown
  // Files that the command will write: none of them may be a file of a program.
  std::vector<FileRole> written = {};
};

// Declares --allow-programs.
void declare_consent(CommandLine& line, ProgramUse& use);

// Shows the command lines of the programs that factors need. Returns if they may run: because of --allow-programs, of
// TREESAMPLE_ALLOW_PROGRAMS=1, or of an answer at the terminal. Throws NoPermission otherwise. If there are no
// programs, it returns at once.
void require_consent(const JsonModel& model, const ProgramUse& use);

}  // namespace treesample::cli
