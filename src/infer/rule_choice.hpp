// The rule of a search that a request leaves open.
#pragma once

#include <string>

#include "infer/option_table.hpp"
#include "treesample/search/search.hpp"

namespace treesample {

struct RuleChoice {
  SelectRule rule;
  std::string remark;  // empty: it is the usual one
};
// `usual`, or the rule that an option is given for which `usual` would ignore. Throws OptionError where two options are
// for different rules.
RuleChoice rule_by_options(const InferRequest& asked, SelectRule usual, bool has_only_tables);

}  // namespace treesample
