#include "treesample/exact/joint_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "exact/linear_table.hpp"
#include "exact/slices.hpp"
#include "space/num_threads.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/space/order.hpp"

namespace treesample {
namespace {

// An order with the cliques of the given one that ends with the variables of `last`, a clique among them. Variables are
// numbered from the last to the first: next comes one with the most neighbours that are numbered already.
std::vector<int> order_ending_with(const EliminationPlan& plan, std::span<const int> last) {
  const std::size_t size = plan.order.size();
  std::vector<std::vector<int>> neighbours(size);
  for (std::size_t v = 0; v < size; ++v) {
    for (const int u : plan.separators[v]) {
      neighbours[v].push_back(u);
      neighbours[u].push_back(static_cast<int>(v));
    }
  }
  std::vector<std::size_t> num_numbered(size, 0);
  std::vector<std::vector<int>> waiting(size + 1);  // by that number; entries that are out of date are skipped
  std::vector<char> is_numbered(size, 0);
  std::size_t most = 0;
  std::vector<int> order;
  const auto take = [&](int v) {
    is_numbered[v] = 1;
    order.push_back(v);
    for (const int u : neighbours[v]) {
      if (is_numbered[u] != 0) continue;
      waiting[++num_numbered[u]].push_back(u);
      most = std::max(most, num_numbered[u]);
    }
  };
  for (auto v = plan.order.begin(); v != plan.order.end(); ++v) waiting[0].push_back(*v);
  for (const int v : last) take(v);
  while (order.size() < size) {
    while (waiting[most].empty()) --most;
    const int v = waiting[most].back();
    waiting[most].pop_back();
    if (is_numbered[v] == 0 && num_numbered[v] == most) take(v);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

// The distribution within one slice, added to that of all.
class SliceJoint {
 public:
  SliceJoint(const FactorGraph& graph, std::span<const int> variables, const Slice& slice, double share,
             std::vector<double>& probabilities)
      : slice_(slice), probabilities_(probabilities), x_(slice.model.variable_of.size(), 0) {
    const std::vector<int>& variable_of = slice.model.variable_of;
    std::size_t stride = 1;
    for (std::size_t i = variables.size(); i-- > 0;) {
      const int v = variables[i];
      const auto found = std::lower_bound(variable_of.begin(), variable_of.end(), v);
      if (found != variable_of.end() && *found == v) {
        left_.push_back({static_cast<int>(found - variable_of.begin()), stride});
      } else {
        first_ += stride * static_cast<std::size_t>(slice.model.fixed_states[v]);
      }
      stride *= static_cast<std::size_t>(graph.num_states(v));
    }
    std::vector<std::size_t> time(x_.size(), 0);
    for (std::size_t t = 0; t < slice.order.size(); ++t) time[slice.order[t]] = t;
    std::sort(left_.begin(), left_.end(),
              [&](const Left& a, const Left& b) { return time[a.variable] > time[b.variable]; });
    add(0, first_, share);
  }

 private:
  struct Left {
    int variable = 0;  // of the slice
    std::size_t stride = 0;
  };

  // All joint states of the variables from this one on, given the states in x_ of those removed later.
  void add(std::size_t index, std::size_t entry, double probability) {
    if (index == left_.size()) {
      probabilities_[entry] += probability;
      return;
    }
    const auto [v, stride] = left_[index];
    const std::vector<int>& states = slice_.model.states_of[v];
    std::vector<double> given(states.size());
    slice_.pass->conditional(v, x_, given);
    for (std::size_t a = 0; a < given.size(); ++a) {
      if (given[a] == 0.0) continue;
      x_[v] = static_cast<int>(a);
      add(index + 1, entry + stride * static_cast<std::size_t>(states[a]), probability * given[a]);
    }
  }

  const Slice& slice_;
  std::vector<double>& probabilities_;
  Assignment x_;
  std::vector<Left> left_;  // the last removed first
  std::size_t first_ = 0;   // the entry where all of them have state 0
};

}  // namespace

EliminationPlan plan_joint(const FactorGraph& graph, std::span<const int> variables, const EliminationOptions& options,
                           const ShouldStop& should_stop) {
  FactorGraph tied = graph;  // a function takes no memory, however many joint states there are
  tied.add_factor(Factor::function({variables.begin(), variables.end()}, [](std::span<const int>) { return 0.0; }));
  EliminationOptions whole = options;
  whole.goal = EliminationGoal::kSamples;
  whole.most_bytes = HUGE_VAL;
  const EliminationPlan free = plan_elimination(tied, whole, should_stop);
  if (!free.is_possible()) return free;
  // Of the model itself: where the variables are no clique, their last buckets are smaller.
  EliminationPlan plan = plan_in_order(graph, order_ending_with(free, variables), {}, should_stop);
  whole.most_bytes = options.most_bytes;
  whole.restarts = 1;  // the order stays as it is
  return plan_slices(graph, std::move(plan), whole, should_stop);
}

JointTable joint_table(const FactorGraph& graph, std::span<const int> variables, const EliminationPlan& plan,
                       const Limits& limits, const Observer& observer) {
  limits.validate();
  std::size_t num_entries = 1;
  for (const int v : variables) num_entries *= static_cast<std::size_t>(graph.num_states(v));
  JointTable result{std::vector<double>(num_entries, 0.0), 0.0};
  const Slices slices(graph, plan);
  ThreadTeam team(num_threads(limits));
  const auto pool = std::make_shared<TablePool>(static_cast<double>(limits.bytes));
  EntryWatch watch(observer, plan.num_entries);
  LogSum sum;
  double largest = kNegInf;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    watch.check_going_on();
    const Slice slice = slices.run(i, {true, &team, pool}, watch);
    sum.add(slice.log_z, slice.estimate);
    if (slice.estimate == kNegInf) continue;
    if (slice.estimate > largest) {
      const double scale = std::exp(largest - slice.estimate);
      for (double& p : result.probabilities) p *= scale;
      largest = slice.estimate;
    }
    SliceJoint(graph, variables, slice, std::exp(slice.estimate - largest), result.probabilities);
  }
  double total = 0.0;
  for (const double p : result.probabilities) total += p;
  for (double& p : result.probabilities) p = total > 0.0 ? p / total : 0.0;
  if (total > 0.0) result.width = sum.bounds().width();
  return result;
}

}  // namespace treesample
