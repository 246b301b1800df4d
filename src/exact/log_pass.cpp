// Elimination in the log domain, for log-values of any magnitude.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "exact/elimination_pass.hpp"
#include "exact/log_buckets.hpp"
#include "exact/message_error.hpp"
#include "exact/separator_sums.hpp"
#include "model/dense_table.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

class LogPass final : public EliminationPass {
 public:
  LogPass(const FactorGraph& graph, const EliminationPlan& plan, const PassOptions& options);

  void eliminate_all(EntryWatch& watch);
  [[nodiscard]] Marginals marginals(EntryWatch& watch) const override;
  void conditional(int v, std::span<const int> x, std::span<double> probabilities) const override;

 private:
  // Of a message, whose largest entry is 0.
  struct Scale {
    double log_max = kNegInf;  // what was taken off
    MessageError error;
  };

  void eliminate(int v, EntryWatch& watch);
  // Proportional to p(x_sep, x_v). All entries are at most 0 in the log domain.
  [[nodiscard]] TableProduct product(int v) const { return {graph_, buckets_[v].scope, buckets_.scaled_inputs(v)}; }
  [[nodiscard]] std::vector<double> sum_bucket(int v, std::vector<TableMemory>& separator_probs,
                                               EntryWatch& watch) const;
  [[nodiscard]] double num_entries(int v) const { return static_cast<double>(buckets_.num_entries(v)); }

  FactorGraph graph_;
  std::vector<int> order_;
  PassOptions options_;
  LogBuckets buckets_;
  std::vector<Scale> scales_;  // by variable
};

LogPass::LogPass(const FactorGraph& graph, const EliminationPlan& plan, const PassOptions& options)
    : graph_(graph), order_(plan.order), options_(options), buckets_(graph_, plan), scales_(order_.size()) {
  for (const int m : buckets_.constants()) {
    const double value = graph.factor(m).log_values().front();
    log_z_.add(value);
    error_ += value == kNegInf ? 0.0 : kEpsilon * (1.0 + std::abs(value));
  }
}

void LogPass::eliminate(int v, EntryWatch& watch) {
  LogBucket& bucket = buckets_[v];
  Scale& scale = scales_[v];
  for (const int m : bucket.factors) {
    const double largest = *graph_.factor(m).log_max();
    log_z_.add(largest);
    scale.error.add(MessageError::of_factor(largest));
  }
  for (const int c : bucket.children) scale.error.add(scales_[c].error);
  if (log_z_.value() == kNegInf) return;
  bucket.message.resize(num_table_entries(graph_, bucket.separator()));
  TableProduct inputs = product(v);
  scale.error.num_additions = std::min(scale.error.num_additions, inputs.num_additions());
  StopCheck stop([&] { return watch.is_asked_to_stop(static_cast<double>(inputs.walk().first_entry())); });
  sum_out_last(inputs, graph_.num_states(v), 1.0, bucket.message.data(),
               [&](std::size_t size) { stop.go_on("Elimination", static_cast<std::int64_t>(4 * size)); });
  scale.log_max = *std::max_element(bucket.message.begin(), bucket.message.end());
  log_z_.add(scale.log_max);
  if (scale.log_max == kNegInf) return;
  double least = 0.0;
  for (double& entry : bucket.message) {
    entry -= scale.log_max;
    if (entry != kNegInf) least = std::min(least, entry);
  }
  scale.error.sum_out(graph_.num_states(v));
  scale.error.take_off(scale.log_max, least);
  if (bucket.separator().empty()) error_ += scale.error.of_number();
}

void LogPass::eliminate_all(EntryWatch& watch) {
  for (const int v : order_) {
    if (log_z_.value() == kNegInf) return;
    watch.check_going_on();
    eliminate(v, watch);
    watch.add(num_entries(v));
    if (options_.keep_messages) continue;
    for (const int c : buckets_[v].children) buckets_[c].message = {};
  }
}

void LogPass::conditional(int v, std::span<const int> x, std::span<double> probabilities) const {
  std::fill(probabilities.begin(), probabilities.end(), 0.0);
  for (const TableView& table : buckets_.scaled_inputs(v)) add_row(graph_, table, v, x, probabilities);
  softmax(probabilities, probabilities);
}

// The downward step at v: consumes p(x_sep(v)), passes each child the distribution over its separator, and returns the
// marginal of v.
std::vector<double> LogPass::sum_bucket(int v, std::vector<TableMemory>& separator_probs, EntryWatch& watch) const {
  const LogBucket& bucket = buckets_[v];
  const TableMemory separator_prob = std::move(separator_probs[v]);
  TableProduct inputs = product(v);
  BlockWalk& walk = inputs.walk();
  std::vector<std::span<const int>> child_separators;
  child_separators.reserve(bucket.children.size());
  for (const int c : bucket.children) child_separators.push_back(buckets_[c].separator());
  SeparatorSums sums(graph_, bucket.scope, std::move(child_separators), nullptr);
  std::vector<int> ids;
  for (std::size_t g = 0; g < sums.groups().size(); ++g) {
    ids.push_back(walk.add_table(sums.groups()[g].scope));
    std::ranges::fill(sums.of_group(g), 0.0);
  }

  std::vector<double> marginal(static_cast<std::size_t>(graph_.num_states(v)), 0.0);
  std::vector<double> block(walk.block_size());
  StopCheck stop([&] { return watch.is_asked_to_stop(static_cast<double>(walk.first_entry())); });
  do {
    stop.go_on("Elimination::marginals", static_cast<std::int64_t>(8 * block.size()));
    inputs.fill(-scales_[v].log_max, block);
    std::size_t row = walk.first_entry() / marginal.size();
    for (std::size_t i = 0; i < block.size(); ++row) {
      const double prob = separator_prob.data()[row];
      for (double& state_prob : marginal) {
        // p(x_v, x_sep) = p(x_sep) exp(b - m); the message m is -inf only where p(x_sep) = 0.
        block[i] = prob == 0.0 ? 0.0 : prob * std::exp(block[i] - bucket.message[row]);
        state_prob += block[i++];
      }
    }
    for (std::size_t g = 0; g < ids.size(); ++g) walk.accumulate(ids[g], block, sums.of_group(g).data());
  } while (walk.next());
  sums.hand_out([&](int child, TableMemory p) { separator_probs[bucket.children[child]] = std::move(p); });
  return marginal;
}

Marginals LogPass::marginals(EntryWatch& watch) const {
  Marginals result(order_.size());
  std::vector<TableMemory> separator_probs(order_.size());
  for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
    watch.check_going_on();
    if (buckets_[*v].separator().empty()) {
      separator_probs[*v] = TableMemory(1, nullptr);
      separator_probs[*v].data()[0] = 1.0;
    }
    result[*v] = sum_bucket(*v, separator_probs, watch);
    watch.add(num_entries(*v));
    // Removes the rounding errors of the buckets above.
    const double total = std::accumulate(result[*v].begin(), result[*v].end(), 0.0);
    for (double& p : result[*v]) p /= total;
  }
  return result;
}

}  // namespace

std::shared_ptr<const EliminationPass> log_pass(const FactorGraph& graph, const EliminationPlan& plan,
                                                const PassOptions& options, EntryWatch& watch) {
  auto pass = std::make_shared<LogPass>(graph, plan, options);
  pass->eliminate_all(watch);
  return pass;
}

}  // namespace treesample
