#include "treesample/io/uai_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "treesample/error.hpp"
#include "treesample/io/file.hpp"

namespace treesample {

std::string format_uai_pr(double log_z) {
  if (!is_log_value(log_z)) {
    throw_argument("format_uai_pr", fmt::format("log Z is {}, allowed are real numbers and -inf", log_z));
  }
  return fmt::format("PR\n{}\n", log_z / std::numbers::ln10);
}

std::string format_uai_mar(const Marginals& marginals) {
  std::string text = fmt::format("MAR\n{}", marginals.size());
  for (std::size_t v = 0; v < marginals.size(); ++v) {
    check_argument(!marginals[v].empty(), "format_uai_mar", fmt::format("variable {} has no states", v));
    fmt::format_to(std::back_inserter(text), " {}", marginals[v].size());
    for (const double probability : marginals[v]) {
      // Sums of rounded terms may lie a few units above 1.
      if (std::isnan(probability) || probability < 0.0 || probability > 1.0 + 1e-9) {
        throw_argument("format_uai_mar",
                       fmt::format("variable {} has the probability {}, allowed are 0 to 1", v, probability));
      }
      fmt::format_to(std::back_inserter(text), " {}", std::min(probability, 1.0));
    }
  }
  return text + "\n";
}

std::string format_uai_map(const Assignment& x) {
  std::string text = fmt::format("MAP\n{}", x.size());
  for (const int state : x) {
    check_range("format_uai_map", "state", state, 0, INT32_MAX);
    fmt::format_to(std::back_inserter(text), " {}", state);
  }
  return text + "\n";
}

std::string format_uai_mmap(const Evidence& states) {
  std::string text = fmt::format("MMAP\n{}", states.size());
  for (const auto& [variable, state] : states) {
    check_range("format_uai_mmap", "state", state, 0, INT32_MAX);
    fmt::format_to(std::back_inserter(text), " {} {}", variable, state);
  }
  return text + "\n";
}

void write_uai_pr(double log_z, const std::filesystem::path& path) {
  write_file_atomically(path, format_uai_pr(log_z));
}

void write_uai_mar(const Marginals& marginals, const std::filesystem::path& path) {
  write_file_atomically(path, format_uai_mar(marginals));
}

}  // namespace treesample
