#include "provenance.hpp"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "commit_text.hpp"
#include "run_store.hpp"

namespace treesample::experiments {
namespace {

std::string processor() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> provenance() {
  return {{"commit", kCommitText},
          {"compiler", __VERSION__},
          {"processor", fmt::format("{}, {} cores", processor(), std::thread::hardware_concurrency())}};
}

CsvFile instances_csv(const std::filesystem::path& run_file) {
  const std::map<std::string, Numbers> all = read_run(run_file);
  std::set<std::string> names;
  for (const auto& [key, numbers] : all) {
    for (const auto& [name, value] : numbers) names.insert(name);
  }
  std::string text = "instance";
  for (const std::string& name : names) text += "," + name;
  text += "\n";
  for (const auto& [key, numbers] : all) {
    text += key;
    for (const std::string& name : names) {
      const auto found = numbers.find(name);
      text += found == numbers.end() ? "," : fmt::format(",{}", found->second);
    }
    text += "\n";
  }
  return {"instances", text};
}

}  // namespace treesample::experiments
