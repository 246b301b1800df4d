#include "treesample/nn/network_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/nn/network_file.hpp"

namespace treesample {
namespace {

// Per thread and not per object: a const leaf value can then be shared safely, and a search that makes a new object for
// each episode allocates no new memory.
struct Scratch {
  MlpScratch mlp;
  GnnScratch gnn;
  std::vector<float> out;
};

Scratch& thread_scratch() {
  thread_local Scratch scratch;
  return scratch;
}

void check_perceptron(const MlpOptions& options, const FactorGraph& graph) {
  check_argument(options.num_variables == graph.num_variables(), "plan_network",
                 fmt::format("the network is made for {} variables, the model has {}", options.num_variables,
                             graph.num_variables()));
  for (int v = 0; v < graph.num_variables(); ++v) {
    check_argument(
        graph.num_states(v) <= options.num_states, "plan_network",
        fmt::format("variable {} has {} states, the network allows {}", v, graph.num_states(v), options.num_states));
  }
}

bool is_binary(const FactorGraph& graph, const Factor& factor) {
  return std::all_of(factor.scope().begin(), factor.scope().end(), [&](int v) { return graph.num_states(v) == 2; });
}

// True if every entry of the table is `scale` where holds(entry number), and 0 elsewhere.
template <typename Condition>
bool is_scaled(const std::vector<double>& table, double scale, const Condition& holds) {
  const double tolerance = 1e-9 * std::max(1.0, std::abs(scale));
  if (!(std::abs(scale) > tolerance) || std::isinf(scale)) return false;
  for (unsigned entry = 0; entry < table.size(); ++entry) {
    if (!(std::abs(table[entry] - (holds(entry) ? scale : 0.0)) <= tolerance)) return false;
  }
  return true;
}

bool is_not(const std::vector<double>& table, int arity) {
  return arity == 2 && is_scaled(table, table[1], [](unsigned entry) { return entry == 1 || entry == 2; });
}

bool is_majority(const std::vector<double>& table, int arity) {
  const double scale = table.back();  // the entry for all variables in state 1, where the condition holds
  return is_scaled(table, scale, [&](unsigned entry) { return 2 * std::popcount(entry) >= arity; }) ||
         is_scaled(table, scale, [&](unsigned entry) { return 2 * std::popcount(entry) > arity; });
}

// Kinds of factors over binary variables, recognised by their entries. A new kind needs a row here and the code that
// makes such factors.
struct FactorKind {
  const char* name;
  bool (*fits)(const std::vector<double>& table, int arity);
};
constexpr FactorKind kFactorKinds[] = {{"not", is_not}, {"majority", is_majority}};

// The check is here and not where values are used, because samples pass prefixes that no search has seen. -inf is
// refused too: it can only come from an overflow, since sums of finite numbers exclude nothing.
[[noreturn]] void refuse_value(int variable, int state, float value) {
  throw Error(ErrorCode::kNumeric, fmt::format("the network gives {} for variable {} in state {}, allowed are finite "
                                               "numbers: its weights are so large that a layer overflows",
                                               value, variable, state));
}

const char* kind_of(const FactorGraph& graph, const Factor& factor) {
  if (!factor.is_table() || factor.scope().empty() || !is_binary(graph, factor)) return kTableKind;
  for (const FactorKind& kind : kFactorKinds) {
    if (kind.fits(factor.log_values(), static_cast<int>(factor.scope().size()))) return kind.name;
  }
  return kTableKind;
}

}  // namespace

std::optional<GnnPlan> plan_network(const Network& network, const FactorGraph& graph,
                                    std::span<const std::string> factor_kinds) {
  if (const Gnn* const gnn = std::get_if<Gnn>(&network)) return GnnPlan(graph, factor_kinds, gnn->options());
  check_perceptron(std::get<Mlp>(network).options(), graph);
  return std::nullopt;
}

std::vector<double> independent_values(const FactorGraph& graph, const SearchSpace& space) {
  check_space("independent_values", graph, space);
  std::vector<double> values(space.levels.size());
  double pending = 0.0;
  for (int n = space.num_levels() - 1; n >= 0; --n) {
    for (const int m : space.levels[n].factors) {
      const Factor& factor = graph.factor(m);
      if (!factor.is_table()) continue;
      const double mean = log_sum_exp(factor.log_values()) - std::log(static_cast<double>(factor.log_values().size()));
      if (mean != kNegInf) pending += mean;
    }
    values[n] = space.levels[n].log_states_below + pending;
  }
  return values;
}

NetworkValue::NetworkValue(std::shared_ptr<const Network> network, const std::optional<GnnPlan>& plan,
                           const FactorGraph& graph, const SearchSpace& space)
    : LeafValue(space), network_(std::move(network)) {
  check_argument(network_ != nullptr, "NetworkValue", "there is no network (null)");
  check_space("NetworkValue", graph, space);
  const std::vector<double> offsets = independent_values(graph, space);
  for (const Level& level : space.levels) {
    check_argument(level.children.size() <= 1 && space.roots.size() <= 1, "NetworkValue",
                   "a network values whole prefixes: use the space tree or graph");
    targets_.push_back({level.variable, level.num_states, offsets[targets_.size()]});
  }
  if (const Gnn* const gnn = std::get_if<Gnn>(network_.get())) {
    check_argument(plan && plan->graph_shape() == graph.shape(), "NetworkValue",
                   "a graph network needs a plan that was made for the same graph");
    if (plan) evaluator_.emplace(std::shared_ptr<const Gnn>(network_, gnn), *plan);
    row_size_ = gnn->options().num_states;
  } else {
    check_perceptron(std::get<Mlp>(*network_).options(), graph);
    row_size_ = std::get<Mlp>(*network_).options().num_states;
  }
}

void NetworkValue::run_network(int variable, std::span<const int> prefixes, std::span<float> out) const {
  if (evaluator_) {
    evaluator_->q_values(variable, prefixes, thread_scratch().gnn, out);
  } else {
    std::get<Mlp>(*network_).q_values(variable, prefixes, thread_scratch().mlp, out);
  }
}

void NetworkValue::q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const {
  check_range("NetworkValue::q_values", "level", level, 0, static_cast<int>(targets_.size()) - 1);
  const Target& target = targets_[level];
  check_range("NetworkValue::q_values", "count", count, 0, INT32_MAX);
  check_argument(q.size() >= static_cast<std::size_t>(count) * target.num_states, "NetworkValue::q_values",
                 "there are fewer Q-values than the rows asked for");
  std::vector<float>& out = thread_scratch().out;
  out.resize(static_cast<std::size_t>(count) * row_size_);
  run_network(target.variable, prefixes, out);
  for (int r = 0; r < count; ++r) {
    for (int a = 0; a < target.num_states; ++a) {
      const float value = out[r * row_size_ + a];
      if (!std::isfinite(value)) refuse_value(target.variable, a, value);
      q[r * target.num_states + a] = target.offset + value;
    }
  }
}

std::vector<std::string> detect_factor_kinds(const FactorGraph& graph) {
  std::vector<std::string> kinds;
  for (const Factor& factor : graph.factors()) kinds.emplace_back(kind_of(graph, factor));
  return kinds;
}

std::vector<std::string> described_factor_kinds() {
  std::vector<std::string> names;
  for (const FactorKind& kind : kFactorKinds) names.emplace_back(kind.name);
  return names;
}

std::shared_ptr<const NetworkValue> load_network_value(const std::filesystem::path& path, const FactorGraph& graph,
                                                       std::span<const std::string> factor_kinds,
                                                       const SearchSpace& space) {
  auto network = std::make_shared<const Network>(load_network(path).network);
  try {
    const std::vector<std::string> detected =
        factor_kinds.empty() ? detect_factor_kinds(graph) : std::vector(factor_kinds.begin(), factor_kinds.end());
    const std::optional<GnnPlan> plan = plan_network(*network, graph, detected);
    return std::make_shared<const NetworkValue>(std::move(network), plan, graph, space);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace treesample
