// Influence diagrams from files: XMLBIF with variables of the types decision and utility, and XDSL (GeNIe) with the
// nodes decision, utility and mau (a weighted sum of utilities).
//
// The parents of a decision are what is known when it is made. Decisions are in their order in time: one that has an
// influence on another is before it, and others stay in the order of the file.
#pragma once

#include <filesystem>
#include <string_view>

#include "treesample/model/decision_model.hpp"

namespace treesample {

// Throws Error: kParse as "file:line: ...", kArgument for other formats and for files without a decision, kIo.
DecisionModel read_decisions(const std::filesystem::path& path);
DecisionModel parse_decisions(std::string_view text, std::string_view extension, std::string_view source_name);

}  // namespace treesample
