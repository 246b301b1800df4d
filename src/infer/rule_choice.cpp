#include "infer/rule_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "infer/methods.hpp"
#include "infer/planner.hpp"
#include "infer/time_limit.hpp"
#include "infer/words.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

// An option that was given and that not all of the allowed rules use.
struct Claim {
  std::string option;
  Ways rules;
};

std::vector<Claim> claims(const InferRequest& asked, Ways allowed) {
  std::vector<Claim> found;
  for (const OptionRow& row : option_rows()) {
    const Ways rules = row.ways & allowed;
    if (rules == 0 || rules == allowed || !row.is_given(asked)) continue;
    if (std::string_view(row.name) == "oracle-workers" && asked.options.workers == 1) continue;
    found.push_back({row.name, rules});
  }
  return found;
}

}  // namespace

RuleChoice rule_by_options(const InferRequest& asked, SelectRule usual, bool has_only_tables) {
  // Tables have bounds, and mass is for what has none: there, what asks for bounds is ignored, and said to be.
  const Ways allowed = way(SelectRule::kQUct) + way(has_only_tables ? SelectRule::kGap : SelectRule::kMass);
  const std::vector<Claim> given = claims(asked, allowed);
  Ways left = allowed;
  for (const Claim& claim : given) {
    const auto other = std::find_if(given.begin(), given.end(),
                                    [&](const Claim& earlier) { return (earlier.rules & claim.rules) == 0; });
    if (other != given.end()) {
      throw OptionError(
          other->option,
          fmt::format("excludes --{}: one is for {}, the other for {}; --select says which of them counts",
                      claim.option, ways_text(other->rules), ways_text(claim.rules)));
    }
    left &= claim.rules;
  }
  const Ways usual_way = way(usual);
  if ((left & usual_way) != 0) return {usual, ""};
  const auto chosen = std::find_if(method_registry().begin(), method_registry().end(),
                                   [&](const MethodRow& row) { return (row.way() & left) != 0; });
  const auto cause =
      std::find_if(given.begin(), given.end(), [&](const Claim& claim) { return (claim.rules & usual_way) == 0; });
  return {*chosen->rule, fmt::format("--select {}, because of --{}", word_for(*chosen->rule), cause->option)};
}

bool reasons_about_tables(const InferRequest& request) {
  const InferOptions& options = request.options;
  if (options.value_function) return false;
  if (options.compile == true) return true;
  if (options.method && options.method != Method::kSearch)
    return options.method == Method::kExact || options.method == Method::kCount;
  if (options.select) return options.select == SelectRule::kGap;
  if (options.leaf && options.leaf->kind == LeafKind::kCalibrated) return false;
  if (!options.method && !option_of_a_search(request)) return true;
  return rule_by_options(request, SelectRule::kQUct, true).rule == SelectRule::kGap;
}

}  // namespace treesample
