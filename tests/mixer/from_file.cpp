#include "mixer/from_file.hpp"

#include <fmt/format.h>

#include <cmath>

#include "mixer/doors.hpp"
#include "mixer/truth.hpp"
#include "treesample/error.hpp"
#include "treesample/io/model_file.hpp"

namespace treesample::mixer {
namespace {

// Of log densities, relative to the sum of the magnitudes of their parts.
constexpr double kRounding = 1e-12;

MixedCase with_tables_of(const MixedCase& given, const FactorGraph& graph) {
  MixedCase read = given;
  read.factors.clear();
  for (const Factor& factor : graph.factors()) {
    read.factors.push_back({.scope = factor.scope(), .log_values = factor.log_values()});
  }
  return read;
}

// Names of variables are numbers, in their order; those of .cnf begin with 1.
bool has_same_variables(const FactorGraph& graph, const MixedCase& given) {
  const int first = given.format == ".cnf" ? 1 : 0;
  bool is_same = graph.num_variables() == static_cast<int>(given.num_states.size());
  for (int v = 0; v < graph.num_variables() && is_same; ++v) {
    const std::string& name = graph.variable(v).name;
    is_same = graph.num_states(v) == given.num_states[static_cast<std::size_t>(v)] &&
              (name.empty() || name == fmt::format("x{}", v + first));
  }
  return is_same;
}

}  // namespace

MixedCase from_file(const MixedCase& given, Tally& tally, std::vector<std::string>& broken) {
  const FactorGraph graph = given.model().graph;
  const std::string name = "mixed" + given.format;
  std::string text;
  try {
    text = format_model(graph, name);
  } catch (const Error& error) {
    promise(tally, broken, "a format that cannot hold a model says so", error.code() == ErrorCode::kArgument,
            error.what());
    return given;
  }
  FactorGraph read;
  try {
    read = parse_model(text, given.format, name);
  } catch (const Error& error) {
    promise(tally, broken, "what was written can be read", false, error.what());
    return given;
  }
  promise(tally, broken, "what was written can be read", true, "");
  if (!has_same_variables(read, given)) {
    promise(tally, broken, "variables return in their order", given.format == ".xdsl", given.format);  // parents first
    return given;
  }
  MixedCase found = with_tables_of(given, read);
  const Truth before(given), after(found);
  double size = 1.0;
  for (const MixedFactor& factor : given.factors) {
    double most = 0.0;
    for (const double value : factor.log_values) most = std::max(most, value == -HUGE_VAL ? 0.0 : std::abs(value));
    size += most;
  }
  double off = 0.0;
  for (std::size_t i = 0; i < before.densities().size(); ++i) {
    const Quad a = before.densities()[i], b = after.densities()[i];
    off = std::max(off, isinfq(a) != 0 || isinfq(b) != 0 ? (a == b ? 0.0 : HUGE_VAL) : std::abs(plain(a - b)));
  }
  promise(tally, broken, "densities return", off <= kRounding * size, fmt::format("off by {:.3g}", off));
  return found;
}

}  // namespace treesample::mixer
