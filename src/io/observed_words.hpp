// What all forms of evidence share: words, weights, and one state for each variable.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/io/evidence_file.hpp"

namespace treesample {

inline constexpr std::string_view kBlanks = " \t\r\f\v";

// Throws Error (kArgument).
[[noreturn]] void refuse_observation(const std::string& message);

// A piece of text in the form in which messages show it.
std::string cited(std::string_view text);

double weight_of(std::string_view text);
void observe_soft(Observations& known, const Names& names, int variable, std::vector<double> weights);
// Keeps one state of each variable. Throws where there are two; `lines` are those of the states in a file.
void keep_one_each(Observations& known, const Names& names, std::string_view source_name = "",
                   std::span<const std::size_t> lines = {});

// Runs `work` and adds the line to its errors.
template <class Work>
auto at_line(std::string_view source_name, std::size_t line, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kArgument) throw;
    throw Error(ErrorCode::kParse, fmt::format("{}:{}: {}", source_name, line, error.what()));
  }
}

}  // namespace treesample
