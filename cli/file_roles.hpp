// Files that a command reads and writes.
#pragma once

#include <string>
#include <vector>

namespace treesample::cli {

struct FileRole {
  std::string option;
  std::string path;  // empty, or "-": none
};

// The files of a journal: what was paid for, SQLite's own files beside it, and the log.
std::vector<FileRole> journal_roles(const std::string& option, const std::string& journal);

// Throws Error (kArgument) where a file that is to be written is one of the others, which would be lost. Devices may be
// named twice.
void check_distinct(const std::vector<FileRole>& kept, const std::vector<FileRole>& written);

}  // namespace treesample::cli
