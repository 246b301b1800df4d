#include "file_roles.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <system_error>

#include "treesample/error.hpp"
#include "treesample/oracle/program_files.hpp"

namespace treesample::cli {
namespace {

// Identifies a file by a text that is the same for all of its names: its number if it exists, so that hard links count
// as one file, otherwise the path with links resolved. Empty if no file can be lost: for no file, and for devices.
std::string target(const std::string& path) {
  if (path.empty() || path == "-") return "";
  std::error_code error;
  struct stat found_file = {};
  if (::stat(path.c_str(), &found_file) == 0 && S_ISREG(found_file.st_mode)) {
    return fmt::format("{}:{}", found_file.st_dev, found_file.st_ino);
  }
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return "";
  const std::filesystem::path found = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  return error ? path : found.string();
}

}  // namespace

std::vector<FileRole> journal_roles(const std::string& option, const std::string& journal) {
  if (journal.empty()) return {};
  std::vector<FileRole> roles;
  for (const char* const ending : {"", "-wal", "-shm", ".log"}) roles.push_back({option, journal + ending});
  return roles;
}

std::vector<FileRole> evidence_roles(const std::string& model, const std::vector<std::string>& evidence) {
  std::vector<FileRole> roles;
  for (const std::string& one : evidence) roles.push_back({"--evidence", one});
  const std::string beside = model + ".evid";
  std::error_code ignored;
  if (evidence.empty() && std::filesystem::exists(beside, ignored)) roles.push_back({"the evidence", beside});
  return roles;
}

std::vector<FileRole> program_roles(const JsonModel& model) {
  std::vector<FileRole> roles;
  for (const ProgramDescription& program : model.programs) {
    for (const std::string& file : program_files(program, model.folder)) {
      roles.push_back({fmt::format("program '{}'", program.name), (model.folder / file).string()});
    }
  }
  return roles;
}

void check_distinct(const std::vector<FileRole>& kept, const std::vector<FileRole>& written) {
  std::map<std::string, std::string> option_of;
  for (const auto& [option, path] : kept) option_of.emplace(target(path), option);
  for (const auto& [option, path] : written) {
    const std::string file = target(path);
    if (file.empty()) continue;
    const auto [known, is_new] = option_of.emplace(file, option);
    check_argument(is_new, option, fmt::format("'{}' is the file of {}, which would be lost", path, known->second));
  }
}

}  // namespace treesample::cli
