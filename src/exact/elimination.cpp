#include "treesample/exact/elimination.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "exact/message_error.hpp"
#include "model/dense_table.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/space/order.hpp"

namespace treesample {
namespace {

using Distributions = std::vector<std::vector<double>>;

void check_memory(const char* function, double bytes, const EliminationCost& cost, std::uint64_t limit) {
  if (bytes <= static_cast<double>(limit)) return;
  throw Error(
      ErrorCode::kResource,
      fmt::format(
          "{}: elimination needs {:.4g} bytes for its tables (width {}, largest bucket 2^{:.1f} entries), allowed "
          "are {} bytes",
          function, bytes, cost.width, cost.log2_largest_bucket, limit));
}

// Tells the observer, then asks it.
bool is_asked_to_stop(const Observer& observer, double done) {
  if (observer.progress) observer.progress({.phase = "elimination", .share_done = done});
  return observer.should_stop && observer.should_stop();
}

void check_going_on(const Observer& observer, double done) {
  if (is_asked_to_stop(observer, done)) throw Error(ErrorCode::kInterrupted, "Elimination: asked to end");
}

// Sums the distribution p over a bucket into the distributions over the separators of its children.
// Children with small separators share a pass, by way of a table over the union of their scopes.
class SeparatorSums {
 public:
  SeparatorSums(const FactorGraph& graph, std::span<const int> bucket_scope,
                const std::vector<std::span<const int>>& separators, BlockWalk& walk)
      : graph_(graph), separators_(separators), groups_(group_scopes(graph, bucket_scope, separators)), walk_(walk) {
    for (const ScopeGroup& group : groups_) {
      ids_.push_back(walk_.add_table(group.scope));
      sums_.emplace_back(num_table_entries(graph, group.scope), 0.0);
    }
  }

  void accumulate(std::span<const double> block) {
    for (std::size_t g = 0; g < groups_.size(); ++g) walk_.accumulate(ids_[g], block, sums_[g].data());
  }

  // Calls take(separator index, its distribution) for each of them.
  template <typename Take>
  void hand_out(Take take) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const int member : groups_[g].members) {
        if (groups_[g].members.size() == 1) {
          take(member, std::move(sums_[g]));  // separators are in the order of the bucket's scope
          continue;
        }
        std::vector<double> sum(num_table_entries(graph_, separators_[member]), 0.0);
        BlockWalk walk(graph_, groups_[g].scope);
        const int id = walk.add_table(separators_[member]);
        do {
          walk.accumulate(id, {sums_[g].data() + walk.first_entry(), walk.block_size()}, sum.data());
        } while (walk.next());
        take(member, std::move(sum));
      }
    }
  }

 private:
  const FactorGraph& graph_;
  const std::vector<std::span<const int>>& separators_;
  std::vector<ScopeGroup> groups_;
  BlockWalk& walk_;
  std::vector<int> ids_;
  std::vector<std::vector<double>> sums_;
};

}  // namespace

struct Elimination::State {
  struct Bucket {
    std::vector<int> scope;       // the last removed variable first, v itself last
    std::vector<int> factors;     // that belong to v: the first of their scope to be removed
    std::vector<int> children;    // the variables whose messages go to v
    std::vector<double> message;  // less log_max: its largest entry is 0
    double log_max = kNegInf;     // of the message as it was
    MessageError error;           // of the message

    [[nodiscard]] std::span<const int> separator() const { return {scope.data(), scope.size() - 1}; }
  };

  State(const FactorGraph& model, const Limits& limits, EliminationOptions with, Observer watching)
      : graph(model),
        most_bytes(limits.bytes),
        options(std::move(with)),
        observer(std::move(watching)),
        buckets(static_cast<std::size_t>(model.num_variables())) {}

  FactorGraph graph;
  std::size_t most_bytes;
  EliminationOptions options;
  Observer observer;
  EliminationCost cost;
  std::vector<Bucket> buckets;  // by variable
  CompensatedSum log_z;         // the largest entries that were taken off factors and messages
  double error = 0.0;           // of log Z

  void build_buckets();
  void eliminate_all();
  void eliminate(int v, double num_done);
  // log p(x_sep, x_v) of a bucket is a product of these, up to a constant. All are at most 0.
  template <typename Visit>
  void for_each_input(const Bucket& bucket, Visit visit) const;
  [[nodiscard]] TableProduct product(const Bucket& bucket) const;
  [[nodiscard]] std::vector<double> sum_bucket(int v, Distributions& separator_probs, double num_done) const;
  // Within a bucket that is walked through after so many entries.
  [[nodiscard]] ShouldStop should_stop(double num_done, const BlockWalk& walk) const {
    return [this, num_done, &walk] {
      return is_asked_to_stop(observer, (num_done + static_cast<double>(walk.first_entry())) / cost.num_entries);
    };
  }
};

