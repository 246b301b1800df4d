#include "treesample/evaluate/solved_marginals.hpp"

#include <algorithm>
#include <cmath>

#include "search/bound_store.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// The sub-problems of one level that are not in the store, with the probability that the sampler comes to them.
struct OffStore {
  ContextTable places;
  std::vector<int> states;  // of the context, one row per sub-problem
  std::vector<double> probs;
};

class Pass {
 public:
  Pass(const AnytimeResult& result, const BoundedApproximation& sampler, const SolvedMarginalsOptions& options)
      : fallback_(sampler.kind() == SamplerKind::kUpper ? result.leaves.upper.get() : nullptr),
        sampler_(sampler),
        store_(sampler.store()),
        space_(sampler.space()),
        options_(options),
        x_(space_.levels.size(), -1) {
    for (int n = 0; n < space_.num_levels(); ++n) {
      node_probs_.emplace_back(store_.end_index(n), 0.0);
      off_store_.emplace_back();
      marginals_.emplace_back();
    }
    for (const Level& level : space_.levels) marginals_[level.variable].assign(level.num_states, 0.0);
  }

  std::optional<Marginals> run() {
    if (!reach_nodes()) return {};
    for (int n = 0; n < space_.num_levels(); ++n) {
      if (!leave_level(n)) return {};
    }
    for (std::vector<double>& probs : marginals_) {
      double total = 0.0;
      for (const double p : probs) total += p;
      for (double& p : probs) p /= total;
    }
    return std::move(marginals_);
  }

 private:
  // Depth-first, because only paths know the states of contexts: which nodes without an expansion stand for which
  // sub-problem off the store.
  bool reach_nodes() {
    for (int n = 0; n < space_.num_levels(); ++n) places_.emplace_back(store_.end_index(n), kNotReached);
    for (std::size_t r = 0; r < space_.roots.size(); ++r) {
      if (!reach(space_.roots[r], store_.root_links()[r])) return false;
      node_probs_[space_.roots[r]][store_.root_links()[r]] = 1.0;
    }
    return true;
  }

  struct Frame {
    int level = 0;
    NodeIndex index = 0;
    std::int64_t next_edge = 0;  // action times children, plus child
  };

  bool reach(int root, NodeIndex root_index) {
    std::vector<Frame> open;
    if (!enter(root, root_index, open)) return false;
    while (!open.empty()) {
      const int level = open.back().level;
      const NodeIndex index = open.back().index;
      const Level& here = space_.levels[level];
      const auto num_children = static_cast<std::int64_t>(here.children.size());
      if (open.back().next_edge == here.num_states * num_children) {
        open.pop_back();
        continue;
      }
      const int action = static_cast<int>(open.back().next_edge / num_children);
      const auto child = static_cast<std::size_t>(open.back().next_edge++ % num_children);
      if (sampler_.edge_value(level, index, action) == kNegInf) continue;
      x_[here.variable] = action;
      const NodeIndex link = store_.expansion(level, store_.node(level, index)).links(action)[child];
      if (!enter(here.children[child], link, open)) return false;
    }
    return true;
  }

  bool enter(int level, NodeIndex index, std::vector<Frame>& open) {
    if (places_[level][index] != kNotReached) return true;
    if (!store_.node(level, index).is_expanded()) {
      // In `tree` its context is the whole prefix, and an estimate says nothing of what is below it.
      if (space_.kind == SpaceKind::kTree || fallback_ == nullptr) return false;
      places_[level][index] = static_cast<std::int64_t>(place(level));
      return is_within_limits();
    }
    places_[level][index] = kExpanded;
    open.push_back({level, index});
    return is_within_limits();
  }

  // The sub-problem of the level that the states in x_ give.
  std::size_t place(int level) {
    OffStore& here = off_store_[level];
    if (here.places.is_blank()) here.places = ContextTable(space_, level);
    NodeIndex& found = here.places.find_or_insert(x_);
    if (found == kNoNode) {
      found = static_cast<NodeIndex>(here.probs.size());
      here.probs.push_back(0.0);
      for (const int n : space_.levels[level].context) here.states.push_back(x_[space_.levels[n].variable]);
      used_bytes_ += (sizeof(double) + sizeof(int)) * (2 + space_.levels[level].context.size());
    }
    return found;
  }

