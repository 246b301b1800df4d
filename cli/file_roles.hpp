// Files that a command reads and writes.
#pragma once

#include <string>
#include <vector>

#include "treesample/io/json_model.hpp"

namespace treesample::cli {

struct FileRole {
  std::string option;
  std::string path;  // empty, or "-": none
};

// The files of a journal: what was paid for, SQLite's own files beside it, and the log.
std::vector<FileRole> journal_roles(const std::string& option, const std::string& journal);

// The files on which the values of its programs depend.
std::vector<FileRole> program_roles(const JsonModel& model);

// Throws Error (kArgument) where a file that is to be written is one of the others, which would be lost: under whatever
// name, hard links included. Devices may be named twice.
void check_distinct(const std::vector<FileRole>& kept, const std::vector<FileRole>& written);

}  // namespace treesample::cli
