// A model file with programs can run anything with the user's rights, so the user is asked first.
#pragma once

#include <vector>

#include "command.hpp"
#include "file_roles.hpp"
#include "treesample/io/json_model.hpp"

namespace treesample::cli {

// What a command does with the programs of a model.
struct ProgramUse {
  bool runs_them = true;    // false: it only reads the model
  bool is_allowed = false;  // --allow-programs
  bool is_quiet = false;    // programs that are allowed beforehand are not shown
  // Files that the command will write: none of them may be a file of a program.
  std::vector<FileRole> written = {};
};

// Declares --allow-programs.
void declare_consent(CommandLine& line, ProgramUse& use);

// Shows the command lines of the programs that factors need and returns if they may run: by --allow-programs, by
// TREESAMPLE_ALLOW_PROGRAMS=1 or by an answer at the terminal. Throws NoPermission otherwise. Without programs it
// returns at once.
void require_consent(const JsonModel& model, const ProgramUse& use);

}  // namespace treesample::cli
