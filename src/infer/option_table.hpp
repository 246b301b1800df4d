// The rows behind infer_options(): where an option is kept, what it may be and which ways to infer use it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "treesample/infer/options.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Ways to infer: a method, or the search under one of its rules. Sets of them are sums.
enum Way : unsigned {
  kWayQUct = 1,
  kWayGap = 2,
  kWayMass = 4,
  kWaySis = 8,
  kWaySmc = 16,
  kWayGibbs = 32,
  kWayBp = 64,
  kWayExact = 128,
  kWayRules = kWayQUct + kWayGap + kWayMass,
  kWayParticles = kWaySis + kWaySmc,
  kWayAll = 255,
};
Way way_of(Method method, SelectRule rule);
// "treesample --select gap or mass, smc"; rules are named where not all of them are meant.
std::string ways_text(unsigned ways);

struct OptionRow {
  const char* name;
  unsigned ways;  // that use it
  const char* help;
  // Where it is kept.
  void (*set)(InferRequest& request, const OptionRow& row, std::string_view text);
  bool (*is_given)(const InferRequest& request);
  std::string (*text)(const InferRequest& request);  // empty: left open
  std::optional<double> (*number)(const InferRequest& request);     // of numbers, for the check of their range
  void (*copy)(const InferRequest& from, InferRequest& to);
  std::string (*meta)();
  double low = 0.0, high = 0.0;
  bool is_common = false;
  // Whether it matters to a way that uses it, here; null: always. And the reason, when it does not.
  bool (*matters)(const InferRequest& resolved, const FactorGraph& graph) = nullptr;
  const char* why_not = "";
};
std::span<const OptionRow> option_rows();
const OptionRow& option_row(std::string_view name);

// What everything is that neither a user nor the plan has said.
InferRequest default_request();

// Whether a method with these options knows U, so that a gap can end it.
bool has_upper_bound(const InferOptions& resolved, const FactorGraph& graph);

}  // namespace treesample