  [[nodiscard]] bool is_within_limits() {
    if (used_bytes_ > options_.bytes) return false;
    constexpr int kQuestionInterval = 1024;
    return ++num_steps_ % kQuestionInterval != 0 || !options_.should_stop || !options_.should_stop();
  }

  // Hands the probabilities of a level on to its children.
  bool leave_level(int level) {
    const Level& here = space_.levels[level];
    std::vector<double> probs(here.num_states);
    for (NodeIndex index = 0; index < node_probs_[level].size(); ++index) {
      const double prob = node_probs_[level][index];
      if (prob == 0.0) continue;
      if (places_[level][index] >= 0) {
        off_store_[level].probs[places_[level][index]] += prob;
        continue;
      }
      for (int a = 0; a < here.num_states; ++a) probs[a] = sampler_.edge_value(level, index, a);
      softmax(probs, probs);
      const Expansion expansion = store_.expansion(level, store_.node(level, index));
      for (int a = 0; a < here.num_states; ++a) {
        if (!(probs[a] > 0.0)) continue;
        marginals_[here.variable][a] += prob * probs[a];
        for (std::size_t j = 0; j < here.children.size(); ++j) {
          node_probs_[here.children[j]][expansion.links(a)[j]] += prob * probs[a];
        }
      }
      if (!is_within_limits()) return false;
    }
    node_probs_[level] = {};
    return leave_off_store(level, probs);
  }

  bool leave_off_store(int level, std::vector<double>& probs) {
    const Level& here = space_.levels[level];
    const OffStore off_store = std::move(off_store_[level]);
    const std::size_t width = here.context.size();
    for (std::size_t i = 0; i < off_store.probs.size(); ++i) {
      if (off_store.probs[i] == 0.0) continue;
      for (std::size_t k = 0; k < width; ++k) {
        x_[space_.levels[here.context[k]].variable] = off_store.states[i * width + k];
      }
      fallback_->probabilities(level, x_, probs);
      for (int a = 0; a < here.num_states; ++a) {
        if (!(probs[a] > 0.0)) continue;
        const double prob = off_store.probs[i] * probs[a];
        marginals_[here.variable][a] += prob;
        x_[here.variable] = a;
        for (const int child : here.children) off_store_[child].probs[place(child)] += prob;
      }
      if (!is_within_limits()) return false;
    }
    return true;
  }

  static constexpr std::int64_t kNotReached = -1, kExpanded = -2;

  const Fallback* fallback_;  // null for the sampler by estimates
  const BoundedApproximation& sampler_;
  const BoundStore& store_;
  const SearchSpace& space_;
  const SolvedMarginalsOptions& options_;
  Assignment x_;
  std::vector<std::vector<double>> node_probs_;    // by level and node
  std::vector<std::vector<std::int64_t>> places_;  // the same: row of off_store_, or one of the constants
  std::vector<OffStore> off_store_;                // by level
  Marginals marginals_;
  std::uint64_t used_bytes_ = 0;
  std::int64_t num_steps_ = 0;
};

}  // namespace

std::optional<Marginals> solved_marginals(const AnytimeResult& result, const BoundedApproximation& sampler,
                                          const SolvedMarginalsOptions& options) {
  check_argument(sampler.kind() != SamplerKind::kLower && &sampler.store() == result.store.get(), "solved_marginals",
                 "needs the sampler by upper bounds, or by estimates, of the same search");
  const double log_z = result.report.log_z.lower;
  if (log_z == kNegInf) return {};
  const bool is_by_estimates = sampler.kind() == SamplerKind::kEstimate;
  const double distance = is_by_estimates ? result.report.log_z.upper - log_z : sampler.log_value() - log_z;
  if (!(-std::expm1(-distance) <= options.tolerance)) return {};
  return Pass(result, sampler, options).run();
}

}  // namespace treesample