void Elimination::State::build_buckets() {
  const auto sep = separators(adjacency_of(graph), cost.order);
  std::vector<int> time(buckets.size());
  for (std::size_t t = 0; t < cost.order.size(); ++t) {
    const int v = cost.order[t];
    time[v] = static_cast<int>(t);
    // With the variable that is removed next in the last place of the message, the message and the
    // bucket that receives it run over memory in the same order.
    buckets[v].scope.assign(sep[v].rbegin(), sep[v].rend());
    buckets[v].scope.push_back(v);
    if (!sep[v].empty()) buckets[sep[v].front()].children.push_back(v);
  }
  for (int m = 0; m < graph.num_factors(); ++m) {
    const std::vector<int>& scope = graph.factor(m).scope();
    if (scope.empty()) {
      const double value = graph.factor(m).log_values().front();
      log_z.add(value);
      error += value == kNegInf ? 0.0 : kEpsilon * (1.0 + std::abs(value));
      continue;
    }
    const int first = *std::min_element(scope.begin(), scope.end(), [&](int a, int b) { return time[a] < time[b]; });
    buckets[first].factors.push_back(m);
  }
}

template <typename Visit>
void Elimination::State::for_each_input(const Bucket& bucket, Visit visit) const {
  for (const int m : bucket.factors) {
    const Factor& factor = graph.factor(m);
    visit(TableView{factor.scope(), factor.log_values().data(), *factor.log_max()});
  }
  for (const int c : bucket.children) visit(TableView{buckets[c].separator(), buckets[c].message.data()});
}

TableProduct Elimination::State::product(const Bucket& bucket) const {
  std::vector<TableView> inputs;
  for_each_input(bucket, [&](const TableView& table) { inputs.push_back(table); });
  return {graph, bucket.scope, inputs};
}

void Elimination::State::eliminate(int v, double num_done) {
  Bucket& bucket = buckets[v];
  for (const int m : bucket.factors) {
    const double largest = *graph.factor(m).log_max();
    log_z.add(largest);
    bucket.error.add(MessageError::of_factor(largest));
  }
  for (const int c : bucket.children) bucket.error.add(buckets[c].error);
  if (log_z.value() == kNegInf) return;
  bucket.message.resize(num_table_entries(graph, bucket.separator()));
  const auto num_states = static_cast<std::size_t>(graph.num_states(v));
  TableProduct inputs = product(bucket);
  BlockWalk& walk = inputs.walk();
  std::vector<double> block(walk.block_size());
  StopCheck stop(should_stop(num_done, walk));
  do {
    stop.go_on("Elimination", static_cast<std::int64_t>(4 * block.size()));
    inputs.fill(0.0, block);
    double* const out = bucket.message.data() + walk.first_entry() / num_states;
    log_sum_rows(block, graph.num_states(v), 1.0, out);
    bucket.log_max = std::max(bucket.log_max, *std::max_element(out, out + block.size() / num_states));
  } while (walk.next());
  log_z.add(bucket.log_max);
  if (bucket.log_max == kNegInf) return;
  double least = 0.0;
  for (double& entry : bucket.message) {
    entry -= bucket.log_max;
    if (entry != kNegInf) least = std::min(least, entry);
  }
  bucket.error.sum_out(graph.num_states(v));
  bucket.error.take_off(bucket.log_max, least);
  if (bucket.separator().empty()) error += bucket.error.of_number();
}

void Elimination::State::eliminate_all() {
  double num_done = 0.0;
  for (const int v : cost.order) {
    if (log_z.value() == kNegInf) return;
    check_going_on(observer, num_done / cost.num_entries);
    Bucket& bucket = buckets[v];
    eliminate(v, num_done);
    num_done += static_cast<double>(num_table_entries(graph, bucket.scope));
    if (options.keep_messages) continue;
    for (const int c : bucket.children) buckets[c].message = {};
  }
}

Elimination::Elimination(const FactorGraph& graph, const Limits& limits, const EliminationOptions& options,
                         const Observer& observer) {
  limits.validate();
  for (int m = 0; m < graph.num_factors(); ++m) {
    check_argument(graph.factor(m).is_table(), "Elimination",
                   fmt::format("factor {} is a function, elimination needs tables", m));
  }
  const auto state = std::make_shared<State>(graph, limits, options, observer);
  state->cost = elimination_cost(graph, options, observer.should_stop);
  check_memory("Elimination", state->cost.bytes, state->cost, limits.bytes);
  state->build_buckets();
  state->eliminate_all();
  state_ = state;
}

double Elimination::log_z() const { return state_->log_z.value(); }

LogBounds Elimination::bounds() const { return LogBounds::around(log_z(), state_->error + state_->log_z.rounding()); }

const EliminationCost& Elimination::cost() const { return state_->cost; }

