// Which ways to infer use which options of `infer`: the one table behind the choice of a rule, refusals and remarks.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"
#include "infer_methods.hpp"

namespace treesample::cli {

// Ways to infer: a method, or one of the search's rules. Sets of them are sums.
enum Way : unsigned {
  kExact = 1,
  kSis = 2,
  kSmc = 4,
  kGibbs = 8,
  kBp = 16,
  kQUct = 32,
  kGap = 64,
  kMass = 128,
  kRules = kQUct + kGap + kMass,
};

struct OptionUse {
  const char* option;
  unsigned ways;
  // Whether it matters to a way that uses it, here; null: always.
  bool (*matters)(const InferOptions&, const FactorGraph&) = nullptr;
  const char* why_not = "";  // the reason, when it does not
};
// All options that not every way uses.
const std::vector<OptionUse>& option_uses();

// The rule for a search that the line leaves open: `usual`, or the one that an option is given for which `usual` would
// ignore; says so. Throws Error (kArgument) naming two options that no rule uses both.
std::string choose_rule(const std::string& usual, const InferOptions& options, const CommandLine& line,
                        const FactorGraph& graph);

// Names the given options that do not matter to the way that was chosen.
void note_ignored_options(const InferOptions& options, const CommandLine& line, const FactorGraph& graph);

// Whether the method knows U, so that --gap can end it.
bool has_upper_bound(const InferOptions& options, const FactorGraph& graph);

}  // namespace treesample::cli
