// Files that a command reads and writes.
#pragma once

#include <string>
#include <vector>

#include "treesample/io/json_model.hpp"

namespace treesample::cli {

struct FileRole {
  std::string option;
  std::string path;  // empty or "-" for none
};

// The files of a journal: the journal itself, SQLite's files beside it, and the log.
std::vector<FileRole> journal_roles(const std::string& option, const std::string& journal);

// The files of evidence that a model is read with: those that were given, or the one beside it.
std::vector<FileRole> evidence_roles(const std::string& model, const std::vector<std::string>& evidence);

// The files on which the values of the model's programs depend.
std::vector<FileRole> program_roles(const JsonModel& model);

// Throws Error (kArgument) if a file that will be written is also one of the others, which would be lost. Files are
// recognised under any name, also as hard links. Devices may be named twice.
void check_distinct(const std::vector<FileRole>& kept, const std::vector<FileRole>& written);

}  // namespace treesample::cli