double Elimination::log_prob(std::span<const int> x) const {
  state_->graph.check_assignment(x, "Elimination::log_prob");
  return log_z() == kNegInf ? kNegInf : state_->graph.log_density(x) - log_z();
}

void Elimination::conditional(int v, std::span<const int> x, std::span<double> probabilities) const {
  const State& s = *state_;
  check_argument(s.options.keep_messages, "Elimination::conditional", "needs the option keep_messages");
  std::fill(probabilities.begin(), probabilities.end(), 0.0);
  if (log_z() == kNegInf) return;
  s.for_each_input(s.buckets[v], [&](const TableView& table) {
    std::size_t index = 0;  // of state 0 of v
    std::size_t stride = 1;
    for (const int u : table.scope) {
      const auto num_states = static_cast<std::size_t>(s.graph.num_states(u));
      index = index * num_states + static_cast<std::size_t>(u == v ? 0 : x[u]);
      stride = u == v ? 1 : stride * num_states;
    }
    for (std::size_t a = 0; a < probabilities.size(); ++a) {
      probabilities[a] += table.values[index + a * stride] - table.shift;
    }
  });
  softmax(probabilities, probabilities);
}

Assignment Elimination::sample(Random& random) const {
  const State& s = *state_;
  check_argument(s.options.keep_messages, "Elimination::sample", "needs the option keep_messages");
  check_argument(log_z() != kNegInf, "Elimination::sample",
                 "the distribution has no configuration with positive probability");
  Assignment x(s.buckets.size(), 0);
  std::vector<double> weights;
  for (auto v = s.cost.order.rbegin(); v != s.cost.order.rend(); ++v) {
    weights.resize(static_cast<std::size_t>(s.graph.num_states(*v)));
    conditional(*v, x, weights);
    x[*v] = random.categorical(weights);
  }
  return x;
}

// The downward step at v: consumes p(x_sep(v)), hands its children theirs, returns the marginal of v.
std::vector<double> Elimination::State::sum_bucket(int v, Distributions& separator_probs, double num_done) const {
  const Bucket& bucket = buckets[v];
  const std::vector<double> separator_prob = std::move(separator_probs[v]);
  TableProduct inputs = product(bucket);
  BlockWalk& walk = inputs.walk();
  std::vector<std::span<const int>> child_separators;
  child_separators.reserve(bucket.children.size());
  for (const int c : bucket.children) child_separators.push_back(buckets[c].separator());
  SeparatorSums sums(graph, bucket.scope, child_separators, walk);

  std::vector<double> marginal(static_cast<std::size_t>(graph.num_states(v)), 0.0);
  std::vector<double> block(walk.block_size());
  StopCheck stop(should_stop(num_done, walk));
  do {
    stop.go_on("Elimination::marginals", static_cast<std::int64_t>(8 * block.size()));
    inputs.fill(-bucket.log_max, block);
    std::size_t row = walk.first_entry() / marginal.size();
    for (std::size_t i = 0; i < block.size(); ++row) {
      const double prob = separator_prob[row];
      for (double& state_prob : marginal) {
        // p(x_v, x_sep) = p(x_sep) exp(b - m); the message m is -inf only where p(x_sep) = 0.
        block[i] = prob == 0.0 ? 0.0 : prob * std::exp(block[i] - bucket.message[row]);
        state_prob += block[i++];
      }
    }
    sums.accumulate(block);
  } while (walk.next());
  sums.hand_out([&](int child, std::vector<double> p) { separator_probs[bucket.children[child]] = std::move(p); });
  return marginal;
}

std::vector<std::vector<double>> Elimination::marginals() const {
  const State& s = *state_;
  check_argument(s.options.keep_messages, "Elimination::marginals", "needs the option keep_messages");
  check_memory("Elimination::marginals", s.cost.marginal_bytes, s.cost, s.most_bytes);
  Distributions result(s.buckets.size());
  for (int v = 0; v < s.graph.num_variables(); ++v) {
    result[v].assign(static_cast<std::size_t>(s.graph.num_states(v)), 0.0);
  }
  if (log_z() == kNegInf) return result;

  double num_done = 0.0;
  Distributions separator_probs(s.buckets.size());
  for (auto v = s.cost.order.rbegin(); v != s.cost.order.rend(); ++v) {
    check_going_on(s.observer, num_done / s.cost.num_entries);
    if (s.buckets[*v].separator().empty()) separator_probs[*v] = {1.0};
    result[*v] = s.sum_bucket(*v, separator_probs, num_done);
    num_done += static_cast<double>(num_table_entries(s.graph, s.buckets[*v].scope));
    // Takes off the rounding of the chain of buckets above.
    const double total = std::accumulate(result[*v].begin(), result[*v].end(), 0.0);
    for (double& p : result[*v]) p /= total;
  }
  return result;
}

}  // namespace treesample
