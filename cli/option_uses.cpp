#include "option_uses.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "terminal.hpp"
#include "treesample/error.hpp"

namespace treesample::cli {
namespace {

struct WayName {
  Way way;
  const char* method;
  const char* rule;  // of the method treesample
};
constexpr WayName kWayNames[] = {{kQUct, "treesample", "q-uct"},
                                 {kGap, "treesample", "gap"},
                                 {kMass, "treesample", "mass"},
                                 {kSis, "sis", ""},
                                 {kSmc, "smc", ""},
                                 {kGibbs, "gibbs", ""},
                                 {kBp, "bp", ""},
                                 {kExact, "exact", ""}};

const WayName& way_of(const InferOptions& options) {
  return *std::find_if(std::begin(kWayNames), std::end(kWayNames), [&](const WayName& name) {
    return options.method == name.method && (name.rule[0] == '\0' || options.select == name.rule);
  });
}

Way rule_of(const std::string& word) {
  return std::find_if(std::begin(kWayNames), std::end(kWayNames), [&](const WayName& n) { return word == n.rule; })
      ->way;
}

// "treesample --select gap or mass, smc"; rules are named where not all of them are meant.
std::string ways_text(unsigned ways) {
  std::vector<std::string> methods, rules;
  for (const WayName& name : kWayNames) {
    if ((ways & name.way) == 0) continue;
    if (name.rule[0] == '\0') methods.emplace_back(name.method);
    if (name.rule[0] != '\0') rules.emplace_back(name.rule);
  }
  const bool has_all = (ways & kRules) == kRules;
  if (!rules.empty()) {
    methods.insert(methods.begin(),
                   has_all ? "treesample" : fmt::format("treesample --select {}", fmt::join(rules, " or ")));
  }
  return fmt::format("{}", fmt::join(methods, ", "));
}

bool has_samples(const InferOptions& options, const FactorGraph&) { return options.num_samples > 0; }
bool has_bp_samples(const InferOptions& options, const FactorGraph&) {
  return options.method != "bp" || options.num_samples > 0;
}
bool has_random_order(const InferOptions& options, const FactorGraph&) {
  return options.method == "exact" || options.order.rfind("min-", 0) == 0;
}
bool ends_at_gap(const InferOptions& options, const FactorGraph& graph) {
  return options.method == "exact" || has_upper_bound(options, graph);
}

// A rule-specific option that was given, as far as the rules in question go.
struct Claim {
  std::string option;
  unsigned rules;
};

std::vector<Claim> claims_of(const InferOptions& options, const CommandLine& line, unsigned allowed) {
  std::vector<Claim> claims;
  for (const OptionUse& use : option_uses()) {
    const unsigned rules = use.ways & allowed;
    if (rules == 0 || rules == allowed || !line.is_given(use.option)) continue;
    if (std::string(use.option) == "--oracle-workers" && options.oracle_workers == 1) continue;
    claims.push_back({use.option, rules});
  }
  return claims;
}

}  // namespace

const std::vector<OptionUse>& option_uses() {
  constexpr unsigned kParticles = kSis + kSmc;
  constexpr const char* kNoSamples = "no samples are drawn (--samples)";
  static const std::vector<OptionUse> table = {
      {"--select", kRules},
      {"--space", kRules},
      {"--order", kRules + kParticles},
      {"--prior", kRules + kParticles},
      {"--restarts", kRules + kParticles + kExact, has_random_order, "only min-fill and min-width orders are random"},
      {"--budget", kRules + kParticles + kGibbs + kBp, has_bp_samples, kNoSamples},
      {"--budget-unit", kRules + kParticles + kGibbs + kBp, has_bp_samples, kNoSamples},
      {"--calls", kRules + kParticles + kGibbs},
      {"--memory", kRules + kParticles + kExact},
      {"--importance", kRules},
      {"--trace", kRules},
      {"--c", kQUct + kMass},
      {"--epsilon", kQUct},
      {"--ties", kQUct},
      {"--gap", kGap + kMass + kExact, ends_at_gap,
       "there is no upper bound, because a factor declares no maximum (log_max)"},
      {"--sampler", kGap},
      {"--max-tries", kGap,
       [](const InferOptions& options, const FactorGraph&) {
         return options.sampler == "rejection" && options.num_samples > 0;
       },
       "nothing is drawn by rejection (--sampler rejection --samples N)"},
      {"--confidence", kGap, [](const InferOptions& options, const FactorGraph&) { return options.num_importance > 0; },
       "there is no interval without weighted samples (--importance 0)"},
      {"--oracle-workers", kGap + kMass},
      {"--oracle-order", kGap + kMass,
       [](const InferOptions& options, const FactorGraph&) { return options.oracle_workers > 1; },
       "there is one program at a time (--oracle-workers)"},
      {"--ess-threshold", kSmc},
      {"--resampling", kSmc},
      {"--sweeps", kGibbs},
      {"--gibbs-mode", kGibbs},
      {"--burn-in", kGibbs},
      {"--messages", kBp, has_samples, kNoSamples},
      {"--damping", kBp}};
  return table;
}

std::string choose_rule(const std::string& usual, const InferOptions& options, const CommandLine& line,
                        const FactorGraph& graph) {
  // Tables have bounds, and mass is for what has none: there, what asks for bounds is ignored, and said to be.
  const unsigned allowed = kQUct + (graph.has_only_tables() ? kGap : kMass);
  const std::vector<Claim> claims = claims_of(options, line, allowed);
  unsigned left = allowed;
  for (const Claim& claim : claims) {
    const auto other = std::find_if(claims.begin(), claims.end(),
                                    [&](const Claim& earlier) { return (earlier.rules & claim.rules) == 0; });
    if (other != claims.end()) {
      throw_argument(other->option,
                     fmt::format("excludes {}: one is for {}, the other for {}; --select says which of them counts",
                                 claim.option, ways_text(other->rules), ways_text(claim.rules)));
    }
    left &= claim.rules;
  }
  if ((left & rule_of(usual)) != 0) return usual;
  const auto chosen = std::find_if(std::begin(kWayNames), std::end(kWayNames),
                                   [&](const WayName& name) { return (name.way & left) != 0; });
  const auto cause = std::find_if(claims.begin(), claims.end(),
                                  [&](const Claim& claim) { return (claim.rules & rule_of(usual)) == 0; });
  note(options.is_quiet, fmt::format("--select {}, because of {}", chosen->rule, cause->option));
  return chosen->rule;
}

void note_ignored_options(const InferOptions& options, const CommandLine& line, const FactorGraph& graph) {
  const WayName& way = way_of(options);
  for (const OptionUse& use : option_uses()) {
    if (!line.is_given(use.option)) continue;
    std::string reason;
    if ((use.ways & way.way) == 0) {
      const std::string name = way.rule[0] == '\0' ? way.method : fmt::format("{} --select {}", way.method, way.rule);
      reason = fmt::format("the method is {}, and it is for {} only", name, ways_text(use.ways));
    } else if (use.matters != nullptr && !use.matters(options, graph)) {
      reason = use.why_not;
    }
    if (!reason.empty()) note(options.is_quiet, fmt::format("{} is ignored: {}", use.option, reason));
  }
  check_argument(options.method != "gibbs" || options.gibbs_mode == "chain" || !line.is_given("--burn-in"), "--burn-in",
                 "is for --gibbs-mode chain only");
}

bool has_upper_bound(const InferOptions& options, const FactorGraph& graph) {
  if (options.method != "treesample") return false;
  if (options.select != "mass") return options.select == "gap";
  return std::all_of(graph.factors().begin(), graph.factors().end(),
                     [](const Factor& factor) { return factor.log_max().has_value(); });
}

}  // namespace treesample::cli
